//! Reading request bodies: JSON with its duplicates noticed, and whether it fits a type.
//!
//! [`read`] turns bytes into a value and lists fields that occur twice; [`check`] compares a value with a type and
//! gives the first error the server would give; [`unknown_fields`] lists what strict validation complains about.

use std::cell::RefCell;
use std::fmt;

use base64::Engine as _;
use podsmith_object::quantity::Quantity;
use podsmith_object::{Map, Number, Value};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use thiserror::Error;

use crate::gotext;
use crate::types::{Base, Scalar, Type};

/// A value that does not fit its type. The text is that of the server.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{0}")]
pub struct DecodeError(pub String);

/// A body and the fields in it that occur more than once.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The value; of a field that occurs twice the last one counts.
    pub value: Value,
    /// `duplicate field "data"`, in the order of the body.
    pub duplicates: Vec<String>,
}

/// A body of a known type and what strict validation says about it.
#[derive(Clone, Debug, Default)]
pub struct TypedBody {
    /// The value; of a field that occurs twice the last one counts.
    pub value: Value,
    /// `duplicate field "data"` and `unknown field "spec.unk"`, in the order of the body.
    pub strict_errors: Vec<String>,
}

/// Reads one JSON document and notes fields that occur twice.
///
/// # Errors
///
/// When the bytes are no JSON.
pub fn read(bytes: &[u8]) -> Result<Body, serde_json::Error> {
    read_with(bytes, Known::Anything).map(|(value, duplicates)| Body { value, duplicates })
}

/// Reads one JSON document of a type and notes fields that occur twice or that the type does not declare.
///
/// # Errors
///
/// When the bytes are no JSON.
pub fn read_typed(bytes: &[u8], ty: &Type) -> Result<TypedBody, serde_json::Error> {
    read_with(bytes, Known::Type(ty)).map(|(value, strict_errors)| TypedBody { value, strict_errors })
}

fn read_with(bytes: &[u8], known: Known<'_>) -> Result<(Value, Vec<String>), serde_json::Error> {
    let errors = RefCell::new(Vec::new());
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Seed { path: String::new(), known, errors: &errors }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, errors.into_inner()))
}

/// What is known about the place in a body.
#[derive(Clone, Copy)]
enum Known<'a> {
    /// No type; only duplicates count.
    Anything,
    /// This type.
    Type(&'a Type),
    /// It is below something unknown, and nothing counts any more.
    Ignored,
}

impl<'a> Known<'a> {
    fn field(self, key: &str) -> Option<Known<'a>> {
        match self {
            Self::Type(Type::Untyped | Type::Opaque) => Some(Self::Ignored),
            Self::Type(ty @ (Type::Struct(_) | Type::Map(_))) => ty.child(key).map(Self::Type),
            Self::Type(_) => Some(Self::Ignored),
            other => Some(other),
        }
    }

    fn item(self) -> Known<'a> {
        match self {
            Self::Type(Type::List(list)) => Self::Type(&list.items),
            Self::Type(_) => Self::Ignored,
            other => other,
        }
    }
}

struct Seed<'a> {
    path: String,
    known: Known<'a>,
    errors: &'a RefCell<Vec<String>>,
}

impl Seed<'_> {
    fn complain(&self, what: &str, path: &str) {
        if !matches!(self.known, Known::Ignored) {
            self.errors.borrow_mut().push(format!("{what} field {}", gotext::quoted(path)));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }
    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, items.len());
            let seed = Seed { path, known: self.known.item(), errors: self.errors };
            match access.next_element_seed(seed)? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let path = join(&self.path, &key);
            let known = match self.known.field(&key) {
                Some(known) => {
                    if map.contains_key(&key) {
                        self.complain("duplicate", &path);
                    }
                    known
                }
                None => {
                    self.complain("unknown", &path);
                    Known::Ignored
                }
            };
            let value = access.next_value_seed(Seed { path, known, errors: self.errors })?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Fields the type does not declare: `unknown field "spec.unk"`, in the order of the value.
pub fn unknown_fields(ty: &Type, value: &Value) -> Vec<String> {
    let paths = unknown_paths(ty, value).into_iter();
    paths.map(|path| format!("unknown field {}", gotext::quoted(&path))).collect()
}

/// Paths of fields the type does not declare: `spec.unk`.
pub(crate) fn unknown_paths(ty: &Type, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk_unknown(ty, value, "", &mut found);
    found
}

fn walk_unknown(ty: &Type, value: &Value, path: &str, found: &mut Vec<String>) {
    match (ty, value) {
        (Type::Struct(structure), Value::Object(map)) => {
            let definition = structure.definition();
            for (key, inner) in map {
                let path = join(path, key);
                match definition.fields.get(key.as_str()) {
                    Some(field) => walk_unknown(&field.ty, inner, &path, found),
                    None => match &definition.others {
                        Some(other) => walk_unknown(other, inner, &path, found),
                        None => found.push(path),
                    },
                }
            }
        }
        (Type::Map(map), Value::Object(entries)) => {
            for (key, inner) in entries {
                walk_unknown(&map.values, inner, &join(path, key), found);
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for (at, inner) in items.iter().enumerate() {
                walk_unknown(&list.items, inner, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}

/// Compares a value with a built-in type.
///
/// # Errors
///
/// The first mismatch, with the text of the server after `cannot be handled as a …: `.
pub fn check(ty: &Type, value: &Value) -> Result<(), DecodeError> {
    Checker { structure: "", fields: Vec::new() }.value(ty, value)
}

/// Where we are, as the Go decoder tells it: the innermost struct and all field names on the way.
struct Checker<'a> {
    structure: &'a str,
    fields: Vec<&'a str>,
}

impl<'a> Checker<'a> {
    fn mismatch(&self, found: &str, ty: &Type) -> DecodeError {
        self.mismatch_named(found, &ty.go_name())
    }

    fn mismatch_named(&self, found: &str, name: &str) -> DecodeError {
        DecodeError(if self.fields.is_empty() {
            format!("json: cannot unmarshal {found} into Go value of type {name}")
        } else {
            let path = self.fields.join(".");
            format!(
                "json: cannot unmarshal {found} into Go struct field {}.{path} of type {name}",
                self.structure
            )
        })
    }

    fn value(&mut self, ty: &'a Type, value: &'a Value) -> Result<(), DecodeError> {
        match (ty, value) {
            (_, Value::Null) | (Type::Untyped | Type::Opaque, _) => Ok(()),
            (Type::Scalar(scalar), value) => self.scalar(ty, *scalar, value),
            (Type::List(list), Value::Array(items)) => {
                items.iter().try_for_each(|item| self.value(&list.items, item))
            }
            (Type::Map(map), Value::Object(entries)) => {
                entries.values().try_for_each(|item| self.value(&map.values, item))
            }
            (Type::Struct(structure), Value::Object(map)) => {
                let definition = structure.definition();
                let outer = self.structure;
                for (key, inner) in map {
                    let Some((name, field)) = definition.fields.get_key_value(key.as_str()) else { continue };
                    self.structure = definition.name;
                    let depth = self.fields.len();
                    self.fields.extend(field.inlined_from.filter(|from| *from != "TypeMeta"));
                    self.fields.push(name);
                    self.value(&field.ty, inner)?;
                    self.fields.truncate(depth);
                }
                self.structure = outer;
                Ok(())
            }
            (ty, other) => Err(self.mismatch(sort(other), ty)),
        }
    }

    fn scalar(&self, ty: &Type, scalar: Scalar, value: &Value) -> Result<(), DecodeError> {
        let whole = |low: i128, high: i128| match value {
            Value::Number(number) => {
                let fits = as_whole(number).is_some_and(|whole| (low..=high).contains(&whole));
                if fits { Ok(()) } else { Err(self.mismatch(&format!("number {number}"), ty)) }
            }
            other => Err(self.mismatch(sort(other), ty)),
        };
        let expect = |fits: bool| if fits { Ok(()) } else { Err(self.mismatch(sort(value), ty)) };
        match scalar.base {
            Base::String => expect(value.is_string()),
            Base::Bool => expect(value.is_boolean()),
            Base::Int32 => whole(i128::from(i32::MIN), i128::from(i32::MAX)),
            Base::Int64 => whole(i128::from(i64::MIN), i128::from(i64::MAX)),
            Base::Uint8 => whole(0, 255),
            Base::Uint32 => whole(0, i128::from(u32::MAX)),
            Base::Uint64 => whole(0, i128::from(u64::MAX)),
            Base::Float32 | Base::Float64 => expect(value.is_number()),
            Base::Bytes => match value {
                Value::String(text) => bytes(text),
                other => Err(self.mismatch(sort(other), ty)),
            },
            Base::Quantity => quantity(value),
            Base::Time | Base::MicroTime => match value {
                Value::String(text) => time(text, scalar.base),
                other => Err(self.mismatch_named(sort(other), "string")),
            },
            Base::IntOrString => match value {
                Value::String(_) => Ok(()),
                Value::Number(number)
                    if as_whole(number).is_some_and(|whole| i32::try_from(whole).is_ok()) =>
                {
                    Ok(())
                }
                Value::Number(number) => Err(self.mismatch_named(&format!("number {number}"), "int32")),
                other => Err(self.mismatch_named(sort(other), "int32")),
            },
            Base::Duration => match value {
                Value::String(text) if is_duration(text) => Ok(()),
                Value::String(text) => {
                    Err(DecodeError(format!("time: invalid duration {}", gotext::quoted(text))))
                }
                other => Err(self.mismatch_named(sort(other), "string")),
            },
            Base::Any => Ok(()),
        }
    }
}

fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn as_whole(number: &Number) -> Option<i128> {
    if let Some(whole) = number.as_i64() {
        return Some(i128::from(whole));
    }
    number.as_u64().map(i128::from)
}

fn bytes(text: &str) -> Result<(), DecodeError> {
    let joined: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    if base64::engine::general_purpose::STANDARD.decode(&joined).is_ok() {
        return Ok(());
    }
    let valid = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let at = joined.iter().position(|b| !valid(b)).unwrap_or(joined.len() / 4 * 4);
    Err(DecodeError(format!("illegal base64 data at input byte {at}")))
}

fn quantity(value: &Value) -> Result<(), DecodeError> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => other.to_string(),
    };
    if text.is_empty() || Quantity::parse(&text).is_ok() {
        return Ok(());
    }
    Err(DecodeError(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            .to_owned(),
    ))
}

fn time(text: &str, base: Base) -> Result<(), DecodeError> {
    let valid = text.parse::<jiff::Timestamp>().is_ok();
    let layout =
        if base == Base::Time { "2006-01-02T15:04:05Z07:00" } else { "2006-01-02T15:04:05.000000Z07:00" };
    let refuse = |rest: &str, part: &str| {
        let (text, rest) = (gotext::quoted(text), gotext::quoted(rest));
        Err(DecodeError(format!("parsing time {text} as \"{layout}\": cannot parse {rest} as \"{part}\"")))
    };
    // Microseconds are always written with six digits.
    let fraction = text.get(19..).unwrap_or("");
    let digits =
        fraction.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    match (valid, base) {
        (false, _) => refuse(text, "2006"),
        (true, Base::MicroTime) if digits != 6 => refuse(fraction, ".000000"),
        _ => Ok(()),
    }
}

/// Go's durations: `1h30m`, `1.5s`, `-2ms`, `0`.
fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (number, after) = rest.split_at(digits);
        let unit = after.len() - after.trim_start_matches(|c: char| c.is_alphabetic()).len();
        let (name, after) = after.split_at(unit);
        if !number.contains(|c: char| c.is_ascii_digit())
            || !matches!(name, "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h")
        {
            return false;
        }
        parts += 1;
        rest = after;
    }
    parts > 0
}
