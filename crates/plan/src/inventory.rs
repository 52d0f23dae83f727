//! The record of what a package owns in the cluster: one ConfigMap in the package's namespace.

use std::collections::HashMap;

use podsmith_object::{GroupVersionKind, Map, Object, ObjectId, Value, json};
use thiserror::Error;

use crate::names;
use crate::package::{Key, versionless};

/// The format of the record.
const FORMAT: u64 = 1;
const KEY: &str = "inventory.json";

/// One owned object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Which object.
    pub id: ObjectId,
    /// Digest of the fields we own, as the server reported them after our last write. `None` until that is known.
    pub fields: Option<String>,
}

/// Everything one package owns.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Inventory {
    /// The package.
    pub package: String,
    /// The package's default namespace, where the record lives.
    pub namespace: String,
    /// The objects, in the order of their identity.
    pub entries: Vec<Entry>,
}

/// A record that cannot be read.
#[derive(Debug, Error)]
#[error("the inventory {namespace}/{name} cannot be read: {reason}")]
pub struct InvalidInventory {
    /// Namespace of the record.
    pub namespace: String,
    /// Name of the record.
    pub name: String,
    /// What is wrong.
    pub reason: String,
}

impl Inventory {
    /// An empty record.
    pub fn new(package: &str, namespace: &str) -> Self {
        Self { package: package.to_owned(), namespace: namespace.to_owned(), entries: Vec::new() }
    }

    /// The name of the record's object.
    pub fn object_name(package: &str) -> String {
        let slug: String = package
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .take(200)
            .collect();
        let slug = slug.trim_matches('-');
        if slug == package {
            return format!("podsmith-inventory-{slug}");
        }
        // Two names that differ only in characters a Kubernetes name cannot have must not share a record.
        let sum = crate::digest::short(package.as_bytes());
        format!("podsmith-inventory-{slug}-{}", sum.get(..8).unwrap_or(&sum)).replace("--", "-")
    }

    /// The same package with these objects, in the order of their identity. Of two entries for one object, whatever
    /// their versions, the later one counts.
    #[must_use]
    pub fn with_entries(&self, entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut by_key: HashMap<Key, Entry> = HashMap::new();
        for entry in entries {
            by_key.insert(versionless(&entry.id), entry);
        }
        let mut entries: Vec<Entry> = by_key.into_values().collect();
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        Self { entries, ..Self::new(&self.package, &self.namespace) }
    }

    /// The entries by identity, whatever their version.
    pub fn index(&self) -> HashMap<Key, &Entry> {
        self.entries.iter().map(|entry| (versionless(&entry.id), entry)).collect()
    }

    /// The ConfigMap that holds the record.
    pub fn to_object(&self) -> Object {
        let mut sorted: Vec<&Entry> = self.entries.iter().collect();
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        let entries: Vec<Value> = sorted
            .into_iter()
            .map(|entry| {
                let Value::Object(mut out) = entry.id.to_json() else { return Value::Null };
                if let Some(fields) = &entry.fields {
                    out.insert("fields".into(), json!(fields));
                }
                Value::Object(out)
            })
            .collect();
        let record = json!({ "format": FORMAT, "package": self.package, "namespace": self.namespace, "objects": entries });
        let mut body = Map::new();
        body.insert("apiVersion".into(), json!("v1"));
        body.insert("kind".into(), json!("ConfigMap"));
        body.insert(
            "metadata".into(),
            json!({
                "name": Self::object_name(&self.package),
                "namespace": self.namespace,
                "labels": {
                    names::MANAGED_BY: names::MANAGER,
                    names::INVENTORY: names::label_value(&self.package),
                },
            }),
        );
        body.insert("data".into(), json!({ KEY: record.to_string() }));
        Object::new(body)
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// When the object is no record of ours, or one of a later format.
    pub fn from_object(object: &Object) -> Result<Self, InvalidInventory> {
        let fail = |reason: String| InvalidInventory {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            reason,
        };
        let text = object.get(&["data", KEY]).and_then(Value::as_str);
        let text = text.ok_or_else(|| fail(format!("it has no data.{KEY}")))?;
        let record: Value = serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        match record.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(later) => {
                return Err(fail(format!(
                    "its format is {later}, this program knows {FORMAT}; use a newer podsmith"
                )));
            }
            None => return Err(fail("it has no format".into())),
        }
        let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let objects = record.get("objects").and_then(Value::as_array);
        let objects = objects.ok_or_else(|| fail("it has no objects".into()))?;
        let entries = objects
            .iter()
            .map(|entry| Entry {
                id: ObjectId::new(
                    GroupVersionKind::from_api_version(&word(entry, "apiVersion"), &word(entry, "kind")),
                    word(entry, "namespace"),
                    word(entry, "name"),
                ),
                fields: entry.get("fields").and_then(Value::as_str).map(str::to_owned),
            })
            .collect();
        Ok(Self { package: word(&record, "package"), namespace: object.namespace().to_owned(), entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_being_stored() {
        let entries = ["b", "a"].map(|name| Entry {
            id: ObjectId::new(GroupVersionKind::new("apps", "v1", "Deployment"), "prod", name),
            fields: (name == "a").then(|| "f".to_owned()),
        });
        let inventory = Inventory::new("shop", "prod").with_entries(entries);
        let read = Inventory::from_object(&inventory.to_object()).unwrap();
        assert_eq!(read, inventory);
        assert_eq!(inventory.to_object().name(), "podsmith-inventory-shop");
        assert_ne!(Inventory::object_name("a/b"), Inventory::object_name("a-b"));
    }

    #[test]
    fn a_record_of_a_later_format_is_refused() {
        let mut object = Inventory::new("shop", "prod").to_object();
        object.body_mut().insert("data".into(), json!({ KEY: "{\"format\":9}" }));
        let error = Inventory::from_object(&object).unwrap_err().to_string();
        assert_eq!(
            error,
            "the inventory prod/podsmith-inventory-shop cannot be read: its format is 9, this program knows 1; use a newer podsmith"
        );
    }
}
