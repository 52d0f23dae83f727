//! One object as the store keeps it: compact JSON, with the few facts that lists and watches need beside it.

use bytes::Bytes;
use podsmith_object::{Map, Value};
use serde::Deserialize;

/// An object as stored. The bytes are what a client gets, so reading one object or listing thousands copies bytes
/// and parses nothing.
#[derive(Debug)]
pub struct Stored {
    revision: u64,
    json: Bytes,
    after_type: usize,
    labels: Box<[(Box<str>, Box<str>)]>,
}

impl Stored {
    /// The revision of the write that made this state.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The whole object.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// What follows `kind` and `apiVersion`: `"metadata":{…}…}`. Lists of built-in kinds leave those two out.
    pub fn without_type(&self) -> &[u8] {
        self.json.get(self.after_type..).unwrap_or_default()
    }

    /// The object, parsed. The bytes are our own, so they parse; a damaged file would read as null here and every
    /// accessor treats that as an object without fields.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or(Value::Null)
    }

    /// True if these bytes occur anywhere in the object: a quick way to rule a field out without parsing.
    pub fn mentions(&self, text: &str) -> bool {
        self.json.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// One label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| **known == *key).map(|(_, value)| &**value)
    }

    /// Reads an object back from the bytes of the log.
    pub fn from_log(revision: u64, json: Vec<u8>) -> Result<Self, serde_json::Error> {
        let facts: Facts = serde_json::from_slice(&json)?;
        let after_type = type_prefix(&facts.kind, &facts.api_version).len();
        let labels = facts
            .metadata
            .labels
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.into_boxed_str(), value.as_str()?.into())))
            .collect();
        Ok(Self { revision, json: Bytes::from(json), after_type, labels })
    }
}

#[derive(Deserialize)]
struct Facts {
    kind: String,
    #[serde(rename = "apiVersion")]
    api_version: String,
    metadata: MetadataFacts,
}

#[derive(Deserialize)]
struct MetadataFacts {
    labels: Option<Map<String, Value>>,
}

/// An object on its way into the store: serialized, with a gap where the revision goes. So the expensive part happens
/// before the lock is taken.
#[derive(Debug)]
pub struct Draft {
    head: Vec<u8>,
    tail: Vec<u8>,
    after_type: usize,
    labels: Box<[(Box<str>, Box<str>)]>,
}

/// The order in which metadata is written, the same as the real server's.
const METADATA_ORDER: [&str; 14] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

impl Draft {
    /// Serializes an object. Whatever `resourceVersion` it carries is replaced when it is written.
    pub fn new(object: &Value) -> Self {
        let empty = Map::new();
        let body = object.as_object().unwrap_or(&empty);
        let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or("");
        let metadata = body.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
        let mut head = type_prefix(text("kind"), text("apiVersion"));
        let after_type = head.len();
        head.extend_from_slice(b"\"metadata\":{");
        let mut tail = Vec::with_capacity(256);
        let mut first = true;
        for key in METADATA_ORDER {
            if key == "resourceVersion" {
                push_comma(&mut head, &mut first);
                head.extend_from_slice(b"\"resourceVersion\":\"");
                tail.push(b'"');
                continue;
            }
            if let Some(value) = metadata.get(key) {
                // Everything before the revision goes to the head, everything after it to the tail.
                let out = if tail.is_empty() { &mut head } else { &mut tail };
                push_comma(out, &mut first);
                push_entry(out, key, value);
            }
        }
        for (key, value) in metadata.iter().filter(|(key, _)| !METADATA_ORDER.contains(&key.as_str())) {
            push_comma(&mut tail, &mut first);
            push_entry(&mut tail, key, value);
        }
        tail.push(b'}');
        for (key, value) in body.iter().filter(|(key, _)| !is_type_or_metadata(key)) {
            tail.push(b',');
            push_entry(&mut tail, key, value);
        }
        tail.push(b'}');
        let labels = metadata
            .get("labels")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into())))
            .collect();
        Self { head, tail, after_type, labels }
    }

    /// The object with its revision.
    pub fn finish(self, revision: u64) -> Stored {
        let number = revision.to_string();
        let mut json = Vec::with_capacity(self.head.len() + number.len() + self.tail.len());
        json.extend_from_slice(&self.head);
        json.extend_from_slice(number.as_bytes());
        json.extend_from_slice(&self.tail);
        Stored { revision, json: Bytes::from(json), after_type: self.after_type, labels: self.labels }
    }
}

fn is_type_or_metadata(key: &str) -> bool {
    matches!(key, "kind" | "apiVersion" | "metadata")
}

fn type_prefix(kind: &str, api_version: &str) -> Vec<u8> {
    format!("{{\"kind\":{},\"apiVersion\":{},", Value::from(kind), Value::from(api_version)).into_bytes()
}

fn push_comma(out: &mut Vec<u8>, first: &mut bool) {
    if !std::mem::take(first) {
        out.push(b',');
    }
}

fn push_entry(out: &mut Vec<u8>, key: &str, value: &Value) {
    push_json(out, &Value::from(key));
    out.push(b':');
    push_json(out, value);
}

fn push_json(out: &mut Vec<u8>, value: &Value) {
    // Writing a `Value` into memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}

#[cfg(test)]
mod tests {
    use podsmith_object::json;

    use super::*;

    #[test]
    fn a_draft_keeps_every_field_and_takes_the_revision() {
        let object = json!({
            "apiVersion": "v1", "data": {"a": "1"},
            "metadata": {"labels": {"l": "x"}, "name": "n", "resourceVersion": "3", "managedFields": []},
            "kind": "ConfigMap",
        });
        let stored = Draft::new(&object).finish(42);
        assert_eq!(
            std::str::from_utf8(stored.json()).unwrap(),
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"42","labels":{"l":"x"},"managedFields":[]},"data":{"a":"1"}}"#
        );
        assert!(stored.without_type().starts_with(b"\"metadata\""));
        assert_eq!(stored.label("l"), Some("x"));
        let again = Stored::from_log(42, stored.json().to_vec()).unwrap();
        assert_eq!(again.without_type(), stored.without_type());
        assert_eq!(again.label("l"), Some("x"));
    }

    #[test]
    fn an_object_without_metadata_is_still_valid_json() {
        let stored = Draft::new(&json!({"kind": "K", "apiVersion": "v1"})).finish(1);
        assert_eq!(
            stored.value(),
            json!({"kind": "K", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}})
        );
    }
}
