//! Builds mappings field by field, leaving out what is not set.

use podsmith_object::{Map, Value};

/// A mapping under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    pub fn put_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Puts a list unless it is empty.
    pub fn put_list(&mut self, key: &str, list: Vec<Value>) {
        if !list.is_empty() {
            self.put(key, Value::Array(list));
        }
    }

    /// Puts a mapping unless it is empty.
    pub fn put_map(&mut self, key: &str, map: Map<String, Value>) {
        if !map.is_empty() {
            self.put(key, Value::Object(map));
        }
    }

    /// Puts other fields unless there are none.
    pub fn put_fields(&mut self, key: &str, fields: Self) {
        self.put_map(key, fields.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mapping under `key`, made if it is missing.
    pub fn entry(&mut self, key: &str) -> Option<&mut Map<String, Value>> {
        self.0.entry(key).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
    }

    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Self {
        fields.into_value()
    }
}
