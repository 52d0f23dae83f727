//! CustomResourceDefinitions: what they say becomes true at once.

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::clock;
use crate::fields;
use crate::registry::Resource;
use crate::server::Server;
use crate::store::{Draft, Expect, Stored};

/// Holds a definition until its instances are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

fn stored_version(definition: &Value) -> Option<String> {
    fields::list(definition, &["spec", "versions"])
        .iter()
        .find(|version| version.get("storage") == Some(&Value::Bool(true)))
        .map(|version| fields::text(version, &["name"]).to_owned())
}

/// A new storage version joins those that were.
pub fn note_stored_versions(definition: &mut Value) {
    let Some(stored) = stored_version(definition) else { return };
    let mut known: Vec<Value> = fields::list(definition, &["status", "storedVersions"]).to_vec();
    if !known.iter().any(|one| *one == stored) {
        known.push(stored.into());
        fields::set(definition, &["status", "storedVersions"], known.into());
    }
}

/// Serves or forgets the definition, and says so in its status.
pub fn after_write(server: &Arc<Server>, resource: &Resource, stored: &Arc<Stored>, gone: bool) {
    let mut definition = stored.value();
    if gone {
        server.registry.forget(fields::name(&definition));
        return;
    }
    server.registry.define(&definition);
    let names = fields::at(&definition, &["spec", "names"]).cloned().unwrap_or_else(|| json!({}));
    let accepted = fields::at(&definition, &["status", "acceptedNames"]) == Some(&names);
    if accepted && has_condition(&definition, "Established") {
        return;
    }
    let now = clock::now();
    let mut conditions: Vec<Value> = fields::list(&definition, &["status", "conditions"]).to_vec();
    conditions.retain(|one| !matches!(fields::text(one, &["type"]), "NamesAccepted" | "Established"));
    conditions.push(json!({
        "type": "NamesAccepted", "status": "True", "lastTransitionTime": now, "reason": "NoConflicts",
        "message": "no conflicts found",
    }));
    conditions.push(json!({
        "type": "Established", "status": "True", "lastTransitionTime": now, "reason": "InitialNamesAccepted",
        "message": "the initial names have been accepted",
    }));
    fields::set(&mut definition, &["status", "conditions"], conditions.into());
    fields::set(&mut definition, &["status", "acceptedNames"], names);
    let key = fields::name(&definition).to_owned();
    // If someone wrote meanwhile, that write comes through here itself.
    let _ =
        server.store.put(&resource.table, &key, Expect::Revision(stored.revision()), Draft::new(&definition));
}

fn has_condition(definition: &Value, name: &str) -> bool {
    fields::list(definition, &["status", "conditions"])
        .iter()
        .any(|one| fields::text(one, &["type"]) == name && fields::text(one, &["status"]) == "True")
}

/// Instances go first.
pub fn begin_deletion(definition: &mut Value) {
    let mut finalizers: Vec<Value> = fields::list(definition, &["metadata", "finalizers"]).to_vec();
    if !finalizers.iter().any(|one| one == CLEANUP) {
        finalizers.push(CLEANUP.into());
    }
    fields::set(definition, &["metadata", "finalizers"], finalizers.into());
    let mut conditions: Vec<Value> = fields::list(definition, &["status", "conditions"]).to_vec();
    conditions.retain(|one| fields::text(one, &["type"]) != "Terminating");
    conditions.push(json!({
        "type": "Terminating", "status": "True", "lastTransitionTime": clock::now(),
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    }));
    fields::set(definition, &["status", "conditions"], conditions.into());
}
