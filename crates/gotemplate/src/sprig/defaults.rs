//! Defaults, JSON and types.

use crate::args::{Out, Table, any, rest, text};
use crate::data::json::{self, Style};
use crate::error::CallError;
use crate::function::Parameter::{Any as A, Bool as B, String as S};
use crate::sprig::lists::deep_equal;
use crate::value::Value;

pub(super) const TABLE: Table = &[
    ("default", &[A], Some(A), |_, a| {
        Ok(match rest(a, 1).first() {
            Some(given) if !is_empty(given) => given.clone(),
            _ => any(a, 0).clone(),
        })
    }),
    ("empty", &[A], None, |_, a| Ok(is_empty(any(a, 0)).into())),
    ("coalesce", &[], Some(A), |_, a| {
        Ok(a.iter().find(|value| !is_empty(value)).cloned().unwrap_or_default())
    }),
    ("all", &[], Some(A), |_, a| Ok((!a.iter().any(is_empty)).into())),
    ("any", &[], Some(A), |_, a| Ok((!a.iter().all(is_empty)).into())),
    ("ternary", &[A, A, B], None, |_, a| Ok(any(a, if any(a, 2).is_true() { 0 } else { 1 }).clone())),
    ("mustFromJson", &[S], None, |_, a| json::read(&text(a, 0)).map_err(CallError::from)),
    ("mustToJson", &[A], None, |_, a| must_write(any(a, 0), Style { escape_html: true, pretty: false })),
    ("toPrettyJson", &[A], None, |_, a| write(any(a, 0), Style { escape_html: true, pretty: true })),
    ("mustToPrettyJson", &[A], None, |_, a| must_write(any(a, 0), Style { escape_html: true, pretty: true })),
    ("toRawJson", &[A], None, |_, a| must_write(any(a, 0), Style { escape_html: false, pretty: false })),
    ("mustToRawJson", &[A], None, |_, a| must_write(any(a, 0), Style { escape_html: false, pretty: false })),
    ("typeOf", &[A], None, |_, a| Ok(any(a, 0).type_name().into())),
    ("typeIs", &[S, A], None, |_, a| Ok((*text(a, 0) == *any(a, 1).type_name()).into())),
    ("typeIsLike", &[S, A], None, |_, a| {
        let name = any(a, 1).type_name();
        Ok((*text(a, 0) == *name || name.strip_prefix('*') == Some(&text(a, 0))).into())
    }),
    ("kindOf", &[A], None, |_, a| Ok(any(a, 0).kind_name().into())),
    ("kindIs", &[S, A], None, |_, a| Ok((*text(a, 0) == *any(a, 1).kind_name()).into())),
    ("deepEqual", &[A, A], None, |_, a| Ok(deep_equal(any(a, 0), any(a, 1)).into())),
];

/// Sprig's idea of emptiness: nil, zero, false, and whatever has no elements. Structs are never empty.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Native(native) if native.kind() == "struct" => false,
        other => !other.is_true(),
    }
}

fn write(value: &Value, style: Style) -> Out {
    Ok(json::write(value, style).unwrap_or_default().into())
}

fn must_write(value: &Value, style: Style) -> Out {
    json::write(value, style).map(Value::from).map_err(CallError::from)
}
