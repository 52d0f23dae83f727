//! Writes values as YAML.

use std::fmt::Write as _;

use super::scalar::{Scalar, resolve_plain};
use crate::Value;

/// How to write.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Style {
    /// Write mappings in key order instead of their own.
    pub sort_keys: bool,
}

/// The value as a YAML document without a `---` line. Lists are not indented below their key, as kubectl prints them.
pub fn to_string(value: &Value) -> String {
    to_string_with(value, Style::default())
}

/// [`to_string`] in another style.
pub fn to_string_with(value: &Value, style: Style) -> String {
    let mut out = String::new();
    write_value(&mut out, value, style);
    out
}

/// Appends the value as a YAML document to `out`.
pub fn write_value(out: &mut String, value: &Value, style: Style) {
    let mut writer = Writer { out, style };
    match value {
        Value::Object(map) if !map.is_empty() => writer.mapping(map, 0, false),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, false),
        scalar => {
            writer.scalar(scalar, 0);
            writer.out.push('\n');
        }
    }
}

/// Appends a mapping as a YAML document to `out`.
pub fn write_map(out: &mut String, map: &crate::Map<String, Value>, style: Style) {
    if map.is_empty() {
        out.push_str("{}\n");
    } else {
        Writer { out, style }.mapping(map, 0, false);
    }
}

struct Writer<'o> {
    out: &'o mut String,
    style: Style,
}

impl Writer<'_> {
    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }

    /// `inline` means that the first line continues a `- ` already written.
    fn mapping(&mut self, map: &crate::Map<String, Value>, depth: usize, inline: bool) {
        let mut first = inline;
        let mut entry = |writer: &mut Self, key: &str, value: &Value| {
            if !std::mem::take(&mut first) {
                writer.indent(depth);
            }
            writer.entry(key, value, depth);
        };
        if self.style.sort_keys {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            entries.into_iter().for_each(|(key, value)| entry(self, key, value));
        } else {
            map.iter().for_each(|(key, value)| entry(self, key, value));
        }
    }

    fn entry(&mut self, key: &str, value: &Value, depth: usize) {
        // A key longer than 128 characters, or with a line break, needs the explicit `? key` form.
        let explicit = key.len() > 128 || key.contains('\n');
        if explicit {
            self.out.push_str("? ");
        }
        self.text(key, depth, Position::Key);
        if explicit {
            self.out.push('\n');
            self.indent(depth);
        }
        self.out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.out.push('\n');
                self.mapping(map, depth + 1, false);
            }
            Value::Array(items) if !items.is_empty() => {
                self.out.push('\n');
                self.sequence(items, depth, false);
            }
            scalar => {
                self.out.push(' ');
                self.scalar(scalar, depth + 1);
                self.out.push('\n');
            }
        }
    }

    fn sequence(&mut self, items: &[Value], depth: usize, inline: bool) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 || !inline {
                self.indent(depth);
            }
            self.out.push_str("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.mapping(map, depth + 1, true),
                Value::Array(inner) if !inner.is_empty() => self.sequence(inner, depth + 1, true),
                scalar => {
                    self.scalar(scalar, depth + 1);
                    self.out.push('\n');
                }
            }
        }
    }

    fn scalar(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => {
                let _ = write!(self.out, "{number}");
            }
            Value::String(text) => self.text(text, depth, Position::Value),
            Value::Array(_) => self.out.push_str("[]"),
            Value::Object(_) => self.out.push_str("{}"),
        }
    }

    fn text(&mut self, text: &str, depth: usize, position: Position) {
        match choose(text, position) {
            Quoting::Plain => self.out.push_str(text),
            Quoting::Single => {
                self.out.push('\'');
                self.out.push_str(&text.replace('\'', "''"));
                self.out.push('\'');
            }
            Quoting::Double => self.double_quoted(text),
            Quoting::Literal => self.literal(text, depth),
        }
    }

    fn double_quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\0' => self.out.push_str("\\0"),
                c if is_printable(c) => self.out.push(c),
                c => {
                    let code = u32::from(c);
                    let _ = match code {
                        0..=0xFF => write!(self.out, "\\x{code:02X}"),
                        0x100..=0xFFFF => write!(self.out, "\\u{code:04X}"),
                        _ => write!(self.out, "\\U{code:08X}"),
                    };
                }
            }
        }
        self.out.push('"');
    }

    fn literal(&mut self, text: &str, depth: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        let body = text.strip_suffix('\n');
        match body {
            None => self.out.push('-'),
            Some(body) if body.ends_with('\n') || body.is_empty() => self.out.push('+'),
            Some(_) => {}
        }
        for line in body.unwrap_or(text).split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.indent(depth.max(1));
                self.out.push_str(line);
            }
        }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Position {
    Key,
    Value,
}

enum Quoting {
    Plain,
    Single,
    Double,
    Literal,
}

fn choose(text: &str, position: Position) -> Quoting {
    if text.contains('\n') {
        return if position == Position::Value && literal_allowed(text) {
            Quoting::Literal
        } else {
            Quoting::Double
        };
    }
    if !text.chars().all(is_printable) {
        return Quoting::Double;
    }
    if means_something_else(text) {
        return Quoting::Double;
    }
    if plain_allowed(text) { Quoting::Plain } else { Quoting::Single }
}

/// True if an unquoted `text` would be read as something else than this string by a YAML 1.1 or a YAML 1.2 reader.
fn means_something_else(text: &str) -> bool {
    if !matches!(resolve_plain(text), Scalar::Text) || matches!(text, "=" | "<<") {
        return true;
    }
    let Some(first) = text.bytes().next() else { return true };
    if !(first.is_ascii_digit() || matches!(first, b'.' | b'+' | b'-')) {
        return false;
    }
    // Sexagesimal numbers and dates are numbers and times to some readers of YAML 1.1.
    text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b'_' | b'+' | b'-' | b'e' | b'E'))
        || looks_like_timestamp(text)
}

fn looks_like_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes.iter().all(|b| {
            b.is_ascii_digit() || matches!(b, b'-' | b':' | b'.' | b'T' | b't' | b'Z' | b'z' | b'+' | b' ')
        })
}

fn plain_allowed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if matches!(first, b' ' | b'\t') || matches!(last, b' ' | b'\t' | b':') {
        return false;
    }
    let next_is_space = matches!(bytes.get(1), None | Some(b' ' | b'\t'));
    let bad_start = match first {
        b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%'
        | b'@' | b'`' => true,
        b'-' | b'?' | b':' => next_is_space,
        _ => false,
    };
    if bad_start || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    !bytes.windows(2).any(|pair| matches!(pair, [b':', b' ' | b'\t'] | [b' ' | b'\t', b'#']))
}

fn literal_allowed(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '\n' | '\t') || is_printable(c))
        && text.lines().all(|line| !line.ends_with([' ', '\t', '\r']))
        && !text.starts_with('\t')
        && text.chars().any(|c| c != '\n' && c != ' ')
}

/// Printable to every YAML reader, and no line break of YAML 1.1.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
        && !matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::yaml::{ReadOptions, read_value};
    use proptest::prelude::*;

    #[test]
    fn output_looks_like_kubectl_prints_it() {
        let value = json!({
            "apiVersion": "v1",
            "args": ["a", {"b": [1, []]}, [2]],
            "text": "one\ntwo\n",
            "chomped": "one\ntwo",
            "quoted": ["yes", "1", "0755", "1e3", "~", "", "a: b", "a #b", "- x", "2001-01-01", "1:30", "it's", "@x", "x:"],
            "plain": ["a:b", "http://x/y", "a#b", "-x", "it's fine"],
        });
        insta::assert_snapshot!(to_string(&value), @r###"
        apiVersion: v1
        args:
        - a
        - b:
          - 1
          - []
        - - 2
        text: |
          one
          two
        chomped: |-
          one
          two
        quoted:
        - "yes"
        - "1"
        - "0755"
        - "1e3"
        - "~"
        - ""
        - 'a: b'
        - 'a #b'
        - '- x'
        - "2001-01-01"
        - "1:30"
        - it's
        - '@x'
        - 'x:'
        plain:
        - a:b
        - http://x/y
        - a#b
        - -x
        - it's fine
        "###);
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            any::<String>(),
            "[a-zA-Z0-9_.:+-]{0,8}",
            "[ \t\n#:a-]{0,12}",
            "(y|n|yes|no|on|off|true|null|~|0x1f|0o7|0b1|1_0|\\.inf|<<|=|!a|\\*b|&c)"
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9f64).prop_map(|f| Value::from(f.trunc() + 0.5)),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((text.clone(), inner), 0..5)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_is_written_reads_back_the_same(value in values()) {
            let text = to_string(&value);
            let read = read_value(&text, ReadOptions::default());
            prop_assert_eq!(read.as_ref(), Ok(&value), "{}", text);
        }
    }
}
