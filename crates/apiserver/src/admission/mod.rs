//! What may be written, beyond the shape of an object.

mod pods;
mod storage;

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::fields;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};

/// What is done to an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// It is new.
    Create,
    /// It changes.
    Update,
    /// It goes.
    Delete,
}

/// Changes an object on its way in. Returns warnings.
pub async fn mutate(
    server: &Arc<Server>,
    call: &Call,
    operation: Operation,
    object: &mut Value,
    _old: Option<&Value>,
    _dry_run: bool,
) -> ApiResult<Vec<String>> {
    let resource = &call.resource;
    if operation == Operation::Create {
        namespace_accepts(server, call)?;
        match (resource.group.as_str(), resource.plural.as_str()) {
            ("", "pods") => pods::complete(server, call, object)?,
            ("", "persistentvolumeclaims") => {
                storage::default_storage_class(server, object);
                storage::protect(object, "kubernetes.io/pvc-protection");
            }
            ("", "persistentvolumes") => storage::protect(object, "kubernetes.io/pv-protection"),
            ("networking.k8s.io", "ingresses") => storage::default_ingress_class(server, object),
            ("", "nodes") => taint_new_node(object),
            _ => {}
        }
    }
    Ok(Vec::new())
}

/// Nothing is placed on a node before it says that it is ready.
fn taint_new_node(node: &mut Value) {
    let mut taints: Vec<Value> = fields::list(node, &["spec", "taints"]).to_vec();
    let key = "node.kubernetes.io/not-ready";
    if !taints.iter().any(|taint| fields::text(taint, &["key"]) == key) {
        taints.push(json!({"key": key, "effect": "NoSchedule"}));
        fields::set(node, &["spec", "taints"], taints.into());
    }
}

/// Accepts or refuses a final object. Returns warnings.
pub async fn validate(
    _server: &Arc<Server>,
    _call: &Call,
    _operation: Operation,
    _object: &Value,
    _old: Option<&Value>,
    _dry_run: bool,
) -> ApiResult<Vec<String>> {
    Ok(Vec::new())
}

/// Accepts or refuses a deletion. Returns warnings.
pub async fn validate_delete(
    _server: &Arc<Server>,
    call: &Call,
    _old: &Value,
    _dry_run: bool,
) -> ApiResult<Vec<String>> {
    let resource = &call.resource;
    let name = call.target.name.as_str();
    if resource.is("", "namespaces") && matches!(name, "default" | "kube-system" | "kube-public") {
        return Err(ApiError::forbidden("", "namespaces", name, "this namespace may not be deleted"));
    }
    Ok(Vec::new())
}

/// New objects need a namespace that is there and stays.
fn namespace_accepts(server: &Arc<Server>, call: &Call) -> ApiResult<()> {
    let (resource, namespace) = (&call.resource, call.target.namespace.as_str());
    if !resource.namespaced {
        return Ok(());
    }
    let Some(stored) = server.store.get("namespaces", namespace) else {
        return Err(ApiError::not_found("", "namespaces", namespace));
    };
    if fields::is_deleting(&stored.value()) && !resource.plural.ends_with("subjectaccessreviews") {
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let cause = Cause::new(
            "NamespaceTerminating",
            "metadata.namespace",
            format!("namespace {namespace} is being terminated"),
        );
        let name = call.target.name.as_str();
        return Err(ApiError::forbidden(&resource.group, &resource.plural, name, why).with_cause(cause));
    }
    Ok(())
}
