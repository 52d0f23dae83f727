//! The walk through an object and its patch.

use std::fmt;

use podsmith_object::{Map, Value};

use super::list::merge_list;
use super::types::{MergeTypes, Rule, TypeId};
use crate::resources::text_of;

/// Why a patch does not fit: the path, and what is wrong there.
#[derive(Debug)]
pub(crate) struct MergeError {
    path: Vec<String>,
    message: String,
}

impl MergeError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into() }
    }

    pub(super) fn under(mut self, step: &str) -> Self {
        self.path.push(step.to_owned());
        self
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        if !path.is_empty() {
            write!(f, "{}: ", path.join("."))?;
        }
        f.write_str(&self.message)
    }
}

/// Merges `patch` into `body`. An empty result means that the patch deletes the object.
pub(crate) fn merge(
    types: &MergeTypes,
    body: Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<Map<String, Value>, MergeError> {
    Ok(merge_mappings(types, body, patch, None)?.unwrap_or_default())
}

/// What a patch holds for a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patch<'p> {
    /// The value stands for its own patch: only directives and nulls in it still have an effect.
    Itself,
    /// As [`Itself`](Self::Itself), for a value that only the patch has.
    New,
    /// The patch does not speak of the value. Lists in it that merge are still put in order.
    Nothing,
    /// A value of the patch.
    With(&'p Value),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

pub(super) const DIRECTIVE: &str = "$patch";

pub(super) fn directive(value: &Value) -> Result<Directive, MergeError> {
    match &*text_of(value) {
        "merge" => Ok(Directive::Merge),
        "replace" => Ok(Directive::Replace),
        "delete" => Ok(Directive::Delete),
        other => Err(MergeError::new(format!(
            "`$patch: {other}` is not known; it can be merge, replace or delete"
        ))),
    }
}

/// Merges one value; `None` means that it is gone.
pub(super) fn value(
    types: &MergeTypes,
    dest: Option<Value>,
    patch: Patch<'_>,
    rule: Option<&Rule>,
) -> Result<Option<Value>, MergeError> {
    let dest = dest.filter(|dest| !dest.is_null());
    match (dest, patch) {
        (_, Patch::With(Value::Null)) | (None, Patch::Itself | Patch::New | Patch::Nothing) => Ok(None),
        (None, Patch::With(new)) => value(types, Some(new.clone()), Patch::New, rule),
        (Some(Value::Object(dest)), Patch::With(Value::Object(patch))) => {
            Ok(merge_mappings(types, dest, patch, rule.and_then(|rule| rule.type_id))?.map(Value::Object))
        }
        (Some(Value::Object(dest)), Patch::Itself) => {
            Ok(settle_mapping(types, dest, rule.and_then(|rule| rule.type_id))?.map(Value::Object))
        }
        (Some(Value::Object(dest)), Patch::New) => {
            Ok(new_mapping(types, dest, rule.and_then(|rule| rule.type_id))?.map(Value::Object))
        }
        (Some(Value::Object(dest)), Patch::Nothing) => {
            Ok(Some(Value::Object(untouched_mapping(types, dest, rule.and_then(|rule| rule.type_id))?)))
        }
        (
            Some(Value::Array(dest)),
            patch @ (Patch::With(Value::Array(_)) | Patch::Itself | Patch::New | Patch::Nothing),
        ) => match rule.and_then(|rule| rule.merge.as_ref().map(|keys| (keys, rule.element))) {
            Some((keys, element)) => Ok(merge_list(types, dest, patch, keys, element)?.map(Value::Array)),
            None => Ok(Some(match patch {
                Patch::With(new) => new.clone(),
                Patch::Itself | Patch::New | Patch::Nothing => Value::Array(dest),
            })),
        },
        (Some(dest @ (Value::Object(_) | Value::Array(_))), Patch::With(new)) => Err(mismatch(&dest, new)),
        (Some(dest), Patch::With(new @ (Value::Object(_) | Value::Array(_)))) => Err(mismatch(&dest, new)),
        (Some(_), Patch::With(new)) => Ok(Some(new.clone())),
        (Some(dest), Patch::Itself | Patch::New | Patch::Nothing) => Ok(Some(dest)),
    }
}

/// A mapping that only the patch has.
fn new_mapping(
    types: &MergeTypes,
    mut map: Map<String, Value>,
    type_id: Option<TypeId>,
) -> Result<Option<Map<String, Value>>, MergeError> {
    // An unknown directive in something new is no directive at all.
    match map.get(DIRECTIVE).map(directive) {
        Some(Ok(Directive::Delete)) => return Ok(None),
        Some(Ok(_)) => {
            map.shift_remove(DIRECTIVE);
        }
        Some(Err(_)) | None => {}
    }
    let type_id = known_type(types, type_id, &map, None);
    fields_of_itself(types, map, type_id).map(Some)
}

/// Merges two mappings; `None` means that the patch deletes the object's one.
pub(super) fn merge_mappings(
    types: &MergeTypes,
    mut dest: Map<String, Value>,
    patch: &Map<String, Value>,
    type_id: Option<TypeId>,
) -> Result<Option<Map<String, Value>>, MergeError> {
    let type_id = known_type(types, type_id, &dest, Some(patch));
    match patch.get(DIRECTIVE).map(directive).transpose()? {
        Some(Directive::Delete) => return Ok(None),
        Some(Directive::Replace) => {
            let mut new = patch.clone();
            new.shift_remove(DIRECTIVE);
            return fields_of_itself(types, new, type_id).map(Some);
        }
        Some(Directive::Merge) | None => {}
    }
    for (key, wanted) in patch.iter().filter(|(key, _)| *key != DIRECTIVE) {
        let rule = type_id.and_then(|id| types.field(id, key));
        // The slot stays in its place while its value is out.
        let before = dest.get_mut(key).map(Value::take);
        match value(types, before, Patch::With(wanted), rule).map_err(|error| error.under(key))? {
            Some(after) => {
                dest.insert(key.clone(), after);
            }
            None => {
                dest.shift_remove(key);
            }
        }
    }
    untouched_fields(types, &mut dest, type_id, |key| patch.contains_key(key))?;
    Ok(Some(dest))
}

/// A mapping that the patch does not speak of.
pub(super) fn untouched_mapping(
    types: &MergeTypes,
    mut dest: Map<String, Value>,
    type_id: Option<TypeId>,
) -> Result<Map<String, Value>, MergeError> {
    let type_id = known_type(types, type_id, &dest, None);
    untouched_fields(types, &mut dest, type_id, |_| false)?;
    Ok(dest)
}

/// Puts lists in order in fields of the object that are not `touched`. Only fields with a rule can hold such lists.
fn untouched_fields(
    types: &MergeTypes,
    dest: &mut Map<String, Value>,
    type_id: Option<TypeId>,
    touched: impl Fn(&str) -> bool,
) -> Result<(), MergeError> {
    let Some(type_id) = type_id else { return Ok(()) };
    for (key, slot) in dest.iter_mut() {
        if let Some(rule) = types.field(type_id, key).filter(|_| !touched(key) && !slot.is_null()) {
            let before = slot.take();
            *slot = value(types, Some(before), Patch::Nothing, Some(rule))
                .map_err(|error| error.under(key))?
                .unwrap_or_default();
        }
    }
    Ok(())
}

/// A mapping that meets itself: its own directive still counts.
pub(super) fn settle_mapping(
    types: &MergeTypes,
    mut map: Map<String, Value>,
    type_id: Option<TypeId>,
) -> Result<Option<Map<String, Value>>, MergeError> {
    let type_id = known_type(types, type_id, &map, None);
    if let Some(found) = map.get(DIRECTIVE) {
        if directive(found)? == Directive::Delete {
            return Ok(None);
        }
        map.shift_remove(DIRECTIVE);
    }
    fields_of_itself(types, map, type_id).map(Some)
}

fn fields_of_itself(
    types: &MergeTypes,
    map: Map<String, Value>,
    type_id: Option<TypeId>,
) -> Result<Map<String, Value>, MergeError> {
    let mut result = Map::with_capacity(map.len());
    for (key, entry) in map {
        let rule = type_id.and_then(|id| types.field(id, &key));
        if let Some(kept) =
            value(types, Some(entry), Patch::Itself, rule).map_err(|error| error.under(&key))?
        {
            result.insert(key, kept);
        }
    }
    Ok(result)
}

/// The type from above, or the one that the value names itself.
fn known_type(
    types: &MergeTypes,
    type_id: Option<TypeId>,
    dest: &Map<String, Value>,
    patch: Option<&Map<String, Value>>,
) -> Option<TypeId> {
    if type_id.is_some() {
        return type_id;
    }
    [Some(dest), patch].into_iter().flatten().find_map(|map| {
        let (api_version, kind) = (map.get("apiVersion")?.as_str()?, map.get("kind")?.as_str()?);
        types.kind(api_version, kind)
    })
}

fn mismatch(dest: &Value, patch: &Value) -> MergeError {
    let describe = |value: &Value| match value {
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
        _ => "a scalar",
    };
    MergeError::new(format!("the object has {} here, the patch has {}", describe(dest), describe(patch)))
}
