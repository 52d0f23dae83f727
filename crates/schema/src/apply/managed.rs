//! `metadata.managedFields`: reading, writing, identities.

use std::collections::BTreeMap;

use podsmith_object::{Map, Value};

use super::set::FieldSet;
use crate::gotext;

/// What a manager did to own fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write.
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Name of the manager.
    pub manager: String,
    /// How it wrote.
    pub operation: Operation,
    /// The version its set is in.
    pub api_version: String,
    /// The subresource it wrote through; empty for the object itself.
    pub subresource: String,
    /// When it last changed something.
    pub time: Option<String>,
    /// What it owns.
    pub set: FieldSet,
}

impl Entry {
    /// What tells entries apart. An applier is one entry whatever version it applies in.
    pub(super) fn identity(&self) -> String {
        let mut map = Map::new();
        let mut put = |key: &str, value: &str| {
            if !value.is_empty() {
                map.insert(key.to_owned(), Value::from(value));
            }
        };
        put("manager", &self.manager);
        put("operation", self.operation.name());
        if self.operation == Operation::Update {
            put("apiVersion", &self.api_version);
        }
        put("subresource", &self.subresource);
        Value::Object(map).to_string()
    }

    /// The manager as conflicts name it: `"A" with subresource "scale" using apps/v1`.
    pub(super) fn describe(&self) -> String {
        let mut text = gotext::quoted(&self.manager);
        if !self.subresource.is_empty() {
            text += &format!(" with subresource {}", gotext::quoted(&self.subresource));
        }
        if self.operation == Operation::Update {
            text += &format!(" using {}", self.api_version);
        }
        text
    }

    fn to_json(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: &str| {
            if !value.is_empty() {
                map.insert(key.to_owned(), Value::from(value));
            }
        };
        put("manager", &self.manager);
        put("operation", self.operation.name());
        put("apiVersion", &self.api_version);
        put("time", self.time.as_deref().unwrap_or(""));
        put("fieldsType", "FieldsV1");
        map.insert("fieldsV1".to_owned(), self.set.to_json());
        if !self.subresource.is_empty() {
            map.insert("subresource".to_owned(), Value::from(self.subresource.as_str()));
        }
        Value::Object(map)
    }

    fn from_json(value: &Value) -> Result<Self, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let operation = match text("operation").as_str() {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        let api_version = text("apiVersion");
        if api_version.is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        match text("fieldsType").as_str() {
            "FieldsV1" => {}
            other => return Err(format!("invalid fieldsType {}", gotext::quoted(other))),
        }
        Ok(Self {
            manager: text("manager"),
            operation,
            api_version,
            subresource: text("subresource"),
            time: Some(text("time")).filter(|time| !time.is_empty()),
            set: value.get("fieldsV1").map(FieldSet::from_json).unwrap_or_default(),
        })
    }
}

/// All entries of an object, by identity.
pub(super) type Managed = BTreeMap<String, Entry>;

/// Reads the entries of an object.
pub(super) fn decode(object: &Value) -> Result<Managed, String> {
    let list = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let mut managed = Managed::new();
    for value in list.into_iter().flatten() {
        let entry = Entry::from_json(value)?;
        managed.insert(entry.identity(), entry);
    }
    Ok(managed)
}

/// True when a client asks for the entries to be forgotten: an empty list, or a list with one empty entry.
pub(super) fn is_reset(object: &Value) -> bool {
    match object.pointer("/metadata/managedFields") {
        Some(Value::Array(list)) => match list.as_slice() {
            [] => true,
            [Value::Object(only)] => only.values().all(|value| value.is_null() || value.as_str() == Some("")),
            _ => false,
        },
        _ => false,
    }
}

/// Removes the entries from an object.
pub(super) fn strip(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.shift_remove("managedFields");
    }
}

/// Writes the entries into an object, in their fixed order.
pub(super) fn encode(object: &mut Value, managed: &Managed) {
    strip(object);
    if managed.is_empty() {
        return;
    }
    let mut entries: Vec<&Entry> = managed.values().collect();
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| (entry.operation, entry.time.clone().unwrap_or_default());
        key(a).cmp(&key(b)).then_with(|| {
            (&a.manager, &a.api_version, &a.subresource).cmp(&(&b.manager, &b.api_version, &b.subresource))
        })
    });
    let list: Vec<Value> = entries.into_iter().map(Entry::to_json).collect();
    if let Value::Object(map) = object
        && let Value::Object(metadata) = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()))
    {
        metadata.insert("managedFields".to_owned(), Value::Array(list));
    }
}
