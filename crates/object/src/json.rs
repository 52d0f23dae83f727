//! JSON: strict reading, concatenated streams, canonical writing.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use serde_json::map::Entry;

use crate::{Map, Number, Value};

/// A value whose mappings had no duplicate keys.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
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
        while let Some(Strict(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            match map.entry(key) {
                Entry::Vacant(slot) => slot.insert(access.next_value::<Strict>()?.0),
                Entry::Occupied(slot) => {
                    let message = format!("key `{}` occurs twice in this mapping", slot.key());
                    return Err(A::Error::custom(message));
                }
            };
        }
        Ok(Value::Object(map))
    }
}

/// Values that follow each other in one text, read one at a time. Duplicate keys are errors.
#[derive(Clone, Debug)]
pub struct Values<T> {
    text: T,
    offset: usize,
    line: usize,
}

impl<T: AsRef<str>> Values<T> {
    /// The values of `text`, from byte `offset` on, which is on line `line`.
    pub fn new(text: T, offset: usize, line: usize) -> Self {
        Self { text, offset, line }
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.text.as_ref()
    }
}

/// Each value with the line on which it starts; after an error there is nothing more. Lines in an error count from
/// the start of its value: see [`ValueError`].
impl<T: AsRef<str>> Iterator for Values<T> {
    type Item = Result<(Value, usize), ValueError>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.text.as_ref();
        let rest = text.get(self.offset..)?;
        let body = rest.trim_start();
        if body.is_empty() {
            return None;
        }
        self.line += rest[..rest.len() - body.len()].matches('\n').count();
        self.offset += rest.len() - body.len();
        let line = self.line;
        let mut stream = serde_json::Deserializer::from_str(body).into_iter::<Strict>();
        match stream.next()? {
            Ok(Strict(value)) => {
                let end = stream.byte_offset();
                self.line += body[..end].bytes().filter(|byte| *byte == b'\n').count();
                self.offset += end;
                Some(Ok((value, line)))
            }
            Err(error) => {
                self.offset = text.len() + 1;
                let (line, column) = (error.line() + line - 1, error.column());
                let text = error.to_string();
                let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
                Some(Err(ValueError { message, line, column }))
            }
        }
    }
}

/// All values that follow each other in `text`, each with its line.
///
/// # Errors
///
/// On the first value that is not valid JSON.
pub fn read_stream(text: &str) -> Result<Vec<(Value, usize)>, ValueError> {
    Values::new(text, 0, 1).collect()
}

/// Text that is no JSON.
#[derive(Clone, Debug, thiserror::Error, Eq, PartialEq)]
#[error("{message} at line {line} column {column}")]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// Line within the text, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// Compact JSON with sorted keys: the same value gives the same bytes, whatever order its fields were written in.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}
