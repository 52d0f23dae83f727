//! Fields of a mapping, found the forgiving way of the original: letter case does not matter.

use podsmith_object::decode::{Decoder, Fields};
use podsmith_object::yaml::{Node, NodeData};

/// The fields of one mapping.
pub(crate) struct Table<'d, 't, 'n> {
    fields: Fields<'d, 't, 'n>,
    what: String,
    strict: bool,
}

impl<'d, 't, 'n> Table<'d, 't, 'n> {
    /// A mapping in which every key must be known.
    pub(crate) fn strict(decoder: &'d Decoder<'t>, node: &'n Node, what: &str) -> Option<Self> {
        Self::new(decoder, node, what, true)
    }

    /// A mapping; keys nobody asks for are an error only if `strict`.
    pub(crate) fn new(decoder: &'d Decoder<'t>, node: &'n Node, what: &str, strict: bool) -> Option<Self> {
        Some(Self { fields: decoder.mapping(node, what)?, what: what.to_owned(), strict })
    }

    /// Takes a field that is there and not null.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'n Node> {
        let entries = self.fields.node().as_mapping().unwrap_or_default();
        let exact = entries.iter().any(|(found, _)| found.text == key);
        if !exact {
            let other = entries.iter().find(|(found, _)| found.text.eq_ignore_ascii_case(key));
            if let Some((found, _)) = other {
                self.fields.know(key);
                return self.fields.take(&found.text);
            }
        }
        self.fields.take(key)
    }

    fn path(&self, key: &str) -> String {
        format!("`{key}` of {}", self.what)
    }

    /// Takes a text; absent is the empty one.
    pub(crate) fn text(&mut self, key: &str) -> String {
        let path = self.path(key);
        self.take(key).and_then(|node| self.fields.decoder().string(node, &path)).unwrap_or_default()
    }

    /// Takes a flag; absent is false.
    pub(crate) fn flag(&mut self, key: &str) -> bool {
        let path = self.path(key);
        self.take(key).and_then(|node| self.fields.decoder().boolean(node, &path)).unwrap_or_default()
    }

    /// Takes a whole number; absent is zero.
    pub(crate) fn number(&mut self, key: &str) -> i64 {
        let path = self.path(key);
        self.take(key).and_then(|node| self.fields.decoder().integer(node, &path)).unwrap_or_default()
    }

    /// Takes a list of texts; a null item is the empty text.
    pub(crate) fn texts(&mut self, key: &str) -> Vec<String> {
        let path = self.path(key);
        let Some(node) = self.take(key) else { return Vec::new() };
        let decoder = self.fields.decoder();
        decoder
            .sequence(node, &path)
            .iter()
            .filter_map(|item| match item.data {
                NodeData::Null => Some(String::new()),
                _ => decoder.string(item, &format!("an item of {path}")),
            })
            .collect()
    }

    /// Takes a mapping of texts in key order.
    pub(crate) fn text_map(&mut self, key: &str) -> Vec<(String, String)> {
        let path = self.path(key);
        let Some(node) = self.take(key) else { return Vec::new() };
        let decoder = self.fields.decoder();
        let Some(entries) = node.as_mapping() else {
            decoder.error(node, format!("{path} must be a mapping, this is {}", node.describe()));
            return Vec::new();
        };
        let mut pairs: Vec<(String, String)> = entries
            .iter()
            .filter_map(|(key, value)| match value.data {
                NodeData::Null => Some((key.text.clone(), String::new())),
                _ => Some((key.text.clone(), decoder.string(value, &format!("{path}: `{}`", key.text))?)),
            })
            .collect();
        pairs.sort();
        pairs
    }

    /// Takes a list and reads each item.
    pub(crate) fn list<T>(&mut self, key: &str, read: impl Fn(&'n Node) -> Option<T>) -> Vec<T> {
        let path = self.path(key);
        let Some(node) = self.take(key) else { return Vec::new() };
        self.fields.decoder().sequence(node, &path).iter().filter_map(read).collect()
    }

    /// Reports what nobody took, if that is an error here.
    pub(crate) fn finish(self) {
        if self.strict {
            self.fields.finish();
        }
    }
}
