//! The language as data: every block and attribute, its type, and what it is for.
//!
//! One table serves the decoder, the editor description ([`describe`]) and the documentation, so they cannot disagree.

mod describe;
mod pod;
mod top;

pub use describe::{describe, json_schema};
pub(crate) use top::FILE;

/// What a value must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Type {
    Text,
    Bool,
    Integer,
    /// 1 to 65535.
    Port,
    /// A number from 1 to 65535 or the name of a port.
    PortOrName,
    /// A whole number or a percentage such as `25%`.
    Amount,
    /// A Kubernetes quantity such as `500m` or `1Gi`.
    Quantity,
    TextList,
    TextMap,
    /// Like `TextMap`, but a value may also come from a secret, a config or a field of the pod.
    Environment,
    OneOf(&'static [&'static str]),
    Any,
}

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Bool => "bool",
            Self::Integer => "whole number",
            Self::Port => "port",
            Self::PortOrName => "port or name",
            Self::Amount => "number or percentage",
            Self::Quantity => "quantity",
            Self::TextList => "list(string)",
            Self::TextMap => "map(string)",
            Self::Environment => "string or reference",
            Self::OneOf(_) => "one of",
            Self::Any => "any",
        }
    }
}

/// Whether a block or attribute must be there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    Required,
    Optional,
}

/// One attribute.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub name: &'static str,
    pub kind: Type,
    pub need: Need,
    pub about: &'static str,
}

/// An optional attribute.
const fn optional(name: &'static str, kind: Type, about: &'static str) -> Attribute {
    Attribute { name, kind, need: Need::Optional, about }
}

/// A required attribute.
const fn required(name: &'static str, kind: Type, about: &'static str) -> Attribute {
    Attribute { name, kind, need: Need::Required, about }
}

/// How often a block may occur.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Times {
    /// At most once.
    Once,
    /// Any number of times; labels must differ.
    Many,
}

/// One kind of block.
#[derive(Debug)]
pub(crate) struct BlockType {
    pub name: &'static str,
    /// What the label means; `None` for a block without one.
    pub label: Option<&'static str>,
    pub times: Times,
    pub body: &'static BodyType,
    pub about: &'static str,
}

/// What may stand in a body.
#[derive(Debug)]
pub(crate) struct BodyType {
    pub attributes: &'static [&'static [Attribute]],
    pub blocks: &'static [&'static [BlockType]],
    /// When set, attributes of any name are allowed and have this type.
    pub free: Option<Type>,
}

impl BodyType {
    pub fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        self.attributes().find(|attribute| attribute.name == name)
    }

    pub fn attributes(&self) -> impl Iterator<Item = &'static Attribute> {
        self.attributes.iter().copied().flatten()
    }

    pub fn block(&self, name: &str) -> Option<&'static BlockType> {
        self.blocks().find(|block| block.name == name)
    }

    pub fn blocks(&self) -> impl Iterator<Item = &'static BlockType> {
        self.blocks.iter().copied().flatten()
    }
}
