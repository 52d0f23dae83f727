//! Schemas out of the table of types, and those of custom resources.

use std::collections::BTreeMap;

use podsmith_object::{Map, Value, json};
use podsmith_schema::types::{Base, Field, ListRelation, Struct};
use podsmith_schema::{Type, table};

use crate::registry::Resource;

/// Which version of OpenAPI.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// Swagger 2.0.
    Two,
    /// OpenAPI 3.0.
    Three,
}

/// Schemas by name, each once.
pub struct Schemas {
    dialect: Dialect,
    done: BTreeMap<String, Value>,
}

impl Schemas {
    /// None so far.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, done: BTreeMap::new() }
    }

    /// All of them.
    pub fn finish(self) -> Value {
        self.done.into_iter().collect()
    }

    /// A resource's kind, its list, and everything they use.
    pub fn add_resource(&mut self, resource: &Resource) {
        let kind = json!([{"group": resource.group, "version": resource.version, "kind": resource.kind}]);
        match &resource.custom {
            Some(custom) => {
                let name = custom_name(resource);
                let mut schema = custom.schema.schema().clone();
                if self.dialect == Dialect::Two {
                    open_up(&mut schema);
                }
                if !is_open(&schema) || self.dialect == Dialect::Three {
                    self.complete_custom(&mut schema);
                }
                schema["x-kubernetes-group-version-kind"] = kind;
                self.done.insert(name, schema);
            }
            None => {
                let Some(definition) = resource.ty.as_struct() else { return };
                let name = self.add_struct(definition);
                if let Some(schema) = self.done.get_mut(&name) {
                    schema["x-kubernetes-group-version-kind"] = kind;
                }
            }
        }
    }

    /// `DeleteOptions`, which is sent to every group.
    pub fn add_options(&mut self) {
        for name in ["DeleteOptions", "Status"] {
            if let Some(ty) = table().named("meta/v1", name)
                && let Some(definition) = ty.as_struct()
            {
                let name = self.add_struct(definition);
                if let Some(schema) = self.done.get_mut(&name) {
                    let short = name.rsplit('.').next().unwrap_or("");
                    schema["x-kubernetes-group-version-kind"] =
                        json!([{"group": "", "version": "v1", "kind": short}]);
                }
            }
        }
    }

    /// What every object has, which the schema of a custom resource leaves out.
    fn complete_custom(&mut self, schema: &mut Value) {
        let metadata = table().named("meta/v1", "ObjectMeta");
        let reference = metadata
            .as_ref()
            .and_then(Type::as_struct)
            .map(|definition| {
                let name = self.add_struct(definition);
                self.reference(&name)
            })
            .unwrap_or_else(|| json!({"type": "object"}));
        let text = json!({"type": "string"});
        for (key, value) in [("apiVersion", text.clone()), ("kind", text), ("metadata", reference)] {
            crate::fields::set(schema, &["properties", key], value);
        }
    }

    fn reference(&self, name: &str) -> Value {
        let place = match self.dialect {
            Dialect::Two => "definitions",
            Dialect::Three => "components/schemas",
        };
        json!({"$ref": format!("#/{place}/{name}")})
    }

    /// Adds a struct and everything below it; returns its name.
    fn add_struct(&mut self, definition: &Struct) -> String {
        let name = table().openapi_name(definition).unwrap_or_else(|| definition.name.to_owned());
        if self.done.contains_key(&name) {
            return name;
        }
        // Its place is taken first: types may contain themselves.
        self.done.insert(name.clone(), Value::Null);
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (key, field) in &definition.fields {
            properties.insert(key.to_string(), self.field(field));
            if field.required {
                required.push(Value::from(key.as_ref()));
            }
        }
        let mut schema = json!({"type": "object"});
        if !properties.is_empty() {
            schema["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        if definition.atomic {
            schema["x-kubernetes-map-type"] = "atomic".into();
        }
        self.done.insert(name.clone(), schema);
        name
    }

    fn field(&mut self, field: &Field) -> Value {
        let mut schema = self.ty(&field.ty, self.dialect == Dialect::Three);
        let Some(map) = schema.as_object_mut() else { return schema };
        if let Some(default) = &field.default {
            map.insert("default".into(), default.clone());
        }
        if let Type::List(list) = &field.ty {
            let (sort, keys) = match &list.relation {
                ListRelation::Atomic => ("atomic", None),
                ListRelation::Set => ("set", None),
                ListRelation::Map(keys) => ("map", Some(keys)),
            };
            map.insert("x-kubernetes-list-type".into(), sort.into());
            if let Some(keys) = keys {
                let keys: Vec<Value> = keys.iter().map(|key| Value::from(key.as_ref())).collect();
                map.insert("x-kubernetes-list-map-keys".into(), keys.into());
            }
        }
        let strategy = match (field.patch.merge, field.patch.retain_keys) {
            (true, true) => "merge,retainKeys",
            (true, false) => "merge",
            (false, true) => "retainKeys",
            (false, false) => "",
        };
        if !strategy.is_empty() {
            map.insert("x-kubernetes-patch-strategy".into(), strategy.into());
        }
        if let Some(key) = field.patch.merge_key {
            map.insert("x-kubernetes-patch-merge-key".into(), key.into());
        }
        schema
    }

    /// A type; `wrapped` puts a reference into `allOf`, where other keys may stand beside it.
    fn ty(&mut self, ty: &Type, wrapped: bool) -> Value {
        match ty {
            Type::Scalar(scalar) => scalar_schema(scalar.base),
            Type::List(list) => json!({"type": "array", "items": self.ty(&list.items, false)}),
            Type::Map(map) => json!({"type": "object", "additionalProperties": self.ty(&map.values, false)}),
            Type::Struct(structure) => {
                let name = self.add_struct(structure.definition());
                let reference = self.reference(&name);
                if wrapped { json!({"allOf": [reference]}) } else { reference }
            }
            _ => json!({"type": "object"}),
        }
    }
}

fn is_open(schema: &Value) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
}

/// Version 2 cannot say "these fields and any other": where others are allowed, no field is named, or clients would
/// refuse the others.
fn open_up(schema: &mut Value) {
    let open = is_open(schema);
    let Some(map) = schema.as_object_mut() else { return };
    if open {
        map.retain(|key, _| matches!(key.as_str(), "type" | "description") || key.starts_with("x-"));
        return;
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(open_up);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            open_up(inner);
        }
    }
}

fn scalar_schema(base: Base) -> Value {
    match base {
        Base::String | Base::Duration => json!({"type": "string"}),
        Base::Bool => json!({"type": "boolean"}),
        Base::Int32 | Base::Uint8 | Base::Uint32 => json!({"type": "integer", "format": "int32"}),
        Base::Int64 | Base::Uint64 => json!({"type": "integer", "format": "int64"}),
        Base::Float32 | Base::Float64 => json!({"type": "number", "format": "double"}),
        Base::Bytes => json!({"type": "string", "format": "byte"}),
        Base::IntOrString => json!({"type": "string", "format": "int-or-string"}),
        Base::Quantity => json!({"type": "string"}),
        Base::Time | Base::MicroTime => json!({"type": "string", "format": "date-time"}),
        Base::Any => json!({}),
    }
}

/// `com.example.v1.Thing` for `example.com`.
fn custom_name(resource: &Resource) -> String {
    let group: Vec<&str> = resource.group.rsplit('.').collect();
    format!("{}.{}.{}", group.join("."), resource.version, resource.kind)
}
