//! JSON as encoding/json writes and reads it.

use std::fmt::Write as _;

use base64::Engine as _;
use podsmith_object::Value as Json;

use super::json_error;
use crate::format::json_float;
use crate::value::{List, Map, Value, with_stack};

/// How to write.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Write `<`, `>` and `&` as escapes.
    pub escape_html: bool,
    /// Two spaces for each level.
    pub pretty: bool,
}

/// The value as JSON, or nothing if JSON cannot hold it (a float that is not finite).
pub(crate) fn write(value: &Value, style: Style) -> Result<String, String> {
    let mut writer = Writer { out: String::new(), style, depth: 0 };
    writer.value(value)?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    style: Style,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Absent | Value::Nil => self.out.push_str("null"),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number, _) => {
                let _ = write!(self.out, "{number}");
            }
            Value::Float(number) if !number.is_finite() => {
                return Err(format!("json: unsupported value: {}", crate::format::shortest_general(*number)));
            }
            Value::Float(number) => self.out.push_str(&json_float(*number)),
            Value::String(text) => self.string(text),
            Value::RawString(bytes) => self.string(&String::from_utf8_lossy(bytes)),
            Value::Bytes(bytes) => {
                let text = base64::engine::general_purpose::STANDARD.encode(bytes);
                self.string(&text);
            }
            Value::List(list) if list.is_nil() => self.out.push_str("null"),
            Value::List(list) => {
                with_stack(|| self.items('[', ']', list.items().iter(), |writer, item| writer.value(item)))?;
            }
            Value::Map(map) if map.is_nil() => self.out.push_str("null"),
            Value::Map(map) => {
                let Some(_visit) = map.enter() else {
                    return Err("json: unsupported value: encountered a cycle".into());
                };
                with_stack(|| {
                    self.items('{', '}', map.entries().into_iter(), |writer, (key, item)| {
                        writer.key(&key);
                        writer.value(&item)
                    })
                })?;
            }
            Value::Native(native) => self.json(&native.to_json())?,
        }
        Ok(())
    }

    /// A value that a native has already turned into JSON; keys keep their order.
    fn json(&mut self, json: &Json) -> Result<(), String> {
        match json {
            Json::Array(items) => self.items('[', ']', items.iter(), |writer, item| writer.json(item)),
            Json::Object(map) => self.items('{', '}', map.iter(), |writer, (key, item)| {
                writer.key(key);
                writer.json(item)
            }),
            Json::Number(number) => {
                let _ = write!(self.out, "{number}");
                Ok(())
            }
            other => self.value(&Value::from_json(other)),
        }
    }

    fn items<T>(
        &mut self,
        open: char,
        close: char,
        items: impl Iterator<Item = T>,
        mut one: impl FnMut(&mut Self, T) -> Result<(), String>,
    ) -> Result<(), String> {
        self.out.push(open);
        self.depth += 1;
        let mut empty = true;
        for item in items {
            if !empty {
                self.out.push(',');
            }
            empty = false;
            self.line();
            one(self, item)?;
        }
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self) {
        if self.style.pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth));
        }
    }

    fn key(&mut self, key: &str) {
        self.string(key);
        self.out.push_str(if self.style.pretty { ": " } else { ":" });
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\x08' => self.out.push_str("\\b"),
                '\x0c' => self.out.push_str("\\f"),
                '<' | '>' | '&' if self.style.escape_html => self.unicode(c),
                '\0'..='\x1f' | '\u{2028}' | '\u{2029}' => self.unicode(c),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    fn unicode(&mut self, c: char) {
        let _ = write!(self.out, "\\u{:04x}", u32::from(c));
    }
}

/// Reads any JSON value; every number is a float.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str::<Json>(text)
        .map(|json| Value::from_json(&json))
        .map_err(|_| json_error::explain(text))
}

/// Reads an object; null is a nil map.
pub(crate) fn read_map(text: &str) -> Result<Value, String> {
    match read(text)? {
        Value::Nil => Ok(Value::Map(Map::nil())),
        value @ Value::Map(_) => Ok(value),
        other => Err(mismatch(&other, "map[string]interface {}")),
    }
}

/// Reads an array; null is a nil list.
pub(crate) fn read_list(text: &str) -> Result<Value, String> {
    match read(text)? {
        Value::Nil => Ok(Value::List(List::nil(crate::value::Elements::Any))),
        value @ Value::List(_) => Ok(value),
        other => Err(mismatch(&other, "[]interface {}")),
    }
}

/// The error of encoding/json when a value has another type than asked for.
pub(crate) fn mismatch(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Bool(_) => "bool",
        Value::Int(..) | Value::Float(_) => "number",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "string",
    };
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}
