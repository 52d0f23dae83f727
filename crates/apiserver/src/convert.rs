//! Objects in the version that was asked for.

use std::sync::Arc;

use podsmith_object::Value;

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
    Ok(builtin(resource, object, &resource.api_version()))
}

/// The object as it is stored.
pub async fn write(_server: &Arc<Server>, resource: &Resource, object: Value) -> ApiResult<Value> {
    if !resource.converts || resource.api_version() == resource.stored_as {
        return Ok(object);
    }
    Ok(builtin(resource, object, &resource.stored_as))
}

fn builtin(_resource: &Resource, mut object: Value, version: &str) -> Value {
    if let Some(body) = object.as_object_mut() {
        body.insert("apiVersion".into(), version.into());
    }
    object
}
