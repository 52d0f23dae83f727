//! The rules of single kinds that are no matter of types: what a create sets, what an update may touch, what is
//! handed out, what follows a write.

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::fields;
use crate::registry::Resource;
use crate::request::DeleteOptions;
use crate::server::Server;
use crate::status::ApiResult;
use crate::store::Stored;

/// Sets what a new object of its kind begins with.
pub fn before_create(_server: &Arc<Server>, resource: &Resource, object: &mut Value) {
    if resource.is("", "namespaces") {
        let name = fields::name(object).to_owned();
        fields::set(object, &["metadata", "labels", "kubernetes.io/metadata.name"], name.into());
        fields::set(object, &["spec", "finalizers"], json!(["kubernetes"]));
        fields::set(object, &["status"], json!({"phase": "Active"}));
    }
}

/// Leaves only those changes that the path allows.
pub fn restrict(resource: &Resource, subresource: &str, old: &Value, new: &mut Value) {
    match subresource {
        "" => {
            if resource.subresource("status").is_some() {
                fields::copy(old, new, &["status"]);
            }
        }
        "status" => {
            let mut kept = old.clone();
            fields::copy(new, &mut kept, &["status"]);
            fields::copy(new, &mut kept, &["metadata", "managedFields"]);
            *new = kept;
        }
        _ => {}
    }
}

/// Sets what an update of its kind brings with it.
pub fn before_update(
    _server: &Arc<Server>,
    _resource: &Resource,
    _sub: &str,
    _old: &Value,
    _new: &mut Value,
) {
}

/// Hands out what only the server can: addresses and ports.
pub fn allocate(
    _server: &Arc<Server>,
    _resource: &Resource,
    _object: &mut Value,
    _old: Option<&Value>,
    _dry_run: bool,
) -> ApiResult<()> {
    Ok(())
}

/// What follows a write.
pub fn after_write(_server: &Arc<Server>, _resource: &Resource, _stored: &Arc<Stored>) {}

/// What follows a deletion.
pub fn after_delete(_server: &Arc<Server>, _resource: &Resource, _old: &Value) {}

/// What a client should know about a deletion.
pub fn deletion_warnings(resource: &Resource, options: &DeleteOptions) -> Vec<String> {
    if resource.is("batch", "jobs") && options.propagation.is_none() {
        return vec![
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning".to_owned(),
        ];
    }
    Vec::new()
}

/// What happens to dependents when the client does not say.
pub fn default_propagation(resource: &Resource) -> &'static str {
    if resource.is("batch", "jobs") || resource.is("", "replicationcontrollers") {
        "Orphan"
    } else {
        "Background"
    }
}

/// How many seconds an object gets to end well.
pub fn grace_period(resource: &Resource, options: &DeleteOptions, object: &Value) -> i64 {
    if !resource.is("", "pods") {
        return 0;
    }
    let phase = fields::text(object, &["status", "phase"]);
    if fields::text(object, &["spec", "nodeName"]).is_empty() || matches!(phase, "Failed" | "Succeeded") {
        return 0;
    }
    let own = fields::at(object, &["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64);
    options.grace_period_seconds.or(own).unwrap_or(30).max(0)
}

/// What the beginning of a deletion changes.
pub fn begin_deletion(resource: &Resource, object: &mut Value) {
    if resource.is("", "namespaces") {
        fields::set(object, &["status", "phase"], "Terminating".into());
    }
}
