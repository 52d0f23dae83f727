//! Protobuf request bodies of the built-in kinds.
//!
//! Clients written in Go send them for built-in kinds and do not fall back to JSON. The table knows the number of
//! every field; a few types write themselves and are handled by hand.

mod scalars;
mod schema_props;
mod wire;

use podsmith_object::{GroupVersionKind, Map, Value};
use thiserror::Error;

use crate::canonical;
use crate::table::table;
use crate::types::{ListType, Scalar, Struct, Type};
use wire::{Fields, Raw};

/// The bytes before every object: `k8s` and a zero.
pub const MAGIC: [u8; 4] = [0x6b, 0x38, 0x73, 0x00];

/// Messages nested deeper than this are refused; no type of the table comes near.
const MAX_DEPTH: usize = 100;

/// Why bytes are no object.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum ProtobufError {
    /// The first four bytes are not the magic ones.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoMagic,
    /// The bytes end in the middle of a value.
    #[error("unexpected EOF")]
    Truncated,
    /// A field has no valid number or wire type.
    #[error("proto: illegal tag or wire type")]
    BadTag,
    /// A field has a wire type that does not fit it.
    #[error("proto: wrong wireType for field {0}")]
    WrongWireType(String),
    /// Text is not UTF-8.
    #[error("proto: invalid UTF-8 in field {0}")]
    NotText(String),
    /// Bytes that must be JSON are not.
    #[error("proto: invalid JSON in field {0}")]
    NotJson(String),
    /// The kind has no type here.
    #[error("no kind \"{kind}\" is registered for version \"{api_version}\"")]
    UnknownKind {
        /// The version given.
        api_version: String,
        /// The kind given.
        kind: String,
    },
    /// Messages are nested without end.
    #[error("proto: message nested too deeply")]
    TooDeep,
}

/// The envelope of an object.
#[derive(Clone, Debug, Default)]
pub struct Envelope<'a> {
    /// `apiVersion` of the content; may be empty.
    pub api_version: String,
    /// `kind` of the content; may be empty.
    pub kind: String,
    /// The message inside.
    pub raw: &'a [u8],
    /// `contentType`, when the content is no protobuf.
    pub content_type: String,
}

/// Opens the envelope.
///
/// # Errors
///
/// When the bytes are no envelope.
pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, ProtobufError> {
    let message = bytes.strip_prefix(&MAGIC).ok_or(ProtobufError::NoMagic)?;
    let mut envelope = Envelope::default();
    let mut fields = Fields::new(message);
    while let Some((number, raw)) = fields.next()? {
        match (number, raw) {
            (1, Raw::Bytes(type_meta)) => {
                let mut inner = Fields::new(type_meta);
                while let Some((number, raw)) = inner.next()? {
                    let Raw::Bytes(bytes) = raw else { continue };
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    match number {
                        1 => envelope.api_version = text,
                        2 => envelope.kind = text,
                        _ => {}
                    }
                }
            }
            (2, Raw::Bytes(content)) => envelope.raw = content,
            (4, Raw::Bytes(text)) => envelope.content_type = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    Ok(envelope)
}

/// Reads an object of a built-in kind into the stored form.
///
/// # Errors
///
/// When the bytes are no protobuf object or the kind is unknown.
pub fn decode(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let envelope = open(bytes)?;
    let gvk = GroupVersionKind::from_api_version(&envelope.api_version, &envelope.kind);
    let ty = table().type_of(&gvk).ok_or_else(|| ProtobufError::UnknownKind {
        api_version: envelope.api_version.clone(),
        kind: envelope.kind.clone(),
    })?;
    decode_as(&ty, &envelope)
}

/// Reads the content of an envelope as this type, whatever kind it names. The kind it names is kept.
///
/// # Errors
///
/// When the content is no message of the type.
pub fn decode_as(ty: &Type, envelope: &Envelope<'_>) -> Result<Value, ProtobufError> {
    let mut map = Map::new();
    if let Type::Struct(structure) = ty {
        message(structure.definition(), envelope.raw, &mut map, 0)?;
    }
    for (key, text) in [("kind", &envelope.kind), ("apiVersion", &envelope.api_version)] {
        if !text.is_empty() {
            map.insert(key.to_owned(), Value::from(text.as_str()));
        }
    }
    let mut value = Value::Object(map);
    canonical::canonicalize(ty, &mut value);
    Ok(value)
}

fn message(
    definition: &Struct,
    bytes: &[u8],
    out: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), ProtobufError> {
    if depth > MAX_DEPTH {
        return Err(ProtobufError::TooDeep);
    }
    let mut fields = Fields::new(bytes);
    while let Some((number, raw)) = fields.next()? {
        if let Some((_, inlined)) = definition.inlined.iter().find(|(known, _)| *known == number) {
            let Raw::Bytes(inner) = raw else { return Err(wrong(definition.name)) };
            message(inlined.definition(), inner, out, depth + 1)?;
            continue;
        }
        // Numbers nobody knows are skipped, as every protobuf reader does.
        let Some((name, field)) = definition.fields.iter().find(|(_, field)| field.number == number) else {
            continue;
        };
        if definition.package == "apiextensions/v1"
            && let Some(value) =
                schema_props::special(definition.name, name, raw, out.get(name.as_ref()), depth)?
        {
            out.insert(name.to_string(), value);
            continue;
        }
        let slot = out.entry(name.to_string()).or_insert(Value::Null);
        member(&field.ty, name, raw, slot, depth)?;
    }
    Ok(())
}

/// Reads one occurrence of a field into its slot; lists and maps grow.
fn member(ty: &Type, name: &str, raw: Raw<'_>, slot: &mut Value, depth: usize) -> Result<(), ProtobufError> {
    match ty {
        Type::List(list) if list.wrapped => {
            let Raw::Bytes(inner) = raw else { return Err(wrong(name)) };
            *slot = wrapped(list, name, inner, depth)?;
        }
        Type::List(list) => push(&list.items, name, raw, slot, depth)?,
        Type::Map(map) => {
            let Raw::Bytes(entry) = raw else { return Err(wrong(name)) };
            let (mut key, mut value) = (String::new(), Value::Null);
            let mut fields = Fields::new(entry);
            while let Some((number, raw)) = fields.next()? {
                match (number, raw) {
                    (1, Raw::Bytes(text)) => key = scalars::text(name, text)?,
                    (2, raw) => member(&map.values, name, raw, &mut value, depth + 1)?,
                    _ => {}
                }
            }
            if slot.is_null() {
                *slot = Value::Object(Map::new());
            }
            if let Value::Object(entries) = slot {
                entries.insert(key, value);
            }
        }
        other => *slot = single(other, name, raw, std::mem::take(slot), depth)?,
    }
    Ok(())
}

fn wrapped(list: &ListType, name: &str, bytes: &[u8], depth: usize) -> Result<Value, ProtobufError> {
    let mut items = Value::Array(Vec::new());
    let mut fields = Fields::new(bytes);
    while let Some((number, raw)) = fields.next()? {
        if number == 1 {
            push(&list.items, name, raw, &mut items, depth + 1)?;
        }
    }
    Ok(items)
}

fn push(items: &Type, name: &str, raw: Raw<'_>, slot: &mut Value, depth: usize) -> Result<(), ProtobufError> {
    if slot.is_null() {
        *slot = Value::Array(Vec::new());
    }
    let Value::Array(list) = slot else { return Ok(()) };
    let number = matches!(items, Type::Scalar(Scalar { base, .. }) if scalars::is_number(*base));
    if let (true, Raw::Bytes(packed)) = (number, raw) {
        let mut fields = Fields::new(packed);
        while !fields.is_empty() {
            list.push(single(items, name, Raw::Varint(fields.varint()?), Value::Null, depth)?);
        }
        return Ok(());
    }
    let mut item = Value::Null;
    member(items, name, raw, &mut item, depth)?;
    list.push(item);
    Ok(())
}

fn single(ty: &Type, name: &str, raw: Raw<'_>, current: Value, depth: usize) -> Result<Value, ProtobufError> {
    match (ty, raw) {
        (Type::Scalar(Scalar { base, .. }), raw) => scalars::read(*base, name, raw),
        (Type::Struct(structure), Raw::Bytes(bytes)) => {
            // A message that occurs twice is merged.
            let mut map = match current {
                Value::Object(map) => map,
                _ => Map::new(),
            };
            message(structure.definition(), bytes, &mut map, depth + 1)?;
            Ok(Value::Object(map))
        }
        (Type::Opaque | Type::Untyped, Raw::Bytes(bytes)) => raw_json(name, bytes),
        _ => Err(wrong(name)),
    }
}

/// A message with JSON, or with another object, in its first field.
fn raw_json(name: &str, bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut fields = Fields::new(bytes);
    while let Some((number, raw)) = fields.next()? {
        if let (1, Raw::Bytes(content)) = (number, raw) {
            if content.is_empty() {
                return Ok(Value::Null);
            }
            if content.starts_with(&MAGIC) {
                return decode(content);
            }
            return serde_json::from_slice(content).map_err(|_| ProtobufError::NotJson(name.to_owned()));
        }
    }
    Ok(Value::Null)
}

fn wrong(name: &str) -> ProtobufError {
    ProtobufError::WrongWireType(name.to_owned())
}
