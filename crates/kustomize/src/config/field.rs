//! One kind of field, by type and path, and the walk to it.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use podsmith_object::{Map, Value};

use crate::resources::{Gvk, Resource};

/// A field that a transformer touches in objects of some type.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FieldSpec {
    pub gvk: Gvk,
    pub path: String,
    pub create: bool,
}

/// What to make of a field that is missing and may be created.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Create {
    /// Never.
    Nothing,
    Scalar,
    Mapping,
}

/// Why a field could not be changed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FieldError(pub String);

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FieldSpec {
    /// True if objects of this type are meant.
    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        resource.is_selected_by(&self.gvk)
    }

    /// Calls `set` on every value the path leads to.
    pub(crate) fn apply(
        &self,
        resource: &mut Resource,
        create: Create,
        set: &mut dyn FnMut(&mut Value) -> Result<(), FieldError>,
    ) -> Result<(), FieldError> {
        self.apply_split(&split_path(&self.path, '/'), resource, create, set)
    }

    fn apply_split(
        &self,
        path: &[String],
        resource: &mut Resource,
        create: Create,
        set: &mut dyn FnMut(&mut Value) -> Result<(), FieldError>,
    ) -> Result<(), FieldError> {
        let create = if self.create { create } else { Create::Nothing };
        walk_map(&mut resource.body, path, create, set)
            .map_err(|FieldError(message)| FieldError(format!("field {}: {message}", self.path)))
    }
}

/// Many fields, looked up by type once and with their paths split once.
pub(crate) struct FieldTable<'s> {
    fields: Vec<(&'s FieldSpec, Vec<String>)>,
    by_type: HashMap<String, Rc<[usize]>>,
    key: String,
}

impl<'s> FieldTable<'s> {
    pub(crate) fn new(specs: &'s [FieldSpec]) -> Self {
        let fields = specs.iter().map(|spec| (spec, split_path(&spec.path, '/'))).collect();
        Self { fields, by_type: HashMap::new(), key: String::new() }
    }

    /// Calls `set` on every field that objects of this type have.
    pub(crate) fn apply(
        &mut self,
        resource: &mut Resource,
        create: Create,
        set: &mut dyn FnMut(&mut Value) -> Result<(), FieldError>,
    ) -> Result<(), FieldError> {
        for index in self.of(resource).iter() {
            if let Some((spec, path)) = self.fields.get(*index) {
                spec.apply_split(path, resource, create, set)?;
            }
        }
        Ok(())
    }

    fn of(&mut self, resource: &Resource) -> Rc<[usize]> {
        self.key.clear();
        self.key.push_str(&resource.api_version());
        self.key.push(' ');
        self.key.push_str(&resource.kind());
        if let Some(found) = self.by_type.get(&self.key) {
            return found.clone();
        }
        let found: Rc<[usize]> = self
            .fields
            .iter()
            .enumerate()
            .filter(|(_, (spec, _))| spec.selects(resource))
            .map(|(index, _)| index)
            .collect();
        self.by_type.insert(self.key.clone(), found.clone());
        found
    }
}

/// Walks `path` from `value`, through every element of the lists on the way, and calls `set` at its end.
fn visit(
    value: &mut Value,
    path: &[String],
    create: Create,
    set: &mut dyn FnMut(&mut Value) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    if path.is_empty() {
        return set(value);
    }
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(|item| visit(item, path, create, set)),
        Value::Object(map) => walk_map(map, path, create, set),
        _ => Err(FieldError("a scalar stands where a list or a mapping is expected".into())),
    }
}

fn walk_map(
    map: &mut Map<String, Value>,
    path: &[String],
    create: Create,
    set: &mut dyn FnMut(&mut Value) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    let Some((step, rest)) = path.split_first() else { return Ok(()) };
    let (name, is_list) = match step.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (step.as_str(), false),
    };
    if name.is_empty() {
        return Err(FieldError("the path has an empty step".into()));
    }
    let make = match (create, is_list, rest.is_empty()) {
        (_, true, _) => Some(Value::Array(Vec::new())),
        (Create::Nothing, false, _) => None,
        (Create::Scalar, false, true) => Some(Value::String(String::new())),
        (Create::Scalar | Create::Mapping, false, _) => Some(Value::Object(Map::new())),
    };
    match map.get_mut(name) {
        Some(found) => {
            if found.is_null()
                && let Some(made) = make
            {
                *found = made;
            }
            visit(found, rest, create, set)
        }
        None => match make {
            Some(mut made) if !is_list => {
                visit(&mut made, rest, create, set)?;
                map.insert(name.to_owned(), made);
                Ok(())
            }
            _ => Ok(()),
        },
    }
}

/// Splits a path; a backslash before the delimiter keeps it, and a leading delimiter is dropped.
pub(crate) fn split_path(path: &str, delimiter: char) -> Vec<String> {
    let mut parts: Vec<&str> = path.split(delimiter).collect();
    if parts.len() > 1 && parts.first() == Some(&"") {
        parts.remove(0);
    }
    let mut result: Vec<String> = Vec::with_capacity(parts.len());
    for part in parts {
        match result.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(part);
            }
            _ => result.push(part.to_owned()),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn apply(path: &str, create: Create, mut value: Value) -> Value {
        let steps = split_path(path, '/');
        visit(&mut value, &steps, create, &mut |leaf| {
            *leaf = json!("set");
            Ok(())
        })
        .unwrap();
        value
    }

    #[test]
    fn paths_lead_through_lists_and_make_what_may_be_made() {
        assert_eq!(
            apply("a/b", Create::Nothing, json!({"a": [{"b": 1}, {"c": 2}]})),
            json!({"a": [{"b": "set"}, {"c": 2}]})
        );
        assert_eq!(apply("a/b", Create::Scalar, json!({})), json!({"a": {"b": "set"}}));
        assert_eq!(apply("a/b", Create::Scalar, json!({"a": null})), json!({"a": {"b": "set"}}));
        assert_eq!(apply("a[]/b", Create::Scalar, json!({})), json!({}));
        assert_eq!(apply("a/b", Create::Nothing, json!({"a": null})), json!({"a": null}));
    }

    #[test]
    fn a_backslash_keeps_a_delimiter() {
        assert_eq!(split_path(r"a/b\/c", '/'), ["a", "b/c"]);
        assert_eq!(split_path("/a", '/'), ["a"]);
    }
}
