//! Namespaces: what each has, and how one goes away.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use podsmith_object::{Value, json};

use super::Context;
use super::feed::Feed;
use crate::clock;
use crate::cluster::{ensure, namespace_objects};
use crate::fields;
use crate::handlers::delete::Deleted;
use crate::handlers::internal;
use crate::registry::Resource;
use crate::request::DeleteOptions;
use crate::server::Server;
use crate::status::ApiResult;

/// Keeps the default account and the authority's certificate in every namespace.
pub async fn supply(context: Context) {
    let server = context.server;
    let mut feed = Feed::new(server.clone(), Some(&["namespaces", "serviceaccounts", "configmaps"]));
    loop {
        let mut wanting = BTreeSet::new();
        for change in feed.take() {
            let (namespace, name) = change.key.split_once('/').unwrap_or((&change.key, ""));
            let interesting = match &*change.table {
                "namespaces" => change.before.is_none() && change.now.is_some(),
                "serviceaccounts" => name == "default" && change.now.is_none(),
                _ => name == "kube-root-ca.crt" && change.now.is_none(),
            };
            if interesting {
                wanting.insert(namespace.to_owned());
            }
        }
        for namespace in wanting {
            let Some(stored) = server.store.get("namespaces", &namespace) else { continue };
            if fields::is_deleting(&stored.value()) {
                continue;
            }
            for (plural, name, body) in namespace_objects(&server) {
                if let Err(error) = ensure(&server, "", plural, &namespace, name, body) {
                    tracing::warn!(%namespace, %error, "an object every namespace has could not be made");
                }
            }
        }
        feed.wait().await;
    }
}

/// Empties namespaces that are to go, then lets them go.
pub async fn empty(context: Context) {
    let server = context.server;
    let mut feed = Feed::new(server.clone(), Some(&["namespaces"]));
    let mut ending: BTreeSet<String> = BTreeSet::new();
    loop {
        for change in feed.take() {
            if &*change.table != "namespaces" {
                continue;
            }
            match &change.now {
                Some(stored) if fields::is_deleting(&stored.value()) => {
                    ending.insert(change.key.to_string());
                }
                Some(_) => {}
                None => {
                    ending.remove(&*change.key);
                }
            }
        }
        for namespace in ending.clone() {
            match end(&server, &namespace).await {
                Ok(true) => {
                    ending.remove(&namespace);
                }
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(namespace, message = error.message, "a namespace cannot end yet")
                }
            }
        }
        if ending.is_empty() {
            feed.wait().await;
        } else {
            // Something holds a namespace; look again when anything changes, but not at every single event.
            let _ = tokio::time::timeout(Duration::from_secs(1), feed.wait()).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Deletes what is inside; true when the namespace is gone.
async fn end(server: &Arc<Server>, namespace: &str) -> ApiResult<bool> {
    let index = server.registry.index();
    let prefix = format!("{namespace}/");
    let mut left: Vec<(String, usize, Vec<String>)> = Vec::new();
    for resource in index.tables() {
        if !resource.namespaced || !resource.has_verb("delete") {
            continue;
        }
        let mut held = 0;
        let mut finalizers = Vec::new();
        let Ok(listing) = server.store.list(&resource.table, &prefix, None, None, None) else { continue };
        for (_, stored) in listing.items {
            let object = stored.value();
            match delete_inside(server, &resource, namespace, fields::name(&object)).await {
                Ok(Deleted::Gone(_)) => {}
                Ok(Deleted::Held(object)) => {
                    held += 1;
                    finalizers.extend(fields::finalizers(&object).into_iter().map(str::to_owned));
                }
                Err(error) if error.code == 404 => {}
                Err(_) => held += 1,
            }
        }
        if held > 0 {
            left.push((resource.qualified(), held, finalizers));
        }
    }
    let Some(namespaces) = index.by_group_plural("", "namespaces") else { return Ok(false) };
    if !left.is_empty() {
        let conditions = conditions(&left);
        let call = internal::call("namespace-controller", namespaces, namespace, namespace, "status");
        internal::change(server, &call, &mut |old| {
            let mut new = old.clone();
            merge_conditions(&mut new, &conditions);
            Ok(new)
        })
        .await?;
        return Ok(false);
    }
    let call = internal::call("namespace-controller", namespaces, namespace, namespace, "finalize");
    let finalized = internal::change(server, &call, &mut |old| {
        let mut new = old.clone();
        let kept: Vec<Value> = fields::list(old, &["spec", "finalizers"])
            .iter()
            .filter(|one| *one != "kubernetes")
            .cloned()
            .collect();
        fields::set(&mut new, &["spec", "finalizers"], kept.into());
        Ok(new)
    })
    .await;
    match finalized {
        Ok(_) => Ok(server.store.get("namespaces", namespace).is_none()),
        Err(error) if error.code == 404 => Ok(true),
        Err(error) => Err(error),
    }
}

async fn delete_inside(
    server: &Arc<Server>,
    resource: &Arc<Resource>,
    namespace: &str,
    name: &str,
) -> ApiResult<Deleted> {
    let call = internal::call("namespace-controller", resource, namespace, name, "");
    let options = DeleteOptions { propagation: Some("Background".to_owned()), ..DeleteOptions::default() };
    internal::delete(server, &call, &options).await
}

/// Why a namespace is still there.
fn conditions(left: &[(String, usize, Vec<String>)]) -> Vec<Value> {
    let now = clock::now();
    let condition = |sort: &str, status: bool, reason: &str, message: String| {
        let status = if status { "True" } else { "False" };
        json!({"type": sort, "status": status, "lastTransitionTime": now, "reason": reason, "message": message})
    };
    let content: Vec<String> = left
        .iter()
        .map(|(resource, count, _)| format!("{resource} has {count} resource instances"))
        .collect();
    let mut finalizers: std::collections::BTreeMap<&str, usize> = Default::default();
    for name in left.iter().flat_map(|(_, _, names)| names) {
        *finalizers.entry(name).or_default() += 1;
    }
    let held: Vec<String> =
        finalizers.iter().map(|(name, count)| format!("{name} in {count} resource instances")).collect();
    let mut all = vec![
        condition(
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered".into(),
        ),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".into(),
        ),
        condition(
            "NamespaceDeletionContentFailure",
            false,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".into(),
        ),
        condition(
            "NamespaceContentRemaining",
            true,
            "SomeResourcesRemain",
            format!("Some resources are remaining: {}", content.join(", ")),
        ),
    ];
    all.push(if held.is_empty() {
        condition(
            "NamespaceFinalizersRemaining",
            false,
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished".into(),
        )
    } else {
        condition(
            "NamespaceFinalizersRemaining",
            true,
            "SomeFinalizersRemain",
            format!("Some content in the namespace has finalizers remaining: {}", held.join(", ")),
        )
    });
    all
}

/// Sets conditions; the time of one that says the same as before stays.
fn merge_conditions(object: &mut Value, wanted: &[Value]) {
    let old: Vec<Value> = fields::list(object, &["status", "conditions"]).to_vec();
    let says =
        |one: &Value| (fields::text(one, &["status"]).to_owned(), fields::text(one, &["message"]).to_owned());
    let merged: Vec<Value> = wanted
        .iter()
        .map(|new| {
            let sort = fields::text(new, &["type"]);
            let known = old.iter().find(|one| fields::text(one, &["type"]) == sort);
            known.filter(|known| says(known) == says(new)).unwrap_or(new).clone()
        })
        .collect();
    fields::set(object, &["status", "conditions"], merged.into());
}
