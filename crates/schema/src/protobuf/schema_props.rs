//! The schema types of custom resource definitions, whose JSON is not what their messages look like.

use podsmith_object::{Map, Value};

use super::wire::{Fields, Raw};
use super::{ProtobufError, message, raw_json, scalars};
use crate::table::table;
use crate::types::Type;

/// Reads a field that needs special care; `None` for all others.
pub(super) fn special(
    structure: &str,
    field: &str,
    raw: Raw<'_>,
    current: Option<&Value>,
    depth: usize,
) -> Result<Option<Value>, ProtobufError> {
    let (("JSONSchemaProps", Raw::Bytes(bytes)) | ("ValidationRule", Raw::Bytes(bytes))) = (structure, raw)
    else {
        return Ok(None);
    };
    Ok(match field {
        "default" | "example" => Some(raw_json(field, bytes)?),
        "enum" => {
            let mut items = current.and_then(Value::as_array).cloned().unwrap_or_default();
            items.push(raw_json(field, bytes)?);
            Some(Value::Array(items))
        }
        "items" | "additionalProperties" | "additionalItems" => Some(either(field, bytes, depth)?),
        "dependencies" => {
            let mut map = current.and_then(Value::as_object).cloned().unwrap_or_default();
            let (mut key, mut value) = (String::new(), Value::Null);
            let mut fields = Fields::new(bytes);
            while let Some(one) = fields.next()? {
                match one {
                    (1, Raw::Bytes(text)) => key = scalars::text(field, text)?,
                    (2, Raw::Bytes(inner)) => value = either(field, inner, depth)?,
                    _ => {}
                }
            }
            map.insert(key, value);
            Some(Value::Object(map))
        }
        _ => None,
    })
}

/// A schema, or what may stand in its place: a flag, a list of schemas, a list of names.
fn either(field: &str, bytes: &[u8], depth: usize) -> Result<Value, ProtobufError> {
    let mut flag = None;
    let mut schema = None;
    let mut list = Vec::new();
    let mut fields = Fields::new(bytes);
    while let Some(one) = fields.next()? {
        match (field, one) {
            ("additionalProperties" | "additionalItems", (1, Raw::Varint(value))) => flag = Some(value != 0),
            ("additionalProperties" | "additionalItems", (2, Raw::Bytes(inner))) => {
                schema = Some(props(inner, depth)?)
            }
            (_, (1, Raw::Bytes(inner))) => schema = Some(props(inner, depth)?),
            ("items", (2, Raw::Bytes(inner))) => list.push(props(inner, depth)?),
            ("dependencies", (2, Raw::Bytes(text))) => list.push(Value::from(scalars::text(field, text)?)),
            _ => {}
        }
    }
    Ok(match (schema, flag) {
        (Some(schema), _) => schema,
        (None, Some(flag)) => Value::from(flag),
        (None, None) => Value::Array(list),
    })
}

fn props(bytes: &[u8], depth: usize) -> Result<Value, ProtobufError> {
    let mut map = Map::new();
    if let Some(ty @ Type::Struct(_)) = table().named("apiextensions/v1", "JSONSchemaProps") {
        if let Some(definition) = ty.as_struct() {
            message(definition, bytes, &mut map, depth + 1)?;
        }
        let mut value = Value::Object(map);
        crate::canonical::canonicalize(&ty, &mut value);
        return Ok(value);
    }
    Ok(Value::Object(map))
}
