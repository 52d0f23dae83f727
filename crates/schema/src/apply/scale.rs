//! Ownership across the scale subresource: one field, two places.

use podsmith_object::{Map, Value};

use super::managed::{self, Entry, Managed};
use super::path::PathElement;
use super::set::FieldSet;

const SCALE: &str = "autoscaling/v1";

fn path(fields: &[&str]) -> Vec<PathElement> {
    fields.iter().map(|field| PathElement::field(field)).collect()
}

fn of_path(fields: &[&str]) -> FieldSet {
    FieldSet::of_fields(&[fields])
}

/// The `managedFields` a Scale shows: whoever owns the replicas of the object. `None` when nobody does.
///
/// `replicas` is the field in the object: `["spec", "replicas"]`.
pub fn scale_managers(parent: &Value, replicas: &[&str]) -> Option<Value> {
    let owned: Managed = managed::decode(parent)
        .ok()?
        .into_iter()
        .filter(|(_, entry)| entry.set.has(&path(replicas)))
        .map(|(identity, entry)| {
            (identity, Entry { set: of_path(&["spec", "replicas"]), api_version: SCALE.to_owned(), ..entry })
        })
        .collect();
    listed(&owned)
}

/// The `managedFields` of the object after its Scale was written. `scale` is the Scale with its new entries.
pub fn parent_managers(parent: &Value, scale: &Value, replicas: &[&str], api_version: &str) -> Option<Value> {
    let before = managed::decode(parent).unwrap_or_default();
    let mut owners = managed::decode(scale).unwrap_or_default();
    let mut after = Managed::new();
    for (identity, entry) in before {
        if !entry.set.has(&path(replicas)) || owners.remove(&identity).is_some() {
            after.insert(identity, entry);
            continue;
        }
        let set = entry.set.difference(&of_path(replicas));
        if !set.is_empty() {
            after.insert(identity, Entry { set, ..entry });
        }
    }
    for (identity, entry) in owners {
        if entry.set.has(&path(&["spec", "replicas"])) {
            let entry =
                Entry { set: of_path(replicas), api_version: api_version.to_owned(), time: None, ..entry };
            after.insert(identity, entry);
        }
    }
    listed(&after)
}

fn listed(managed: &Managed) -> Option<Value> {
    let mut holder = Value::Object(Map::new());
    managed::encode(&mut holder, managed);
    holder.pointer("/metadata/managedFields").cloned()
}
