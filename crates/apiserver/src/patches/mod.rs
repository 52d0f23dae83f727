//! The two patches that need no types.

use podsmith_object::{Map, Value};

use crate::status::{ApiError, ApiResult};

/// At most this many operations in one JSON patch.
const MOST_OPERATIONS: usize = 10_000;

/// RFC 7386: null removes, mappings merge, everything else replaces.
pub fn merge_patch(object: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut out = match object {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    for (key, value) in patch {
        if value.is_null() {
            out.shift_remove(key);
        } else {
            let merged = merge_patch(out.get(key).unwrap_or(&Value::Null), value);
            out.insert(key.clone(), merged);
        }
    }
    Value::Object(out)
}

/// RFC 6902 as the Go libraries do it: a `test` for null passes where nothing is.
pub fn json_patch(object: &Value, patch: &Value) -> ApiResult<Value> {
    let Value::Array(operations) = patch else {
        let found = match patch {
            Value::Object(_) => "object",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            _ => "null",
        };
        return Err(ApiError::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
        )));
    };
    if operations.len() > MOST_OPERATIONS {
        return Err(ApiError::new(
            413,
            "RequestEntityTooLarge",
            format!(
                "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
                operations.len()
            ),
        ));
    }
    let mut out = object.clone();
    for operation in operations {
        one_operation(&mut out, operation).ok_or_else(rejected)?;
    }
    Ok(out)
}

fn rejected() -> ApiError {
    ApiError::new(422, "Invalid", "the server rejected our request due to an error in our request")
        .with_details(Default::default())
}

/// One operation; nothing when it cannot be done.
fn one_operation(object: &mut Value, operation: &Value) -> Option<()> {
    let text = |key: &str| operation.get(key).and_then(Value::as_str);
    let path = pointer(text("path")?)?;
    let value = || operation.get("value").cloned();
    match text("op")? {
        "add" => add(object, &path, value()?),
        "remove" => remove(object, &path).map(drop),
        "replace" => {
            let slot = find_mut(object, &path)?;
            *slot = value()?;
            Some(())
        }
        "move" => {
            let from = pointer(text("from")?)?;
            let moved = remove(object, &from)?;
            add(object, &path, moved)
        }
        "copy" => {
            let from = pointer(text("from")?)?;
            let copied = find(object, &from)?.clone();
            add(object, &path, copied)
        }
        "test" => {
            let wanted = value().unwrap_or(Value::Null);
            let found = find(object, &path).unwrap_or(&Value::Null);
            (equal(found, &wanted)).then_some(())
        }
        _ => None,
    }
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn pointer(text: &str) -> Option<Vec<String>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let parts = text.strip_prefix('/')?.split('/');
    Some(parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn find<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Object(map) => map.get(key),
        Value::Array(list) => list.get(index(key, list.len())?),
        _ => None,
    })
}

fn find_mut<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Object(map) => map.get_mut(key),
        Value::Array(list) => {
            let at = index(key, list.len())?;
            list.get_mut(at)
        }
        _ => None,
    })
}

/// An index; negative ones count from the end, as the Go library allows.
fn index(key: &str, length: usize) -> Option<usize> {
    let number: i64 = key.parse().ok()?;
    if number < 0 { length.checked_sub(usize::try_from(-number).ok()?) } else { usize::try_from(number).ok() }
}

fn add(object: &mut Value, path: &[String], value: Value) -> Option<()> {
    let Some((last, parents)) = path.split_last() else {
        *object = value;
        return Some(());
    };
    match find_mut(object, parents)? {
        Value::Object(map) => {
            map.insert(last.clone(), value);
            Some(())
        }
        Value::Array(list) => {
            let at = if last == "-" { list.len() } else { index(last, list.len())? };
            (at <= list.len()).then(|| list.insert(at, value))
        }
        _ => None,
    }
}

fn remove(object: &mut Value, path: &[String]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    match find_mut(object, parents)? {
        Value::Object(map) => map.shift_remove(last),
        Value::Array(list) => {
            let at = index(last, list.len())?;
            (at < list.len()).then(|| list.remove(at))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use podsmith_object::json;

    use super::*;

    #[test]
    fn merge_patches_remove_with_null() {
        let object = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        let patch = json!({"a": {"b": null, "e": {"f": null, "g": 1}}, "d": [2]});
        assert_eq!(merge_patch(&object, &patch), json!({"a": {"c": 2, "e": {"g": 1}}, "d": [2]}));
    }

    #[test]
    fn json_patches_follow_the_rfc_and_the_null_test_rule() {
        let object = json!({"a": {"b": [1, 2]}, "m~n": 1});
        for (patch, expected) in [
            (json!([{"op": "add", "path": "/a/b/1", "value": 9}]), Some(json!([1, 9, 2]))),
            (json!([{"op": "add", "path": "/a/b/-", "value": 9}]), Some(json!([1, 2, 9]))),
            (json!([{"op": "remove", "path": "/a/b/0"}]), Some(json!([2]))),
            (json!([{"op": "replace", "path": "/a/b/0", "value": 5}]), Some(json!([5, 2]))),
            (json!([{"op": "test", "path": "/x/y", "value": null}]), Some(json!([1, 2]))),
            (json!([{"op": "test", "path": "/m~0n", "value": 1.0}]), Some(json!([1, 2]))),
            (json!([{"op": "copy", "from": "/a/b/0", "path": "/a/b/-"}]), Some(json!([1, 2, 1]))),
            (json!([{"op": "move", "from": "/a/b/0", "path": "/a/b/1"}]), Some(json!([2, 1]))),
            (json!([{"op": "add", "path": "/x/y", "value": 1}]), None),
            (json!([{"op": "remove", "path": "/x"}]), None),
            (json!([{"op": "test", "path": "/a/b/0", "value": 2}]), None),
            (json!([{"op": "nope", "path": "/a"}]), None),
        ] {
            let result = json_patch(&object, &patch).ok().map(|out| out["a"]["b"].clone());
            assert_eq!(result, expected, "{patch}");
        }
        assert_eq!(json_patch(&object, &json!({"a": 1})).unwrap_err().code, 400);
    }
}
