//! Functions that are written in Rust because jq would be slower or cannot say them.

use std::rc::Rc;

use indexmap::IndexMap;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Error, ValR, ValT};
use podsmith_object::Value;

use super::program::JqData;
use super::value::{Node, Val};
use super::{budget, paths, text};

type Result = ValR<Val>;

pub(super) fn fail(message: impl Into<String>) -> Result {
    Err(Error::str(message.into()))
}

macro_rules! native {
    ($name:literal, $function:expr) => {
        run(($name, v(0), |cv| bome($function(cv.1))))
    };
    ($name:literal, $function:path, 1) => {
        run(($name, v(1), |mut cv| {
            let argument = cv.0.pop_var();
            bome($function(cv.1, argument))
        }))
    };
    ($name:literal, $function:path, 2) => {
        run(($name, v(2), |mut cv| {
            let second = cv.0.pop_var();
            let first = cv.0.pop_var();
            bome($function(cv.1, first, second))
        }))
    };
}

/// Functions of the standard library that a render must not have, because its result would depend on more than its
/// input, and those that we write ourselves.
const LEFT_OUT: &[&str] = &[
    "env",
    "now",
    "halt",
    "debug_empty",
    "stderr_empty",
    "localtime",
    "strflocaltime",
    "matches",
    "split_matches",
    "split_",
    "ltrimstr",
    "rtrimstr",
    "reverse",
    "trim",
    "ltrim",
    "rtrim",
];

/// All native functions.
pub(super) fn all() -> Vec<Fun<JqData>> {
    let core = jaq_core::funs::<JqData>().map(paths::with_update);
    let standard = jaq_std::funs::<JqData>().filter(|(name, _, _)| !LEFT_OUT.contains(name));
    core.chain(standard).chain(ours()).collect()
}

fn ours() -> Vec<Fun<JqData>> {
    vec![
        native!("type", type_of),
        native!("length", length),
        native!("not", not),
        native!("keys", keys),
        native!("has", has, 1),
        native!("contains", contains, 1),
        native!("indices", indices_of, 1),
        native!("add", add),
        native!("flatten", flatten, 1),
        native!("reverse", reverse),
        native!("to_entries", to_entries),
        native!("from_entries", from_entries),
        native!("tonumber", to_number),
        native!("tojson", to_json),
        native!("fromjson", from_json),
        native!("nan", |_: Val| Ok(Val::Float(f64::NAN))),
        native!("infinite", |_: Val| Ok(Val::Float(f64::INFINITY))),
        native!("isnan", |value: Val| about(value, f64::is_nan)),
        native!("isinfinite", |value: Val| about(value, f64::is_infinite)),
        native!("isnormal", |value: Val| about(value, f64::is_normal)),
        native!("setpath", paths::set, 2),
        native!("delpaths", paths::delete, 1),
        native!("stream_events", paths::stream_events),
        native!("ltrimstr", text::trim_start_text, 1),
        native!("rtrimstr", text::trim_end_text, 1),
        native!("trimstr", text::trim_text, 1),
        native!("trim", text::trim),
        native!("ltrim", text::trim_start),
        native!("rtrim", text::trim_end),
        native!("join", text::join, 1),
        native!("split", text::split, 1),
        native!("matches", text::matches, 2),
        native!("test", text::test, 2),
        native!("csv_row", text::csv_row),
        native!("tsv_row", text::tsv_row),
        run(("call_function", v(2), |mut cv| {
            let arguments = cv.0.pop_var();
            let name = cv.0.pop_var();
            let result = cv.0.data().call(&name, cv.1, arguments);
            bome(result)
        })),
    ]
}

fn type_of(value: Val) -> Result {
    Ok(Val::from(value.type_name().to_owned()))
}

fn not(value: Val) -> Result {
    Ok(Val::Bool(!value.as_bool()))
}

fn length(value: Val) -> Result {
    Ok(match value {
        Val::Null | Val::Absent => Val::Int(0),
        Val::Bool(_) => return fail("a boolean has no length"),
        Val::Int(int) => int.checked_abs().map_or_else(|| Val::Float((int as f64).abs()), Val::Int),
        Val::Float(float) => Val::Float(float.abs()),
        Val::Read(number) => Val::Float(number.as_f64().unwrap_or(f64::NAN).abs()),
        Val::Str(text) => Val::from(text.chars().count()),
        Val::Arr(list) => Val::from(list.items.len()),
        Val::Obj(fields) => Val::from(fields.map.len()),
        Val::Lazy(lazy) => Val::from(match lazy.node() {
            Node::Map(map) => map.len(),
            Node::List(list) => list.len(),
        }),
    })
}

fn keys(value: Val) -> Result {
    match value.shallow() {
        Val::Arr(list) => Ok((0..list.items.len()).map(Val::from).collect()),
        Val::Obj(fields) => {
            let mut keys: Vec<Rc<str>> = fields.map.keys().cloned().collect();
            keys.sort_unstable();
            Ok(keys.into_iter().map(Val::Str).collect())
        }
        other => fail(format!("{} has no keys", other.described())),
    }
}

fn has(value: Val, key: Val) -> Result {
    let found = match (&value, &key) {
        (Val::Lazy(lazy), Val::Str(key)) => match lazy.node() {
            Node::Map(map) => Some(map.contains_key(&**key)),
            Node::List(_) => None,
        },
        (Val::Obj(fields), Val::Str(key)) => Some(fields.map.contains_key(key)),
        (list, Val::Int(_) | Val::Float(_) | Val::Read(_)) if list.type_name() == "array" => {
            let length = length(list.clone())?.as_number().unwrap_or(0.0);
            key.as_number().map(|index| index >= 0.0 && index.floor() < length)
        }
        _ => None,
    };
    match found {
        Some(found) => Ok(Val::Bool(found)),
        None => fail(format!("cannot check whether {} has {} as a key", value.described(), key.described())),
    }
}

fn contains(value: Val, part: Val) -> Result {
    contains_part(&value, &part).map(Val::Bool)
}

fn contains_part(value: &Val, part: &Val) -> std::result::Result<bool, Error<Val>> {
    budget::step();
    match (value.clone().shallow(), part.clone().shallow()) {
        (Val::Obj(value), Val::Obj(part)) => {
            for (key, part) in &part.map {
                let inside = match value.map.get(key) {
                    Some(value) => contains_part(value, part)?,
                    None => false,
                };
                if !inside {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::Arr(value), Val::Arr(part)) => {
            for part in &part.items {
                let mut inside = false;
                for value in value.items.iter().filter(|value| value.type_name() == part.type_name()) {
                    inside = inside || contains_part(value, part)?;
                }
                if !inside {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::Str(value), Val::Str(part)) => Ok(value.contains(&*part)),
        (value, part) if value.type_name() == part.type_name() => Ok(value == part),
        (value, part) => {
            fail(format!("cannot check whether {} contains {}", value.described(), part.described()))
                .map(|_| false)
        }
    }
}

fn indices_of(value: Val, part: Val) -> Result {
    match value.type_name() {
        "null" => Ok(Val::Null),
        "string" | "array" => Ok(indices(&value, &part)),
        _ => fail(format!("cannot search in {}", value.described())),
    }
}

/// Where `part` occurs, overlapping occurrences included: a text in a text, a run of items or one item in a list.
pub(super) fn indices(value: &Val, part: &Val) -> Val {
    let found: Vec<usize> = match (value.clone().shallow(), part.clone().shallow()) {
        (Val::Str(text), Val::Str(part)) if !part.is_empty() => {
            let starts = text.char_indices().enumerate();
            starts
                .filter(|(_, (byte, _))| text.get(*byte..).is_some_and(|rest| rest.starts_with(&*part)))
                .map(|(index, _)| index)
                .collect()
        }
        (Val::Arr(list), Val::Arr(part)) if !part.items.is_empty() => {
            let windows = list.items.windows(part.items.len()).enumerate();
            windows.filter(|(_, window)| *window == part.items.as_slice()).map(|(index, _)| index).collect()
        }
        (Val::Arr(list), item) if item.type_name() != "array" => {
            let items = list.items.iter().enumerate();
            items.filter(|(_, found)| **found == item).map(|(index, _)| index).collect()
        }
        _ => return Val::Null,
    };
    found.into_iter().map(Val::from).collect()
}

/// The sum of the items; text is joined in one pass.
fn add(value: Val) -> Result {
    let items = value.values().collect::<std::result::Result<Vec<Val>, _>>()?;
    if let Some(texts) = items.iter().map(Val::as_text).collect::<Option<Vec<&str>>>()
        && !texts.is_empty()
    {
        return Ok(Val::text(&texts.concat()));
    }
    items.into_iter().try_fold(Val::Null, |sum, item| sum + item)
}

fn flatten(value: Val, depth: Val) -> Result {
    fn into(out: &mut Vec<Val>, value: Val, depth: f64) {
        budget::grow(1);
        match value.shallow() {
            Val::Arr(list) if depth >= 0.0 => {
                list.items.iter().for_each(|item| into(out, item.clone(), depth - 1.0));
            }
            other => out.push(other),
        }
    }
    let Some(depth) = depth.as_number().filter(|depth| *depth >= 0.0) else {
        return fail("the depth to flatten must be a number that is not negative");
    };
    if !matches!(value.type_name(), "array" | "object") {
        return fail(format!("cannot flatten {}", value.described()));
    }
    let items = value.values().collect::<std::result::Result<Vec<Val>, _>>()?;
    let mut out = Vec::new();
    items.into_iter().for_each(|item| into(&mut out, item, depth - 1.0));
    Ok(Val::list(out))
}

fn reverse(value: Val) -> Result {
    match value.shallow() {
        Val::Null => Ok(Val::list(Vec::new())),
        Val::Str(text) => Ok(Val::text(&text.chars().rev().collect::<String>())),
        Val::Arr(list) => Ok(list.items.iter().rev().cloned().collect()),
        other => fail(format!("cannot reverse {}", other.described())),
    }
}

fn to_entries(value: Val) -> Result {
    let entry =
        |(key, value): (Val, Val)| Val::from_map([(Val::text("key"), key), (Val::text("value"), value)]);
    match value.type_name() {
        "object" | "array" => value.key_values().map(|pair| pair.and_then(entry)).collect(),
        _ => fail(format!("{} has no entries", value.described())),
    }
}

/// Entries may be written in the several ways that jq knows.
fn from_entries(value: Val) -> Result {
    let mut map: IndexMap<Rc<str>, Val> = IndexMap::new();
    for entry in value.values() {
        let entry = entry?;
        let first = |names: &[&str]| -> std::result::Result<Option<Val>, Error<Val>> {
            for name in names {
                let found = entry.clone().index(&Val::text(name))?;
                if found.type_name() != "null" {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        };
        let key = match first(&["key", "k", "name", "Name", "Key", "K"])? {
            Some(Val::Str(key)) => key,
            Some(key @ (Val::Int(_) | Val::Float(_) | Val::Read(_) | Val::Bool(_))) => {
                Rc::from(key.to_string())
            }
            None => Rc::from("null"),
            Some(other) => {
                return fail(format!("the key of an entry must be a string, this is {}", other.described()));
            }
        };
        budget::grow(1);
        map.insert(key, first(&["value", "v", "Value", "V"])?.unwrap_or(Val::Null));
    }
    Ok(Val::fields(map))
}

fn to_number(value: Val) -> Result {
    match &value {
        Val::Int(_) | Val::Float(_) | Val::Read(_) => Ok(value),
        Val::Str(text) => match podsmith_object::json::read_stream(text).ok().as_deref() {
            Some([(Value::Number(number), _)]) => Ok(Val::from_value(&Value::Number(number.clone()))),
            _ => fail(format!("`{text}` is not a number")),
        },
        other => fail(format!("cannot make a number of {}", other.described())),
    }
}

fn to_json(value: Val) -> Result {
    Ok(Val::text(&value.to_string()))
}

fn from_json(value: Val) -> Result {
    let Some(text) = value.as_text() else {
        return fail(format!("only a string can be read as JSON, this is {}", value.described()));
    };
    match podsmith_object::json::read_stream(text) {
        Ok(values) => match values.as_slice() {
            [(value, _)] => Ok(Val::from_value(value)),
            _ => fail("the text holds not exactly one JSON value"),
        },
        Err(error) => fail(format!("not valid JSON: {error}")),
    }
}

fn about(value: Val, test: fn(f64) -> bool) -> Result {
    match value.as_number() {
        Some(number) => Ok(Val::Bool(test(number))),
        None => fail(format!("a number is needed, this is {}", value.described())),
    }
}
