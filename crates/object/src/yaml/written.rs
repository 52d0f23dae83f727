//! A YAML tree whose scalars stand as they were written, for tools that must know `1.10` from `1.1` or `x:` from
//! `x: null`.

use std::collections::HashSet;

use serde_json::Number;

use super::read::{DuplicateKeys, ReadOptions, Reader, YamlError};
use super::tree::{At, Tree};

/// A value as written, with the line on which it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The value.
    pub data: WrittenData,
    /// Line, from 1.
    pub line: usize,
}

/// The value of a [`Written`].
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenData {
    /// An unquoted scalar without a tag: what it means is up to the reader. Nothing at all is the empty text.
    Plain(String),
    /// A quoted or block scalar without a tag.
    Quoted(String),
    /// A scalar with an explicit tag such as `!!str`; the prefix `tag:yaml.org,2002:` is cut off.
    Tagged(String, String),
    /// A list.
    Sequence(Vec<Written>),
    /// A mapping in its written order.
    Mapping(WrittenMapping),
}

/// A key as written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WrittenKey {
    /// The text.
    pub text: String,
    /// It was not quoted, so that `1` may mean a number.
    pub plain: bool,
}

/// The entries of a mapping. Of a key that occurs twice the first value is kept and the repetition is remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenMapping {
    /// The entries, each key once.
    pub entries: Vec<(WrittenKey, Written)>,
    /// The first key that occurs twice.
    pub repeated: Option<String>,
    seen: HashSet<String>,
}

const LINEAR: usize = 16;

impl WrittenMapping {
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

/// Reads the first document of a text with its scalars as written; `None` if there is none. What follows it is not
/// looked at. Repeated keys are kept for the caller to judge.
///
/// ```
/// use podsmith_object::yaml::{ReadOptions, WrittenData, read_written};
/// let document = read_written("1.10", ReadOptions::default()).unwrap();
/// assert_eq!(document.unwrap().data, WrittenData::Plain("1.10".into()));
/// ```
///
/// # Errors
///
/// As [`read_values`](super::read_values).
pub fn read_written(text: &str, options: ReadOptions) -> Result<Option<Written>, YamlError> {
    Reader::new(text, ReadOptions { duplicate_keys: DuplicateKeys::LastWins, ..options })?.next().transpose()
}

/// Stands behind an unquoted key on its way through the reader. No such key can end with it: it is not a character of
/// YAML.
const PLAIN: char = '\u{0}';

impl Tree for Written {
    type Mapping = WrittenMapping;

    fn written(text: String, tag: Option<&str>, plain: bool, at: At) -> Result<Self, String> {
        let data = match tag {
            Some(tag) if tag != "!" => {
                WrittenData::Tagged(tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag).to_owned(), text)
            }
            None if plain => WrittenData::Plain(text),
            _ => WrittenData::Quoted(text),
        };
        Ok(Self { data, line: at.line })
    }
    fn key(mut text: String, plain: bool) -> String {
        if plain {
            text.push(PLAIN);
        }
        text
    }
    fn null(at: At) -> Self {
        Self { data: WrittenData::Plain(String::new()), line: at.line }
    }
    fn boolean(flag: bool, at: At) -> Self {
        Self { data: WrittenData::Plain(flag.to_string()), line: at.line }
    }
    fn number(number: Number, at: At) -> Self {
        Self { data: WrittenData::Plain(number.to_string()), line: at.line }
    }
    fn text(text: String, at: At) -> Self {
        Self { data: WrittenData::Quoted(text), line: at.line }
    }
    fn sequence(items: Vec<Self>, at: At) -> Self {
        Self { data: WrittenData::Sequence(items), line: at.line }
    }
    fn mapping(mapping: Self::Mapping, at: At) -> Self {
        Self { data: WrittenData::Mapping(mapping), line: at.line }
    }
    fn insert(mapping: &mut Self::Mapping, key: String, _: At, value: Self) -> Result<(), (String, Self)> {
        let mut text = key;
        let plain = text.ends_with(PLAIN);
        if plain {
            text.pop();
        }
        if mapping.contains(&text) {
            return Err((text, value));
        }
        if !mapping.seen.is_empty() {
            mapping.seen.insert(text.clone());
        }
        mapping.entries.push((WrittenKey { text, plain }, value));
        Ok(())
    }
    fn replace(mapping: &mut Self::Mapping, key: &str, _: Self) {
        mapping.repeated.get_or_insert_with(|| key.to_owned());
    }
    fn entries(&self) -> Option<Vec<(String, At, Self)>> {
        let WrittenData::Mapping(mapping) = &self.data else { return None };
        let entries = mapping.entries.iter();
        Some(
            entries
                .map(|(key, value)| (Self::key(key.text.clone(), key.plain), At::default(), value.clone()))
                .collect(),
        )
    }
    fn items(&self) -> Option<&[Self]> {
        if let WrittenData::Sequence(items) = &self.data { Some(items) } else { None }
    }
    fn as_key(&self) -> Option<String> {
        match &self.data {
            WrittenData::Plain(text) | WrittenData::Quoted(text) | WrittenData::Tagged(_, text) => {
                Some(text.clone())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_keys_and_repetitions_stay_as_written() {
        let read = read_written(
            "a: 0755\nb: '0755'\nc:\nd: ~\ne: !!str 1\na: 2\nf: &x {g: 1}\nh: {<<: *x, g: 2}\n",
            ReadOptions::default(),
        )
        .unwrap()
        .unwrap();
        let WrittenData::Mapping(mapping) = &read.data else { panic!("a mapping") };
        let scalar = |key: &str| {
            mapping.entries.iter().find(|(found, _)| found.text == key).map(|(_, value)| value.data.clone())
        };
        assert_eq!(scalar("a"), Some(WrittenData::Plain("0755".into())));
        assert_eq!(scalar("b"), Some(WrittenData::Quoted("0755".into())));
        assert_eq!(scalar("c"), Some(WrittenData::Plain(String::new())));
        assert_eq!(scalar("d"), Some(WrittenData::Plain("~".into())));
        assert_eq!(scalar("e"), Some(WrittenData::Tagged("str".into(), "1".into())));
        assert_eq!(mapping.repeated.as_deref(), Some("a"));
        let Some(WrittenData::Mapping(merged)) = scalar("h") else { panic!("a mapping") };
        assert_eq!(merged.entries.len(), 1);
        assert_eq!(merged.repeated, None);
    }

    #[test]
    fn a_block_scalar_at_the_end_needs_no_line_break() {
        let cases = [
            ("a: |\n  x", "x"),
            ("a: >\n  x\n  y", "x y"),
            ("a: |-\n  x", "x"),
            ("a: |+\n  x", "x"),
            ("a: |\n  x\n", "x\n"),
            ("a: |\n  x\n   ", "x\n "),
            ("a: |\n  x\n  ", "x\n"),
            ("a: |+\n  x\n  ", "x\n"),
        ];
        for (text, expected) in cases {
            let value = super::super::read_value(text, ReadOptions::default()).unwrap();
            assert_eq!(value["a"], expected, "{text:?}");
        }
    }
}
