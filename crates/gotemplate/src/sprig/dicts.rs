//! Dictionaries.

use crate::args::{Out, Table, any, map, rest, text};
use crate::error::CallError;
use crate::function::Parameter::{Any as A, Map as M, String as S};
use crate::sprig::merge::{Conflict, merge};
use crate::sprig::strings::{strval, texts_from};
use crate::value::{List, Map, MapKind, Value};

pub(super) const TABLE: Table = &[
    ("dict", &[], Some(A), |_, a| Ok(dict(a))),
    ("get", &[M, S], None, |_, a| {
        Ok(map(a, 0).and_then(|map| map.get(&text(a, 1))).unwrap_or_else(|| Value::from("")))
    }),
    ("set", &[M, S, A], None, |_, a| match map(a, 0) {
        Some(map) if !map.is_nil() => {
            map.link(&*text(a, 1), any(a, 2).clone());
            Ok(any(a, 0).clone())
        }
        _ => Err("assignment to entry in nil map".into()),
    }),
    ("unset", &[M, S], None, |_, a| {
        if let Some(map) = map(a, 0) {
            map.remove(&text(a, 1));
        }
        Ok(any(a, 0).clone())
    }),
    ("hasKey", &[M, S], None, |_, a| Ok(map(a, 0).is_some_and(|map| map.contains_key(&text(a, 1))).into())),
    ("pluck", &[S], Some(M), |_, a| {
        let key = text(a, 0);
        Ok(Value::list(rest(a, 1).iter().filter_map(|dict| dict.as_map()?.get(&key)).collect()))
    }),
    ("keys", &[], Some(M), |_, a| {
        Ok(List::strings(a.iter().filter_map(Value::as_map).flat_map(Map::keys)).into())
    }),
    ("values", &[M], None, |_, a| {
        let values = map(a, 0).map(Map::entries).unwrap_or_default().into_iter().map(|(_, value)| value);
        Ok(Value::list(values.collect()))
    }),
    ("pick", &[M], Some(S), |_, a| {
        let kept = Map::new();
        for key in texts_from(a, 1) {
            if let Some(value) = map(a, 0).and_then(|map| map.get(&key)) {
                kept.insert(key, value);
            }
        }
        Ok(kept.into())
    }),
    ("omit", &[M], Some(S), |_, a| {
        let omitted = texts_from(a, 1);
        let entries = map(a, 0).map(Map::entries).unwrap_or_default();
        let kept: Map =
            entries.into_iter().filter(|(key, _)| !omitted.iter().any(|o| **o == **key)).collect();
        Ok(kept.into())
    }),
    ("merge", &[M], Some(M), |_, a| merge_all(a, Conflict::KeepOld)),
    ("mustMerge", &[M], Some(M), |_, a| merge_all(a, Conflict::KeepOld)),
    ("mergeOverwrite", &[M], Some(M), |_, a| merge_all(a, Conflict::TakeNew)),
    ("mustMergeOverwrite", &[M], Some(M), |_, a| merge_all(a, Conflict::TakeNew)),
    ("dig", &[], Some(A), |_, a| dig(a)),
    ("deepCopy", &[A], None, |_, a| deep_copy(any(a, 0))),
    ("mustDeepCopy", &[A], None, |_, a| deep_copy(any(a, 0))),
];

fn deep_copy(value: &Value) -> Out {
    if value.is_nil() {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    Ok(value.deep_copy())
}

fn dict(values: &[Value]) -> Value {
    let out = Map::new();
    for pair in values.chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_else(|| Value::from(""));
        out.insert(strval(any(pair, 0)), value);
    }
    out.into()
}

fn merge_all(dicts: &[Value], conflict: Conflict) -> Out {
    let target = match map(dicts, 0) {
        Some(map) if !map.is_nil() => map.clone(),
        _ => Map::new(),
    };
    for source in rest(dicts, 1).iter().filter_map(Value::as_map) {
        merge(&target, source, conflict);
    }
    Ok(target.into())
}

fn dig(arguments: &[Value]) -> Out {
    let [path @ .., default, root] = arguments else {
        return Err("dig needs at least three arguments".into());
    };
    if path.is_empty() {
        return Err("dig needs at least three arguments".into());
    }
    let mut current = root.clone();
    let conversion = |value: &Value, wanted: &str| {
        let found = if value.is_nil() { "nil" } else { value.type_name() };
        CallError::from(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
    };
    for key in path {
        if key.as_str().is_none() {
            return Err(conversion(key, "string"));
        }
    }
    for key in path {
        let next = match &current {
            Value::Map(map) if map.kind() == MapKind::Any => map.get(key.as_str().unwrap_or("")),
            other => return Err(conversion(other, "map[string]interface {}")),
        };
        match next {
            None => return Ok(default.clone()),
            Some(value) => current = value,
        }
    }
    Ok(current)
}
