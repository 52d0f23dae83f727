//! YAML as Helm writes and reads it.

use std::sync::Arc;

use podsmith_object::Value as Json;
use podsmith_object::yaml::{GoStyle, ReadOptions, read_value, to_go_string};

use super::json::mismatch;
use crate::value::{Elements, List, Map, Value, with_stack};

/// What `toYaml` prints, with the final line break; empty if the value cannot be written.
pub(crate) fn write(value: &Value) -> String {
    if !is_finite(value) {
        return String::new();
    }
    to_go_string(&value.to_json(), GoStyle::Kubectl).unwrap_or_default()
}

/// What `toYamlPretty` prints, with the final line break.
pub(crate) fn write_pretty(value: &Value) -> String {
    to_go_string(&raw_json(value, 2000), GoStyle::Pretty).unwrap_or_default()
}

/// The value without the detour over JSON that turns whole floats into integers.
fn raw_json(value: &Value, depth: usize) -> Json {
    let Some(depth) = depth.checked_sub(1) else { return Json::Null };
    match value {
        Value::Float(number) => Json::from(*number),
        Value::List(list) => {
            with_stack(|| Json::Array(list.items().iter().map(|item| raw_json(item, depth)).collect()))
        }
        Value::Map(map) => {
            let Some(_visit) = map.enter() else { return Json::Null };
            let entries = map.entries();
            let entry = |(key, value): (Arc<str>, Value)| (key.to_string(), raw_json(&value, depth));
            with_stack(|| Json::Object(entries.into_iter().map(entry).collect()))
        }
        other => other.to_json(),
    }
}

/// JSON has no infinity, so Go's writer gives up on it.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::List(list) => with_stack(|| list.items().iter().all(is_finite)),
        Value::Map(map) => {
            let Some(_visit) = map.enter() else { return true };
            with_stack(|| map.entries().iter().all(|(_, value)| is_finite(value)))
        }
        _ => true,
    }
}

fn read(text: &str) -> Result<Value, String> {
    let first = first_document(text);
    let read = match read_value(first, ReadOptions::lenient()) {
        // Go stops after the first document and never sees what follows it.
        Err(error) if error.message.contains("document start") => {
            read_value(before(first, error.line, error.column), ReadOptions::lenient())
        }
        other => other,
    };
    match read {
        Ok(json) => Ok(Value::from_json(&json)),
        Err(error) => {
            let place = if error.line > 1 { format!("line {}: ", error.line) } else { String::new() };
            Err(format!("error converting YAML to JSON: yaml: {place}{}", error.message))
        }
    }
}

/// The text before a position.
fn before(text: &str, line: usize, column: usize) -> &str {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[start..];
    let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
    &text[..start + offset]
}

/// Go reads the first document and ignores the rest.
fn first_document(text: &str) -> &str {
    let mut at = 0;
    let mut content = false;
    for line in text.split_inclusive('\n') {
        let is_separator = line.trim_end() == "---" || line.starts_with("--- ");
        if is_separator && content {
            return &text[..at];
        }
        content |= is_separator || !(line.trim().is_empty() || line.trim_start().starts_with('#'));
        at += line.len();
    }
    text
}

/// Reads a mapping; an empty text is a nil map.
pub(crate) fn read_map(text: &str) -> Result<Value, String> {
    match read(text)? {
        Value::Nil => Ok(Value::Map(Map::nil())),
        value @ Value::Map(_) => Ok(value),
        other => Err(unmarshal_error(&other, "map[string]interface {}")),
    }
}

/// Reads a sequence; an empty text is a nil list.
pub(crate) fn read_list(text: &str) -> Result<Value, String> {
    match read(text)? {
        Value::Nil => Ok(Value::List(List::nil(Elements::Any))),
        value @ Value::List(_) => Ok(value),
        other => Err(unmarshal_error(&other, "[]interface {}")),
    }
}

fn unmarshal_error(value: &Value, wanted: &str) -> String {
    format!("error unmarshaling JSON: while decoding JSON: {}", mismatch(value, wanted))
}
