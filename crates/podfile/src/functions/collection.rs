//! Functions on lists and objects.

use podsmith_object::{Map, Value, json};

use super::text::wrong_type;
use super::{Function, function, integer_of, list_of, map_of, text_of, texts_of};
use crate::convert::{self, equal};

/// The most elements a function may make.
const MOST: usize = 100_000;

pub(super) const FUNCTIONS: &[Function] = &[
    function("length", 1, Some(1), "length(collection)", |_, a| match a.first() {
        Some(Value::Array(items)) => Ok(items.len().into()),
        Some(Value::Object(map)) => Ok(map.len().into()),
        Some(Value::String(text)) => Ok(text.chars().count().into()),
        other => Err(wrong_type(other.unwrap_or(&Value::Null), "a list, an object or a string")),
    }),
    function("concat", 1, None, "concat(list…)", |_, a| {
        let mut all = Vec::new();
        for index in 0..a.len() {
            all.extend(list_of(a, index)?.iter().cloned());
        }
        Ok(Value::Array(all))
    }),
    function("flatten", 1, Some(1), "flatten(list)", |_, a| {
        let mut out = Vec::new();
        flatten(list_of(a, 0)?, &mut out);
        Ok(Value::Array(out))
    }),
    function("keys", 1, Some(1), "keys(object)", |_, a| {
        let mut keys: Vec<&String> = map_of(a, 0)?.keys().collect();
        keys.sort();
        Ok(keys.into_iter().map(|key| Value::from(key.as_str())).collect())
    }),
    function("values", 1, Some(1), "values(object)", |_, a| {
        let mut entries: Vec<_> = map_of(a, 0)?.iter().collect();
        entries.sort_by(|x, y| x.0.cmp(y.0));
        Ok(entries.into_iter().map(|(_, value)| value.clone()).collect())
    }),
    function("lookup", 2, Some(3), "lookup(object, key, otherwise)", |_, a| {
        let key = text_of(a, 1)?;
        match (map_of(a, 0)?.get(&key), a.get(2)) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(otherwise)) => Ok(otherwise.clone()),
            (None, None) => Err(format!("there is no `{key}` in the object")),
        }
    }),
    function("merge", 0, None, "merge(object…)", |_, a| {
        let mut merged = Map::new();
        for index in 0..a.len() {
            if a.get(index) == Some(&Value::Null) {
                continue;
            }
            merged.extend(map_of(a, index)?.clone());
        }
        Ok(Value::Object(merged))
    }),
    function("contains", 2, Some(2), "contains(list, value)", |_, a| {
        let wanted = a.get(1).unwrap_or(&Value::Null);
        Ok(list_of(a, 0)?.iter().any(|item| equal(item, wanted)).into())
    }),
    function("distinct", 1, Some(1), "distinct(list)", |_, a| Ok(Value::Array(distinct(list_of(a, 0)?)))),
    function("element", 2, Some(2), "element(list, index)", |_, a| {
        let (list, index) = (list_of(a, 0)?, integer_of(a, 1)?);
        let length = i64::try_from(list.len()).unwrap_or(0);
        if length == 0 {
            return Err("the list is empty".into());
        }
        let index = usize::try_from(index.rem_euclid(length)).unwrap_or(0);
        Ok(list.get(index).cloned().unwrap_or(Value::Null))
    }),
    function("index", 2, Some(2), "index(list, value)", |_, a| {
        let wanted = a.get(1).unwrap_or(&Value::Null);
        let found = list_of(a, 0)?.iter().position(|item| equal(item, wanted));
        found.map(Value::from).ok_or_else(|| "the value is not in the list".into())
    }),
    function("reverse", 1, Some(1), "reverse(list)", |_, a| {
        Ok(list_of(a, 0)?.iter().rev().cloned().collect())
    }),
    function("sort", 1, Some(1), "sort(list)", |_, a| {
        let mut texts = texts_of(a, 0)?;
        texts.sort();
        Ok(texts.into_iter().map(Value::from).collect())
    }),
    function("slice", 3, Some(3), "slice(list, start, end)", |_, a| {
        let list = list_of(a, 0)?;
        let (start, end) = (usize::try_from(integer_of(a, 1)?), usize::try_from(integer_of(a, 2)?));
        let cut = start.ok().zip(end.ok()).and_then(|(start, end)| list.get(start..end));
        cut.map(|cut| Value::Array(cut.to_vec()))
            .ok_or_else(|| format!("the range is outside of the list of {} elements", list.len()))
    }),
    function("range", 1, Some(3), "range(start, end, step)", |_, a| range(a)),
    function("zipmap", 2, Some(2), "zipmap(keys, values)", |_, a| {
        let (keys, values) = (texts_of(a, 0)?, list_of(a, 1)?);
        if keys.len() != values.len() {
            return Err(format!("{} keys for {} values", keys.len(), values.len()));
        }
        Ok(Value::Object(keys.into_iter().zip(values.iter().cloned()).collect()))
    }),
    function("coalesce", 1, None, "coalesce(value…)", |_, a| {
        let found = a.iter().find(|value| !value.is_null() && value.as_str() != Some(""));
        found.cloned().ok_or_else(|| "every value is null or empty".into())
    }),
    function("coalescelist", 1, None, "coalescelist(list…)", |_, a| {
        let found = a.iter().find(|value| value.as_array().is_some_and(|items| !items.is_empty()));
        found.cloned().ok_or_else(|| "every list is empty".into())
    }),
    function("compact", 1, Some(1), "compact(list)", |_, a| {
        let items = list_of(a, 0)?.iter();
        Ok(items.filter(|item| !item.is_null() && item.as_str() != Some("")).cloned().collect())
    }),
    function("alltrue", 1, Some(1), "alltrue(list)", |_, a| {
        Ok(list_of(a, 0)?.iter().all(|item| convert::to_bool(item) == Ok(true)).into())
    }),
    function("anytrue", 1, Some(1), "anytrue(list)", |_, a| {
        Ok(list_of(a, 0)?.iter().any(|item| convert::to_bool(item) == Ok(true)).into())
    }),
    function("one", 1, Some(1), "one(list)", |_, a| match list_of(a, 0)?.as_slice() {
        [] => Ok(Value::Null),
        [only] => Ok(only.clone()),
        more => Err(format!("the list has {} elements, not one", more.len())),
    }),
    function("chunklist", 2, Some(2), "chunklist(list, size)", |_, a| {
        let size = usize::try_from(integer_of(a, 1)?).ok().filter(|size| *size > 0);
        let size = size.ok_or("the size must be at least 1")?;
        Ok(list_of(a, 0)?.chunks(size).map(|chunk| Value::Array(chunk.to_vec())).collect())
    }),
    function("setunion", 1, None, "setunion(list…)", |_, a| {
        let mut all = Vec::new();
        for index in 0..a.len() {
            all.extend(list_of(a, index)?.iter().cloned());
        }
        Ok(Value::Array(sorted(distinct(&all))))
    }),
    function("setintersection", 1, None, "setintersection(list…)", |_, a| {
        let mut kept = distinct(list_of(a, 0)?);
        for index in 1..a.len() {
            let other = list_of(a, index)?;
            kept.retain(|item| other.iter().any(|o| equal(o, item)));
        }
        Ok(Value::Array(sorted(kept)))
    }),
    function("setsubtract", 2, Some(2), "setsubtract(list, list)", |_, a| {
        let other = list_of(a, 1)?;
        let mut kept = distinct(list_of(a, 0)?);
        kept.retain(|item| !other.iter().any(|o| equal(o, item)));
        Ok(Value::Array(sorted(kept)))
    }),
    function("setproduct", 1, None, "setproduct(list…)", |_, a| product(a)),
    function("transpose", 1, Some(1), "transpose(object of lists)", |_, a| {
        let mut out: Map<String, Value> = Map::new();
        for (key, list) in map_of(a, 0)? {
            for item in list.as_array().ok_or("every value must be a list")? {
                let name = convert::to_text(item)?;
                if let Value::Array(keys) = out.entry(name).or_insert_with(|| json!([])) {
                    keys.push(Value::from(key.as_str()));
                }
            }
        }
        Ok(Value::Object(out))
    }),
    function("matchkeys", 3, Some(3), "matchkeys(values, keys, wanted)", |_, a| {
        let (values, keys, wanted) = (list_of(a, 0)?, list_of(a, 1)?, list_of(a, 2)?);
        let pairs = values.iter().zip(keys);
        Ok(pairs.filter(|(_, key)| wanted.iter().any(|w| equal(w, key))).map(|(v, _)| v.clone()).collect())
    }),
    function("toset", 1, Some(1), "toset(list)", |_, a| Ok(Value::Array(sorted(distinct(list_of(a, 0)?))))),
    function("tolist", 1, Some(1), "tolist(list)", |_, a| Ok(Value::Array(list_of(a, 0)?.clone()))),
    function("tomap", 1, Some(1), "tomap(object)", |_, a| Ok(Value::Object(map_of(a, 0)?.clone()))),
    function("tostring", 1, Some(1), "tostring(value)", |_, a| match a.first() {
        Some(Value::Null) => Ok(Value::Null),
        _ => text_of(a, 0).map(Value::from),
    }),
    function("tobool", 1, Some(1), "tobool(value)", |_, a| match a.first() {
        Some(Value::Null) | None => Ok(Value::Null),
        Some(value) => convert::to_bool(value).map(Value::Bool),
    }),
    function("sensitive", 1, Some(1), "sensitive(value)", |context, a| {
        context.evaluator.unit.sensitive.set(true);
        Ok(a.first().cloned().unwrap_or(Value::Null))
    }),
    function("nonsensitive", 1, Some(1), "nonsensitive(value)", |context, a| {
        context.evaluator.unit.sensitive.set(false);
        Ok(a.first().cloned().unwrap_or(Value::Null))
    }),
];

fn flatten(items: &[Value], out: &mut Vec<Value>) {
    for item in items {
        match item {
            Value::Array(inner) => flatten(inner, out),
            other => out.push(other.clone()),
        }
    }
}

/// The elements without repetitions, in their first order.
fn distinct(items: &[Value]) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    items.iter().filter(|item| seen.insert(podsmith_object::json::canonical(item))).cloned().collect()
}

/// Sets have no order of their own; a sorted one is the same on every run.
fn sorted(mut items: Vec<Value>) -> Vec<Value> {
    items.sort_by(|a, b| match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(std::cmp::Ordering::Equal)
        }
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (a, b) => a.to_string().cmp(&b.to_string()),
    });
    items
}

fn range(arguments: &[Value]) -> Result<Value, String> {
    let (start, end) = match arguments.len() {
        1 => (0, integer_of(arguments, 0)?),
        _ => (integer_of(arguments, 0)?, integer_of(arguments, 1)?),
    };
    let step = match arguments.len() {
        3 => integer_of(arguments, 2)?,
        _ if end < start => -1,
        _ => 1,
    };
    if step == 0 || (end > start) != (step > 0) && end != start {
        return Err("the step leads away from the end".into());
    }
    let mut out = Vec::new();
    let mut at = start;
    while (step > 0 && at < end) || (step < 0 && at > end) {
        if out.len() >= MOST {
            return Err(format!("the list would have more than {MOST} elements"));
        }
        out.push(Value::from(at));
        at = match at.checked_add(step) {
            Some(next) => next,
            None => break,
        };
    }
    Ok(Value::Array(out))
}

fn product(arguments: &[Value]) -> Result<Value, String> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for index in 0..arguments.len() {
        let list = list_of(arguments, index)?;
        if rows.len().saturating_mul(list.len()) > MOST {
            return Err(format!("the product would have more than {MOST} elements"));
        }
        rows = rows
            .iter()
            .flat_map(|row| list.iter().map(move |item| row.iter().cloned().chain([item.clone()]).collect()))
            .collect();
    }
    Ok(rows.into_iter().map(Value::Array).collect())
}
