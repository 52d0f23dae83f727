//! Removing what a schema does not declare.

use podsmith_object::Value;

use super::{additional, flag};
use crate::table::table;
use crate::{canonical, decode};

const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Prunes a whole object and returns the paths of what is gone, sorted.
pub(super) fn prune(schema: &Value, object: &mut Value) -> Vec<String> {
    let mut walk = Walk { gone: Vec::new() };
    walk.value(Some(schema), object, "", true);
    walk.gone.sort();
    walk.gone
}

/// Brings the metadata of an object into its stored form and returns what is unknown in it.
pub(super) fn prune_metadata(object: &mut Value, path: &str) -> Vec<String> {
    let Some(metadata) = object.get_mut("metadata") else { return Vec::new() };
    let Some(ty) = table().named("meta/v1", "ObjectMeta") else { return Vec::new() };
    let gone =
        decode::unknown_paths(&ty, metadata).into_iter().map(|inner| format!("{path}.{inner}")).collect();
    canonical::canonicalize(&ty, metadata);
    gone
}

/// The same for the metadata of resources inside the object. Whole numbers lose a fraction of zero on the way.
pub(super) fn prune_embedded(schema: &Value, value: &mut Value, path: &str, gone: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if flag(schema, "x-kubernetes-embedded-resource") {
        gone.extend(prune_metadata(value, &below("metadata")));
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let declared = schema.get("properties").and_then(|all| all.get(key)).or(additional(schema));
                prune_embedded(declared.unwrap_or(&Value::Null), inner, &below(key), gone);
            }
        }
        Value::Array(items) => {
            let inner = schema.get("items").unwrap_or(&Value::Null);
            for (at, item) in items.iter_mut().enumerate() {
                prune_embedded(inner, item, &format!("{path}[{at}]"), gone);
            }
        }
        Value::Number(number) => {
            if let (true, Some(float)) = (number.is_f64(), number.as_f64())
                && float.fract() == 0.0
                && float.abs() < 9e15
            {
                *value = Value::from(float as i64);
            }
        }
        _ => {}
    }
}

struct Walk {
    gone: Vec<String>,
}

impl Walk {
    fn value(&mut self, schema: Option<&Value>, value: &mut Value, path: &str, resource: bool) {
        let keep = schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
        match value {
            Value::Object(map) => {
                let resource =
                    resource || schema.is_some_and(|schema| flag(schema, "x-kubernetes-embedded-resource"));
                map.retain(|key, inner| {
                    if resource && OBJECT_FIELDS.contains(&key.as_str()) {
                        return true;
                    }
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    let declared =
                        schema.and_then(|schema| schema.get("properties")).and_then(|all| all.get(key));
                    let others = schema.and_then(additional);
                    let free = schema.and_then(|schema| schema.get("additionalProperties"))
                        == Some(&Value::Bool(true));
                    if let Some(inner_schema) = declared.or(others) {
                        self.value(Some(inner_schema), inner, &path, false);
                        return true;
                    }
                    if free {
                        self.value(None, inner, &path, false);
                        return true;
                    }
                    if !keep {
                        self.gone.push(path);
                    }
                    keep
                });
            }
            Value::Array(items) => {
                let inner = schema.and_then(|schema| schema.get("items"));
                for (at, item) in items.iter_mut().enumerate() {
                    // Items below a preserved value are preserved as well, but for what they declare.
                    if keep && inner.is_none() {
                        continue;
                    }
                    self.value(inner, item, &format!("{path}[{at}]"), false);
                }
            }
            _ => {}
        }
    }
}

/// Removes nulls that are neither allowed nor replaced by a default. Lists keep theirs.
pub(super) fn drop_nulls(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, inner| {
                let declared = schema.get("properties").and_then(|all| all.get(key)).or(additional(schema));
                let Some(declared) = declared else { return true };
                if inner.is_null() {
                    return flag(declared, "nullable") || declared.get("default").is_some();
                }
                drop_nulls(declared, inner);
                true
            });
        }
        Value::Array(items) => {
            if let Some(inner) = schema.get("items") {
                items.iter_mut().for_each(|item| drop_nulls(inner, item));
            }
        }
        _ => {}
    }
}
