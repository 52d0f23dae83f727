//! Objects in the version that was asked for.

mod events;
mod hpa;

use std::sync::Arc;

use podsmith_object::{GroupVersionKind, Value};
use podsmith_schema::{Type, table};

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
pub async fn read(_server: &Arc<Server>, resource: &Resource, stored: &Stored) -> ApiResult<Value> {
    let object = stored.value();
    if !resource.converts || is_in_version(resource, stored) {
        return Ok(object);
    }
    Ok(between(resource, object, &resource.api_version()))
}

/// The object as it is stored.
pub async fn write(_server: &Arc<Server>, resource: &Resource, object: Value) -> ApiResult<Value> {
    if !resource.converts || resource.api_version() == resource.stored_as {
        return Ok(object);
    }
    Ok(between(resource, object, &resource.stored_as))
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
