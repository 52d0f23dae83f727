//! What depends on the type of an object: decoding, defaults, validation, merges. The schema crate does the work;
//! this is where its results become answers.

mod cel;
mod managers;

use podsmith_object::Value;
use podsmith_schema::fault::Fault;
use podsmith_schema::json_patch::{self, JsonPatchError};
use podsmith_schema::{canonical, decode, defaults, merge_patch, protobuf, strategic, validate};

pub use managers::{apply, same_but_for_times, track};

use crate::registry::Resource;
use crate::request::FieldValidation;
use crate::status::{ApiError, ApiResult, Cause};

/// Checks a decoded body against its type and brings it into the stored form. Returns warnings.
///
/// # Errors
///
/// 400 for a value of the wrong type, and for unknown or duplicate fields when the check is strict.
pub fn check_body(
    resource: &Resource,
    object: &mut Value,
    duplicates: &[String],
    validation: FieldValidation,
) -> ApiResult<Vec<String>> {
    let refuse = |why: String| {
        let (kind, version) = (&resource.kind, &resource.version);
        ApiError::bad_request(format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"))
    };
    let mut complaints: Vec<String> = Vec::new();
    match &resource.custom {
        Some(custom) => {
            let dropped = custom.schema.prune(object);
            complaints.extend(dropped.iter().map(|path| format!("unknown field \"{path}\"")));
            custom.schema.drop_nulls(object);
        }
        None => {
            decode::check(&resource.ty, object).map_err(|error| refuse(error.to_string()))?;
            if validation != FieldValidation::Ignore {
                complaints.extend(decode::unknown_fields(&resource.ty, object));
            }
            canonical::canonicalize(&resource.ty, object);
        }
    }
    complaints.extend_from_slice(duplicates);
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(complaints),
        FieldValidation::Strict if complaints.is_empty() => Ok(Vec::new()),
        FieldValidation::Strict if resource.is_custom() => {
            Err(ApiError::bad_request(format!("strict decoding error: {}", complaints.join(", "))))
        }
        FieldValidation::Strict => Err(refuse(format!("strict decoding error: {}", complaints.join(", ")))),
    }
}

/// Fills in what the client left out.
pub fn set_defaults(resource: &Resource, object: &mut Value) {
    match &resource.custom {
        Some(custom) => custom.schema.default_fields(object),
        None => defaults::fill(&resource.ty, object),
    }
}

/// What is wrong with a new object.
pub fn validate_create(resource: &Resource, object: &Value) -> Vec<Cause> {
    match &resource.custom {
        Some(custom) => {
            let mut faults = validate::custom_create(object, resource.namespaced);
            faults.extend(custom.schema.validate(object));
            let mut found = causes(faults);
            if found.is_empty() {
                found = cel::check(custom, object, None);
            }
            found
        }
        None => causes(validate::create(&resource.gvk(), object)),
    }
}

/// What is wrong with a change.
pub fn validate_update(resource: &Resource, subresource: &str, new: &Value, old: &Value) -> Vec<Cause> {
    match &resource.custom {
        Some(custom) => {
            let mut faults = validate::custom_update(new, old);
            faults.extend(custom.schema.validate_update(new, old));
            let mut found = causes(faults);
            if found.is_empty() {
                found = cel::check(custom, new, Some(old));
            }
            found
        }
        None if matches!(subresource, "" | "scale") => causes(validate::update(&resource.gvk(), new, old)),
        None => causes(validate::status_update(&resource.gvk(), new, old)),
    }
}

fn causes(faults: Vec<Fault>) -> Vec<Cause> {
    faults
        .into_iter()
        .map(|fault| {
            let field = if fault.field.is_empty() { "<nil>".to_owned() } else { fault.field.clone() };
            Cause::new(fault.reason.cause(), field, fault.body())
        })
        .collect()
}

/// A strategic merge patch.
///
/// # Errors
///
/// When the patch makes no sense for the type.
pub fn strategic(resource: &Resource, object: &Value, patch: &Value) -> ApiResult<Value> {
    strategic::apply(object.clone(), patch.clone(), &resource.ty)
        .map_err(|error| ApiError::internal(error.to_string()))
}

/// A merge patch.
pub fn merge(object: &Value, patch: &Value) -> Value {
    let mut out = object.clone();
    merge_patch::apply(&mut out, patch.clone());
    out
}

/// A JSON patch.
///
/// # Errors
///
/// 400 when it is none, 413 when it is too long, 422 when it cannot be done.
pub fn json(object: &Value, patch: &Value) -> ApiResult<Value> {
    let operations = patch.as_array().map_or(0, Vec::len);
    if operations > json_patch::MAX_OPERATIONS {
        let most = json_patch::MAX_OPERATIONS;
        let message = format!("The allowed maximum operations in a JSON patch is {most}, got {operations}");
        return Err(ApiError::new(413, "RequestEntityTooLarge", message));
    }
    let mut out = object.clone();
    match json_patch::apply(&mut out, patch) {
        Ok(()) => Ok(out),
        Err(JsonPatchError::NotAList) => {
            let found = match patch {
                Value::Object(_) => "object",
                Value::String(_) => "string",
                Value::Number(_) => "number",
                Value::Bool(_) => "bool",
                _ => "null",
            };
            Err(ApiError::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
            )))
        }
        Err(_) => Err(ApiError::new(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        )
        .with_details(Default::default())),
    }
}

/// A protobuf body.
///
/// # Errors
///
/// When it cannot be read.
pub fn decode_protobuf(bytes: &[u8]) -> Result<Value, String> {
    protobuf::decode(bytes).map_err(|error| error.to_string())
}
