//! The garbage collector: what nobody owns any more goes, in the order its owners wish.

use std::collections::BTreeSet;
use std::sync::Arc;

use podsmith_object::Value;

use super::Context;
use super::feed::Feed;
use super::owners::{Graph, Node, Owner, reduced};
use crate::fields;
use crate::handlers::internal;
use crate::registry::Resource;
use crate::request::DeleteOptions;
use crate::server::{Call, Server};
use crate::status::ApiResult;

/// Runs the collector.
pub async fn collect(context: Context) {
    let server = context.server;
    let mut feed = Feed::new(server.clone(), None);
    let mut graph = Graph::default();
    let mut todo: BTreeSet<String> = BTreeSet::new();
    loop {
        // First everything that happened, then conclusions: an owner may be in a later table than its dependents.
        for change in feed.take() {
            if is_ignored(&change.table) {
                continue;
            }
            let touched = match &change.now {
                Some(stored) => graph.put(&change.table, &change.key, &reduced(stored)),
                None => graph.remove(&change.table, &change.key),
            };
            todo.extend(touched);
        }
        for uid in std::mem::take(&mut todo) {
            if let Err(error) = look_at(&server, &graph, &uid).await
                && error.code != 404
                && error.code != 409
            {
                tracing::debug!(uid, message = error.message, "an object could not be collected");
            }
        }
        feed.wait().await;
    }
}

/// Events are many and own nothing.
fn is_ignored(table: &str) -> bool {
    table == "events"
}

fn resource_of(server: &Server, node: &Node) -> Option<Arc<Resource>> {
    server.registry.index().by_table(&node.table).cloned()
}

fn call(resource: &Arc<Resource>, node: &Node) -> Call {
    internal::call("generic-garbage-collector", resource, &node.namespace, &node.name, "")
}

async fn look_at(server: &Arc<Server>, graph: &Graph, uid: &str) -> ApiResult<()> {
    let Some(node) = graph.node(uid) else { return Ok(()) };
    let Some(resource) = resource_of(server, node) else { return Ok(()) };
    if node.deleting {
        if node.orphan {
            return orphan(server, graph, uid, node, &resource).await;
        }
        if node.foreground {
            return foreground(server, graph, uid, node, &resource).await;
        }
        return Ok(());
    }
    if node.owners.is_empty() {
        return Ok(());
    }
    let (mut solid, mut waiting, mut absent) = (0, 0, Vec::new());
    for owner in &node.owners {
        match graph.node(&owner.uid).filter(|found| reaches(found, node)) {
            Some(found) if found.deleting && found.foreground => waiting += 1,
            Some(_) => solid += 1,
            None if is_known_kind(server, owner) => absent.push(owner.uid.clone()),
            // Of a kind nobody serves nothing can be said.
            None => solid += 1,
        }
    }
    if solid > 0 {
        if !absent.is_empty() {
            return drop_owners(server, node, &resource, &absent).await;
        }
        return Ok(());
    }
    let policy = if waiting > 0 && !graph.dependents(uid).is_empty() { "Foreground" } else { "Background" };
    delete(server, uid, node, &resource, policy).await
}

/// Owners are in the same namespace, or in none.
fn reaches(owner: &Node, dependent: &Node) -> bool {
    owner.namespace.is_empty() || owner.namespace == dependent.namespace
}

fn is_known_kind(server: &Server, owner: &Owner) -> bool {
    let (group, version) = owner.api_version.split_once('/').unwrap_or(("", &owner.api_version));
    server.registry.index().by_kind(group, version, &owner.kind).is_some()
}

async fn delete(
    server: &Arc<Server>,
    uid: &str,
    node: &Node,
    resource: &Arc<Resource>,
    policy: &str,
) -> ApiResult<()> {
    let options = DeleteOptions {
        propagation: Some(policy.to_owned()),
        uid: Some(uid.to_owned()),
        ..DeleteOptions::default()
    };
    internal::delete(server, &call(resource, node), &options).await.map(drop)
}

/// Takes references away from a dependent.
async fn drop_owners(
    server: &Arc<Server>,
    node: &Node,
    resource: &Arc<Resource>,
    absent: &[String],
) -> ApiResult<()> {
    internal::change(server, &call(resource, node), &mut |old| {
        let kept: Vec<Value> = fields::list(old, &["metadata", "ownerReferences"])
            .iter()
            .filter(|one| !absent.iter().any(|uid| uid == fields::text(one, &["uid"])))
            .cloned()
            .collect();
        let mut new = old.clone();
        if kept.is_empty() {
            fields::remove(&mut new, &["metadata", "ownerReferences"]);
        } else {
            fields::set(&mut new, &["metadata", "ownerReferences"], kept.into());
        }
        Ok(new)
    })
    .await
    .map(drop)
}

async fn drop_finalizer(
    server: &Arc<Server>,
    node: &Node,
    resource: &Arc<Resource>,
    finalizer: &str,
) -> ApiResult<()> {
    internal::change(server, &call(resource, node), &mut |old| {
        let kept: Vec<Value> = fields::list(old, &["metadata", "finalizers"])
            .iter()
            .filter(|one| *one != finalizer)
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
    .await
    .map(drop)
}

/// Dependents lose their owner, then it goes.
async fn orphan(
    server: &Arc<Server>,
    graph: &Graph,
    uid: &str,
    node: &Node,
    resource: &Arc<Resource>,
) -> ApiResult<()> {
    for dependent in graph.dependents(uid) {
        if let Some(found) = graph.node(&dependent)
            && let Some(its) = resource_of(server, found)
        {
            match drop_owners(server, found, &its, &[uid.to_owned()]).await {
                Err(error) if error.code != 404 => return Err(error),
                _ => {}
            }
        }
    }
    drop_finalizer(server, node, resource, "orphan").await
}

/// Dependents go; when those that block are gone, the owner does.
async fn foreground(
    server: &Arc<Server>,
    graph: &Graph,
    uid: &str,
    node: &Node,
    resource: &Arc<Resource>,
) -> ApiResult<()> {
    let mut blocked = false;
    for dependent in graph.dependents(uid) {
        let Some(found) = graph.node(&dependent) else { continue };
        blocked |= found.owners.iter().any(|owner| owner.uid == uid && owner.blocks);
        if found.deleting {
            continue;
        }
        // One with another owner that stays only loses this one, when this one is gone.
        let stays = found.owners.iter().any(|owner| {
            owner.uid != uid
                && graph.node(&owner.uid).is_some_and(|other| !(other.deleting && other.foreground))
        });
        if let Some(its) = resource_of(server, found) {
            let done = if stays {
                drop_owners(server, found, &its, &[uid.to_owned()]).await
            } else {
                let policy =
                    if graph.dependents(&dependent).is_empty() { "Background" } else { "Foreground" };
                delete(server, &dependent, found, &its, policy).await
            };
            match done {
                Err(error) if error.code != 404 && error.code != 409 => return Err(error),
                _ => {}
            }
        }
    }
    if blocked {
        return Ok(());
    }
    drop_finalizer(server, node, resource, "foregroundDeletion").await
}
