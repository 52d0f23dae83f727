//! Parts of pods and accounts that are done rather than stored: binding, eviction, tokens.

use std::sync::Arc;

use podsmith_object::selector::Selector;
use podsmith_object::{Value, json};

use super::delete::{Deleted, delete_object};
use super::update::{Change, apply_change};
use crate::auth::tokens::{self, Wish};
use crate::clock;
use crate::fields::{self, text};
use crate::reply::Reply;
use crate::request::{DeleteOptions, WriteOptions};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause, Details};

/// Answers a POST to a part of an object.
pub async fn create_part(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    let part = call.target.subresource.as_str();
    let kind = call.resource.subresource(part).map_or("", |part| part.kind.as_str()).to_owned();
    match part {
        "binding" => {
            let body = super::read_body(call, &kind)?.value;
            bind(server, call, &body).await
        }
        "eviction" => {
            let body = if call.body.is_empty() { Value::Null } else { super::read_body(call, &kind)?.value };
            evict(server, call, &body).await
        }
        "token" => {
            let body = super::read_body(call, &kind)?.value;
            token(server, call, body)
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}

/// Parts that only a node can answer.
///
/// # Errors
///
/// Always: 404 without the object, 400 before it has a node, 503 because nothing runs on the node.
pub fn needs_node(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    let (resource, target) = (&call.resource, &call.target);
    let key = resource.key(&target.namespace, &target.name);
    let Some(stored) = server.store.get(&resource.table, &key) else {
        return Err(ApiError::not_found(&resource.group, &resource.plural, &target.name));
    };
    if resource.is("", "pods") && text(&stored.value(), &["spec", "nodeName"]).is_empty() {
        return Err(ApiError::bad_request(format!("pod {} does not have a host assigned", target.name)));
    }
    Err(ApiError::new(
        503,
        "ServiceUnavailable",
        "no node answers here: nothing runs the containers of this cluster",
    ))
}

fn success(code: u16) -> Reply {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code});
    Reply::value(code, status)
}

/// A Binding posted to the collection names its pod itself.
pub async fn bind_by_name(server: &Arc<Server>, call: &Call, binding: &Value) -> ApiResult<Reply> {
    let index = server.registry.index();
    let Some(pods) = index.by_group_plural("", "pods") else { return Err(ApiError::method_not_allowed()) };
    let mut inner =
        super::internal::call("podsmith", pods, &call.target.namespace, fields::name(binding), "binding");
    inner.identity = call.identity.clone();
    bind(server, &inner, binding).await
}

/// Puts a pod on a node.
async fn bind(server: &Arc<Server>, call: &Call, binding: &Value) -> ApiResult<Reply> {
    let node = text(binding, &["target", "name"]).to_owned();
    if node.is_empty() {
        let cause = Cause::required("target.name", "");
        return Err(ApiError::invalid("", "Binding", &call.target.name, vec![cause]));
    }
    let options = WriteOptions::read(&call.query, "CreateOptions")?;
    let name = call.target.name.clone();
    let mut produce = |old: &Value| {
        let present = text(old, &["spec", "nodeName"]);
        if !present.is_empty() {
            let why = format!("pod {name} is already assigned to node \"{present}\"");
            return Err(ApiError::conflict("", "pods/binding", &name, why));
        }
        if fields::is_deleting(old) {
            let why = format!("pod {name} is being deleted, cannot be assigned to a host");
            return Err(ApiError::conflict("", "pods/binding", &name, why));
        }
        let mut new = old.clone();
        fields::set(&mut new, &["spec", "nodeName"], node.as_str().into());
        for key in ["annotations", "labels"] {
            let given = fields::at(binding, &["metadata", key]).and_then(Value::as_object);
            for (name, value) in given.into_iter().flatten() {
                fields::set(&mut new, &["metadata", key, name], value.clone());
            }
        }
        set_condition(
            &mut new,
            json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": clock::now()}),
        );
        Ok(new)
    };
    let change = Change { options: &options, tracked: false, patch: true };
    apply_change(server, call, &change, &mut produce).await?;
    Ok(success(201))
}

fn set_condition(object: &mut Value, condition: Value) {
    let mut all: Vec<Value> = fields::list(object, &["status", "conditions"]).to_vec();
    all.retain(|one| text(one, &["type"]) != text(&condition, &["type"]));
    all.push(condition);
    fields::set(object, &["status", "conditions"], all.into());
}

/// Deletes a pod if its budget allows.
async fn evict(server: &Arc<Server>, call: &Call, eviction: &Value) -> ApiResult<Reply> {
    let (resource, target) = (&call.resource, &call.target);
    let key = resource.key(&target.namespace, &target.name);
    let Some(stored) = server.store.get(&resource.table, &key) else {
        return Err(ApiError::not_found("", "pods", &target.name));
    };
    let pod = stored.value();
    let options = DeleteOptions::read(&call.query, fields::at(eviction, &["deleteOptions"]))?;
    let ended = matches!(text(&pod, &["status", "phase"]), "Succeeded" | "Failed" | "Pending");
    if !ended && !fields::is_deleting(&pod) {
        spend_budget(server, call, &pod, options.dry_run).await?;
    }
    match delete_object(server, call, &target.name, &options).await? {
        (Deleted::Gone(_) | Deleted::Held(_), _) => Ok(success(201)),
    }
}

/// Takes one disruption from the budget of a pod.
async fn spend_budget(server: &Arc<Server>, call: &Call, pod: &Value, dry_run: bool) -> ApiResult<()> {
    let namespace = call.target.namespace.as_str();
    let index = server.registry.index();
    let Some(budgets) = index.by_group_plural("policy", "poddisruptionbudgets") else { return Ok(()) };
    let Ok(listing) = server.store.list(&budgets.table, &format!("{namespace}/"), None, None, None) else {
        return Ok(());
    };
    let labels = fields::at(pod, &["metadata", "labels"]);
    let matching: Vec<Value> = listing
        .items
        .iter()
        .map(|(_, stored)| stored.value())
        .filter(|budget| {
            fields::at(budget, &["spec", "selector"])
                .and_then(|selector| Selector::from_label_selector(selector).ok())
                .is_some_and(|selector| selector.matches(|key| labels?.get(key)?.as_str()))
        })
        .collect();
    match matching.as_slice() {
        [] => return Ok(()),
        [_] => {}
        _ => {
            return Err(ApiError::internal(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            ));
        }
    }
    let name = matching.first().map(|budget| fields::name(budget).to_owned()).unwrap_or_default();
    let inner = super::internal::call("podsmith", budgets, namespace, &name, "status");
    let options = WriteOptions { dry_run, field_manager: "podsmith".to_owned(), ..WriteOptions::default() };
    let pod_name = call.target.name.clone();
    let mut produce = |old: &Value| {
        let allowed = fields::at(old, &["status", "disruptionsAllowed"]).and_then(Value::as_i64).unwrap_or(0);
        if allowed <= 0 {
            let desired = fields::at(old, &["status", "desiredHealthy"]).and_then(Value::as_i64).unwrap_or(0);
            let healthy = fields::at(old, &["status", "currentHealthy"]).and_then(Value::as_i64).unwrap_or(0);
            let message = format!(
                "The disruption budget {} needs {desired} healthy pods and has {healthy} currently",
                fields::name(old)
            );
            return Err(ApiError::new(
                429,
                "TooManyRequests",
                "Cannot evict pod as it would violate the pod's disruption budget.",
            )
            .with_details(Details {
                causes: vec![Cause::new("DisruptionBudget", "", message)],
                retry_after_seconds: 10,
                ..Details::default()
            }));
        }
        let mut new = old.clone();
        fields::set(&mut new, &["status", "disruptionsAllowed"], (allowed - 1).into());
        fields::set(&mut new, &["status", "disruptedPods", &pod_name], clock::now().into());
        Ok(new)
    };
    apply_change(server, &inner, &Change { options: &options, tracked: false, patch: true }, &mut produce)
        .await
        .map(drop)
}

/// A token for an account.
fn token(server: &Arc<Server>, call: &Call, mut request: Value) -> ApiResult<Reply> {
    let target = &call.target;
    let key = call.resource.key(&target.namespace, &target.name);
    let Some(account) = server.store.get(&call.resource.table, &key) else {
        return Err(ApiError::not_found("", "serviceaccounts", &target.name));
    };
    let account = account.value();
    super::check_type(&mut request, "authentication.k8s.io", "v1", "TokenRequest")?;
    let seconds =
        fields::at(&request, &["spec", "expirationSeconds"]).and_then(Value::as_i64).unwrap_or(3600);
    let refuse =
        |cause| Err(ApiError::invalid("authentication.k8s.io", "TokenRequest", &target.name, vec![cause]));
    if seconds < 600 {
        let cause = Cause::invalid(
            "spec.expirationSeconds",
            &seconds.into(),
            "may not specify a duration less than 10 minutes",
        );
        return refuse(cause);
    }
    let bound = match fields::at(&request, &["spec", "boundObjectRef"]) {
        None => None,
        Some(reference) => {
            let (kind, name) = (text(reference, &["kind"]), text(reference, &["name"]));
            let table = match kind {
                "Pod" => "pods",
                "Secret" => "secrets",
                other => {
                    return Err(ApiError::bad_request(format!(
                        "cannot bind token to object of type {other}"
                    )));
                }
            };
            let Some(stored) = server.store.get(table, &format!("{}/{name}", target.namespace)) else {
                return Err(ApiError::not_found("", table, name));
            };
            Some((kind.to_owned(), name.to_owned(), fields::uid(&stored.value()).to_owned()))
        }
    };
    let audiences: Vec<String> =
        fields::texts(&request, &["spec", "audiences"]).into_iter().map(str::to_owned).collect();
    let wish = Wish { namespace: &target.namespace, account: &account, audiences, seconds, bound };
    let Some(token) = tokens::issue(server, &wish) else {
        return Err(ApiError::internal_error("the token could not be signed"));
    };
    let expires = clock::in_seconds(seconds);
    fields::set(&mut request, &["metadata", "name"], target.name.as_str().into());
    fields::set(&mut request, &["metadata", "namespace"], target.namespace.as_str().into());
    fields::set(&mut request, &["metadata", "creationTimestamp"], clock::now().into());
    fields::set(&mut request, &["spec", "expirationSeconds"], seconds.into());
    if fields::list(&request, &["spec", "audiences"]).is_empty() {
        fields::set(&mut request, &["spec", "audiences"], json!([tokens::ISSUER]));
    }
    fields::set(&mut request, &["status"], json!({"token": token, "expirationTimestamp": expires}));
    Ok(Reply::value(201, request))
}
