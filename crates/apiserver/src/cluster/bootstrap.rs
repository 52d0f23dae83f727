//! The objects every cluster has from the start.

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::clock;
use crate::server::Server;
use crate::store::{Draft, Expect};

/// Makes what is missing.
pub async fn run(server: &Arc<Server>) -> Result<(), String> {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        ensure(server, "namespaces", name, || {
            json!({
                "kind": "Namespace", "apiVersion": "v1",
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
            })
        })?;
    }
    Ok(())
}

/// Writes an object unless it is there.
fn ensure(server: &Server, table: &str, key: &str, make: impl FnOnce() -> Value) -> Result<(), String> {
    if server.store.get(table, key).is_some() {
        return Ok(());
    }
    let mut object = make();
    let metadata = crate::fields::metadata(&mut object);
    metadata.insert("uid".into(), uuid::Uuid::new_v4().to_string().into());
    metadata.insert("creationTimestamp".into(), clock::now().into());
    server
        .store
        .put(table, key, Expect::Absent, Draft::new(&object))
        .map(drop)
        .map_err(|error| format!("{table}/{key}: {error}"))
}
