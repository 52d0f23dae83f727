//! Stored sets after a type changed from granular to atomic.

use super::path::PathElement;
use super::set::FieldSet;
use crate::types::{ListRelation, Type};

/// The set as it would be had the type always been what it is now: what lies below an atomic value is replaced by
/// the value itself.
pub(super) fn reconcile(ty: &Type, set: &FieldSet) -> FieldSet {
    let mut walk = Walk { path: Vec::new(), atomic: FieldSet::default() };
    walk.value(ty, set, false);
    if walk.atomic.is_empty() {
        return set.clone();
    }
    set.recursive_difference(&walk.atomic).union(&walk.atomic)
}

struct Walk {
    path: Vec<PathElement>,
    atomic: FieldSet,
}

impl Walk {
    fn value(&mut self, ty: &Type, set: &FieldSet, leaf: bool) {
        match ty {
            Type::Scalar(_) | Type::Untyped | Type::Opaque => {}
            Type::List(list) => {
                if list.relation == ListRelation::Atomic {
                    if !leaf {
                        self.atomic.insert(&self.path);
                    }
                    return;
                }
                self.steps(set, |_| Some(&list.items));
            }
            Type::Map(_) | Type::Struct(_) => {
                let atomic = match ty {
                    Type::Map(map) => map.atomic,
                    Type::Struct(structure) => structure.atomic,
                    _ => false,
                };
                if atomic {
                    if !leaf && !set.is_empty() {
                        self.atomic.insert(&self.path);
                    }
                    return;
                }
                self.steps(set, |element| match element {
                    PathElement::Field(name) => ty.child(name),
                    _ => None,
                });
            }
        }
    }

    fn steps<'t>(&mut self, set: &FieldSet, inner: impl Fn(&PathElement) -> Option<&'t Type>) {
        for (element, member, children) in set.steps() {
            if let Some(inner) = inner(element) {
                self.path.push(element.clone());
                self.value(inner, children, member && children.is_empty());
                self.path.pop();
            }
        }
    }
}
