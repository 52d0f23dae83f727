//! Taking fields out of a value.

use podsmith_object::{Map, Value};

use super::path::PathElement;
use super::set::FieldSet;
use super::shape::{Shape, item_element};
use crate::types::{ListRelation, Type};

/// The value without the members of `fields`. What becomes empty turns into null.
pub(super) fn remove(ty: &Type, value: &Value, fields: &FieldSet) -> Value {
    match (Shape::of(ty, Some(value)), value) {
        (Shape::Scalar(_), value) => value.clone(),
        (Shape::Map { ty, atomic: false }, Value::Object(map)) => {
            let mut out = Map::new();
            for (key, value) in map {
                let element = PathElement::field(key);
                if fields.has_element(&element) {
                    continue;
                }
                let kept = match fields.below(&element) {
                    Some(below) => remove(ty.child(key).unwrap_or(&Type::Untyped), value, below),
                    None => value.clone(),
                };
                out.insert(key.clone(), kept);
            }
            if out.is_empty() { Value::Null } else { Value::Object(out) }
        }
        (Shape::List { items, relation }, Value::Array(list)) if *relation != ListRelation::Atomic => {
            let mut out = Vec::new();
            for item in list {
                let Ok(element) = item_element(items, relation, item) else {
                    out.push(item.clone());
                    continue;
                };
                if fields.has_element(&element) {
                    continue;
                }
                out.push(match fields.below(&element) {
                    Some(below) => remove(items, item, below),
                    None => item.clone(),
                });
            }
            if out.is_empty() { Value::Null } else { Value::Array(out) }
        }
        _ => Value::Null,
    }
}
