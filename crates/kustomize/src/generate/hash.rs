//! The hash that generated objects carry in their names.

use std::fmt::Write as _;

use podsmith_object::{Map, Value};
use sha2::{Digest, Sha256};

use crate::resources::{Resource, text_of};

/// Ten characters that depend on the content, not on the name.
pub(crate) fn hash(resource: &Resource) -> String {
    let mut content = Map::new();
    let kind = resource.kind();
    let field = |name: &str| match resource.body.get(name) {
        None => Value::from(""),
        Some(Value::Object(map)) => sorted(map),
        Some(Value::Array(_) | Value::Null) => Value::Null,
        Some(scalar) => Value::from(&*text_of(scalar)),
    };
    // Keys in alphabetical order, as they are encoded.
    match &*kind {
        "ConfigMap" => {
            if let binary @ Value::Object(_) = field("binaryData") {
                content.insert("binaryData".into(), binary);
            }
            content.insert("data".into(), field("data"));
            content.insert("kind".into(), Value::from("ConfigMap"));
            content.insert("name".into(), Value::from(""));
        }
        "Secret" => {
            content.insert("data".into(), field("data"));
            content.insert("kind".into(), Value::from("Secret"));
            content.insert("name".into(), Value::from(""));
            if let text @ Value::Object(_) = field("stringData") {
                content.insert("stringData".into(), text);
            }
            content.insert("type".into(), field("type"));
        }
        _ => {
            if let Value::Object(map) = sorted(&resource.body) {
                content = map;
            }
        }
    }
    encode(&Sha256::digest(go_json(&Value::Object(content))))
}

fn sorted(map: &Map<String, Value>) -> Value {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    let entries = entries.into_iter().map(|(key, value)| {
        let value = match value {
            Value::Object(inner) => sorted(inner),
            other => other.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(entries.collect())
}

/// JSON with the characters escaped that Go's encoder escapes.
fn go_json(value: &Value) -> String {
    let plain = value.to_string();
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            '\u{7f}' => out.push(c),
            c => out.push(c),
        }
    }
    out
}

fn encode(digest: &[u8]) -> String {
    let mut hex = String::with_capacity(10);
    for byte in digest.iter().take(5) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex.chars()
        .map(|c| match c {
            '0' => 'g',
            '1' => 'h',
            '3' => 'k',
            'a' => 'm',
            'e' => 't',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn hash_of(value: Value) -> String {
        match value {
            Value::Object(body) => hash(&Resource { body, ..Resource::default() }),
            _ => String::new(),
        }
    }

    #[test]
    fn hashes_are_those_of_the_original() {
        assert_eq!(
            hash_of(json!({"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}})),
            "h29d89cmmt"
        );
        assert_eq!(
            hash_of(json!({"kind": "ConfigMap", "metadata": {"name": "y"}, "data": {"a": "1"}})),
            "h29d89cmmt"
        );
    }

    #[test]
    fn some_characters_are_escaped_before_hashing() {
        assert_eq!(go_json(&json!({"a": "<&>\u{2028}"})), r#"{"a":"\u003c\u0026\u003e\u2028"}"#);
    }
}
