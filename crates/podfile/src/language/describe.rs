//! The language for editors.

use podsmith_object::{Map, Value, json};

use super::{BodyType, FILE, Need, Times, Type};
use crate::functions;

/// Describes every block, attribute and function, for editors and other tools.
pub fn describe() -> Value {
    let functions: Vec<Value> = functions::all()
        .map(|function| json!({ "name": function.name, "signature": function.signature }))
        .collect();
    json!({ "language": "podfile", "version": 1, "body": body(&FILE), "functions": functions })
}

fn body(kind: &BodyType) -> Value {
    let attributes: Vec<Value> = kind
        .attributes()
        .map(|attribute| {
            let mut out = json!({
                "name": attribute.name,
                "type": attribute.kind.name(),
                "required": attribute.need == Need::Required,
                "description": attribute.about,
            });
            if let Type::OneOf(words) = attribute.kind {
                out["values"] = json!(words);
            }
            out
        })
        .collect();
    let blocks: Vec<Value> = kind
        .blocks()
        .map(|block| {
            json!({
                "name": block.name,
                "label": block.label,
                "repeatable": block.times == Times::Many,
                "description": block.about,
                "body": body(block.body),
            })
        })
        .collect();
    json!({ "attributes": attributes, "blocks": blocks, "anyAttribute": kind.free.map(Type::name) })
}

/// A JSON schema of the JSON form of a Podfile, where a labelled block is an object from label to body.
pub fn json_schema() -> Value {
    let mut schema = object_schema(&FILE);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Podfile");
    schema
}

fn object_schema(kind: &BodyType) -> Value {
    let mut properties = Map::new();
    for attribute in kind.attributes() {
        let mut property = type_schema(attribute.kind);
        property["description"] = json!(attribute.about);
        properties.insert(attribute.name.to_owned(), property);
    }
    for block in kind.blocks() {
        let inner = object_schema(block.body);
        let mut property = match (block.label, block.times) {
            (Some(_), _) => json!({ "type": "object", "additionalProperties": inner }),
            (None, Times::Once) => inner,
            (None, Times::Many) => json!({ "type": "array", "items": inner }),
        };
        property["description"] = json!(block.about);
        properties.insert(block.name.to_owned(), property);
    }
    let needed: Vec<&str> =
        kind.attributes().filter(|a| a.need == Need::Required).map(|attribute| attribute.name).collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": kind.free.is_some() });
    if !needed.is_empty() {
        schema["required"] = json!(needed);
    }
    schema
}

fn type_schema(kind: Type) -> Value {
    match kind {
        Type::Text => json!({ "type": ["string", "number", "boolean"] }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Integer => json!({ "type": "integer" }),
        Type::Port => json!({ "type": "integer", "minimum": 1, "maximum": 65535 }),
        Type::PortOrName | Type::Amount | Type::Quantity => {
            json!({ "type": ["integer", "number", "string"] })
        }
        Type::TextList => json!({ "type": "array", "items": { "type": ["string", "number", "boolean"] } }),
        Type::TextMap => {
            json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
        }
        Type::OneOf(words) => json!({ "enum": words }),
        Type::Environment | Type::Any => json!({}),
    }
}
