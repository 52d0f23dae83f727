//! How a type treats one value: as a scalar, a list or a map.

use std::borrow::Cow;

use podsmith_object::{Map, Value};

use super::path::PathElement;
use crate::types::{Base, Field, ListRelation, Scalar, Type};

static UNTYPED: Type = Type::Untyped;
static OPAQUE: Type = Type::Opaque;

/// How a type treats a value.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Scalar(Base),
    List { items: &'a Type, relation: &'a ListRelation },
    Map { ty: &'a Type, atomic: bool },
}

impl<'a> Shape<'a> {
    /// The shape for a value. A type that allows anything looks at the value; null counts as a map there.
    pub(super) fn of(ty: &'a Type, value: Option<&Value>) -> Self {
        match ty {
            Type::Scalar(Scalar { base, .. }) => Self::Scalar(*base),
            Type::List(list) => Self::List { items: &list.items, relation: &list.relation },
            Type::Map(map) => Self::Map { ty, atomic: map.atomic },
            Type::Struct(structure) => Self::Map { ty, atomic: structure.atomic },
            Type::Untyped | Type::Opaque => match value {
                Some(Value::Array(_)) => Self::List { items: &OPAQUE, relation: &ListRelation::Atomic },
                Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Self::Scalar(Base::Any),
                _ if matches!(ty, Type::Opaque) => Self::Map { ty: &OPAQUE, atomic: true },
                _ => Self::Map { ty: &UNTYPED, atomic: false },
            },
        }
    }

    pub(super) fn same_sort(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Scalar(_), Self::Scalar(_))
                | (Self::List { .. }, Self::List { .. })
                | (Self::Map { .. }, Self::Map { .. })
        )
    }
}

pub(super) fn as_map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

pub(super) fn as_list(value: Option<&Value>) -> Option<&Vec<Value>> {
    value.and_then(Value::as_array)
}

/// The step to an item of a list, or why it has none.
pub(super) fn item_element(
    items: &Type,
    relation: &ListRelation,
    item: &Value,
) -> Result<PathElement, String> {
    match relation {
        ListRelation::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListRelation::Set => match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            scalar => Ok(PathElement::Value(scalar.clone())),
        },
        ListRelation::Map(keys) => key_element(items, keys, item),
    }
}

fn key_element(items: &Type, keys: &[Cow<'static, str>], item: &Value) -> Result<PathElement, String> {
    let map = match item {
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        Value::Object(map) => map,
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let mut found: Vec<(String, Value)> = Vec::with_capacity(keys.len());
    for key in keys {
        let value = match map.get(key.as_ref()) {
            Some(value) => Some(value.clone()),
            None => items.field(key).and_then(key_default),
        };
        found.extend(value.map(|value| (key.to_string(), value)));
    }
    if found.is_empty() && !keys.is_empty() {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            keys.join(" ")
        ));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(found))
}

/// The value a missing key field stands for. A field that is always written has its zero value as default.
fn key_default(field: &Field) -> Option<Value> {
    if field.default.is_some() {
        return field.default.clone();
    }
    if field.pointer || field.omit_empty || field.omit_zero || field.number == 0 {
        return None;
    }
    match &field.ty {
        Type::Scalar(Scalar { base: Base::String, .. }) => Some(Value::from("")),
        Type::Scalar(Scalar { base: Base::Int32 | Base::Int64, .. }) => Some(Value::from(0)),
        Type::Scalar(Scalar { base: Base::Bool, .. }) => Some(Value::from(false)),
        _ => None,
    }
}
