//! The set of fields a value mentions.

use std::collections::BTreeMap;

use podsmith_object::{Map, Value};

use super::path::PathElement;
use super::set::FieldSet;
use super::shape::{Shape, as_list, as_map, item_element};
use crate::types::{ListRelation, Type};

/// The fields of a value: scalars, atomic lists and maps, list items, and keys that the type does not declare.
pub fn field_set(ty: &Type, value: &Value) -> FieldSet {
    let mut walk = Walk { path: Vec::new(), out: FieldSet::default() };
    walk.value(ty, value);
    walk.out
}

struct Walk {
    path: Vec<PathElement>,
    out: FieldSet,
}

impl Walk {
    fn value(&mut self, ty: &Type, value: &Value) {
        match Shape::of(ty, Some(value)) {
            Shape::Map { ty, atomic: false } => {
                if let Some(map) = as_map(Some(value)) {
                    self.map(ty, map);
                }
            }
            Shape::List { items, relation } if *relation != ListRelation::Atomic => {
                if let Some(list) = as_list(Some(value)) {
                    self.list(items, relation, list);
                }
            }
            _ => self.out.insert(&self.path),
        }
    }

    fn map(&mut self, ty: &Type, map: &Map<String, Value>) {
        for (key, value) in map {
            self.path.push(PathElement::field(key));
            self.value(ty.child(key).unwrap_or(&Type::Untyped), value);
            let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if empty || ty.field(key).is_none() {
                self.out.insert(&self.path);
            }
            self.path.pop();
        }
    }

    fn list(&mut self, items: &Type, relation: &ListRelation, list: &[Value]) {
        let mut found: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
        for item in list {
            if let Ok(element) = item_element(items, relation, item) {
                found.entry(element).or_default().push(item);
            }
        }
        for (element, same_key) in found {
            self.path.push(element);
            if let [only] = same_key.as_slice() {
                self.value(items, only);
            }
            self.out.insert(&self.path);
            self.path.pop();
        }
    }
}
