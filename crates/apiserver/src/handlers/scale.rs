//! The scale subresource: one number and a selector, of many kinds.

use std::sync::Arc;

use podsmith_object::selector::Selector;
use podsmith_object::{Value, json};

use super::patch::{Dialect, apply_patch};
use super::update::{Change, apply_change};
use crate::convert;
use crate::fields;
use crate::registry::Resource;
use crate::reply::Reply;
use crate::request::WriteOptions;
use crate::request::body::{decode_json, decode_yaml};
use crate::rules;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};

/// Answers reads and writes of `/scale`.
pub async fn answer(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    match call.method.as_str() {
        "GET" | "HEAD" => Ok(Reply::value(200, scale_of(&call.resource, &current(server, call).await?))),
        "PUT" => put(server, call).await,
        "PATCH" => patch(server, call).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

async fn current(server: &Arc<Server>, call: &Call) -> ApiResult<Value> {
    let (resource, target) = (&call.resource, &call.target);
    let key = resource.key(&target.namespace, &target.name);
    match server.store.get(&resource.table, &key) {
        Some(stored) => convert::read(server, resource, &stored).await,
        None => Err(ApiError::not_found(&resource.group, &resource.plural, &target.name)),
    }
}

/// The scale of an object.
fn scale_of(resource: &Resource, object: &Value) -> Value {
    let number = |keys: &[&str]| fields::at(object, keys).and_then(Value::as_i64).unwrap_or(0);
    let (wanted, present, selector) = match resource.custom.as_ref().and_then(|custom| custom.scale.as_ref())
    {
        Some(paths) => {
            let read = |path: &[String]| number(&path.iter().map(String::as_str).collect::<Vec<_>>());
            let selector = paths.selector.as_ref().map(|path| {
                let keys: Vec<&str> = path.iter().map(String::as_str).collect();
                fields::text(object, &keys).to_owned()
            });
            (read(&paths.spec), read(&paths.status), selector.unwrap_or_default())
        }
        None => (number(&["spec", "replicas"]), number(&["status", "replicas"]), selector_text(object)),
    };
    let mut metadata = json!({});
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = fields::at(object, &["metadata", key]) {
            fields::set(&mut metadata, &[key], value.clone());
        }
    }
    let mut status = json!({"replicas": present});
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    let spec = if wanted == 0 { json!({}) } else { json!({"replicas": wanted}) };
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
}

fn selector_text(object: &Value) -> String {
    let Some(selector) = fields::at(object, &["spec", "selector"]) else { return String::new() };
    if selector.get("matchLabels").is_some() || selector.get("matchExpressions").is_some() {
        return Selector::from_label_selector(selector).map(|one| one.to_string()).unwrap_or_default();
    }
    // A ReplicationController selects by plain labels.
    let pairs: Vec<String> = selector
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    pairs.join(",")
}

async fn put(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    let options = WriteOptions::read(&call.query, "UpdateOptions")?;
    let mut scale = super::read_body(call, "Scale")?.value;
    super::check_type(&mut scale, "autoscaling", "v1", "Scale")?;
    write(server, call, &options, false, &mut |_| Ok(scale.clone())).await
}

async fn patch(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    let options = WriteOptions::read(&call.query, "PatchOptions")?;
    let dialect = Dialect::from_content_type(call.content_type.as_deref(), false)?;
    if dialect == Dialect::Apply {
        return apply(server, call, &options).await;
    }
    let body = decode_json(&call.body)
        .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))?
        .value;
    // A Scale has no lists, so a strategic patch of it is a merge patch.
    let dialect = if dialect == Dialect::Strategic { Dialect::Merge } else { dialect };
    let resource = call.resource.clone();
    write(server, call, &options, true, &mut |scale| apply_patch(&resource, dialect, scale, &body)).await
}

/// An apply to the scale owns the replicas of the object, by the path they have there.
async fn apply(server: &Arc<Server>, call: &Call, options: &WriteOptions) -> ApiResult<Reply> {
    if options.field_manager.is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(ApiError::invalid_options("PatchOptions", cause));
    }
    let scale = decode_yaml(&call.body)
        .map_err(|error| ApiError::bad_request(format!("error decoding YAML: {error}")))?
        .value;
    let resource = call.resource.clone();
    let mut config = json!({"apiVersion": resource.api_version(), "kind": resource.kind});
    if let Some(replicas) = fields::at(&scale, &["spec", "replicas"]) {
        set_replicas(&resource, &mut config, replicas.clone());
    }
    let force = options.force == Some(true);
    let manager = options.field_manager.clone();
    let mut produce = |old: &Value| rules::apply(&resource, Some(old), &config, &manager, force, "scale");
    let change = Change { options, tracked: true, patch: true };
    let reply = apply_change(server, call, &change, &mut produce).await?;
    finish(server, call, reply).await
}

fn set_replicas(resource: &Resource, object: &mut Value, replicas: Value) {
    match resource.custom.as_ref().and_then(|custom| custom.scale.as_ref()) {
        Some(paths) => {
            let keys: Vec<&str> = paths.spec.iter().map(String::as_str).collect();
            fields::set(object, &keys, replicas);
        }
        None => fields::set(object, &["spec", "replicas"], replicas),
    }
}

async fn write(
    server: &Arc<Server>,
    call: &Call,
    options: &WriteOptions,
    patch: bool,
    change_scale: &mut (dyn FnMut(&Value) -> ApiResult<Value> + Send),
) -> ApiResult<Reply> {
    let resource = call.resource.clone();
    let mut produce = |old: &Value| {
        let before = scale_of(&resource, old);
        let after = change_scale(&before)?;
        let replicas = match fields::at(&after, &["spec", "replicas"]) {
            None => 0,
            Some(value) => value.as_i64().ok_or_else(|| {
                ApiError::bad_request(
                    "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32",
                )
            })?,
        };
        if replicas < 0 {
            let cause =
                Cause::invalid("spec.replicas", &replicas.into(), "must be greater than or equal to 0");
            return Err(ApiError::invalid("autoscaling", "Scale", fields::name(old), vec![cause]));
        }
        let mut new = old.clone();
        set_replicas(&resource, &mut new, replicas.into());
        for key in ["resourceVersion", "uid"] {
            fields::copy(&after, &mut new, &["metadata", key]);
        }
        Ok(new)
    };
    let change = Change { options, tracked: false, patch };
    let reply = apply_change(server, call, &change, &mut produce).await?;
    finish(server, call, reply).await
}

/// The answer to a write of the scale is the scale.
async fn finish(server: &Arc<Server>, call: &Call, mut reply: Reply) -> ApiResult<Reply> {
    let object = match &reply.payload {
        crate::reply::Payload::Json(bytes) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
        crate::reply::Payload::Value(value) => value.clone(),
        _ => current(server, call).await?,
    };
    reply.payload = crate::reply::Payload::Value(scale_of(&call.resource, &object));
    Ok(reply)
}
