//! Builds trees from parser events.

use std::collections::HashMap;

use libyaml_safer::{Event, EventData, Parser, ScalarStyle};
use thiserror::Error;

use super::node::Node;
use super::scalar::{Scalar, resolve_plain};
use super::tree::{At, Tree};
use crate::{Diagnostic, Place, Value};

/// What to do with a key that occurs twice in one mapping.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DuplicateKeys {
    /// An error: almost always a mistake.
    #[default]
    Refuse,
    /// The last one wins, as in Helm.
    LastWins,
}

/// What to do with an unquoted key such as `y` or `on`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BooleanKeys {
    /// Keep the text as written.
    #[default]
    Text,
    /// Turn it into `"true"` or `"false"`, as kubectl and Helm do.
    LikeKubectl,
}

/// Bounds on what the reader accepts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep lists and mappings may nest.
    pub depth: usize,
    /// How large one document may be, in bytes.
    pub document_bytes: usize,
    /// How much aliases may add to one document, in bytes (about 32 for each value).
    pub alias_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 500, document_bytes: 64 << 20, alias_bytes: 64 << 20 }
    }
}

/// How to read. The default is strict.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Duplicate keys.
    pub duplicate_keys: DuplicateKeys,
    /// Boolean-looking keys.
    pub boolean_keys: BooleanKeys,
    /// Bounds.
    pub limits: Limits,
}

impl ReadOptions {
    /// As kubectl, Helm and other Go tools read: duplicate keys allowed, keys resolved.
    pub fn lenient() -> Self {
        Self {
            duplicate_keys: DuplicateKeys::LastWins,
            boolean_keys: BooleanKeys::LikeKubectl,
            ..Self::default()
        }
    }
}

/// Why a text could not be read.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{message}")]
pub struct YamlError {
    /// What is wrong.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What to do about it, when that is known.
    pub hint: Option<&'static str>,
}

impl From<crate::json::ValueError> for YamlError {
    fn from(error: crate::json::ValueError) -> Self {
        Self { message: error.message, line: error.line, column: error.column, hint: None }
    }
}

impl YamlError {
    fn new(message: impl Into<String>, at: At) -> Self {
        Self { message: message.into(), line: at.line, column: at.column, hint: None }
    }

    /// The same error with its line counted from the start of the stream.
    #[must_use]
    pub fn after_lines(mut self, lines: usize) -> Self {
        self.line += lines;
        self
    }

    /// The error as a diagnostic on `file`, with the line of `text` it talks about. `lines_before` is the number of
    /// lines that precede `text` in the file.
    pub fn to_diagnostic(&self, file: &str, text: &str, lines_before: usize) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.message.clone())
            .at(Place::new(file, self.line, self.column))
            .with_excerpt_of(text);
        if let Some(place) = &mut diagnostic.place {
            place.line += lines_before;
        }
        if let Some(excerpt) = &mut diagnostic.excerpt {
            excerpt.line += lines_before;
        }
        diagnostic.with_hint_if(self.hint.map(str::to_owned))
    }
}

/// Reads one document that is the whole text; an empty text is null.
///
/// # Errors
///
/// On invalid YAML, on more than one document, and past a limit.
pub fn read_value(text: &str, options: ReadOptions) -> Result<Value, YamlError> {
    only_document(text, options)
}

/// Reads one document that is the whole text, with positions; an empty text is null.
///
/// # Errors
///
/// As [`read_value`].
pub fn read_node(text: &str, options: ReadOptions) -> Result<Node, YamlError> {
    only_document(text, options)
}

/// Reads every document of a text; empty documents are null.
///
/// # Errors
///
/// On invalid YAML and past a limit.
pub fn read_values(text: &str, options: ReadOptions) -> Result<Vec<Value>, YamlError> {
    Reader::new(text, options)?.collect()
}

/// Reads every document of a text, with positions.
///
/// # Errors
///
/// As [`read_values`].
pub fn read_nodes(text: &str, options: ReadOptions) -> Result<Vec<Node>, YamlError> {
    Reader::new(text, options)?.collect()
}

/// Reads the documents of one [`Chunk`](super::Chunk): each value with the line on which it starts within the chunk.
///
/// # Errors
///
/// As [`read_values`].
pub fn read_document(text: &str, options: ReadOptions) -> Result<Vec<(Value, usize)>, YamlError> {
    let mut reader = Reader::<Value>::new(text, options)?;
    let mut found = Vec::with_capacity(1);
    while let Some(value) = reader.next_document()? {
        found.push((value, reader.document_line));
    }
    Ok(found)
}

fn only_document<T: Tree>(text: &str, options: ReadOptions) -> Result<T, YamlError> {
    let mut reader = Reader::new(text, options)?;
    let Some(first) = reader.next_document()? else { return Ok(T::null(At { line: 1, column: 1 })) };
    if reader.next_document()?.is_some() {
        let at = At { line: reader.document_line, column: 1 };
        return Err(YamlError::new("there is a second document here, only one is allowed", at));
    }
    Ok(first)
}

/// An anchored tree and what a copy of it costs.
struct Anchor<T> {
    tree: T,
    weight: usize,
}

pub(super) struct Reader<'t, T: Tree> {
    parser: Parser<std::io::Chain<&'t [u8], &'static [u8]>>,
    /// The length of a text that does not end with a line break, and whether its last line is blank; the parser gets a
    /// line break behind it.
    unterminated: Option<(u64, bool)>,
    options: ReadOptions,
    anchors: HashMap<String, Anchor<T>>,
    /// Weight of everything read so far in this document, for the cost of anchors.
    weight: usize,
    alias_weight: usize,
    document_line: usize,
    finished: bool,
}

impl<'t, T: Tree> Reader<'t, T> {
    pub(super) fn new(text: &'t str, options: ReadOptions) -> Result<Self, YamlError> {
        let bytes = text.as_bytes();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if bytes.len() > options.limits.document_bytes {
            let message = format!("larger than {} bytes", options.limits.document_bytes);
            return Err(YamlError::new(message, At { line: 1, column: 1 }));
        }
        let mut parser = Parser::new();
        // The parser cannot end a block scalar without a line break.
        let unterminated = (!bytes.ends_with(b"\n")).then(|| {
            let last = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            (u64::try_from(bytes.len()).unwrap_or(u64::MAX), last.iter().all(|byte| *byte == b' '))
        });
        let ending: &'static [u8] = if unterminated.is_some() { b"\n" } else { b"" };
        parser.set_input(std::io::Read::chain(bytes, ending));
        parser.set_encoding(libyaml_safer::Encoding::Utf8);
        Ok(Self {
            parser,
            unterminated,
            options,
            anchors: HashMap::new(),
            weight: 0,
            alias_weight: 0,
            document_line: 1,
            finished: false,
        })
    }

    fn event(&mut self) -> Result<(EventData, At), YamlError> {
        match self.parser.parse() {
            Ok(Event { mut data, start_mark, end_mark, .. }) => {
                if let EventData::Scalar { value, style: ScalarStyle::Literal | ScalarStyle::Folded, .. } =
                    &mut data
                    && let Some((length, blank)) = self.unterminated
                    && end_mark.index > length
                    && value.ends_with('\n')
                    && (!blank || value.ends_with("\n\n") || value.ends_with(" \n"))
                {
                    // The line break we added is not part of the value.
                    value.pop();
                }
                Ok((data, at(start_mark)))
            }
            Err(error) => {
                self.finished = true;
                Err(syntax_error(&error))
            }
        }
    }

    fn next_document(&mut self) -> Result<Option<T>, YamlError> {
        while !self.finished {
            match self.event()? {
                (EventData::DocumentStart { .. }, _) => {
                    self.anchors.clear();
                    (self.weight, self.alias_weight) = (0, 0);
                    let (data, at) = self.event()?;
                    self.document_line = at.line;
                    let tree = self.tree(data, at)?;
                    return Ok(Some(tree));
                }
                (EventData::StreamEnd, _) => self.finished = true,
                _ => {}
            }
        }
        Ok(None)
    }

    /// Builds one tree. Open collections are kept on a stack of our own, so that nesting costs no thread stack.
    fn tree(&mut self, mut data: EventData, mut at: At) -> Result<T, YamlError> {
        let mut open: Vec<Open<T>> = Vec::new();
        loop {
            let before = self.weight;
            self.weight += 32;
            let mut complete = match data {
                EventData::SequenceStart { anchor, .. } => {
                    self.check_depth(open.len(), at)?;
                    open.push(Open { parts: Parts::Sequence(Vec::new()), at, anchor, weight_before: before });
                    None
                }
                EventData::MappingStart { anchor, .. } => {
                    self.check_depth(open.len(), at)?;
                    open.push(Open { parts: Parts::mapping(), at, anchor, weight_before: before });
                    None
                }
                EventData::SequenceEnd | EventData::MappingEnd => match open.pop() {
                    Some(ended) => Some(self.close(ended)?),
                    None => return Err(YamlError::new("unexpected end of a collection", at)),
                },
                EventData::Scalar { anchor, tag, value, plain_implicit, style, .. } => {
                    self.weight += value.len();
                    let plain = style == ScalarStyle::Plain && plain_implicit;
                    match open.last_mut() {
                        Some(Open { parts: Parts::Mapping { key: key @ Pending::Key, .. }, .. }) => {
                            if plain && value == "<<" {
                                *key = Pending::Merge;
                            } else {
                                if let Some(name) = anchor {
                                    let tree = scalar(value.clone(), tag.as_deref(), plain, at)?;
                                    self.anchors.insert(name, Anchor { tree, weight: 32 + value.len() });
                                }
                                *key = Pending::Value(
                                    T::key(key_text(value, plain, self.options.boolean_keys), plain),
                                    at,
                                );
                            }
                            None
                        }
                        _ => {
                            let tree: T = scalar(value, tag.as_deref(), plain, at)?;
                            self.remember(anchor, &tree, before);
                            Some(tree)
                        }
                    }
                }
                EventData::Alias { anchor } => {
                    let tree = self.alias(&anchor, at)?;
                    if let Some(Open { parts: Parts::Mapping { key: key @ Pending::Key, .. }, .. }) =
                        open.last_mut()
                    {
                        *key = Pending::Value(tree.as_key().ok_or_else(|| key_error(at))?, at);
                        None
                    } else {
                        Some(tree)
                    }
                }
                other => return Err(YamlError::new(format!("unexpected {other:?}"), at)),
            };
            if let Some(tree) = complete.take() {
                match open.last_mut() {
                    None => return Ok(tree),
                    Some(parent) => parent.parts.add(tree, at, self.options.duplicate_keys)?,
                }
            }
            (data, at) = self.event()?;
        }
    }

    fn close(&mut self, ended: Open<T>) -> Result<T, YamlError> {
        let tree = match ended.parts {
            Parts::Sequence(items) => T::sequence(items, ended.at),
            Parts::Mapping { mut mapping, merges, .. } => {
                for (merged, merged_at) in merges {
                    merge_into::<T>(&mut mapping, &merged, merged_at)?;
                }
                T::mapping(mapping, ended.at)
            }
        };
        self.remember(ended.anchor, &tree, ended.weight_before);
        Ok(tree)
    }

    fn remember(&mut self, anchor: Option<String>, tree: &T, weight_before: usize) {
        if let Some(name) = anchor {
            self.anchors.insert(name, Anchor { tree: tree.clone(), weight: self.weight - weight_before });
        }
    }

    fn alias(&mut self, name: &str, at: At) -> Result<T, YamlError> {
        let Some(anchor) = self.anchors.get(name) else {
            return Err(YamlError::new(format!("alias `*{name}` has no anchor `&{name}` before it"), at));
        };
        self.alias_weight += anchor.weight;
        if self.alias_weight > self.options.limits.alias_bytes {
            return Err(YamlError::new("aliases make this document too large", at));
        }
        self.weight += anchor.weight;
        Ok(anchor.tree.clone())
    }

    fn check_depth(&mut self, depth: usize, at: At) -> Result<(), YamlError> {
        if depth < self.options.limits.depth {
            return Ok(());
        }
        self.finished = true;
        Err(YamlError::new(format!("nested deeper than {} levels", self.options.limits.depth), at))
    }
}

/// A list or mapping whose end was not seen yet.
struct Open<T: Tree> {
    parts: Parts<T>,
    at: At,
    anchor: Option<String>,
    weight_before: usize,
}

enum Parts<T: Tree> {
    Sequence(Vec<T>),
    Mapping { mapping: T::Mapping, merges: Vec<(T, At)>, key: Pending },
}

/// What the next node of a mapping is.
enum Pending {
    Key,
    Value(String, At),
    Merge,
}

impl<T: Tree> Parts<T> {
    fn mapping() -> Self {
        Self::Mapping { mapping: T::Mapping::default(), merges: Vec::new(), key: Pending::Key }
    }

    fn add(&mut self, tree: T, at: At, duplicates: DuplicateKeys) -> Result<(), YamlError> {
        let (mapping, merges, key) = match self {
            Self::Sequence(items) => {
                items.push(tree);
                return Ok(());
            }
            Self::Mapping { mapping, merges, key } => (mapping, merges, key),
        };
        match std::mem::replace(key, Pending::Key) {
            // A collection ended where a key was expected: `{a: b}: c` or an unrendered `{{ … }}`.
            Pending::Key => Err(key_error(at)),
            Pending::Merge => {
                merges.push((tree, at));
                Ok(())
            }
            Pending::Value(key, key_at) => match duplicates {
                DuplicateKeys::Refuse => match T::insert(mapping, key, key_at, tree) {
                    Ok(()) => Ok(()),
                    Err((key, _)) => {
                        Err(YamlError::new(format!("key `{key}` occurs twice in this mapping"), key_at))
                    }
                },
                DuplicateKeys::LastWins => {
                    if let Err((key, tree)) = T::insert(mapping, key, key_at, tree) {
                        T::replace(mapping, &key, tree);
                    }
                    Ok(())
                }
            },
        }
    }
}

fn key_text(text: String, plain: bool, keys: BooleanKeys) -> String {
    if !plain || keys == BooleanKeys::Text {
        return text;
    }
    match resolve_plain(&text) {
        Scalar::Bool(flag) => flag.to_string(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Null if !text.is_empty() => "null".to_owned(),
        _ => text,
    }
}

impl<T: Tree> Iterator for Reader<'_, T> {
    type Item = Result<T, YamlError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_document().transpose()
    }
}

/// Explicit keys win over merged ones, earlier merges over later ones.
fn merge_into<T: Tree>(mapping: &mut T::Mapping, merged: &T, at: At) -> Result<(), YamlError> {
    if let Some(entries) = merged.entries() {
        for (key, key_at, value) in entries {
            // A key that is there already wins over a merged one.
            let _ = T::insert(mapping, key, key_at, value);
        }
        return Ok(());
    }
    if let Some(items) = merged.items()
        && items.iter().all(|item| item.entries().is_some())
    {
        return items.iter().try_for_each(|item| merge_into::<T>(mapping, item, at));
    }
    Err(YamlError::new("`<<` needs a mapping or a list of mappings", at))
}

fn key_error(at: At) -> YamlError {
    let mut error = YamlError::new("a mapping key must be a scalar", at);
    error.hint = Some("a template placeholder such as `{{ … }}` must be quoted or rendered first");
    error
}

fn scalar<T: Tree>(text: String, tag: Option<&str>, plain: bool, at: At) -> Result<T, YamlError> {
    let text = match T::written(text, tag, plain, at) {
        Ok(tree) => return Ok(tree),
        Err(text) => text,
    };
    let kind = match tag.map(|tag| tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag)) {
        None | Some("!") if !plain => Scalar::Text,
        None => resolve_plain(&text),
        Some("str" | "binary" | "timestamp") => Scalar::Text,
        Some(tag @ ("int" | "float" | "bool" | "null")) => match (tag, resolve_plain(&text)) {
            ("int" | "float", found @ Scalar::Number(_))
            | ("bool", found @ Scalar::Bool(_))
            | ("null", found @ Scalar::Null)
            | ("float", found @ Scalar::NotFinite) => found,
            _ => return Err(YamlError::new(format!("`{text}` is no !!{tag}"), at)),
        },
        Some(_) if plain => resolve_plain(&text),
        Some(_) => Scalar::Text,
    };
    Ok(match kind {
        Scalar::Null => T::null(at),
        Scalar::Bool(flag) => T::boolean(flag, at),
        Scalar::Number(number) => T::number(number, at),
        Scalar::Text => T::text(text, at),
        Scalar::NotFinite => {
            return Err(YamlError::new(
                format!("`{text}` cannot be written as JSON, so no API accepts it"),
                at,
            ));
        }
    })
}

fn at(mark: libyaml_safer::Mark) -> At {
    At {
        line: usize::try_from(mark.line).unwrap_or(0) + 1,
        column: usize::try_from(mark.column).unwrap_or(0) + 1,
    }
}

fn syntax_error(error: &libyaml_safer::Error) -> YamlError {
    let mark = error.problem_mark().or_else(|| error.context_mark()).unwrap_or_default();
    let problem = error.problem();
    let (message, hint) = match problem {
        "found character that cannot start any token" => (
            "this character cannot start a value here".to_owned(),
            Some("a tab cannot indent YAML; a value that starts with @, `, % or * must be quoted"),
        ),
        "mapping values are not allowed in this context" => (
            "a `key: value` cannot stand here".to_owned(),
            Some("check the indentation; a text with `: ` in it must be quoted"),
        ),
        "did not find expected key" => (
            "a `key:` was expected here".to_owned(),
            Some("check the indentation of this line and the one before"),
        ),
        "" => (error.to_string(), None),
        other => (other.to_owned(), None),
    };
    let mut result = YamlError::new(message, at(mark));
    result.hint = hint;
    result
}
