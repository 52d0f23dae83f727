//! What `metadata.managedFields` says about who wrote what.

use podsmith_object::{Map, Object, Value};

use crate::{digest, names};

fn entries(object: &Object) -> impl Iterator<Item = &Map<String, Value>> {
    let list = object.get(&["metadata", "managedFields"]).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

fn text<'e>(entry: &'e Map<String, Value>, key: &str) -> &'e str {
    entry.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The fields that we applied and still own.
pub fn our_fields(object: &Object) -> Option<&Value> {
    entries(object)
        .find(|entry| {
            text(entry, "manager") == names::MANAGER
                && text(entry, "operation") == "Apply"
                && text(entry, "subresource").is_empty()
        })
        .and_then(|entry| entry.get("fieldsV1"))
}

/// A digest of [`our_fields`]. When somebody else changes a field of ours, the server takes it from us, and this digest
/// changes.
pub fn our_digest(object: &Object) -> Option<String> {
    our_fields(object).map(digest::of_value)
}

/// True when somebody besides us scales the object through its `scale` subresource.
pub fn scaled_by_others(object: &Object) -> bool {
    entries(object).any(|entry| {
        text(entry, "subresource") == "scale"
            && entry.get("fieldsV1").and_then(|fields| fields.pointer("/f:spec/f:replicas")).is_some()
    })
}

/// The managers other than us that wrote the object itself, the latest last.
pub fn other_writers(object: &Object) -> Vec<String> {
    let mut writers: Vec<(&str, &str)> = entries(object)
        .filter(|entry| text(entry, "manager") != names::MANAGER && text(entry, "subresource") != "status")
        .map(|entry| (text(entry, "time"), text(entry, "manager")))
        .collect();
    writers.sort_unstable();
    let mut out: Vec<String> = Vec::new();
    for (_, manager) in writers {
        if out.last().is_none_or(|last| last != manager) {
            out.push(manager.to_owned());
        }
    }
    out
}

/// The last manager that wrote the object itself.
pub fn last_writer(object: &Object) -> Option<String> {
    entries(object)
        .filter(|entry| text(entry, "subresource") != "status")
        .max_by_key(|entry| text(entry, "time").to_owned())
        .map(|entry| text(entry, "manager").to_owned())
}
