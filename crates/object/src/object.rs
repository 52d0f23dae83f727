//! One Kubernetes object.

use std::sync::Arc;

use thiserror::Error;

use crate::{GroupVersionKind, Map, ObjectId, Origin, Value};

/// One untyped Kubernetes object that keeps the order of its fields.
///
/// Cloning shares the body; the first change after a clone copies it. Reading follows the rules of the Kubernetes
/// libraries: a missing or non-string name, namespace or kind reads as the empty string.
#[derive(Clone, Debug)]
pub struct Object {
    body: Arc<Map<String, Value>>,
    origin: Option<Arc<Origin>>,
}

/// A value that is not a mapping cannot be an object.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("an object must be a mapping, this is {found}")]
pub struct NotAnObject {
    /// What was found instead, with its article: `a list`.
    pub found: &'static str,
}

/// A label or annotation whose value is not a string.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("metadata.{field}.{key} is {found}, not a string")]
pub struct StringMapProblem {
    /// `labels` or `annotations`.
    pub field: &'static str,
    /// The key; empty when the whole field is not a mapping.
    pub key: String,
    /// What was found instead, with its article.
    pub found: &'static str,
}

/// The type of a value in words, with its article.
pub(crate) fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl Object {
    /// An object with this body and no known origin.
    pub fn new(body: Map<String, Value>) -> Self {
        Self { body: Arc::new(body), origin: None }
    }

    /// Takes a mapping as an object.
    ///
    /// # Errors
    ///
    /// When `value` is not a mapping.
    pub fn from_value(value: Value) -> Result<Self, NotAnObject> {
        match value {
            Value::Object(body) => Ok(Self::new(body)),
            other => Err(NotAnObject { found: describe(&other) }),
        }
    }

    /// Remembers where the object came from.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(Arc::new(origin));
        self
    }

    /// Takes the origin of `other`, if this object has none.
    #[must_use]
    pub fn with_origin_of(mut self, other: &Self) -> Self {
        self.origin = self.origin.or_else(|| other.origin.clone());
        self
    }

    /// Where the object came from.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The fields.
    pub fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    /// The fields, to change them. Copies the body first if a clone shares it.
    pub fn body_mut(&mut self) -> &mut Map<String, Value> {
        Arc::make_mut(&mut self.body)
    }

    /// The fields as a value of their own; copies only if a clone shares them.
    pub fn into_value(self) -> Value {
        Value::Object(Arc::unwrap_or_clone(self.body))
    }

    /// A copy of the fields as a value.
    pub fn to_value(&self) -> Value {
        Value::Object((*self.body).clone())
    }

    /// True when both share one body or have equal fields.
    pub fn same_body(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.body, &other.body) || self.body == other.body
    }

    /// The value at a path of keys, without list indices.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.body.get(*first)?, |value, key| value.get(*key))
    }

    fn text(&self, key: &str) -> &str {
        self.body.get(key).and_then(Value::as_str).unwrap_or("")
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.get(&["metadata", key]).and_then(Value::as_str).unwrap_or("")
    }

    /// `apiVersion` as written.
    pub fn api_version(&self) -> &str {
        self.text("apiVersion")
    }

    /// `kind` as written.
    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// Group, version and kind.
    pub fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::from_api_version(self.api_version(), self.kind())
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.metadata_text("name")
    }

    /// `metadata.namespace`.
    pub fn namespace(&self) -> &str {
        self.metadata_text("namespace")
    }

    /// The full identity.
    pub fn id(&self) -> ObjectId {
        ObjectId::new(self.gvk(), self.namespace(), self.name())
    }

    /// One label; non-string values read as absent, null as "".
    pub fn label(&self, key: &str) -> Option<&str> {
        string_entry(self.get(&["metadata", "labels", key])?)
    }

    /// One annotation; non-string values read as absent, null as "".
    pub fn annotation(&self, key: &str) -> Option<&str> {
        string_entry(self.get(&["metadata", "annotations", key])?)
    }

    /// All labels with string values, in their order.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.string_map("labels")
    }

    /// All annotations with string values, in their order.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.string_map("annotations")
    }

    fn string_map(&self, field: &str) -> impl Iterator<Item = (&str, &str)> {
        let map = self.get(&["metadata", field]).and_then(Value::as_object);
        map.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), string_entry(value)?)))
    }

    /// Labels and annotations whose values are not strings. Kubernetes refuses such an object; we keep every key and
    /// report them instead of dropping the map.
    pub fn string_map_problems(&self) -> Vec<StringMapProblem> {
        let mut problems = Vec::new();
        for field in ["labels", "annotations"] {
            match self.get(&["metadata", field]) {
                None | Some(Value::Null) => {}
                Some(Value::Object(map)) => {
                    problems.extend(map.iter().filter(|(_, value)| string_entry(value).is_none()).map(
                        |(key, value)| StringMapProblem { field, key: key.clone(), found: describe(value) },
                    ))
                }
                Some(other) => {
                    problems.push(StringMapProblem { field, key: String::new(), found: describe(other) });
                }
            }
        }
        problems
    }

    /// `metadata`, made if it is missing or not a mapping.
    pub fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        entry_map(self.body_mut(), "metadata")
    }

    /// Sets `metadata.name`; the empty string removes it.
    pub fn set_name(&mut self, name: &str) {
        self.set_metadata_text("name", name);
    }

    /// Sets `metadata.namespace`; the empty string removes it.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.set_metadata_text("namespace", namespace);
    }

    fn set_metadata_text(&mut self, key: &str, text: &str) {
        if self.metadata_text(key) == text && !text.is_empty() {
            return;
        }
        if text.is_empty() {
            if self.get(&["metadata", key]).is_some() {
                self.metadata_mut().shift_remove(key);
            }
        } else {
            self.metadata_mut().insert(key.to_owned(), Value::from(text));
        }
    }

    /// Sets one label. Other labels stay, whatever their type.
    pub fn set_label(&mut self, key: &str, value: &str) {
        entry_map(self.metadata_mut(), "labels").insert(key.to_owned(), Value::from(value));
    }

    /// Sets one annotation. Other annotations stay, whatever their type.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        entry_map(self.metadata_mut(), "annotations").insert(key.to_owned(), Value::from(value));
    }

    /// Removes one label; an emptied map stays as `{}`.
    pub fn remove_label(&mut self, key: &str) {
        self.remove_string("labels", key);
    }

    /// Removes one annotation; an emptied map stays as `{}`.
    pub fn remove_annotation(&mut self, key: &str) {
        self.remove_string("annotations", key);
    }

    fn remove_string(&mut self, field: &str, key: &str) {
        if self.get(&["metadata", field, key]).is_some()
            && let Some(Value::Object(map)) = self.metadata_mut().get_mut(field)
        {
            map.shift_remove(key);
        }
    }
}

/// Equal when the fields are equal; the origin does not count.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.same_body(other)
    }
}

impl serde::Serialize for Object {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}

fn string_entry(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Null => Some(""),
        _ => None,
    }
}

/// The mapping under `key`, made if it is missing or something else.
fn entry_map<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let slot = map.entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(inner) => inner,
        _ => unreachable!("the slot was made a mapping above"),
    }
}
