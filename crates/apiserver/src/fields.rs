//! Short ways into untyped objects.

use podsmith_object::{Map, Value};

/// The value at a path of keys.
pub fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(*key)).filter(|value| !value.is_null())
}

/// The text at a path; empty if there is none.
pub fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    at(value, path).and_then(Value::as_str).unwrap_or("")
}

/// The items of the list at a path.
pub fn list<'v>(value: &'v Value, path: &[&str]) -> &'v [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of the list at a path.
pub fn texts<'v>(value: &'v Value, path: &[&str]) -> Vec<&'v str> {
    list(value, path).iter().filter_map(Value::as_str).collect()
}

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// `metadata.namespace`.
pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// `metadata.uid`.
pub fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// The finalizers.
pub fn finalizers(object: &Value) -> Vec<&str> {
    texts(object, &["metadata", "finalizers"])
}

/// True once deletion was asked for.
pub fn is_deleting(object: &Value) -> bool {
    at(object, &["metadata", "deletionTimestamp"]).is_some()
}

/// The mapping at a key of a mapping, made if it is not there. A value that is no mapping is replaced.
pub fn entry<'v>(value: &'v mut Value, key: &str) -> &'v mut Map<String, Value> {
    as_map(slot_at(value, key))
}

fn slot_at<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    as_map(value).entry(key).or_insert(Value::Null)
}

fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made a mapping above"),
    }
}

/// `metadata`, made if it is not there.
pub fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    entry(object, "metadata")
}

/// Sets the value at a path of keys, making mappings on the way.
pub fn set(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else {
        *object = value;
        return;
    };
    let mut slot = object;
    for key in parents {
        slot = slot_at(slot, key);
    }
    as_map(slot).insert((*last).to_owned(), value);
}

/// Removes the value at a path of keys.
pub fn remove(object: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(object, |value, key| value.get_mut(*key))?;
    parent.as_object_mut()?.shift_remove(*last)
}

/// Copies the value at a path from one object to another, or removes it there.
pub fn copy(from: &Value, to: &mut Value, path: &[&str]) {
    match at(from, path) {
        Some(value) => set(to, path, value.clone()),
        None => {
            remove(to, path);
        }
    }
}
