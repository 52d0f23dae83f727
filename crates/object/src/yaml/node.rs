//! A YAML tree that remembers where each part was written.

use crate::{Map, Number, Value};

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub data: NodeData,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// A mapping key with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key's text.
    pub text: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// The value of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum NodeData {
    /// Null or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping in its written order, without duplicate keys.
    Mapping(Vec<(Key, Node)>),
}

impl Node {
    /// The value without positions.
    pub fn into_value(self) -> Value {
        match self.data {
            NodeData::Null => Value::Null,
            NodeData::Bool(flag) => Value::Bool(flag),
            NodeData::Number(number) => Value::Number(number),
            NodeData::String(text) => Value::String(text),
            NodeData::Sequence(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            NodeData::Mapping(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, value) in entries {
                    map.insert(key.text, value.into_value());
                }
                Value::Object(map)
            }
        }
    }

    /// A copy of the value without positions.
    pub fn to_value(&self) -> Value {
        self.clone().into_value()
    }

    /// The node under `key` of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_mapping()?.iter().find(|(found, _)| found.text == key).map(|(_, node)| node)
    }

    /// The entries of a mapping.
    pub fn as_mapping(&self) -> Option<&[(Key, Self)]> {
        if let NodeData::Mapping(entries) = &self.data { Some(entries) } else { None }
    }

    /// The items of a list.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        if let NodeData::Sequence(items) = &self.data { Some(items) } else { None }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let NodeData::String(text) = &self.data { Some(text) } else { None }
    }

    /// True for null.
    pub fn is_null(&self) -> bool {
        matches!(self.data, NodeData::Null)
    }

    /// The type of the value in words, with its article.
    pub fn describe(&self) -> &'static str {
        match &self.data {
            NodeData::Null => "null",
            NodeData::Bool(_) => "a boolean",
            NodeData::Number(_) => "a number",
            NodeData::String(_) => "a string",
            NodeData::Sequence(_) => "a list",
            NodeData::Mapping(_) => "a mapping",
        }
    }

    /// Follows keys and list indices (`0`, `1`, …) as far as they exist and returns the deepest node reached, so that
    /// a message about a missing field can still point at its parent.
    pub fn deepest(&self, path: &[&str]) -> &Self {
        let mut node = self;
        for step in path {
            let next = match &node.data {
                NodeData::Mapping(_) => node.get(step),
                NodeData::Sequence(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
            match next {
                Some(found) => node = found,
                None => break,
            }
        }
        node
    }
}
