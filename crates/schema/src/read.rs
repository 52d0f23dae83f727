//! Reading one type of the table from its lines.

use std::borrow::Cow;
use std::sync::Arc;

use podsmith_object::Value;

use crate::table::Table;
use crate::types::{Base, Field, ListRelation, ListType, MapType, Patch, Scalar, Struct, Type};

/// A struct from its head and its field lines.
pub(crate) fn structure(
    table: &'static Table,
    package: &'static str,
    name: &'static str,
    head: &str,
    body: &'static str,
) -> Struct {
    let mut definition = Struct { name, package, atomic: head.contains('a'), ..Struct::default() };
    for line in body.lines() {
        let mut columns = line.trim_start_matches('\t').split('\t');
        let mut next = || columns.next().unwrap_or("-");
        let (json, number, expression, flags) = (next(), next(), next(), next());
        let number = number.parse().unwrap_or(0);
        let attributes: Vec<(&'static str, &'static str)> =
            columns.filter_map(|one| one.split_once('=')).collect();
        if flags.contains('i') {
            inline(table, package, expression, number, &mut definition);
        } else {
            let field = field(table, package, expression, number, flags, &attributes);
            definition.fields.insert(Cow::Borrowed(json), field);
        }
    }
    definition
}

/// Takes over the fields of an inlined struct. In protobuf it stays a message of its own, except for the type
/// fields, which are not part of the message at all.
fn inline(
    table: &'static Table,
    package: &'static str,
    expression: &'static str,
    number: u32,
    out: &mut Struct,
) {
    let Type::Struct(inner) = plain(table, package, expression.trim_start_matches('*')) else { return };
    for (name, field) in &inner.definition().fields {
        out.fields.entry(name.clone()).or_insert_with(|| Field {
            number: 0,
            inlined_from: Some(inner.definition().name),
            ..field.clone()
        });
    }
    if number > 0 {
        out.inlined.push((number, inner));
    }
}

fn field(
    table: &'static Table,
    package: &'static str,
    expression: &'static str,
    number: u32,
    flags: &str,
    attributes: &[(&'static str, &'static str)],
) -> Field {
    let attribute = |key: &str| attributes.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let (pointer, expression) = match expression.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, expression),
    };
    let mut ty = plain(table, package, expression);
    match (attribute("lt"), &ty) {
        (Some(list_type), Type::List(list)) => {
            let relation = match list_type {
                "set" => ListRelation::Set,
                "map" => {
                    let keys = attribute("lk").unwrap_or("").split(',').map(Cow::Borrowed).collect();
                    ListRelation::Map(keys)
                }
                _ => ListRelation::Atomic,
            };
            ty = Type::List(Arc::new(ListType {
                items: list.items.clone(),
                relation,
                wrapped: list.wrapped,
                named: list.named,
            }));
        }
        (Some("atomic"), Type::Map(map)) => {
            ty = Type::Map(Arc::new(MapType { values: map.values.clone(), atomic: true, named: map.named }));
        }
        _ => {}
    }
    if let Some(map_type) = attribute("mt") {
        let atomic = map_type == "atomic";
        match &mut ty {
            Type::Map(map) => {
                ty = Type::Map(Arc::new(MapType { values: map.values.clone(), atomic, named: map.named }))
            }
            Type::Struct(structure) => structure.atomic = atomic,
            _ => {}
        }
    }
    let strategy = attribute("ps").unwrap_or("");
    Field {
        ty,
        number,
        pointer,
        omit_empty: flags.contains('o'),
        omit_zero: flags.contains('z'),
        required: flags.contains('r'),
        nullable: false,
        default: attribute("d").and_then(|text| serde_json::from_str::<Value>(text).ok()),
        patch: Patch {
            merge: strategy.split(',').any(|word| word == "merge"),
            retain_keys: strategy.split(',').any(|word| word == "retainKeys"),
            merge_key: attribute("mk"),
        },
        inlined_from: None,
    }
}

/// What a named type stands for. A named list is a message of its own in protobuf.
pub(crate) fn named_target(table: &'static Table, package: &'static str, expression: &'static str) -> Type {
    match plain(table, package, expression) {
        Type::List(list) => {
            let (items, relation) = (list.items.clone(), list.relation.clone());
            Type::List(Arc::new(ListType { items, relation, wrapped: true, named: None }))
        }
        other => other,
    }
}

/// The type of an expression, without the markers of the field that uses it.
fn plain(table: &'static Table, package: &'static str, expression: &'static str) -> Type {
    if let Some(rest) = expression.strip_prefix('*') {
        return plain(table, package, rest);
    }
    if let Some(rest) = expression.strip_prefix("[]") {
        let items = plain(table, package, rest);
        return Type::List(Arc::new(ListType {
            items,
            relation: ListRelation::Atomic,
            wrapped: false,
            named: None,
        }));
    }
    if let Some((_, rest)) = expression.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        return Type::Map(Arc::new(MapType {
            values: plain(table, package, rest),
            atomic: false,
            named: None,
        }));
    }
    if let Some(reference) = expression.strip_prefix('=') {
        let (home, name) = reference.rsplit_once('.').unwrap_or((package, reference));
        return special(home, name).or_else(|| table.named(home, name)).unwrap_or(Type::Untyped);
    }
    let base = match expression {
        "string" => Base::String,
        "bool" => Base::Bool,
        "int32" => Base::Int32,
        "int" | "int64" => Base::Int64,
        "uint8" => Base::Uint8,
        "uint32" => Base::Uint32,
        "uint64" => Base::Uint64,
        "float32" => Base::Float32,
        "float64" => Base::Float64,
        "bytes" => Base::Bytes,
        _ => return Type::Untyped,
    };
    Type::Scalar(Scalar { base, named: None })
}

/// Types whose JSON is not what their Go struct says.
fn special(package: &str, name: &str) -> Option<Type> {
    let base = match (package, name) {
        ("meta/v1", "Time") => Base::Time,
        ("meta/v1", "MicroTime") => Base::MicroTime,
        ("meta/v1", "Duration") => Base::Duration,
        ("resource", "Quantity") => Base::Quantity,
        ("intstr", "IntOrString") => Base::IntOrString,
        ("meta/v1", "FieldsV1") | ("runtime", "RawExtension" | "Object") => return Some(Type::Opaque),
        (
            "apiextensions/v1",
            "JSON" | "JSONSchemaPropsOrBool" | "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray",
        ) => {
            return Some(Type::Untyped);
        }
        _ => return None,
    };
    Some(Type::scalar(base))
}
