//! Strict configuration files: every error with its position, unknown keys with the nearest valid one.
//!
//! A decoder walks a [`Node`] tree, takes the fields it knows, and collects all problems instead of stopping at the
//! first. It is used for every file format of ours and of the tools we are compatible with.
//!
//! ```
//! use podsmith_object::{decode::Decoder, yaml};
//! let text = "name: web\nreplicsa: 2\n";
//! let node = yaml::read_node(text, yaml::ReadOptions::default()).unwrap();
//! let decoder = Decoder::new("app.yaml", text);
//! let mut fields = decoder.mapping(&node, "the application").unwrap();
//! let name = fields.string("name");
//! let _replicas = fields.integer("replicas");
//! fields.finish();
//! assert_eq!(name.as_deref(), Some("web"));
//! let problems = decoder.finish(()).unwrap_err();
//! assert_eq!(problems.0[0].message, "unknown key `replicsa` in the application");
//! assert_eq!(problems.0[0].hint.as_deref(), Some("did you mean `replicas`?"));
//! ```

use std::cell::RefCell;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::yaml::{Key, Node, NodeData};
use crate::{Diagnostic, Diagnostics, Place, suggest};

/// Collects the problems of one file while it is decoded.
pub struct Decoder<'t> {
    file: Arc<str>,
    text: &'t str,
    problems: RefCell<Diagnostics>,
}

impl<'t> Decoder<'t> {
    /// A decoder for `text`, named `file` in messages.
    pub fn new(file: &str, text: &'t str) -> Self {
        Self { file: Arc::from(file), text, problems: RefCell::default() }
    }

    /// The file's name.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The place of a node.
    pub fn place(&self, node: &Node) -> Place {
        Place::new(self.file.clone(), node.line, node.column)
    }

    /// Reports `message` at `node`.
    pub fn error(&self, node: &Node, message: impl Into<String>) {
        self.report(Diagnostic::error(message), node.line, node.column);
    }

    /// Reports `message` at `node` with a hint.
    pub fn error_with_hint(&self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.report(Diagnostic::error(message).with_hint(hint), node.line, node.column);
    }

    /// Reports a diagnostic of the caller's making at a line and column.
    pub fn report(&self, diagnostic: Diagnostic, line: usize, column: usize) {
        let placed = diagnostic.at(Place::new(self.file.clone(), line, column)).with_excerpt_of(self.text);
        self.problems.borrow_mut().push(placed);
    }

    /// True if an error was reported.
    pub fn has_errors(&self) -> bool {
        self.problems.borrow().has_errors()
    }

    /// The value, unless an error was reported.
    ///
    /// # Errors
    ///
    /// Everything that was reported, in file order.
    pub fn finish<T>(self, value: T) -> Result<T, Diagnostics> {
        self.finish_with_warnings(value).map(|(value, _)| value)
    }

    /// The value and the warnings, unless an error was reported.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_with_warnings<T>(self, value: T) -> Result<(T, Diagnostics), Diagnostics> {
        let mut problems = self.problems.into_inner();
        problems.0.sort_by_key(|d| d.place.as_ref().map(|p| (p.line, p.column)));
        if problems.has_errors() { Err(problems) } else { Ok((value, problems)) }
    }

    fn wrong_type(&self, node: &Node, path: &str, expected: &str) {
        self.error(node, format!("{path} must be {expected}, this is {}", node.describe()));
    }

    /// The fields of a mapping. `what` names it in messages: `a source`. Null counts as an empty mapping.
    pub fn mapping<'d, 'n>(&'d self, node: &'n Node, what: &str) -> Option<Fields<'d, 't, 'n>> {
        let entries: &'n [(Key, Node)] = match &node.data {
            NodeData::Mapping(entries) => entries,
            NodeData::Null => &[],
            _ => {
                self.wrong_type(node, what, "a mapping");
                return None;
            }
        };
        Some(Fields { decoder: self, node, entries, what: what.to_owned(), known: Vec::new() })
    }

    /// The items of a list; reports anything else. Null counts as an empty list.
    pub fn sequence<'n>(&self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.data {
            NodeData::Sequence(items) => items,
            NodeData::Null => &[],
            _ => {
                self.wrong_type(node, what, "a list");
                &[]
            }
        }
    }

    /// The text of a string node. A number or boolean is reported, with the advice to quote it.
    pub fn string(&self, node: &Node, what: &str) -> Option<String> {
        match &node.data {
            NodeData::String(text) => Some(text.clone()),
            NodeData::Bool(_) | NodeData::Number(_) => {
                let message = format!("{what} must be a string, this is {}", node.describe());
                self.error_with_hint(node, message, "put the value in quotes");
                None
            }
            _ => {
                self.wrong_type(node, what, "a string");
                None
            }
        }
    }

    /// A list of strings.
    pub fn strings(&self, node: &Node, what: &str) -> Vec<String> {
        self.sequence(node, what)
            .iter()
            .filter_map(|item| self.string(item, &format!("an item of {what}")))
            .collect()
    }

    /// A mapping of strings.
    pub fn string_map(&self, node: &Node, what: &str) -> IndexMap<String, String> {
        match &node.data {
            NodeData::Null => IndexMap::new(),
            NodeData::Mapping(entries) => entries
                .iter()
                .filter_map(|(key, value)| {
                    Some((key.text.clone(), self.string(value, &format!("{what}.{}", key.text))?))
                })
                .collect(),
            _ => {
                self.wrong_type(node, what, "a mapping");
                IndexMap::new()
            }
        }
    }

    /// A boolean.
    pub fn boolean(&self, node: &Node, what: &str) -> Option<bool> {
        if let NodeData::Bool(flag) = node.data {
            return Some(flag);
        }
        self.wrong_type(node, what, "true or false");
        None
    }

    /// A whole number.
    pub fn integer(&self, node: &Node, what: &str) -> Option<i64> {
        if let NodeData::Number(number) = &node.data
            && let Some(whole) = number.as_i64()
        {
            return Some(whole);
        }
        self.wrong_type(node, what, "a whole number");
        None
    }

    /// One of a fixed set of words.
    pub fn word(&self, node: &Node, what: &str, valid: &[&'static str]) -> Option<&'static str> {
        let text = self.string(node, what)?;
        if let Some(found) = valid.iter().find(|word| **word == text) {
            return Some(found);
        }
        let message = format!("{what} is `{text}`, which is none of {}", valid.join(", "));
        let hint =
            suggest::nearest(&text, valid.iter().copied()).map(|word| format!("did you mean `{word}`?"));
        self.report(Diagnostic::error(message).with_hint_if(hint), node.line, node.column);
        None
    }
}

/// The fields of one mapping, taken one after the other. Call [`finish`](Self::finish) to report the ones nobody took.
pub struct Fields<'d, 't, 'n> {
    decoder: &'d Decoder<'t>,
    node: &'n Node,
    entries: &'n [(Key, Node)],
    what: String,
    known: Vec<String>,
}

impl<'d, 't, 'n> Fields<'d, 't, 'n> {
    /// The decoder, to report problems of one's own.
    pub fn decoder(&self) -> &'d Decoder<'t> {
        self.decoder
    }

    /// The mapping itself.
    pub fn node(&self) -> &'n Node {
        self.node
    }

    /// How messages name a field of this mapping.
    fn path(&self, key: &str) -> String {
        format!("`{key}` of {}", self.what)
    }

    /// Takes a field. Null counts as absent.
    pub fn take(&mut self, key: &str) -> Option<&'n Node> {
        self.take_even_null(key).filter(|node| !node.is_null())
    }

    /// Takes a field, also when it is null.
    pub fn take_even_null(&mut self, key: &str) -> Option<&'n Node> {
        self.known.push(key.to_owned());
        self.entries.iter().find(|(found, _)| found.text == key).map(|(_, node)| node)
    }

    /// Takes a field that must be there, or reports it missing.
    pub fn require(&mut self, key: &str) -> Option<&'n Node> {
        let found = self.take(key);
        if found.is_none() {
            self.decoder.error(self.node, format!("`{key}` is missing in {}", self.what));
        }
        found
    }

    /// Takes a string.
    pub fn string(&mut self, key: &str) -> Option<String> {
        let node = self.take(key)?;
        self.decoder.string(node, &self.path(key))
    }

    /// Takes a string that must be there.
    pub fn require_string(&mut self, key: &str) -> Option<String> {
        let node = self.require(key)?;
        self.decoder.string(node, &self.path(key))
    }

    /// Takes a boolean.
    pub fn boolean(&mut self, key: &str) -> Option<bool> {
        let node = self.take(key)?;
        self.decoder.boolean(node, &self.path(key))
    }

    /// Takes a whole number.
    pub fn integer(&mut self, key: &str) -> Option<i64> {
        let node = self.take(key)?;
        self.decoder.integer(node, &self.path(key))
    }

    /// Takes a list of strings; absent means empty.
    pub fn strings(&mut self, key: &str) -> Vec<String> {
        self.take(key).map(|node| self.decoder.strings(node, &self.path(key))).unwrap_or_default()
    }

    /// Takes a mapping of strings; absent means empty.
    pub fn string_map(&mut self, key: &str) -> IndexMap<String, String> {
        self.take(key).map(|node| self.decoder.string_map(node, &self.path(key))).unwrap_or_default()
    }

    /// Takes the items of a list; absent means empty.
    pub fn sequence(&mut self, key: &str) -> &'n [Node] {
        match self.take(key) {
            Some(node) => self.decoder.sequence(node, &self.path(key)),
            None => &[],
        }
    }

    /// Takes one of a fixed set of words.
    pub fn word(&mut self, key: &str, valid: &[&'static str]) -> Option<&'static str> {
        let node = self.take(key)?;
        self.decoder.word(node, &self.path(key), valid)
    }

    /// Marks a key as known without reading it.
    pub fn know(&mut self, key: &str) {
        self.known.push(key.to_owned());
    }

    /// The entries nobody has taken so far.
    pub fn rest(&self) -> impl Iterator<Item = &'n (Key, Node)> {
        self.entries.iter().filter(|(key, _)| !self.known.contains(&key.text))
    }

    /// Reports every key that nobody took, with the nearest valid one.
    pub fn finish(self) {
        for (key, _) in self.rest() {
            let message = format!("unknown key `{}` in {}", key.text, self.what);
            let hint = suggest::hint(&key.text, self.known.iter().map(String::as_str));
            self.decoder.report(Diagnostic::error(message).with_hint_if(hint), key.line, key.column);
        }
    }
}
