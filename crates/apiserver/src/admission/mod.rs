//! What may be written, beyond the shape of an object: the server's own rules, policies, webhooks.

pub(crate) mod caller;
mod escalation;
mod expression;
mod limits;
mod pods;
mod policies;
pub(crate) mod quota;
mod request;
mod storage;
mod webhooks;

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::fields;
use crate::rules;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};
use request::Request;

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
    old: Option<&Value>,
    dry_run: bool,
) -> ApiResult<Vec<String>> {
    if operation == Operation::Create {
        namespace_accepts(server, call)?;
        complete(server, call, object)?;
    } else if call.resource.is("", "pods")
        && call.target.subresource.is_empty()
        && let Some(old) = old
    {
        pods::keep(old, object);
    }
    if !has_any(server, ["mutatingadmissionpolicies", "mutatingwebhookconfigurations"]) {
        return Ok(Vec::new());
    }
    let before = object.clone();
    let request = Request { server, call, operation, object: Some(&before), old, dry_run };
    if let Some(changed) = policies::mutate(&request)? {
        *object = changed;
    }
    let warnings = webhooks::mutate(server, call, operation, object, old, dry_run).await?;
    if *object != before {
        rules::set_defaults(&call.resource, object);
    }
    Ok(warnings)
}

/// True if anyone configured something of these sorts; most clusters have not, and writes should not pay for it.
fn has_any(server: &Arc<Server>, plurals: [&str; 2]) -> bool {
    plurals.iter().any(|plural| !server.store.is_empty(&format!("admissionregistration.k8s.io/{plural}")))
}

/// What the server itself adds to new objects.
fn complete(server: &Arc<Server>, call: &Call, object: &mut Value) -> ApiResult<()> {
    match (call.resource.group.as_str(), call.resource.plural.as_str()) {
        ("", "pods") => {
            limits::set_defaults(server, call, object);
            pods::complete(server, call, object)?;
        }
        ("", "persistentvolumeclaims") => {
            storage::default_storage_class(server, object);
            storage::protect(object, "kubernetes.io/pvc-protection");
        }
        ("", "persistentvolumes") => storage::protect(object, "kubernetes.io/pv-protection"),
        ("storage.k8s.io", "volumeattributesclasses") => {
            storage::protect(object, "kubernetes.io/vac-protection");
        }
        ("networking.k8s.io", "ingresses") => storage::default_ingress_class(server, object),
        ("", "nodes") => taint_new_node(object),
        _ => {}
    }
    Ok(())
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
    server: &Arc<Server>,
    call: &Call,
    operation: Operation,
    object: &Value,
    old: Option<&Value>,
    dry_run: bool,
) -> ApiResult<Vec<String>> {
    if operation == Operation::Create {
        limits::check(server, call, object)?;
    }
    escalation::check(server, call, object)?;
    let mut warnings = Vec::new();
    if has_any(server, ["validatingadmissionpolicies", "validatingwebhookconfigurations"]) {
        let request = Request { server, call, operation, object: Some(object), old, dry_run };
        warnings = policies::validate(&request)?;
        warnings.extend(webhooks::validate(&request).await?);
    }
    quota::check(server, call, object, old, dry_run)?;
    Ok(warnings)
}

/// Accepts or refuses a deletion. Returns warnings.
pub async fn validate_delete(
    server: &Arc<Server>,
    call: &Call,
    old: &Value,
    dry_run: bool,
) -> ApiResult<Vec<String>> {
    let resource = &call.resource;
    let name = call.target.name.as_str();
    if resource.is("", "namespaces") && matches!(name, "default" | "kube-system" | "kube-public") {
        return Err(ApiError::forbidden("", "namespaces", name, "this namespace may not be deleted"));
    }
    let request =
        Request { server, call, operation: Operation::Delete, object: None, old: Some(old), dry_run };
    let mut warnings = policies::validate(&request)?;
    warnings.extend(webhooks::validate(&request).await?);
    Ok(warnings)
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
    let deleting = stored.mentions("\"deletionTimestamp\"") && fields::is_deleting(&stored.value());
    if deleting && !resource.plural.ends_with("subjectaccessreviews") {
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
