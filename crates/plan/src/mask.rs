//! Masks secrets by type: Secret data, kubectl's copy of the object, and environment variables that are marked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{Object, Value};

use crate::names;

/// A copy of the object in which every secret value is [`names::MASK`].
pub fn masked(object: &Object) -> Value {
    let mut value = object.to_value();
    let marked = marked_variables(object);
    if is_secret(object) {
        for field in ["data", "stringData"] {
            if let Some(Value::Object(map)) = value.get_mut(field) {
                for slot in map.values_mut() {
                    *slot = Value::from(names::MASK);
                }
            }
        }
    }
    if let Some(slot) =
        value.pointer_mut("/metadata/annotations").and_then(|a| a.get_mut(names::LAST_APPLIED))
    {
        *slot = Value::from(names::MASK);
    }
    if !marked.is_empty() {
        mask_environment(&mut value, &marked);
    }
    value
}

/// True for a core Secret.
pub fn is_secret(object: &Object) -> bool {
    object.kind() == "Secret" && object.api_version() == "v1"
}

/// The names under [`names::SENSITIVE`].
fn marked_variables(object: &Object) -> Vec<String> {
    let list = object.annotation(names::SENSITIVE).unwrap_or("");
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn mask_environment(value: &mut Value, marked: &[String]) {
    match value {
        Value::Object(map) => {
            let hit =
                map.get("name").and_then(Value::as_str).is_some_and(|name| marked.iter().any(|m| m == name));
            if hit && let Some(slot @ Value::String(_)) = map.get_mut("value") {
                *slot = Value::from(names::MASK);
            }
            map.values_mut().for_each(|inner| mask_environment(inner, marked));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_environment(item, marked)),
        _ => {}
    }
}

/// The secret values of some objects, to be cut out of texts that others wrote.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Collects the secret values of `objects`, as text and as base64.
    pub fn of<'o>(objects: impl IntoIterator<Item = &'o Object>) -> Self {
        let mut values = Vec::new();
        for object in objects {
            if is_secret(object) {
                for (field, encoded) in [("data", true), ("stringData", false)] {
                    let map = object.body().get(field).and_then(Value::as_object);
                    for text in map.into_iter().flat_map(|map| map.values()).filter_map(Value::as_str) {
                        if encoded {
                            values.extend(
                                STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok()),
                            );
                        } else {
                            values.push(STANDARD.encode(text));
                        }
                        values.push(text.to_owned());
                    }
                }
            }
            let marked = marked_variables(object);
            if !marked.is_empty() {
                collect_environment(&object.to_value(), &marked, &mut values);
            }
        }
        // Short values would cut holes into ordinary words.
        values.retain(|value| value.len() >= 4);
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self(values)
    }

    /// The text with every secret value masked.
    pub fn scrub(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for value in &self.0 {
            if out.contains(value.as_str()) {
                out = out.replace(value.as_str(), names::MASK);
            }
        }
        out
    }
}

fn collect_environment(value: &Value, marked: &[String], found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let hit =
                map.get("name").and_then(Value::as_str).is_some_and(|name| marked.iter().any(|m| m == name));
            if hit && let Some(text) = map.get("value").and_then(Value::as_str) {
                found.push(text.to_owned());
                found.push(STANDARD.encode(text));
            }
            map.values().for_each(|inner| collect_environment(inner, marked, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_environment(item, marked, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn secrets_are_masked_by_type_wherever_they_stand() {
        let secret = Object::from_value(json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "annotations": {names::LAST_APPLIED: "{canary}"}},
            "data": {"a": "Y2FuYXJ5LTE="}, "stringData": {"b": "canary-2"},
        }))
        .unwrap();
        let text = masked(&secret).to_string();
        assert!(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "{text}");
        let pod = Object::from_value(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "annotations": {names::SENSITIVE: "TOKEN"}},
            "spec": {"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "TOKEN", "value": "canary"}, {"name": "X", "value": "open"}]}]}}},
        }))
        .unwrap();
        let text = masked(&pod).to_string();
        assert!(!text.contains("canary") && text.contains("open"), "{text}");
        let secrets = Secrets::of([&secret, &pod]);
        assert_eq!(
            secrets.scrub("bad value canary-2, Y2FuYXJ5LTE= or canary-1"),
            "bad value (sensitive), (sensitive) or (sensitive)"
        );
    }
}
