//! CustomResourceDefinitions that are to go: their instances go first.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use podsmith_object::Value;

use super::Context;
use super::feed::Feed;
use crate::fields;
use crate::handlers::delete::Deleted;
use crate::handlers::internal;
use crate::request::DeleteOptions;
use crate::server::Server;
use crate::status::ApiResult;
use crate::strategy::CLEANUP;

const TABLE: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// Runs the cleaner.
pub async fn clean_up(context: Context) {
    let server = context.server;
    let mut feed = Feed::new(server.clone(), Some(&[TABLE]));
    let mut ending: BTreeSet<String> = BTreeSet::new();
    loop {
        for change in feed.take() {
            if &*change.table == TABLE {
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
        }
        for name in ending.clone() {
            match end(&server, &name).await {
                Ok(true) => {
                    ending.remove(&name);
                }
                Ok(false) => {}
                Err(error) => tracing::debug!(name, message = error.message, "a definition cannot end yet"),
            }
        }
        if ending.is_empty() {
            feed.wait().await;
        } else {
            let _ = tokio::time::timeout(Duration::from_secs(1), feed.wait()).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Deletes the instances; true when the definition is free to go.
async fn end(server: &Arc<Server>, name: &str) -> ApiResult<bool> {
    let Some(stored) = server.store.get(TABLE, name) else { return Ok(true) };
    let definition = stored.value();
    if !fields::finalizers(&definition).contains(&CLEANUP) {
        return Ok(true);
    }
    let index = server.registry.index();
    let (group, plural) = (
        fields::text(&definition, &["spec", "group"]),
        fields::text(&definition, &["spec", "names", "plural"]),
    );
    let mut held = false;
    if let Some(resource) = index.by_group_plural(group, plural) {
        let listing = server.store.list(&resource.table, "", None, None, None);
        for (_, stored) in listing.map(|listing| listing.items).unwrap_or_default() {
            let object = stored.value();
            let (namespace, name) = (fields::namespace(&object), fields::name(&object));
            let call = internal::call("custom-resources", resource, namespace, name, "");
            match internal::delete(server, &call, &DeleteOptions::default()).await {
                Ok(Deleted::Gone(_)) => {}
                Err(error) if error.code == 404 => {}
                Ok(Deleted::Held(_)) | Err(_) => held = true,
            }
        }
    }
    if held {
        return Ok(false);
    }
    let Some(definitions) = index.by_group_plural("apiextensions.k8s.io", "customresourcedefinitions") else {
        return Ok(true);
    };
    let call = internal::call("custom-resources", definitions, "", name, "");
    let freed = internal::change(server, &call, &mut |old| {
        let kept: Vec<Value> = fields::list(old, &["metadata", "finalizers"])
            .iter()
            .filter(|one| *one != CLEANUP)
            .cloned()
            .collect();
        let mut new = old.clone();
        if kept.is_empty() {
            fields::remove(&mut new, &["metadata", "finalizers"]);
        } else {
            fields::set(&mut new, &["metadata", "finalizers"], kept.into());
        }
        Ok(new)
    })
    .await;
    match freed {
        Err(error) if error.code != 404 => Err(error),
        _ => Ok(true),
    }
}
