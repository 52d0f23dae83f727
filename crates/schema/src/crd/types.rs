//! The type of a custom schema.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use podsmith_object::Value;

use super::{additional, flag, text};
use crate::table::table;
use crate::types::{Base, Field, ListRelation, ListType, MapType, Patch, Struct, StructType, Type};

/// The type of a whole object: what the schema says and the fields every object has.
pub(super) fn root(schema: &Value) -> Type {
    object(schema, false, true)
}

fn convert(schema: &Value, preserve: bool) -> Type {
    // Preserving unknown fields holds for everything below as well, as far as ownership goes.
    let preserve = preserve || flag(schema, "x-kubernetes-preserve-unknown-fields");
    match text(schema, "type") {
        "object" => object(schema, preserve, flag(schema, "x-kubernetes-embedded-resource")),
        "array" => list(schema, preserve),
        "string" => Type::scalar(match text(schema, "format") {
            "" | "byte" => Base::String,
            _ => Base::Any,
        }),
        "integer" => Type::scalar(Base::Int64),
        "number" => Type::scalar(Base::Float64),
        "boolean" => Type::scalar(Base::Bool),
        _ => Type::Untyped,
    }
}

fn list(schema: &Value, preserve: bool) -> Type {
    let items = schema.get("items").map_or(Type::Opaque, |items| convert(items, preserve));
    let relation = match text(schema, "x-kubernetes-list-type") {
        "set" => ListRelation::Set,
        "map" => {
            let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            let keys = keys.into_iter().flatten().filter_map(Value::as_str);
            ListRelation::Map(keys.map(|key| Cow::Owned(key.to_owned())).collect())
        }
        _ => ListRelation::Atomic,
    };
    Type::List(Arc::new(ListType { items, relation, wrapped: false, named: None }))
}

fn object(schema: &Value, preserve: bool, resource: bool) -> Type {
    let preserve = preserve || flag(schema, "x-kubernetes-preserve-unknown-fields");
    let atomic = text(schema, "x-kubernetes-map-type") == "atomic";
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = match (additional(schema), schema.get("additionalProperties")) {
        (Some(inner), _) => Some(convert(inner, preserve)),
        (None, Some(allowed)) => (*allowed == Value::Bool(true)).then_some(Type::Untyped),
        (None, None) => {
            (preserve || properties.is_none_or(serde_json::Map::is_empty)).then_some(Type::Untyped)
        }
    };
    if properties.is_none() && !resource {
        let values = others.unwrap_or(Type::Untyped);
        return Type::Map(Arc::new(MapType { values, atomic, named: None }));
    }
    let mut fields: IndexMap<Cow<'static, str>, Field> = IndexMap::new();
    for (name, inner) in properties.into_iter().flatten() {
        fields.insert(Cow::Owned(name.clone()), field(schema, name, inner, preserve));
    }
    if resource {
        fields.insert(Cow::Borrowed("apiVersion"), plain(Type::scalar(Base::String)));
        fields.insert(Cow::Borrowed("kind"), plain(Type::scalar(Base::String)));
        let metadata = table().named("meta/v1", "ObjectMeta").unwrap_or(Type::Untyped);
        fields.insert(Cow::Borrowed("metadata"), plain(metadata));
    }
    Type::Struct(StructType::own(Struct { fields, others, atomic, ..Struct::default() }))
}

fn field(parent: &Value, name: &str, schema: &Value, preserve: bool) -> Field {
    let required = parent.get("required").and_then(Value::as_array);
    Field {
        required: required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name))),
        nullable: flag(schema, "nullable"),
        default: schema.get("default").cloned(),
        ..plain(convert(schema, preserve))
    }
}

fn plain(ty: Type) -> Field {
    Field {
        ty,
        number: 0,
        pointer: true,
        omit_empty: false,
        omit_zero: false,
        required: false,
        nullable: false,
        default: None,
        patch: Patch::default(),
        inlined_from: None,
    }
}
