//! The trees the reader can build: plain values and nodes with positions here, and [`written`](super::written) ones.

use std::collections::HashSet;

use serde_json::Number;

use super::node::{Key, Node, NodeData};
use crate::{Map, Value};

/// A position, from 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At {
    pub line: usize,
    pub column: usize,
}

/// What the reader needs of a tree it builds. One reader, two trees, no copy between them.
pub(super) trait Tree: Clone {
    /// A mapping under construction.
    type Mapping: Default;

    /// A scalar as written, for a tree that wants it unresolved; the others give the text back.
    fn written(text: String, _tag: Option<&str>, _plain: bool, _at: At) -> Result<Self, String> {
        Err(text)
    }
    /// A key on its way into a mapping, for a tree that wants to know whether it was quoted.
    fn key(text: String, _plain: bool) -> String {
        text
    }
    fn null(at: At) -> Self;
    fn boolean(flag: bool, at: At) -> Self;
    fn number(number: Number, at: At) -> Self;
    fn text(text: String, at: At) -> Self;
    fn sequence(items: Vec<Self>, at: At) -> Self;
    fn mapping(mapping: Self::Mapping, at: At) -> Self;

    /// Adds an entry, or gives it back if the key is there already.
    fn insert(mapping: &mut Self::Mapping, key: String, at: At, value: Self) -> Result<(), (String, Self)>;
    /// Sets an entry, keeping the place of an existing key.
    fn replace(mapping: &mut Self::Mapping, key: &str, value: Self);

    /// The entries of a finished mapping, for merge keys.
    fn entries(&self) -> Option<Vec<(String, At, Self)>>;
    /// The items of a finished sequence, for merge keys.
    fn items(&self) -> Option<&[Self]>;
    /// The text of a scalar, for an alias that stands as a key.
    fn as_key(&self) -> Option<String>;
}

impl Tree for Value {
    type Mapping = Map<String, Self>;

    fn null(_: At) -> Self {
        Self::Null
    }
    fn boolean(flag: bool, _: At) -> Self {
        Self::Bool(flag)
    }
    fn number(number: Number, _: At) -> Self {
        Self::Number(number)
    }
    fn text(text: String, _: At) -> Self {
        Self::String(text)
    }
    fn sequence(items: Vec<Self>, _: At) -> Self {
        Self::Array(items)
    }
    fn mapping(mapping: Self::Mapping, _: At) -> Self {
        Self::Object(mapping)
    }
    fn insert(mapping: &mut Self::Mapping, key: String, _: At, value: Self) -> Result<(), (String, Self)> {
        match mapping.entry(key) {
            serde_json::map::Entry::Vacant(slot) => {
                slot.insert(value);
                Ok(())
            }
            serde_json::map::Entry::Occupied(slot) => Err((slot.key().clone(), value)),
        }
    }
    fn replace(mapping: &mut Self::Mapping, key: &str, value: Self) {
        mapping.insert(key.to_owned(), value);
    }
    fn entries(&self) -> Option<Vec<(String, At, Self)>> {
        let map = self.as_object()?;
        Some(map.iter().map(|(key, value)| (key.clone(), At::default(), value.clone())).collect())
    }
    fn items(&self) -> Option<&[Self]> {
        self.as_array().map(Vec::as_slice)
    }
    fn as_key(&self) -> Option<String> {
        match self {
            Self::String(text) => Some(text.clone()),
            Self::Bool(_) | Self::Number(_) => Some(self.to_string()),
            _ => None,
        }
    }
}

/// A mapping of nodes under construction; `seen` is only filled once a linear search would be slow.
#[derive(Default)]
pub(super) struct NodeMapping {
    entries: Vec<(Key, Node)>,
    seen: HashSet<String>,
}

const LINEAR: usize = 16;

impl NodeMapping {
    fn contains(&mut self, key: &str) -> bool {
        if self.entries.len() < LINEAR {
            return self.entries.iter().any(|(found, _)| found.text == key);
        }
        if self.seen.is_empty() {
            self.seen = self.entries.iter().map(|(found, _)| found.text.clone()).collect();
        }
        self.seen.contains(key)
    }
}

impl Tree for Node {
    type Mapping = NodeMapping;

    fn null(at: At) -> Self {
        node(NodeData::Null, at)
    }
    fn boolean(flag: bool, at: At) -> Self {
        node(NodeData::Bool(flag), at)
    }
    fn number(number: Number, at: At) -> Self {
        node(NodeData::Number(number), at)
    }
    fn text(text: String, at: At) -> Self {
        node(NodeData::String(text), at)
    }
    fn sequence(items: Vec<Self>, at: At) -> Self {
        node(NodeData::Sequence(items), at)
    }
    fn mapping(mapping: Self::Mapping, at: At) -> Self {
        node(NodeData::Mapping(mapping.entries), at)
    }
    fn insert(mapping: &mut Self::Mapping, key: String, at: At, value: Self) -> Result<(), (String, Self)> {
        if mapping.contains(&key) {
            return Err((key, value));
        }
        if !mapping.seen.is_empty() {
            mapping.seen.insert(key.clone());
        }
        mapping.entries.push((Key { text: key, line: at.line, column: at.column }, value));
        Ok(())
    }
    fn replace(mapping: &mut Self::Mapping, key: &str, value: Self) {
        if let Some((_, slot)) = mapping.entries.iter_mut().find(|(found, _)| found.text == key) {
            *slot = value;
        }
    }
    fn entries(&self) -> Option<Vec<(String, At, Self)>> {
        let entries = self.as_mapping()?;
        Some(
            entries
                .iter()
                .map(|(key, value)| {
                    (key.text.clone(), At { line: key.line, column: key.column }, value.clone())
                })
                .collect(),
        )
    }
    fn items(&self) -> Option<&[Self]> {
        self.as_sequence()
    }
    fn as_key(&self) -> Option<String> {
        match &self.data {
            NodeData::String(text) => Some(text.clone()),
            NodeData::Bool(flag) => Some(flag.to_string()),
            NodeData::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

fn node(data: NodeData, at: At) -> Node {
    Node { data, line: at.line, column: at.column }
}
