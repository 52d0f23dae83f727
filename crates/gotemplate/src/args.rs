//! Arguments of functions. Their types were checked before the call, so a mismatch here cannot happen; it reads as
//! the zero value.

use std::borrow::Cow;

use crate::error::CallError;
use crate::function::{Function, Functions, Parameter, Signature, Special};
use crate::render::Renderer;
use crate::value::{Map, Value};

/// What a function gives.
pub(crate) type Out = Result<Value, CallError>;

/// A function of the tables.
pub(crate) type Call = fn(&mut Renderer<'_>, &[Value]) -> Out;

/// A table of functions: name, fixed parameters, variadic parameter, body.
pub(crate) type Table = &'static [(&'static str, &'static [Parameter], Option<Parameter>, Call)];

/// Adds a table.
pub(crate) fn install(functions: &mut Functions, table: Table) {
    for (name, fixed, variadic, call) in table {
        let signature = Signature { fixed, variadic: *variadic };
        functions.put(name, Function { signature, special: Special::None, body: std::sync::Arc::new(*call) });
    }
}

/// The argument at `index`.
pub(crate) fn any(arguments: &[Value], index: usize) -> &Value {
    const NIL: &Value = &Value::Nil;
    arguments.get(index).unwrap_or(NIL)
}

/// The arguments from `index` on.
pub(crate) fn rest(arguments: &[Value], index: usize) -> &[Value] {
    arguments.get(index..).unwrap_or(&[])
}

/// A string argument. Bytes that are not UTF-8 become replacement characters.
pub(crate) fn text(arguments: &[Value], index: usize) -> Cow<'_, str> {
    match any(arguments, index) {
        Value::String(text) => Cow::Borrowed(text),
        Value::RawString(bytes) => String::from_utf8_lossy(bytes),
        _ => Cow::Borrowed(""),
    }
}

/// The bytes of a string argument.
pub(crate) fn bytes(arguments: &[Value], index: usize) -> &[u8] {
    match any(arguments, index) {
        Value::String(text) => text.as_bytes(),
        Value::RawString(bytes) | Value::Bytes(bytes) => bytes,
        _ => &[],
    }
}

/// An integer argument.
pub(crate) fn int(arguments: &[Value], index: usize) -> i64 {
    if let Value::Int(number, _) = any(arguments, index) { *number } else { 0 }
}

/// A map argument; a nil map is `None`.
pub(crate) fn map(arguments: &[Value], index: usize) -> Option<&Map> {
    any(arguments, index).as_map()
}

/// Refuses results that would take too much memory.
pub(crate) fn check_size(renderer: &Renderer<'_>, bytes: usize) -> Result<(), CallError> {
    if bytes > renderer.options.limits.output_bytes {
        return Err(CallError::Limit(format!("the result would be {bytes} bytes")));
    }
    Ok(())
}
