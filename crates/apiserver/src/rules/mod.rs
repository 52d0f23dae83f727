//! What depends on the type of an object: decoding, defaults, validation, merges. The work is done by the schema
//! crate; this is where its results become answers.

use podsmith_object::Value;

use crate::registry::Resource;
use crate::request::FieldValidation;
use crate::status::{ApiError, ApiResult, Cause};

/// Checks a decoded body against its type. Returns warnings.
pub fn check_body(
    _resource: &Resource,
    _object: &mut Value,
    duplicates: &[String],
    validation: FieldValidation,
) -> ApiResult<Vec<String>> {
    let _ = (duplicates, validation);
    Ok(Vec::new())
}

/// Fills in what the client left out.
pub fn set_defaults(_resource: &Resource, _object: &mut Value) {}

/// What is wrong with a new object.
pub fn validate_create(_resource: &Resource, _object: &Value) -> Vec<Cause> {
    Vec::new()
}

/// What is wrong with a change.
pub fn validate_update(_resource: &Resource, _subresource: &str, _new: &Value, _old: &Value) -> Vec<Cause> {
    Vec::new()
}

/// A strategic merge patch.
pub fn strategic_merge(_resource: &Resource, _object: &Value, _patch: &Value) -> ApiResult<Value> {
    Err(ApiError::new(415, "UnsupportedMediaType", "strategic merge is not there yet"))
}

/// Server-side apply: the new object with its managers.
pub fn apply(
    _resource: &Resource,
    _live: Option<&Value>,
    _config: &Value,
    _manager: &str,
    _force: bool,
    _subresource: &str,
) -> ApiResult<Value> {
    Err(ApiError::new(415, "UnsupportedMediaType", "server-side apply is not there yet"))
}

/// Notes who changed what.
pub fn track(
    _resource: &Resource,
    _old: Option<&Value>,
    _new: &mut Value,
    _manager: &str,
    _subresource: &str,
) {
}

/// A protobuf body.
pub fn decode_protobuf(_bytes: &[u8]) -> Result<Value, String> {
    Err("protobuf is not there yet".to_owned())
}
