//! Defaults of a custom schema.

use podsmith_object::Value;

use super::{additional, flag};

/// Fills in defaults, also inside what a default brought along.
pub(super) fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (key, inner) in properties.into_iter().flatten() {
                let Some(default) = inner.get("default").filter(|default| !default.is_null()) else {
                    continue;
                };
                let missing = match map.get(key) {
                    None => true,
                    Some(current) => current.is_null() && !flag(inner, "nullable"),
                };
                if missing {
                    map.insert(key.clone(), default.clone());
                }
            }
            for (key, current) in map.iter_mut() {
                if let Some(inner) = properties.and_then(|all| all.get(key)) {
                    fill(inner, current);
                } else if let Some(inner) = additional(schema) {
                    replace_null(inner, current);
                    fill(inner, current);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = schema.get("items") {
                for item in items {
                    replace_null(inner, item);
                    fill(inner, item);
                }
            }
        }
        _ => {}
    }
}

fn replace_null(schema: &Value, value: &mut Value) {
    if value.is_null()
        && !flag(schema, "nullable")
        && let Some(default) = schema.get("default")
    {
        *value = default.clone();
    }
}
