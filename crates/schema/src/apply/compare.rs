//! What changed between two values, as sets of fields.

use std::collections::BTreeMap;

use podsmith_object::{Map, Value};

use super::path::{PathElement, same};
use super::set::FieldSet;
use super::shape::{Shape, as_list, as_map, item_element};
use crate::types::{ListRelation, Type};

/// The fields that differ. No field is in two of the sets.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Only in the old value.
    pub removed: FieldSet,
    /// In both, but different.
    pub modified: FieldSet,
    /// Only in the new value.
    pub added: FieldSet,
}

impl Comparison {
    /// Leaves out fields and everything below them.
    #[must_use]
    pub fn without(self, fields: &FieldSet) -> Self {
        if fields.is_empty() {
            return self;
        }
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }
}

/// Compares two values of one type.
pub fn compare(ty: &Type, old: &Value, new: &Value) -> Comparison {
    let mut walk = Walk { path: Vec::new(), out: Comparison::default() };
    walk.value(ty, Some(old), Some(new));
    walk.out
}

struct Walk {
    path: Vec<PathElement>,
    out: Comparison,
}

impl Walk {
    fn value(&mut self, ty: &Type, old: Option<&Value>, new: Option<&Value>) {
        let (left, right) = (Shape::of(ty, old), Shape::of(ty, new));
        let leaf = if new.is_none() {
            self.shape(left, old, new)
        } else if old.is_none() || left.same_sort(&right) {
            self.shape(right, old, new)
        } else {
            // Untyped data whose kind changed counts in both forms.
            self.shape(left, old, new);
            self.shape(right, old, new)
        };
        if !leaf {
            if old.is_none() {
                self.out.added.insert(&self.path);
            } else if new.is_none() {
                self.out.removed.insert(&self.path);
            }
        }
    }

    /// Compares under one shape; true if the value was a leaf.
    fn shape(&mut self, shape: Shape<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
        match shape {
            Shape::Scalar(_) => self.leaf(old, new),
            Shape::Map { ty, atomic } => {
                let (left, right) = (as_map(old), as_map(new));
                if atomic || left.is_none_or(Map::is_empty) && right.is_none_or(Map::is_empty) {
                    return self.leaf(old, new);
                }
                self.maps(ty, left, right);
                false
            }
            Shape::List { items, relation } => {
                let (left, right) = (as_list(old), as_list(new));
                let empty = left.is_none_or(Vec::is_empty) && right.is_none_or(Vec::is_empty);
                if empty || *relation == ListRelation::Atomic {
                    return self.leaf(old, new);
                }
                let none = Vec::new();
                self.lists(items, relation, left.unwrap_or(&none), right.unwrap_or(&none));
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (None, _) => self.out.added.insert(&self.path),
            (_, None) => self.out.removed.insert(&self.path),
            (Some(old), Some(new)) if !same(old, new) => self.out.modified.insert(&self.path),
            _ => {}
        }
        true
    }

    fn maps(&mut self, ty: &Type, old: Option<&Map<String, Value>>, new: Option<&Map<String, Value>>) {
        let old_keys = old.into_iter().flat_map(Map::keys);
        let new_keys =
            new.into_iter().flat_map(Map::keys).filter(|key| old.is_none_or(|old| !old.contains_key(*key)));
        for key in old_keys.chain(new_keys) {
            let (left, right) = (old.and_then(|map| map.get(key)), new.and_then(|map| map.get(key)));
            let inner = ty.child(key).unwrap_or(&Type::Untyped);
            self.path.push(PathElement::field(key));
            self.value(inner, left, right);
            self.path.pop();
        }
    }

    fn lists(&mut self, items: &Type, relation: &ListRelation, old: &[Value], new: &[Value]) {
        let mut matched: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old {
            if let Ok(element) = item_element(items, relation, item) {
                matched.entry(element).or_default().0.push(item);
            }
        }
        for item in new {
            if let Ok(element) = item_element(items, relation, item) {
                matched.entry(element).or_default().1.push(item);
            }
        }
        for (element, (left, right)) in matched {
            self.path.push(element);
            self.items(items, &left, &right);
            self.path.pop();
        }
    }

    /// Items with one key. Where a key occurs more than once the items count as one value.
    fn items(&mut self, items: &Type, left: &[&Value], right: &[&Value]) {
        match (left, right) {
            ([] | [_], [] | [_]) => self.value(items, left.first().copied(), right.first().copied()),
            ([_, _, ..], [_, _, ..]) => {
                let equal = left.len() == right.len() && left.iter().zip(right).all(|(a, b)| same(a, b));
                if !equal {
                    self.out.modified.insert(&self.path);
                }
            }
            ([_, _, ..], _) => {
                if let Some(right) = right.first() {
                    self.value(items, None, Some(right));
                }
                self.out.removed.insert(&self.path);
            }
            _ => {
                if let Some(left) = left.first() {
                    self.value(items, Some(left), None);
                }
                self.out.added.insert(&self.path);
            }
        }
    }
}
