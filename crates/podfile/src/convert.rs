//! Conversions between the types of the language, with the rules HCL users know.

use podsmith_object::{Number, Value};

use crate::number;

/// The type of a value in words, with its article.
pub(crate) fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Strings, numbers and booleans as text.
pub(crate) fn to_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number::text(number)),
        Value::Bool(flag) => Ok(flag.to_string()),
        other => Err(format!("a string is needed, this is {}", describe(other))),
    }
}

/// Numbers, and text that reads as one.
pub(crate) fn to_number(value: &Value) -> Result<Number, String> {
    let converted = match value {
        Value::Number(number) => return Ok(number.clone()),
        Value::String(text) => number::parse(text.trim()),
        _ => None,
    };
    match converted {
        Some(Value::Number(number)) => Ok(number),
        _ => Err(format!("a number is needed, this is {}", describe(value))),
    }
}

/// Whole numbers only.
pub(crate) fn to_integer(value: &Value) -> Result<i64, String> {
    let number = to_number(value)?;
    number.as_i64().ok_or_else(|| format!("a whole number is needed, this is {}", number::text(&number)))
}

/// Booleans, and the text `true` or `false`.
pub(crate) fn to_bool(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        other => Err(format!("a boolean is needed, this is {}", describe(other))),
    }
}

/// Equality as `==` means it: numbers by amount, whatever their spelling.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (number::exact(a), number::exact(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
        }
        (a, b) => a == b,
    }
}
