//! Lists.

use crate::args::{Out, Table, any, int, rest};
use crate::error::CallError;
use crate::function::Parameter::{Any as A, Int as I};
use crate::sprig::defaults::is_empty;
use crate::sprig::numbers::to_int;
use crate::value::{Elements, IntKind, List, Map, Value, with_stack};

pub(super) const TABLE: Table = &[
    ("list", &[], Some(A), |_, a| Ok(Value::list(a.to_vec()))),
    ("tuple", &[], Some(A), |_, a| Ok(Value::list(a.to_vec()))),
    ("append", &[A, A], None, |_, a| push(a)),
    ("push", &[A, A], None, |_, a| push(a)),
    ("mustAppend", &[A, A], None, |_, a| push(a)),
    ("mustPush", &[A, A], None, |_, a| push(a)),
    ("prepend", &[A, A], None, |_, a| prepend(a)),
    ("mustPrepend", &[A, A], None, |_, a| prepend(a)),
    ("first", &[A], None, |_, a| {
        Ok(items(any(a, 0), "Cannot find first on type")?.first().cloned().unwrap_or_default())
    }),
    ("mustFirst", &[A], None, |_, a| {
        Ok(items(any(a, 0), "Cannot find first on type")?.first().cloned().unwrap_or_default())
    }),
    ("last", &[A], None, |_, a| {
        Ok(items(any(a, 0), "Cannot find last on type")?.last().cloned().unwrap_or_default())
    }),
    ("mustLast", &[A], None, |_, a| {
        Ok(items(any(a, 0), "Cannot find last on type")?.last().cloned().unwrap_or_default())
    }),
    ("rest", &[A], None, |_, a| tail(any(a, 0))),
    ("mustRest", &[A], None, |_, a| tail(any(a, 0))),
    ("initial", &[A], None, |_, a| initial(any(a, 0))),
    ("mustInitial", &[A], None, |_, a| initial(any(a, 0))),
    ("reverse", &[A], None, |_, a| reverse(any(a, 0))),
    ("mustReverse", &[A], None, |_, a| reverse(any(a, 0))),
    ("compact", &[A], None, |_, a| compact(any(a, 0))),
    ("mustCompact", &[A], None, |_, a| compact(any(a, 0))),
    ("uniq", &[A], None, |_, a| unique(any(a, 0))),
    ("mustUniq", &[A], None, |_, a| unique(any(a, 0))),
    ("without", &[A], Some(A), |_, a| without(any(a, 0), rest(a, 1))),
    ("mustWithout", &[A], Some(A), |_, a| without(any(a, 0), rest(a, 1))),
    ("has", &[A, A], None, |_, a| has(any(a, 0), any(a, 1))),
    ("mustHas", &[A, A], None, |_, a| has(any(a, 0), any(a, 1))),
    ("slice", &[A], Some(A), |_, a| slice(any(a, 0), rest(a, 1))),
    ("mustSlice", &[A], Some(A), |_, a| slice(any(a, 0), rest(a, 1))),
    ("concat", &[], Some(A), |_, a| concat(a)),
    ("chunk", &[I, A], None, |_, a| chunk(int(a, 0), any(a, 1))),
    ("mustChunk", &[I, A], None, |_, a| chunk(int(a, 0), any(a, 1))),
];

pub(super) const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// The elements of anything that is a slice in Go.
fn items(value: &Value, refusal: &str) -> Result<Vec<Value>, CallError> {
    match value {
        Value::List(list) => Ok(list.items().to_vec()),
        Value::Bytes(bytes) => {
            Ok(bytes.iter().map(|byte| Value::Int(i64::from(*byte), IntKind::Uint8)).collect())
        }
        Value::Native(native) if native.kind() == "slice" => {
            Ok(native.entries().unwrap_or_default().into_iter().map(|(_, item)| item).collect())
        }
        Value::Absent | Value::Nil => Err(NIL_POINTER.into()),
        other => Err(format!("{refusal} {}", other.kind_name()).into()),
    }
}

/// `reflect.DeepEqual`: the types count too.
pub(super) fn deep_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Absent | Value::Nil, Value::Absent | Value::Nil) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x, p), Value::Int(y, q)) => x == y && p == q,
        (Value::Float(x), Value::Float(y)) => x == y,
        (Value::String(x), Value::String(y)) => x == y,
        (Value::RawString(x), Value::RawString(y)) | (Value::Bytes(x), Value::Bytes(y)) => x == y,
        (Value::List(x), Value::List(y)) => {
            x.elements() == y.elements()
                && x.is_nil() == y.is_nil()
                && x.len() == y.len()
                && with_stack(|| x.items().iter().zip(y.items()).all(|(x, y)| deep_equal(x, y)))
        }
        (Value::Map(x), Value::Map(y)) => x.is_same(y) || equal_maps(x, y),
        (Value::Native(x), Value::Native(y)) => x.equals(&**y),
        _ => false,
    }
}

fn equal_maps(x: &Map, y: &Map) -> bool {
    if x.kind() != y.kind() || x.is_nil() != y.is_nil() || x.len() != y.len() {
        return false;
    }
    // Two maps that are being compared already count as equal, as in Go.
    let Some(_visit) = x.enter() else { return true };
    with_stack(|| x.entries().iter().zip(&y.entries()).all(|((k, v), (l, w))| k == l && deep_equal(v, w)))
}

fn push(a: &[Value]) -> Out {
    let mut out = items(any(a, 0), "Cannot push on type")?;
    out.push(any(a, 1).clone());
    Ok(Value::list(out))
}

fn prepend(a: &[Value]) -> Out {
    let mut out = items(any(a, 0), "Cannot prepend on type")?;
    out.insert(0, any(a, 1).clone());
    Ok(Value::list(out))
}

fn tail(value: &Value) -> Out {
    let all = items(value, "Cannot find rest on type")?;
    Ok(match all.split_first() {
        None => List::nil(Elements::Any).into(),
        Some((_, rest)) => Value::list(rest.to_vec()),
    })
}

fn initial(value: &Value) -> Out {
    let all = items(value, "Cannot find initial on type")?;
    Ok(match all.split_last() {
        None => List::nil(Elements::Any).into(),
        Some((_, rest)) => Value::list(rest.to_vec()),
    })
}

fn reverse(value: &Value) -> Out {
    let mut all = items(value, "Cannot find reverse on type")?;
    all.reverse();
    Ok(Value::list(all))
}

fn compact(value: &Value) -> Out {
    let mut all = items(value, "Cannot compact on type")?;
    all.retain(|item| !is_empty(item));
    Ok(Value::list(all))
}

fn unique(value: &Value) -> Out {
    let mut out: Vec<Value> = Vec::new();
    for item in items(value, "Cannot find uniq on type")? {
        if !out.iter().any(|known| deep_equal(&item, known)) {
            out.push(item);
        }
    }
    Ok(Value::list(out))
}

fn without(value: &Value, omitted: &[Value]) -> Out {
    let mut all = items(value, "Cannot find without on type")?;
    all.retain(|item| !omitted.iter().any(|omit| deep_equal(item, omit)));
    Ok(Value::list(all))
}

fn has(needle: &Value, haystack: &Value) -> Out {
    if haystack.is_nil() {
        return Ok(false.into());
    }
    let all = items(haystack, "Cannot find has on type")?;
    Ok(all.iter().any(|item| deep_equal(needle, item)).into())
}

fn slice(value: &Value, indexes: &[Value]) -> Out {
    let all = items(value, "list should be type of slice or array but")?;
    if all.is_empty() {
        return Ok(Value::Nil);
    }
    let start = indexes.first().map_or(0, to_int);
    let end = indexes.get(1).map_or(i64::try_from(all.len()).unwrap_or(i64::MAX), to_int);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(start, end)| all.get(start..end));
    let part =
        part.ok_or_else(|| CallError::from("reflect.Value.Slice: slice index out of bounds"))?.to_vec();
    let elements = if let Value::List(list) = value { list.elements() } else { Elements::Any };
    Ok(List::typed(elements, part).into())
}

fn concat(lists: &[Value]) -> Out {
    let mut out = Vec::new();
    for list in lists {
        if list.is_nil() {
            return Err(NIL_POINTER.into());
        }
        let refused = || format!("Cannot concat type {} as list", list.kind_name());
        out.extend(items(list, "").map_err(|_| CallError::from(refused()))?);
    }
    Ok(if out.is_empty() { List::nil(Elements::Any).into() } else { Value::list(out) })
}

fn chunk(size: i64, value: &Value) -> Out {
    let all = items(value, "Cannot chunk type")?;
    let size = usize::try_from(size).ok().filter(|size| *size > 0);
    let Some(size) = size else { return Err("runtime error: makeslice: len out of range".into()) };
    let chunks = all.chunks(size).map(|chunk| Value::list(chunk.to_vec())).collect();
    Ok(List::typed(Elements::Lists, chunks).into())
}
