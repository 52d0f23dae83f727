//! Scalars as they were written.
//!
//! Every value of pod.yaml is text first: `args: [80, no]` are the words `80` and `no`, and `podVersion: 1.10.0` or a
//! port may be quoted or not. So the reader goes back to the source for what YAML resolved to a number or a boolean.

use podsmith_object::decode::{Decoder, Fields};
use podsmith_object::yaml::{Node, NodeData};
use podsmith_object::{Diagnostic, suggest};

use crate::spec::Dialect;

pub(super) struct Reader<'t> {
    pub decoder: Decoder<'t>,
    lines: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    pub fn new(file: &str, text: &'t str) -> Self {
        Self { decoder: Decoder::new(file, text), lines: text.lines().collect() }
    }

    /// The characters of an unquoted number or boolean at the position of `node`.
    fn written(&self, node: &Node) -> Option<String> {
        let line = self.lines.get(node.line.checked_sub(1)?)?;
        let word: String = line
            .chars()
            .skip(node.column.checked_sub(1)?)
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_' | ':'))
            .collect();
        (!word.is_empty()).then_some(word)
    }

    /// The text of any scalar; null is empty text.
    pub fn text(&self, node: &Node, what: &str) -> Option<String> {
        match &node.data {
            NodeData::String(text) => Some(text.clone()),
            NodeData::Null => Some(String::new()),
            NodeData::Bool(flag) => Some(self.written(node).unwrap_or_else(|| flag.to_string())),
            NodeData::Number(number) => Some(self.written(node).unwrap_or_else(|| number.to_string())),
            _ => {
                self.decoder
                    .error(node, format!("{what} must be a plain value, this is {}", node.describe()));
                None
            }
        }
    }

    /// Takes an optional text; empty counts as absent.
    pub fn optional_text(&self, fields: &mut Fields<'_, '_, '_>, key: &str, what: &str) -> Option<String> {
        let node = fields.take(key)?;
        self.text(node, what).filter(|text| !text.is_empty())
    }

    /// Takes a text that must be there and not be empty.
    pub fn required_text(&self, fields: &mut Fields<'_, '_, '_>, key: &str, what: &str) -> Option<String> {
        let node = fields.require(key)?;
        let text = self.text(node, what)?;
        if text.trim().is_empty() {
            self.decoder.error(node, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// A whole number from 0, quoted or not.
    pub fn number(&self, node: &Node, what: &str) -> Option<u64> {
        let text = self.text(node, what)?;
        match text.parse::<u64>() {
            Ok(number) if text.bytes().all(|b| b.is_ascii_digit()) => Some(number),
            _ => {
                self.decoder.error(node, format!("{what} must be an integer, this is `{text}`"));
                None
            }
        }
    }

    /// Takes a whole number within a range.
    pub fn number_in(
        &self,
        fields: &mut Fields<'_, '_, '_>,
        key: &str,
        what: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let node = fields.take(key)?;
        let number = self.number(node, what)?;
        if !range.contains(&number) {
            let message =
                format!("{what} must be between {} and {}, this is {number}", range.start(), range.end());
            self.decoder.error(node, message);
            return None;
        }
        Some(number)
    }

    /// Takes `true` or `false`.
    pub fn flag(&self, fields: &mut Fields<'_, '_, '_>, key: &str, what: &str) -> Option<bool> {
        let node = fields.take(key)?;
        match self.text(node, what)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            other => {
                self.decoder.error(node, format!("{what} must be true or false, this is `{other}`"));
                None
            }
        }
    }

    /// Takes a list of texts.
    pub fn texts(&self, fields: &mut Fields<'_, '_, '_>, key: &str, what: &str) -> Vec<String> {
        let Some(node) = fields.take(key) else { return Vec::new() };
        let items = self.decoder.sequence(node, what);
        let texts: Vec<_> = items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| self.text(item, &format!("{what}[{i}]")))
            .collect();
        for (item, text) in items.iter().zip(&texts) {
            if text.contains('\0') {
                self.decoder.error(item, format!("{what} holds a NUL character"));
            }
        }
        texts
    }

    /// Takes words separated by blanks.
    pub fn words(&self, fields: &mut Fields<'_, '_, '_>, key: &str, what: &str) -> Vec<String> {
        let text = self.optional_text(fields, key, what).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// One of a fixed set of words, with a hint for a near miss.
    pub fn one_of(&self, node: &Node, what: &str, valid: &[&'static str]) -> Option<&'static str> {
        let text = self.text(node, what)?;
        if let Some(found) = valid.iter().find(|word| **word == text) {
            return Some(found);
        }
        let message = format!("{what} is `{text}`, which is none of {}", valid.join(", "));
        let hint =
            suggest::nearest(&text, valid.iter().copied()).map(|word| format!("did you mean `{word}`?"));
        self.decoder.report(Diagnostic::error(message).with_hint_if(hint), node.line, node.column);
        None
    }

    pub fn runtime(&self, node: &Node) -> &'static str {
        self.one_of(node, "the runtime", &["podman", "executable"]).unwrap_or("podman")
    }

    /// Reports a key of the other dialect.
    pub fn mixed(&self, node: &Node, wrong: &str, right: &str, dialect: Dialect) {
        let here = match dialect {
            Dialect::Seed => "apiVersion",
            Dialect::Head => "api",
        };
        let message =
            format!("`{wrong}` does not belong to the dialect of `{here}`: the two cannot be mixed");
        self.decoder.error_with_hint(node, message, format!("write `{right}`"));
    }

    /// Checks a name of the pod's parts and reports a bad one.
    pub fn name(
        &self,
        fields: &mut Fields<'_, '_, '_>,
        what: &str,
        valid: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let name = self.required_text(fields, "name", &format!("{what}.name"))?;
        if !valid(&name) {
            let node = fields.take("name")?;
            self.decoder.error_with_hint(
                node,
                format!("{what}.name `{name}` is malformed"),
                super::NAME_RULE,
            );
        }
        Some(name)
    }
}

/// The characters allowed where a value is put into lists that other tools split.
pub(super) fn plain_characters(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'/' | b'-'))
}
