//! The functions of Go's text/template itself.

use std::sync::Arc;

use crate::args::{self, Out, Table, any, rest, text};
use crate::error::CallError;
use crate::format::{is_printable, sprint, sprintf, sprintln};
use crate::function::{Function, Functions, Parameter, Signature, Special};
use crate::value::{IntKind, List, MapKind, Value};

use Parameter::{Any as A, String as S};

/// Adds them.
pub(crate) fn install(functions: &mut Functions) {
    args::install(functions, TABLE);
    for (name, special) in [("and", Special::And), ("or", Special::Or)] {
        let signature = Signature { fixed: &[A], variadic: Some(A) };
        functions.put(name, Function { signature, special, body: Arc::new(|_, _| Ok(Value::Nil)) });
    }
}

const TABLE: Table = &[
    ("not", &[A], None, |_, a| Ok(Value::Bool(!any(a, 0).is_true()))),
    ("len", &[A], None, |_, a| length(any(a, 0))),
    ("index", &[A], Some(A), |_, a| index(any(a, 0), rest(a, 1))),
    ("slice", &[A], Some(A), |_, a| slice(any(a, 0), rest(a, 1))),
    ("call", &[A], Some(A), |_, a| match any(a, 0) {
        value if value.is_nil() => Err("call of nil".into()),
        value => Err(format!("non-function of type {}", value.type_name()).into()),
    }),
    ("html", &[], Some(A), |_, a| Ok(html(&evaluated(a)).into())),
    ("js", &[], Some(A), |_, a| Ok(js(&evaluated(a)).into())),
    ("urlquery", &[], Some(A), |_, a| Ok(query_escape(&evaluated(a)).into())),
    ("print", &[], Some(A), |_, a| Ok(sprint(a).into())),
    ("printf", &[S], Some(A), |_, a| Ok(sprintf(&text(a, 0), rest(a, 1)).into())),
    ("println", &[], Some(A), |_, a| Ok(sprintln(a).into())),
    ("eq", &[A], Some(A), |_, a| equal(any(a, 0), rest(a, 1)).map(Value::Bool)),
    ("ne", &[A, A], None, |_, a| equal(any(a, 0), rest(a, 1)).map(|equal| Value::Bool(!equal))),
    ("lt", &[A, A], None, |_, a| less(any(a, 0), any(a, 1)).map(Value::Bool)),
    ("le", &[A, A], None, |_, a| less_or_equal(any(a, 0), any(a, 1)).map(Value::Bool)),
    ("gt", &[A, A], None, |_, a| less_or_equal(any(a, 0), any(a, 1)).map(|le| Value::Bool(!le))),
    ("ge", &[A, A], None, |_, a| less(any(a, 0), any(a, 1)).map(|lt| Value::Bool(!lt))),
];

fn length(value: &Value) -> Out {
    let length = match value {
        Value::String(text) => text.len(),
        Value::RawString(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::Native(native) if native.len().is_some() => native.len().unwrap_or(0),
        Value::Absent | Value::Nil => return Err("len of nil pointer".into()),
        other => return Err(format!("len of type {}", other.type_name()).into()),
    };
    Ok(Value::int(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// The element number that `index` stands for, at most `length`.
fn position(index: &Value, length: usize) -> Result<usize, CallError> {
    match index {
        Value::Int(number, _) => usize::try_from(*number)
            .ok()
            .filter(|number| *number <= length)
            .ok_or_else(|| format!("index out of range: {number}").into()),
        Value::Absent | Value::Nil => Err("cannot index slice/array with nil".into()),
        other => Err(format!("cannot index slice/array with type {}", other.type_name()).into()),
    }
}

fn index(value: &Value, indexes: &[Value]) -> Out {
    if value.is_nil() {
        return Err("index of untyped nil".into());
    }
    let mut item = value.clone();
    for index in indexes {
        item = index_once(&item, index)?;
    }
    Ok(item)
}

fn index_once(item: &Value, index: &Value) -> Out {
    let past_end = || CallError::from("reflect: slice index out of range");
    match item {
        Value::Absent | Value::Nil => Err("index of nil pointer".into()),
        Value::List(list) => {
            let position = position(index, list.len())?;
            list.items().get(position).cloned().ok_or_else(past_end)
        }
        Value::String(_) | Value::RawString(_) | Value::Bytes(_) => {
            let bytes = args::bytes(std::slice::from_ref(item), 0);
            let position = position(index, bytes.len())?;
            let byte =
                bytes.get(position).ok_or_else(|| CallError::from("reflect: string index out of range"))?;
            Ok(Value::Int(i64::from(*byte), IntKind::Uint8))
        }
        Value::Map(map) => match index {
            Value::String(key) => Ok(map.get(key).unwrap_or(if map.kind() == MapKind::Strings {
                Value::from("")
            } else {
                Value::Nil
            })),
            Value::Absent | Value::Nil => Err("value is nil; should be of type string".into()),
            other => Err(format!("value has type {}; should be string", other.type_name()).into()),
        },
        Value::Native(native) => match (native.kind(), index) {
            ("map", Value::String(key)) => Ok(native.field(key).unwrap_or(Value::Nil)),
            ("slice", index) => {
                let entries = native.entries().unwrap_or_default();
                let position = position(index, entries.len())?;
                entries.get(position).map(|(_, value)| value.clone()).ok_or_else(past_end)
            }
            _ => Err(format!("can't index item of type {}", native.type_name()).into()),
        },
        other => Err(format!("can't index item of type {}", other.type_name()).into()),
    }
}

fn slice(value: &Value, indexes: &[Value]) -> Out {
    let length = match value {
        Value::Absent | Value::Nil => return Err("slice of untyped nil".into()),
        Value::List(list) => list.len(),
        Value::String(text) => text.len(),
        Value::RawString(bytes) | Value::Bytes(bytes) => bytes.len(),
        other => return Err(format!("can't slice item of type {}", other.type_name()).into()),
    };
    if indexes.len() > 3 {
        return Err(format!("too many slice indexes: {}", indexes.len()).into());
    }
    if indexes.len() == 3 && matches!(value, Value::String(_) | Value::RawString(_)) {
        return Err("cannot 3-index slice a string".into());
    }
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, length)?;
    }
    let [from, to, cap] = bounds;
    if from > to {
        return Err(format!("invalid slice index: {from} > {to}").into());
    }
    if to > cap {
        return Err(format!("invalid slice index: {to} > {cap}").into());
    }
    Ok(match value {
        Value::List(list) => Value::List(List::typed(list.elements(), list.items()[from..to].to_vec())),
        Value::Bytes(bytes) => Value::Bytes(bytes[from..to].into()),
        other => Value::string_from_bytes(args::bytes(std::slice::from_ref(other), 0)[from..to].to_vec()),
    })
}

/// The kinds that comparison knows.
#[derive(PartialEq)]
enum Basic<'v> {
    Bool(bool),
    Int(i64),
    Uint(i64),
    Float(f64),
    Text(&'v [u8]),
    Other,
}

fn basic(value: &Value) -> Basic<'_> {
    match value {
        Value::Bool(flag) => Basic::Bool(*flag),
        Value::Int(number, kind) if kind.is_signed() => Basic::Int(*number),
        Value::Int(number, _) => Basic::Uint(*number),
        Value::Float(number) => Basic::Float(*number),
        Value::String(text) => Basic::Text(text.as_bytes()),
        Value::RawString(bytes) => Basic::Text(bytes),
        _ => Basic::Other,
    }
}

/// `eq`: true if `first` equals one of `others`.
pub(crate) fn equal(first: &Value, others: &[Value]) -> Result<bool, CallError> {
    if others.is_empty() {
        return Err("missing argument for comparison".into());
    }
    for other in others {
        let same = match (basic(first), basic(other)) {
            (Basic::Int(a) | Basic::Uint(a), Basic::Int(b) | Basic::Uint(b)) => a == b,
            (Basic::Other, Basic::Other) => equal_others(first, other)?,
            (a, b) if std::mem::discriminant(&a) == std::mem::discriminant(&b) => a == b,
            _ if first.is_nil() || other.is_nil() => false,
            _ => return Err(incompatible(first, other)),
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}

fn incompatible(a: &Value, b: &Value) -> CallError {
    format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name()).into()
}

fn equal_others(a: &Value, b: &Value) -> Result<bool, CallError> {
    if a.is_nil() || b.is_nil() {
        let nil = |value: &Value| value.is_nil() || matches!(value, Value::List(list) if list.is_nil());
        return Ok(nil(a) == nil(b));
    }
    match (a, b) {
        (Value::Native(x), Value::Native(y)) => Ok(x.equals(&**y)),
        _ if a.kind_name() != b.kind_name() => {
            let shown = sprintf("%s", std::slice::from_ref(a));
            let other = crate::format::to_string(b);
            let reason =
                format!("non-comparable types {shown}: {}, {}: {other}", a.type_name(), b.type_name());
            Err(reason.into())
        }
        _ => {
            Err(format!("non-comparable type {}: {}", sprintf("%s", std::slice::from_ref(b)), b.type_name())
                .into())
        }
    }
}

fn less(a: &Value, b: &Value) -> Result<bool, CallError> {
    match (basic(a), basic(b)) {
        (Basic::Other, _) | (_, Basic::Other) => Err("invalid type for comparison".into()),
        (Basic::Int(x) | Basic::Uint(x), Basic::Int(y) | Basic::Uint(y)) => Ok(x < y),
        (Basic::Float(x), Basic::Float(y)) => Ok(x < y),
        (Basic::Text(x), Basic::Text(y)) => Ok(x < y),
        (Basic::Bool(_), Basic::Bool(_)) => Err("invalid type for comparison".into()),
        _ => Err(incompatible(a, b)),
    }
}

fn less_or_equal(a: &Value, b: &Value) -> Result<bool, CallError> {
    Ok(less(a, b)? || equal(a, std::slice::from_ref(b))?)
}

/// The arguments as `html`, `js` and `urlquery` see them: printed like an action, so that nil is `<no value>`.
fn evaluated(arguments: &[Value]) -> String {
    if arguments.iter().any(|a| a.is_nil() || matches!(a, Value::Native(_))) {
        let shown: Vec<Value> = arguments
            .iter()
            .map(|argument| match argument {
                Value::Absent | Value::Nil => Value::from("<no value>"),
                Value::Native(native) => Value::from(native.print()),
                other => other.clone(),
            })
            .collect();
        return sprint(&shown);
    }
    sprint(arguments)
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
    out
}

fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c if c.is_ascii() || is_printable(c) => out.push(c),
            c => out.push_str(&format!("\\u{:04X}", u32::from(c))),
        }
    }
    out
}

/// `url.QueryEscape`.
pub(crate) fn query_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
