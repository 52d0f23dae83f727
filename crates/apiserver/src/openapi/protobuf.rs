//! Version 2 in protobuf, the only form in which some clients read it. Only what describes types is written.

use podsmith_object::{Value, yaml};

use crate::fields;

/// A whole document.
pub fn document(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 1, "2.0");
    let mut info = Vec::new();
    text(&mut info, 1, "Kubernetes");
    text(&mut info, 2, crate::VERSION);
    message(&mut out, 2, &info);
    message(&mut out, 8, &[]);
    let mut definitions = Vec::new();
    for (name, schema) in
        fields::at(document, &["definitions"]).and_then(Value::as_object).into_iter().flatten()
    {
        named(&mut definitions, name, schema);
    }
    message(&mut out, 9, &definitions);
    out
}

fn named(out: &mut Vec<u8>, name: &str, value: &Value) {
    let mut entry = Vec::new();
    text(&mut entry, 1, name);
    message(&mut entry, 2, &schema(value));
    message(out, 1, &entry);
}

fn schema(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let get = |key: &str| fields::text(value, &[key]);
    for (number, key) in [(1, "$ref"), (2, "format"), (3, "title"), (4, "description"), (13, "pattern")] {
        if !get(key).is_empty() {
            text(&mut out, number, get(key));
        }
    }
    for required in fields::texts(value, &["required"]) {
        text(&mut out, 19, required);
    }
    match value.get("additionalProperties") {
        Some(Value::Bool(true)) => message(&mut out, 21, &[0x10, 1]),
        Some(inner @ Value::Object(_)) => {
            let mut item = Vec::new();
            message(&mut item, 1, &schema(inner));
            message(&mut out, 21, &item);
        }
        _ => {}
    }
    if !get("type").is_empty() {
        let mut item = Vec::new();
        text(&mut item, 1, get("type"));
        message(&mut out, 22, &item);
    }
    if let Some(items) = value.get("items").filter(|items| items.is_object()) {
        let mut item = Vec::new();
        message(&mut item, 1, &schema(items));
        message(&mut out, 23, &item);
    }
    for part in fields::list(value, &["allOf"]) {
        message(&mut out, 24, &schema(part));
    }
    if let Some(properties) = value.get("properties").and_then(Value::as_object) {
        let mut all = Vec::new();
        for (name, property) in properties {
            named(&mut all, name, property);
        }
        message(&mut out, 25, &all);
    }
    for (key, extension) in value.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with("x-")) {
        let mut any = Vec::new();
        text(&mut any, 2, &yaml::to_string(extension));
        let mut entry = Vec::new();
        text(&mut entry, 1, key);
        message(&mut entry, 2, &any);
        message(&mut out, 31, &entry);
    }
    out
}

fn varint(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn message(out: &mut Vec<u8>, number: usize, body: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, body.len());
    out.extend_from_slice(body);
}

fn text(out: &mut Vec<u8>, number: usize, text: &str) {
    message(out, number, text.as_bytes());
}
