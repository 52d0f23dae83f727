//! The JSON the API server stores: what a typed round trip leaves of a value.
//!
//! The server reads JSON into structs and writes it again. Fields that are always written appear with their zero
//! value, empty optional ones disappear, quantities and times take one form. Everything that compares objects relies
//! on both sides being in this form.

use base64::Engine as _;
use podsmith_object::quantity::Quantity;
use podsmith_object::{Map, Value};

use crate::types::{Base, Field, Scalar, Type};

/// The JSON of an object of this type in which nothing is set.
pub fn zero(ty: &Type) -> Value {
    let mut value = Value::Object(Map::new());
    canonicalize(ty, &mut value);
    value
}

/// Brings a value that fits its type into the stored form. Fields the type does not declare disappear; fields stand in
/// the order of the type. Custom types are left as they are.
pub fn canonicalize(ty: &Type, value: &mut Value) {
    match ty {
        Type::Scalar(scalar) => canonical_scalar(*scalar, value),
        Type::Untyped | Type::Opaque => {}
        Type::List(list) => {
            if let Value::Array(items) = value {
                items.iter_mut().for_each(|item| canonical_item(&list.items, item));
            }
        }
        Type::Map(map) => {
            if let Value::Object(entries) = value {
                entries.values_mut().for_each(|item| canonical_item(&map.values, item));
                // Go writes maps with sorted keys.
                entries.sort_keys();
            }
        }
        Type::Struct(structure) => {
            let definition = structure.definition();
            if definition.package.is_empty() {
                return;
            }
            let Value::Object(given) = value else { return };
            let mut given = std::mem::take(given);
            let mut out = Map::with_capacity(given.len());
            for (name, field) in &definition.fields {
                if let Some(kept) = canonical_field(field, given.get_mut(name.as_ref()).map(Value::take)) {
                    out.insert(name.to_string(), kept);
                }
            }
            *value = Value::Object(out);
        }
    }
}

/// Turns empty lists and maps that are always written into null: storage knows no difference between empty and none.
/// Ownership is noted before that, so this is a step of its own.
pub(crate) fn forget_empty(ty: &Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(structure), Value::Object(map)) => {
            for (name, field) in &structure.definition().fields {
                let Some(inner) = map.get_mut(name.as_ref()) else { continue };
                let collection = matches!(field.ty, Type::List(_) | Type::Map(_));
                if collection && !field.pointer && is_empty(&field.ty, inner) {
                    *inner = Value::Null;
                } else {
                    forget_empty(&field.ty, inner);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            items.iter_mut().for_each(|item| forget_empty(&list.items, item))
        }
        (Type::Map(map), Value::Object(entries)) => {
            entries.values_mut().for_each(|item| forget_empty(&map.values, item));
        }
        _ => {}
    }
}

/// An item of a list or map: null becomes the zero value of the type.
fn canonical_item(ty: &Type, item: &mut Value) {
    if item.is_null() {
        *item = zero_value(ty);
    } else {
        canonicalize(ty, item);
    }
}

fn zero_value(ty: &Type) -> Value {
    match ty {
        Type::Scalar(Scalar { base, .. }) => match base {
            Base::String => Value::from(""),
            Base::Bool => Value::from(false),
            Base::Int32 | Base::Int64 | Base::Uint8 | Base::Uint32 | Base::Uint64 => Value::from(0),
            Base::Float32 | Base::Float64 | Base::IntOrString => Value::from(0),
            Base::Quantity => Value::from("0"),
            Base::Duration => Value::from("0s"),
            Base::Bytes | Base::Time | Base::MicroTime | Base::Any => Value::Null,
        },
        Type::Struct(_) => zero(ty),
        _ => Value::Null,
    }
}

/// The value a field is written with; `None` when it is left out.
fn canonical_field(field: &Field, value: Option<Value>) -> Option<Value> {
    let value = value.filter(|value| !value.is_null());
    if field.pointer {
        return match value {
            Some(mut value) => {
                canonicalize(&field.ty, &mut value);
                Some(value)
            }
            None => (!field.omit_empty).then_some(Value::Null),
        };
    }
    let mut value = value.unwrap_or_else(|| zero_value(&field.ty));
    canonicalize(&field.ty, &mut value);
    if field.omit_zero && is_zero(&field.ty, &value) || field.omit_empty && is_empty(&field.ty, &value) {
        return None;
    }
    Some(value)
}

/// Go's rule for `omitempty`: structs are never empty.
fn is_empty(ty: &Type, value: &Value) -> bool {
    match ty {
        // Times, quantities and the like are structs that write themselves.
        Type::Scalar(Scalar {
            base: Base::Time | Base::MicroTime | Base::Quantity | Base::IntOrString | Base::Duration,
            ..
        }) => false,
        Type::Opaque | Type::Untyped => false,
        Type::Struct(_) => false,
        _ => match value {
            Value::Null => true,
            Value::Bool(flag) => !flag,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
        },
    }
}

/// Go's rule for `omitzero`: a struct with nothing set counts too.
fn is_zero(ty: &Type, value: &Value) -> bool {
    match ty {
        Type::Struct(_) => *value == zero(ty),
        Type::Scalar(_) => value.is_null() || *value == zero_value(ty),
        _ => value.is_null(),
    }
}

fn canonical_scalar(scalar: Scalar, value: &mut Value) {
    match (scalar.base, &*value) {
        (Base::Quantity, Value::String(text)) => {
            if let Ok(quantity) = Quantity::parse(text) {
                *value = Value::from(quantity.to_string());
            }
        }
        (Base::Quantity, Value::Number(number)) => {
            if let Ok(quantity) = Quantity::parse(&number.to_string()) {
                *value = Value::from(quantity.to_string());
            }
        }
        (Base::Time, Value::String(text)) => {
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                *value = Value::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
            }
        }
        (Base::MicroTime, Value::String(text)) => {
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                *value = Value::from(time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string());
            }
        }
        (Base::Bytes, Value::String(text)) if text.contains(['\n', '\r']) => {
            let joined: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
            if base64::engine::general_purpose::STANDARD.decode(&joined).is_ok() {
                *value = Value::from(joined);
            }
        }
        (Base::Int32 | Base::Int64, Value::Number(number)) => {
            // A whole number may be written with a fraction of zero.
            if let (None, Some(float)) = (number.as_i64(), number.as_f64())
                && float.fract() == 0.0
                && float.abs() < 9e15
            {
                *value = Value::from(float as i64);
            }
        }
        _ => {}
    }
}
