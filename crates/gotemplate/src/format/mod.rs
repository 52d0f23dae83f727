//! Values as Go's fmt package prints them.

mod float;
mod printf;
mod quoting;
mod verbs;

use std::fmt::Write as _;

use crate::value::{Value, with_stack};

pub(crate) use float::{json_float, shortest_general};
pub(crate) use printf::sprintf;
pub(crate) use quoting::{is_printable, quote, quote_bytes};

/// Appends `value` as `%v` prints it.
pub(crate) fn print(out: &mut String, value: &Value) {
    match value {
        Value::Absent | Value::Nil => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number, _) => {
            let _ = write!(out, "{number}");
        }
        Value::Float(number) => out.push_str(&shortest_general(*number)),
        Value::String(text) => out.push_str(text),
        Value::RawString(bytes) => out.push_str(&lossy(bytes)),
        Value::Bytes(bytes) => print_items(out, bytes.iter(), |out, byte| {
            let _ = write!(out, "{byte}");
        }),
        Value::List(list) => with_stack(|| print_items(out, list.items().iter(), print)),
        Value::Map(map) => {
            out.push_str("map");
            let Some(_visit) = map.enter() else { return out.push_str("[…]") };
            with_stack(|| {
                print_items(out, map.entries().iter(), |out, (key, value)| {
                    out.push_str(key);
                    out.push(':');
                    print(out, value);
                });
            });
        }
        Value::Native(native) => out.push_str(&native.format()),
    }
}

/// Bytes as text, with one replacement character for each byte that is not UTF-8.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '\u{fffd}'));
    }
    out
}

fn print_items<T>(out: &mut String, items: impl Iterator<Item = T>, mut one: impl FnMut(&mut String, T)) {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(' ');
        }
        one(out, item);
    }
    out.push(']');
}

/// `value` as `%v` prints it.
pub(crate) fn to_string(value: &Value) -> String {
    let mut out = String::new();
    print(&mut out, value);
    out
}

/// `fmt.Sprint`: a space between operands when neither is a string.
pub(crate) fn sprint(arguments: &[Value]) -> String {
    let is_string = |value: &Value| matches!(value, Value::String(_) | Value::RawString(_));
    let mut out = String::new();
    let mut previous_is_string = true;
    for (index, argument) in arguments.iter().enumerate() {
        let this_is_string = is_string(argument);
        if index > 0 && !this_is_string && !previous_is_string {
            out.push(' ');
        }
        print(&mut out, argument);
        previous_is_string = this_is_string;
    }
    out
}

/// `fmt.Sprintln`: a space between all operands, and a line break.
pub(crate) fn sprintln(arguments: &[Value]) -> String {
    let mut out = String::new();
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        print(&mut out, argument);
    }
    out.push('\n');
    out
}
