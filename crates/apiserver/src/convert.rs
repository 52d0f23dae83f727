//! Objects in the version that was asked for.

mod events;
mod hpa;
mod webhook;

use std::sync::Arc;

use podsmith_object::{GroupVersionKind, Value};
use podsmith_schema::{Type, table};

use crate::fields;
use crate::registry::Resource;
use crate::server::Server;
use crate::status::ApiResult;
use crate::store::Stored;

/// True if the stored bytes are already in the resource's version.
pub fn is_in_version(resource: &Resource, stored: &Stored) -> bool {
    let wanted = format!("\"apiVersion\":\"{}\",", resource.api_version());
    let head = stored.json().len() - stored.without_type().len();
    stored.json().get(..head).is_some_and(|head| head.ends_with(wanted.as_bytes()))
}

/// The object as the resource's version shows it.
///
/// # Errors
///
/// When the webhook that converts fails.
pub async fn read(server: &Arc<Server>, resource: &Resource, stored: &Stored) -> ApiResult<Value> {
    let object = stored.value();
    if !resource.converts || is_in_version(resource, stored) {
        return Ok(object);
    }
    to_version(server, resource, object, &resource.api_version()).await
}

/// The object as it is stored.
///
/// # Errors
///
/// When the webhook that converts fails.
pub async fn write(server: &Arc<Server>, resource: &Resource, object: Value) -> ApiResult<Value> {
    if !resource.converts || resource.api_version() == resource.stored_as {
        return Ok(object);
    }
    to_version(server, resource, object, &resource.stored_as).await
}

async fn to_version(
    server: &Arc<Server>,
    resource: &Resource,
    object: Value,
    api_version: &str,
) -> ApiResult<Value> {
    let hook = resource.custom.as_ref().and_then(|custom| custom.conversion.as_ref());
    let Some(hook) = hook else { return Ok(between(resource, object, api_version)) };
    let mut converted = webhook::convert(server, resource, hook, &object, api_version).await?;
    // Identity and history are the server's, whatever the webhook makes of them.
    let labels = fields::at(&converted, &["metadata", "labels"]).cloned();
    let annotations = fields::at(&converted, &["metadata", "annotations"]).cloned();
    fields::copy(&object, &mut converted, &["metadata"]);
    for (key, value) in [("labels", labels), ("annotations", annotations)] {
        match value {
            Some(value) => fields::set(&mut converted, &["metadata", key], value),
            None => {
                fields::remove(&mut converted, &["metadata", key]);
            }
        }
    }
    if let Some(custom) = &resource.custom
        && let Some((_, schema)) = custom.versions.iter().find(|(known, _)| known == api_version)
    {
        schema.prune(&mut converted);
        schema.default_fields(&mut converted);
    }
    Ok(converted)
}

/// The type of a built-in kind in another of its versions.
pub fn sibling_type(resource: &Resource, api_version: &str) -> Option<Type> {
    if !resource.converts {
        return None;
    }
    table().type_of(&GroupVersionKind::from_api_version(api_version, &resource.kind))
}

/// The object in another version, as far as that needs nobody else.
pub fn between(resource: &Resource, mut object: Value, api_version: &str) -> Value {
    let from = crate::fields::text(&object, &["apiVersion"]).to_owned();
    if from == api_version {
        return object;
    }
    match (resource.kind.as_str(), from.as_str(), api_version) {
        ("HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2") => hpa::to_v2(&mut object),
        ("HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1") => hpa::to_v1(&mut object),
        ("Event", "v1", "events.k8s.io/v1") => events::to_events(&mut object),
        ("Event", "events.k8s.io/v1", "v1") => events::to_core(&mut object),
        _ => {}
    }
    if let Some(body) = object.as_object_mut() {
        body.insert("apiVersion".into(), api_version.into());
    }
    object
}
