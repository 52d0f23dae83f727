//! Field paths with list steps: `spec.containers.[name=web].ports.0`.

use std::borrow::Cow;

use podsmith_object::{Map, Value};
use regex::Regex;

use crate::config::split_path;
use crate::resources::text_of;

/// Splits at dots; a list step in brackets may hold dots of its own.
pub(crate) fn split_field_path(path: &str) -> Vec<String> {
    let parts = split_path(path, '.');
    let mut result = Vec::with_capacity(parts.len());
    let mut parts = parts.into_iter();
    while let Some(mut part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            result.push(part);
            continue;
        }
        for more in parts.by_ref() {
            part.push('.');
            part.push_str(&more);
            if more.ends_with(']') {
                break;
            }
        }
        if part.contains('=') {
            result.push(part);
        } else {
            result.push(part.trim_matches(['[', ']']).to_owned());
        }
    }
    result
}

/// A step `[key=value]`, or what is wrong with it.
fn list_step(step: &str) -> Option<Result<(&str, &str), String>> {
    let inner = step.strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.split_once('=').ok_or_else(|| format!("list step `{step}` needs the form [key=value]")))
}

fn is_position(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit())
}

fn expected(what: &str, value: &Value) -> String {
    let found = match value {
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
        _ => "a scalar",
    };
    format!("{what} is expected where {found} stands")
}

/// The value at a path, or `None` if there is none. List steps match whole values.
pub(crate) fn look_up<'v>(root: &'v Value, path: &[String]) -> Result<Option<&'v Value>, String> {
    let mut here = root;
    for step in path.iter().map(|step| step.trim()).filter(|step| !step.is_empty()) {
        let next = if is_position(step) || step == "-" {
            match here {
                Value::Array(items) if step == "-" => items.last(),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                Value::Null => None,
                other => return Err(expected("a list", other)),
            }
        } else if step == "*" {
            return Err("`*` cannot be used here".into());
        } else if let Some(parsed) = list_step(step) {
            let (key, wanted) = parsed?;
            match here {
                Value::Array(items) => items.iter().find(|item| {
                    if key.is_empty() {
                        text_of(item) == wanted
                    } else {
                        item.get(key).is_some_and(|found| text_of(found) == wanted)
                    }
                }),
                Value::Null => None,
                other => return Err(expected("a list", other)),
            }
        } else {
            match here {
                Value::Object(map) => map.get(step),
                Value::Null => None,
                other => return Err(expected("a mapping", other)),
            }
        };
        match next {
            Some(next) => here = next,
            None => return Ok(None),
        }
    }
    Ok(Some(here))
}

/// What a missing field becomes when it may be created.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Make {
    Nothing,
    Scalar,
    List,
    Mapping,
}

impl Make {
    pub(crate) fn like(value: &Value) -> Self {
        match value {
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Mapping,
            _ => Self::Scalar,
        }
    }

    fn next(self, following: Option<&String>) -> Option<Found> {
        if self == Self::Nothing {
            return None;
        }
        Some(match following.map(String::as_str) {
            Some(step) if list_step(step).is_some() || is_position(step) => {
                Found::Old(Value::Array(Vec::new()))
            }
            None | Some("") => match self {
                Self::List => Found::Old(Value::Array(Vec::new())),
                Self::Mapping => Found::Old(Value::Object(Map::new())),
                _ => Found::Fresh,
            },
            Some(_) => Found::Old(Value::Object(Map::new())),
        })
    }
}

enum Found {
    /// A scalar that does not exist yet and has no type.
    Fresh,
    Old(Value),
}

/// Whether a visited value was there before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Age {
    Existing,
    Created,
}

/// Calls `set` on every value that a path leads to and counts them. List steps are regular expressions, `*` is every
/// element.
pub(crate) fn visit_matches(
    here: &mut Value,
    path: &[String],
    make: Make,
    age: Age,
    set: &mut dyn FnMut(&mut Value, Age) -> Result<(), String>,
) -> Result<usize, String> {
    let Some((step, rest)) = path.split_first() else {
        set(here, age)?;
        return Ok(1);
    };
    if is_position(step) {
        return visit_position(here, step, rest, make, set);
    }
    if let Some(parsed) = list_step(step) {
        let (key, pattern) = parsed?;
        return visit_elements(here, key, pattern, rest, make, set);
    }
    if step == "*" {
        let Value::Array(items) = here else {
            return if here.is_null() { Ok(0) } else { Err(expected("a list", here)) };
        };
        return items
            .iter_mut()
            .try_fold(0, |count, item| Ok(count + visit_matches(item, rest, make, Age::Existing, set)?));
    }
    let map = match here {
        Value::Object(map) => map,
        Value::Null => return Ok(0),
        other => return Err(expected("a mapping", other)),
    };
    if let Some(found) = map.get_mut(step) {
        if !rest.is_empty() && !found.is_object() && !found.is_array() && !found.is_null() {
            return inside_text(found, rest, make);
        }
        return visit_matches(found, rest, make, Age::Existing, set);
    }
    let Some(made) = make.next(rest.first()) else { return Ok(0) };
    let (mut made, age) = match made {
        Found::Fresh => (Value::String(String::new()), Age::Created),
        Found::Old(value) => (value, Age::Existing),
    };
    let count = visit_matches(&mut made, rest, make, age, set)?;
    map.insert(step.clone(), made);
    Ok(count)
}

/// Structured text below a scalar is looked into, but only [`structured`](super::structured) writes it back.
fn inside_text(text: &Value, path: &[String], make: Make) -> Result<usize, String> {
    let mut inner =
        crate::resources::parse_text(&text_of(text)).ok_or("the text here is not structured data")?;
    visit_matches(&mut inner, path, make, Age::Existing, &mut |_, _| Ok(()))
}

fn visit_position(
    here: &mut Value,
    step: &str,
    rest: &[String],
    make: Make,
    set: &mut dyn FnMut(&mut Value, Age) -> Result<(), String>,
) -> Result<usize, String> {
    let index: usize = step.parse().map_err(|_| format!("`{step}` is too large for a position"))?;
    let items = match here {
        Value::Array(items) => items,
        Value::Null => return Err(format!("position {index} of an empty list is missing")),
        other => return Err(expected("a list", other)),
    };
    let mut age = Age::Existing;
    if items.len() == index
        && let Some(made) = make.next(rest.first())
    {
        items.push(match made {
            Found::Fresh => {
                age = Age::Created;
                Value::String(String::new())
            }
            Found::Old(value) => value,
        });
    }
    let count = items.len();
    match items.get_mut(index) {
        Some(item) => visit_matches(item, rest, make, age, set),
        None => Err(format!("the list has no position {index}, only {count} elements")),
    }
}

fn visit_elements(
    here: &mut Value,
    key: &str,
    pattern: &str,
    rest: &[String],
    make: Make,
    set: &mut dyn FnMut(&mut Value, Age) -> Result<(), String>,
) -> Result<usize, String> {
    let expression = Regex::new(pattern).map_err(|_| format!("`{pattern}` is not a regular expression"))?;
    let items = match here {
        Value::Array(items) => items,
        Value::Null => return Ok(0),
        other => return Err(expected("a list", other)),
    };
    let mut count = 0;
    for item in items.iter_mut() {
        let text = if key.is_empty() { Some(shown(item)) } else { item.get(key).map(shown) };
        if !text.is_some_and(|text| expression.is_match(&text)) {
            continue;
        }
        count += if key.is_empty() {
            set(item, Age::Existing)?;
            1
        } else {
            visit_matches(item, rest, make, Age::Existing, set)?
        };
    }
    if count > 0 || make == Make::Nothing {
        return Ok(count);
    }
    let wanted = crate::resources::resolve(pattern).unwrap_or_else(|| pattern.into());
    let mut element = if key.is_empty() {
        wanted
    } else {
        let mut map = Map::new();
        map.insert(key.to_owned(), wanted);
        Value::Object(map)
    };
    let count = if key.is_empty() {
        set(&mut element, Age::Existing)?;
        1
    } else {
        visit_matches(&mut element, rest, make, Age::Existing, set)?
    };
    items.push(element);
    Ok(count)
}

fn shown(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed("null"),
        other => text_of(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn paths_split_outside_brackets() {
        assert_eq!(split_field_path("a.[name=x.y].b"), ["a", "[name=x.y]", "b"]);
        assert_eq!(split_field_path(r"metadata.annotations.a\.b/c"), ["metadata", "annotations", "a.b/c"]);
        assert_eq!(split_field_path("a.[b.c]"), ["a", "b.c"]);
    }

    #[test]
    fn matches_are_found_and_made() {
        let run = |path: &str, make, mut value: Value| {
            let count =
                visit_matches(&mut value, &split_field_path(path), make, Age::Existing, &mut |leaf, _| {
                    *leaf = json!("set");
                    Ok(())
                });
            (count, value)
        };
        let list = json!({"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}]});
        assert_eq!(
            run("a.[name=x].v", Make::Nothing, list.clone()),
            (Ok(1), json!({"a": [{"name": "x", "v": "set"}, {"name": "y", "v": 2}]}))
        );
        assert_eq!(
            run("a.*.v", Make::Nothing, list.clone()),
            (Ok(2), json!({"a": [{"name": "x", "v": "set"}, {"name": "y", "v": "set"}]}))
        );
        assert_eq!(
            run("a.[name=z].v", Make::Scalar, json!({"a": []})),
            (Ok(1), json!({"a": [{"name": "z", "v": "set"}]}))
        );
        assert_eq!(run("b.c", Make::Scalar, json!({})), (Ok(1), json!({"b": {"c": "set"}})));
        assert_eq!(run("b.c", Make::Nothing, json!({})), (Ok(0), json!({})));
        assert!(run("a.7", Make::Nothing, list).0.is_err());
    }
}
