//! The rules in CEL of custom resources.

use kube_cel::Validator;
use podsmith_object::Value;

use crate::registry::Custom;
use crate::status::Cause;

/// The rules that do not hold. Rules about changes are only looked at when there is an old state.
pub fn check(custom: &Custom, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let Some(rules) = &custom.rules else { return Vec::new() };
    match Validator::new().validate_compiled(rules, object, old) {
        Ok(()) => Vec::new(),
        Err(errors) => errors
            .into_vec()
            .into_iter()
            .map(|error| {
                let field =
                    if error.field_path.is_empty() { "<nil>".to_owned() } else { error.field_path.clone() };
                let sort = type_at(object, &error.field_path);
                match error.reason.as_deref() {
                    Some("FieldValueForbidden") => Cause::forbidden(field, error.message),
                    Some("FieldValueRequired") => Cause::required(field, &error.message),
                    Some("FieldValueDuplicate") => {
                        Cause::new("FieldValueDuplicate", field, format!("Duplicate value: \"{sort}\""))
                    }
                    _ => Cause::invalid(field, &Value::from(sort), error.message),
                }
            })
            .collect(),
    }
}

/// The JSON type of the value at a path, as messages name it.
fn type_at(object: &Value, path: &str) -> &'static str {
    let mut value = object;
    for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
        let key = part.trim_end_matches(']');
        let next = match value {
            Value::Array(items) => key.parse::<usize>().ok().and_then(|at| items.get(at)),
            other => other.get(key.trim_matches('"')),
        };
        match next {
            Some(next) => value = next,
            None => return "object",
        }
    }
    match value {
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        _ => "object",
    }
}
