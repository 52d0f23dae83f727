//! A place in an object, and the faults found so far.

use podsmith_object::{Map, Value};

use crate::fault::Fault;

static NULL: Value = Value::Null;

/// A value and the path that leads to it.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
}

impl<'a> At<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    /// The field below; null when it is missing.
    pub(super) fn child(&self, key: &str) -> At<'a> {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        At { value: self.value.get(key).unwrap_or(&NULL), path }
    }

    /// A field several steps below.
    pub(super) fn at(&self, keys: &[&str]) -> At<'a> {
        keys.iter().fold(self.clone(), |at, key| at.child(key))
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Vec<At<'a>> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(index, value)| At { value, path: format!("{}[{index}]", self.path) }).collect()
    }

    /// The entries of a map: key and value.
    pub(super) fn entries(&self) -> Vec<(&'a str, At<'a>)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries
            .map(|(key, value)| (key.as_str(), At { value, path: format!("{}[{key}]", self.path) }))
            .collect()
    }

    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or("")
    }

    pub(super) fn int(&self) -> i64 {
        self.value.as_i64().unwrap_or(0)
    }

    pub(super) fn flag(&self) -> bool {
        self.value.as_bool().unwrap_or(false)
    }

    /// Present and not null.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Absent, or an empty text, list or map.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.value.as_array().map_or_else(|| self.value.as_object().map_or(0, Map::len), Vec::len)
    }
}

/// What was found wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) list: Vec<Fault>,
}

impl Faults {
    pub(super) fn push(&mut self, fault: Fault) {
        self.list.push(fault);
    }

    pub(super) fn required(&mut self, at: &At<'_>, detail: &str) {
        self.push(Fault::required(at.path.as_str(), detail));
    }

    pub(super) fn invalid(&mut self, at: &At<'_>, detail: impl Into<String>) {
        self.push(Fault::invalid(at.path.as_str(), at.value.clone(), detail));
    }

    pub(super) fn forbidden(&mut self, at: &At<'_>, detail: impl Into<String>) {
        self.push(Fault::forbidden(at.path.as_str(), detail));
    }

    pub(super) fn duplicate(&mut self, at: &At<'_>) {
        self.push(Fault::duplicate(at.path.as_str(), at.value.clone()));
    }

    pub(super) fn not_supported(&mut self, at: &At<'_>, allowed: &[&str]) {
        self.push(Fault::not_supported(at.path.as_str(), at.value.clone(), allowed));
    }

    /// One fault per text.
    pub(super) fn each(&mut self, at: &At<'_>, texts: Vec<String>) {
        texts.into_iter().for_each(|text| self.invalid(at, text));
    }

    /// A number that must not be below zero.
    pub(super) fn not_negative(&mut self, at: &At<'_>) {
        if at.int() < 0 {
            self.invalid(at, "must be greater than or equal to 0");
        }
    }

    /// A field that must be set to one of these values.
    pub(super) fn one_of(&mut self, at: &At<'_>, allowed: &[&str]) {
        if at.is_empty() {
            self.required(at, "");
        } else if !allowed.contains(&at.text()) {
            self.not_supported(at, allowed);
        }
    }

    /// A field that must not change.
    pub(super) fn immutable(&mut self, new: &At<'_>, old: &At<'_>) {
        if new.value != old.value {
            self.invalid(new, "field is immutable");
        }
    }
}
