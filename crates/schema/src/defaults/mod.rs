//! Defaults of the built-in kinds.
//!
//! Defaults belong to structs, not to kinds: a container gets the same ones wherever it stands. [`fill`] walks an
//! object with its type and fills each struct in, outer ones first, as the server does. One file holds one group of
//! structs.

mod admission;
mod apps;
mod core;
mod others;
mod pods;

use podsmith_object::quantity::Quantity;
use podsmith_object::{Map, Value};

use crate::canonical;
use crate::types::{Base, Scalar, Struct, Type};

/// The fields of an object.
type Object = Map<String, Value>;

/// Fills in what a client may leave out and brings the object into the stored form.
///
/// The object must fit its type ([`crate::decode::check`]). What depends on other objects, addresses or the clock is
/// not filled in here.
pub fn fill(ty: &Type, object: &mut Value) {
    canonical::canonicalize(ty, object);
    walk(ty, object);
    canonical::canonicalize(ty, object);
}

fn walk(ty: &Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(structure), Value::Object(map)) => {
            let definition = structure.definition();
            structure_defaults(definition, map);
            for (name, field) in &definition.fields {
                if let Some(default) = &field.default
                    && !field.pointer
                {
                    set_if_empty(map, name, || default.clone());
                } else if let Some(default) = &field.default {
                    set_if_missing(map, name, || default.clone());
                }
                if let Some(inner) = map.get_mut(name.as_ref()) {
                    walk(&field.ty, inner);
                    if is_resource_list(&field.ty) && !definition.package.starts_with("resource/") {
                        round_up(inner);
                    }
                }
            }
        }
        (Type::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| walk(&list.items, item)),
        (Type::Map(map), Value::Object(entries)) => {
            entries.values_mut().for_each(|item| walk(&map.values, item))
        }
        _ => {}
    }
}

/// The defaults of one struct, by package and name.
fn structure_defaults(definition: &Struct, map: &mut Object) {
    let name = definition.name;
    match definition.package {
        "core/v1" => {
            pods::fill(name, map);
            core::fill(name, map);
        }
        "apps/v1" => apps::fill(name, map),
        "batch/v1" => apps::fill_batch(name, map),
        "admissionregistration/v1" | "apiextensions/v1" | "apiregistration/v1" => admission::fill(name, map),
        package => others::fill(package, name, map),
    }
}

fn is_resource_list(ty: &Type) -> bool {
    matches!(ty, Type::Map(map) if matches!(map.values, Type::Scalar(Scalar { base: Base::Quantity, .. })))
}

/// Amounts in resource lists are whole thousandths.
fn round_up(list: &mut Value) {
    for amount in list.as_object_mut().into_iter().flat_map(Map::values_mut) {
        let Some(parsed) = amount.as_str().and_then(|text| Quantity::parse(text).ok()) else { continue };
        let rounded = Quantity::parse(&format!("{}m", parsed.milli()));
        if let Ok(rounded) = rounded
            && rounded != parsed
        {
            *amount = Value::from(rounded.to_string());
        }
    }
}

/// Sets a field that is missing or null.
fn set_if_missing(map: &mut Object, key: &str, value: impl FnOnce() -> Value) {
    if map.get(key).is_none_or(Value::is_null) {
        map.insert(key.to_owned(), value());
    }
}

/// Sets a field that is missing or has the zero value of its type.
fn set_if_empty(map: &mut Object, key: &str, value: impl FnOnce() -> Value) {
    if is_empty(map.get(key)) {
        map.insert(key.to_owned(), value());
    }
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Bool(flag)) => !flag,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() == Some(0.0),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
    }
}

fn text<'a>(map: &'a Object, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The mapping under a key, made if it is missing.
fn inner<'a>(map: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    let slot = map.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if slot.is_null() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut()
}

/// The items of a list of mappings.
fn each<'a>(map: &'a mut Object, key: &str) -> impl Iterator<Item = &'a mut Object> {
    map.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}
