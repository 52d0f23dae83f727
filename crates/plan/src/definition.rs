//! Validates custom resources against a CustomResourceDefinition of the same package, before either exists.

use std::collections::HashMap;

use podsmith_object::{Diagnostic, GroupVersionKind, Object, Value, suggest};

/// The schemas of the definitions in a package.
#[derive(Clone, Debug, Default)]
pub struct Schemas(HashMap<GroupVersionKind, Value>);

impl Schemas {
    /// Adds the schemas of every version of a definition.
    pub fn insert(&mut self, definition: &Object) {
        let text = |path: &[&str]| definition.get(path).and_then(Value::as_str).unwrap_or("");
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        for version in definition.get(&["spec", "versions"]).and_then(Value::as_array).into_iter().flatten() {
            let name = version.get("name").and_then(Value::as_str).unwrap_or("");
            if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
                self.0.insert(GroupVersionKind::new(group, name, kind), schema.clone());
            }
        }
    }

    /// The schema of a kind that the package defines.
    pub fn get(&self, gvk: &GroupVersionKind) -> Option<&Value> {
        self.0.get(gvk)
    }

    /// What in `object` does not fit its schema; nothing for kinds without one.
    pub fn check(&self, object: &Object) -> Vec<Diagnostic> {
        let Some(schema) = self.0.get(&object.gvk()) else { return Vec::new() };
        let mut found = Vec::new();
        for (key, value) in object.body() {
            if matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            match schema.pointer("/properties").and_then(|properties| properties.get(key)) {
                Some(inner) => check(key, value, inner, &mut found),
                None if keeps_unknown(schema) => {}
                None => found.push(unknown(key, key, schema)),
            }
        }
        for needed in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = needed.as_str()
                && !object.body().contains_key(name)
            {
                found.push(format!("{name} is required"));
            }
        }
        let place = object.origin().map(podsmith_object::Origin::place);
        let problem = |message| Diagnostic::error(message).on(object.id()).or_at(place.clone());
        found.into_iter().map(problem).collect()
    }
}

fn keeps_unknown(schema: &Value) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields").and_then(Value::as_bool) == Some(true)
        || schema.get("properties").is_none()
            && schema.get("additionalProperties").is_none()
            && schema.get("type").is_none()
}

fn unknown(path: &str, key: &str, schema: &Value) -> String {
    let known = schema.get("properties").and_then(Value::as_object);
    let near = known.and_then(|known| suggest::nearest(key, known.keys().map(String::as_str)));
    match near {
        Some(near) => format!("{path} is no field of the definition; did you mean `{near}`?"),
        None => format!("{path} is no field of the definition"),
    }
}

fn check(path: &str, value: &Value, schema: &Value, found: &mut Vec<String>) {
    if value.is_null() {
        if schema.get("nullable").and_then(Value::as_bool) != Some(true) && schema.get("default").is_none() {
            found.push(format!("{path} must not be null"));
        }
        return;
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let words: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        found.push(format!("{path} is {value}, not one of {}", words.join(", ")));
    }
    let int_or_string = schema.get("x-kubernetes-int-or-string").and_then(Value::as_bool) == Some(true);
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("");
    let fits = match kind {
        _ if int_or_string => value.is_i64() || value.is_u64() || value.is_string(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !fits {
        let wanted = if int_or_string { "a whole number or a string" } else { kind };
        found.push(format!("{path} must be {wanted}, this is {}", describe(value)));
        return;
    }
    match value {
        Value::Object(map) => {
            for needed in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = needed.as_str()
                    && !map.contains_key(name)
                {
                    found.push(format!("{path}.{name} is required"));
                }
            }
            let embedded =
                schema.get("x-kubernetes-embedded-resource").and_then(Value::as_bool) == Some(true);
            for (key, inner) in map {
                let at = format!("{path}.{key}");
                match (schema.get("properties").and_then(|p| p.get(key)), schema.get("additionalProperties"))
                {
                    (Some(schema), _) => check(&at, inner, schema, found),
                    (None, Some(Value::Bool(true))) => {}
                    (None, Some(schema @ Value::Object(_))) => check(&at, inner, schema, found),
                    (None, _) if keeps_unknown(schema) => {}
                    (None, _) if embedded && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") => {}
                    (None, _) => found.push(unknown(&at, key, schema)),
                }
            }
        }
        Value::Array(items) => {
            length(path, items.len(), "items", schema, "minItems", "maxItems", found);
            if let Some(inner) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check(&format!("{path}[{index}]"), item, inner, found);
                }
            }
        }
        Value::String(text) => {
            length(path, text.chars().count(), "characters", schema, "minLength", "maxLength", found);
            if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
                && regex::Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text))
            {
                found.push(format!("{path} does not match {pattern}"));
            }
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
            let strict = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
            if let Some(least) = bound("minimum")
                && (number < least || number <= least && strict("exclusiveMinimum"))
            {
                found.push(format!("{path} is {number}, less than {least}"));
            }
            if let Some(most) = bound("maximum")
                && (number > most || number >= most && strict("exclusiveMaximum"))
            {
                found.push(format!("{path} is {number}, more than {most}"));
            }
        }
        _ => {}
    }
}

fn length(
    path: &str,
    size: usize,
    what: &str,
    schema: &Value,
    least: &str,
    most: &str,
    found: &mut Vec<String>,
) {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    if let Some(least) = bound(least)
        && size < least
    {
        found.push(format!("{path} has {size} {what}, fewer than {least}"));
    }
    if let Some(most) = bound(most)
        && size > most
    {
        found.push(format!("{path} has {size} {what}, more than {most}"));
    }
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn custom_resources_are_checked_before_their_definition_exists() {
        let definition = Object::from_value(json!({
            "kind": "CustomResourceDefinition",
            "spec": {"group": "x.org", "names": {"kind": "T", "plural": "ts"}, "scope": "Namespaced", "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
                    "size": {"type": "integer", "minimum": 1}, "color": {"type": "string", "enum": ["red"]},
                    "port": {"x-kubernetes-int-or-string": true}, "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}}, "tags": {"type": "array", "maxItems": 1, "items": {"type": "string", "pattern": "^a"}},
                }}},
            }}}]},
        }))
        .unwrap();
        let mut schemas = Schemas::default();
        schemas.insert(&definition);
        let check = |spec: Value| -> Vec<String> {
            let object = Object::from_value(
                json!({"apiVersion": "x.org/v1", "kind": "T", "metadata": {"name": "t"}, "spec": spec}),
            )
            .unwrap();
            schemas.check(&object).into_iter().map(|problem| problem.message).collect()
        };
        assert!(check(json!({"size": 2, "color": "red", "port": "http", "any": {"x": 1}, "labels": {"a": "b"}, "tags": ["ab"]})).is_empty());
        assert_eq!(
            check(json!({"siz": 2})),
            ["spec.size is required", "spec.siz is no field of the definition; did you mean `size`?"]
        );
        assert_eq!(
            check(json!({"size": 0, "color": "blue"})),
            ["spec.size is 0, less than 1", "spec.color is \"blue\", not one of \"red\""]
        );
        assert_eq!(
            check(json!({"size": "2", "labels": {"a": 1}})),
            ["spec.size must be integer, this is a string", "spec.labels.a must be string, this is a number"]
        );
        assert_eq!(
            check(json!({"size": 1, "tags": ["b", "a"]})),
            ["spec.tags has 2 items, more than 1", "spec.tags[0] does not match ^a"]
        );
    }
}
