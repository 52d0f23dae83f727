//! Sets of fields: what a manager owns.

use std::collections::BTreeMap;

use podsmith_object::{Map, Value};

use super::path::PathElement;
use crate::types::Type;

/// A set of fields as a tree. A node can be a member itself, have members below it, or both.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FieldSet {
    nodes: BTreeMap<PathElement, Node>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Node {
    member: bool,
    children: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl FieldSet {
    /// A set of these paths of field names.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Vec<PathElement> = path.iter().map(|name| PathElement::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    /// Reads `fieldsV1`. Keys that mean nothing to us are left out.
    pub fn from_json(value: &Value) -> Self {
        let mut set = Self::default();
        let Value::Object(map) = value else { return set };
        for (key, inner) in map {
            let Some(element) = PathElement::parse(key) else { continue };
            let children = Self::from_json(inner);
            let member = children.is_empty() || inner.get(".").is_some();
            set.nodes.insert(element, Node { member, children });
        }
        set
    }

    /// The set as `fieldsV1`, in its fixed order.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        for (element, node) in &self.nodes {
            let mut inner = Map::new();
            if node.member && !node.children.is_empty() {
                inner.insert(".".to_owned(), Value::Object(Map::new()));
            }
            if let Value::Object(children) = node.children.to_json() {
                inner.extend(children);
            }
            out.insert(element.encode(), Value::Object(inner));
        }
        Value::Object(out)
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.nodes.values().all(Node::is_empty)
    }

    /// Adds one path; the empty path stands for the whole object and is not tracked.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        // Looking up first saves a copy of the element on the common path.
        if !self.nodes.contains_key(first) {
            self.nodes.insert(first.clone(), Node::default());
        }
        if let Some(node) = self.nodes.get_mut(first) {
            if rest.is_empty() { node.member = true } else { node.children.insert(rest) }
        }
    }

    /// True when this path is a member.
    pub fn has(&self, path: &[PathElement]) -> bool {
        match path.split_first() {
            None => false,
            Some((only, [])) => self.has_element(only),
            Some((first, rest)) => self.nodes.get(first).is_some_and(|node| node.children.has(rest)),
        }
    }

    pub(super) fn has_element(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// What is below a step, if there is anything.
    pub(super) fn below(&self, element: &PathElement) -> Option<&FieldSet> {
        self.nodes.get(element).map(|node| &node.children).filter(|children| !children.is_empty())
    }

    /// Steps with whether they are members and what is below them.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&PathElement, bool, &FieldSet)> {
        self.nodes.iter().map(|(element, node)| (element, node.member, &node.children))
    }

    /// Members of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        for (element, node) in &other.nodes {
            match out.nodes.get_mut(element) {
                Some(mine) => {
                    mine.member |= node.member;
                    mine.children = mine.children.union(&node.children);
                }
                None => {
                    out.nodes.insert(element.clone(), node.clone());
                }
            }
        }
        out
    }

    /// Members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| {
            let theirs = theirs?;
            Some(Node {
                member: mine.member && theirs.member,
                children: mine.children.intersection(&theirs.children),
            })
        })
    }

    /// Members of this set that are not members of the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| match theirs {
            None => Some(mine.clone()),
            Some(theirs) => Some(Node {
                member: mine.member && !theirs.member,
                children: mine.children.difference(&theirs.children),
            }),
        })
    }

    /// Members of this set that are neither members of the other nor below one of its members.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| match theirs {
            None => Some(mine.clone()),
            Some(theirs) if theirs.member => None,
            Some(theirs) => Some(Node {
                member: mine.member,
                children: mine.children.recursive_difference(&theirs.children),
            }),
        })
    }

    fn combine(&self, other: &Self, rule: impl Fn(&Node, Option<&Node>) -> Option<Node>) -> Self {
        let nodes = self.nodes.iter().filter_map(|(element, node)| {
            let combined = rule(node, other.nodes.get(element))?;
            (!combined.is_empty()).then(|| (element.clone(), combined))
        });
        Self { nodes: nodes.collect() }
    }

    /// The set with every declared field above a member as a member too.
    #[must_use]
    pub(super) fn with_named_fields(&self, ty: Option<&Type>) -> Self {
        let nodes = self.nodes.iter().map(|(element, node)| {
            let (declared, inner) = match (element, ty) {
                (PathElement::Field(name), Some(ty)) => (ty.field(name).is_some(), ty.child(name)),
                (PathElement::Key(_), Some(Type::List(list))) => (false, Some(&list.items)),
                _ => (false, None),
            };
            let member = node.member || declared && !node.children.is_empty();
            (element.clone(), Node { member, children: node.children.with_named_fields(inner) })
        });
        Self { nodes: nodes.collect() }
    }

    /// All members, the members of a node before those below it.
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Vec<PathElement>>) {
        for (element, node) in &self.nodes {
            if node.member {
                let mut path = prefix.clone();
                path.push(element.clone());
                out.push(path);
            }
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.children.collect(prefix, out);
            prefix.pop();
        }
    }
}
