//! Writes values as YAML byte for byte as Helm's `toYaml` does.
//!
//! Helm prints through two Go libraries: `toYaml` through the one that kubectl uses (lists not indented, lines folded
//! after column 80), `toYamlPretty` through its successor (lists indented, nothing folded). Checksums of rendered
//! files depend on every byte, so this writer follows their rules, not our taste; [`super::to_string`] is the writer
//! for people.

mod keys;
mod plain;

use crate::{Map, Number, Value};
use keys::sort_keys;
use plain::reads_as_text;

/// Which of the two Go libraries to follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GoStyle {
    /// `toYaml`, and everything that kubectl prints.
    Kubectl,
    /// `toYamlPretty`.
    Pretty,
}

/// The value as Go prints it, with the final line break.
///
/// `None` when Go refuses: the text has control characters that do not survive its way through JSON.
///
/// ```
/// use podsmith_object::{json, yaml};
/// let text = yaml::to_go_string(&json!({"b": ["yes", 1], "a10": 1, "a2": 2}), yaml::GoStyle::Kubectl);
/// assert_eq!(text.as_deref(), Some("a2: 2\na10: 1\nb:\n- \"yes\"\n- 1\n"));
/// ```
pub fn to_go_string(value: &Value, style: GoStyle) -> Option<String> {
    if style == GoStyle::Kubectl && !survives_json(value) {
        return None;
    }
    let mut emitter = Emitter {
        out: String::new(),
        column: 0,
        indent: -1,
        whitespace: true,
        indention: true,
        style,
        width: if style == GoStyle::Kubectl { 80 } else { usize::MAX },
    };
    emitter.node(value, Context::Root);
    emitter.indent = -1;
    emitter.write_indent();
    Some(emitter.out)
}

/// A float in the shortest form of Go's `%v` and `FormatFloat(f, 'g', -1, 64)`: `1.5`, `1e+06`, `+Inf`.
pub fn go_float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..21).contains(&exponent) && (exponent < 6 || number == 0.0) {
        // Plain decimal notation, which is also the standard library's own.
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Go writes JSON first and reads it back as YAML; characters that JSON leaves alone but YAML forbids end it.
fn survives_json(value: &Value) -> bool {
    let text_is_fine = |text: &str| {
        !text.chars().any(|c| matches!(c, '\x7f'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}'))
    };
    match value {
        Value::String(text) => text_is_fine(text),
        Value::Array(items) => items.iter().all(survives_json),
        Value::Object(map) => map
            .iter()
            .all(|(key, value)| text_is_fine(key) && !key.contains('\u{85}') && survives_json(value)),
        _ => true,
    }
}

/// The line break U+0085 is a letter to JSON, but a fold to the YAML reader that reads the JSON back.
fn fold_next_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((line, mut after)) = rest.split_once('\u{85}') {
        out.push_str(line);
        out.truncate(out.trim_end_matches(' ').len());
        let mut breaks = 0;
        loop {
            after = after.trim_start_matches(' ');
            match after.strip_prefix('\u{85}') {
                Some(next) => after = next,
                None => break,
            }
            breaks += 1;
        }
        if breaks == 0 {
            out.push(' ');
        }
        out.extend(std::iter::repeat_n('\n', breaks));
        rest = after;
    }
    out + rest
}

/// What a node stands in.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Context {
    Root,
    Item,
    Key,
    LongKey,
    Value,
}

/// How a text is written.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Quoting {
    Plain,
    Single,
    Double,
    Literal,
}

struct Emitter {
    out: String,
    /// Characters written on the current line.
    column: usize,
    indent: isize,
    /// The last thing written was a space or an indicator that needs none after it.
    whitespace: bool,
    /// Nothing but indentation and indicators on this line so far.
    indention: bool,
    style: GoStyle,
    width: usize,
}

impl Emitter {
    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        if self.style == GoStyle::Pretty {
            self.indention = true;
        }
    }

    /// A line break out of a text: others than `\n` are written as they are.
    fn write_break(&mut self, c: char) {
        if c == '\n' {
            self.put_break();
        } else {
            self.out.push(c);
            self.column = 0;
            if self.style == GoStyle::Pretty {
                self.indention = true;
            }
        }
    }

    fn write_indent(&mut self) {
        let indent = usize::try_from(self.indent).unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, needs_space: bool, is_space: bool, is_indention: bool) {
        if needs_space && !self.whitespace {
            self.put(' ');
        }
        self.out.push_str(text);
        self.column += text.len();
        self.whitespace = is_space;
        self.indention = self.indention && is_indention;
    }

    /// Runs `write` one level deeper.
    fn deeper(&mut self, increase: impl FnOnce(&Self) -> isize, write: impl FnOnce(&mut Self)) {
        let before = self.indent;
        self.indent = increase(self);
        write(self);
        self.indent = before;
    }

    fn next_indent(&self, context: Context, for_scalar: bool) -> isize {
        if self.indent < 0 {
            return if for_scalar { 2 } else { 0 };
        }
        match (self.style, context) {
            (GoStyle::Kubectl, _) | (GoStyle::Pretty, Context::Item) => self.indent + 2,
            (GoStyle::Pretty, _) => 2 * ((self.indent + 2) / 2),
        }
    }

    fn node(&mut self, value: &Value, context: Context) {
        match value {
            Value::Object(map) if !map.is_empty() => self.mapping(map, context),
            Value::Array(items) if !items.is_empty() => self.sequence(items, context),
            Value::Object(_) => self.empty("{", "}"),
            Value::Array(_) => self.empty("[", "]"),
            Value::Null => self.plain("null", context),
            Value::Bool(true) => self.plain("true", context),
            Value::Bool(false) => self.plain("false", context),
            Value::Number(number) => {
                let text = number_text(number, self.style);
                self.plain(&text, context);
            }
            Value::String(text) => self.text(text, context),
        }
    }

    fn empty(&mut self, open: &str, close: &str) {
        self.indicator(open, true, true, false);
        self.indicator(close, false, false, false);
    }

    fn mapping(&mut self, map: &Map<String, Value>, context: Context) {
        let mut entries: Vec<_> = map.iter().collect();
        sort_keys(&mut entries, self.style);
        self.deeper(
            |emitter| emitter.next_indent(context, false),
            |emitter| {
                for (key, value) in entries {
                    emitter.write_indent();
                    if key.len() <= 128 && !key.contains(is_break) {
                        emitter.text(key, Context::Key);
                        emitter.indicator(":", false, false, false);
                    } else {
                        emitter.indicator("?", true, false, true);
                        emitter.text(key, Context::LongKey);
                        emitter.write_indent();
                        emitter.indicator(":", true, false, true);
                    }
                    emitter.node(value, Context::Value);
                }
            },
        );
    }

    fn sequence(&mut self, items: &[Value], context: Context) {
        let in_mapping = context == Context::Value;
        let flush = self.style == GoStyle::Kubectl && in_mapping && !self.indention;
        self.deeper(
            |emitter| if flush { emitter.indent } else { emitter.next_indent(context, false) },
            |emitter| {
                for item in items {
                    emitter.write_indent();
                    emitter.indicator("-", true, false, true);
                    emitter.node(item, Context::Item);
                }
            },
        );
    }

    fn plain(&mut self, text: &str, context: Context) {
        self.scalar(text, Quoting::Plain, context);
    }

    fn text(&mut self, text: &str, context: Context) {
        let folded;
        let text = if self.style == GoStyle::Kubectl && text.contains('\u{85}') {
            folded = fold_next_lines(text);
            &folded
        } else {
            text
        };
        let quoting = choose(text, context, self.style);
        self.scalar(text, quoting, context);
    }

    fn scalar(&mut self, text: &str, quoting: Quoting, context: Context) {
        let may_fold = context != Context::Key;
        self.deeper(
            |emitter| emitter.next_indent(context, true),
            |emitter| match quoting {
                Quoting::Plain => emitter.write_plain(text, may_fold),
                Quoting::Single => emitter.write_single(text, may_fold),
                Quoting::Double => emitter.write_double(text, may_fold),
                Quoting::Literal => emitter.write_literal(text),
            },
        );
    }

    fn write_plain(&mut self, text: &str, may_fold: bool) {
        if !(self.whitespace || (self.style == GoStyle::Pretty && text.is_empty())) {
            self.put(' ');
        }
        self.folded_text(text, may_fold, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_single(&mut self, text: &str, may_fold: bool) {
        self.indicator("'", true, false, false);
        self.folded_text(text, may_fold, true);
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    /// Plain and single-quoted content: long lines break at single spaces.
    fn folded_text(&mut self, text: &str, may_fold: bool, quoted: bool) {
        let bytes = text.as_bytes();
        let (mut spaces, mut breaks) = (false, false);
        for (at, c) in text.char_indices() {
            if c == ' ' {
                let inside = !quoted || (at > 0 && at + 1 < bytes.len());
                let single = bytes.get(at + 1) != Some(&b' ');
                if may_fold && !spaces && self.column > self.width && inside && single {
                    self.write_indent();
                } else {
                    self.put(' ');
                }
                spaces = true;
            } else if is_break(c) {
                if !breaks && c == '\n' {
                    self.put_break();
                }
                self.write_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                if quoted && c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                self.indention = false;
                spaces = false;
                breaks = false;
            }
        }
    }

    fn write_double(&mut self, text: &str, may_fold: bool) {
        self.indicator("\"", true, false, false);
        let bytes = text.as_bytes();
        // Go looks for a byte order mark at the start of the text, whatever character it is at.
        let marked = text.starts_with('\u{feff}');
        let mut spaces = false;
        for (at, c) in text.char_indices() {
            if !is_printable(c) || marked || is_break(c) || c == '"' || c == '\\' {
                self.put('\\');
                self.escape(c);
                spaces = false;
            } else if c == ' ' {
                if may_fold && !spaces && self.column > self.width && at > 0 && at + 1 < bytes.len() {
                    self.write_indent();
                    if bytes.get(at + 1) == Some(&b' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            other => {
                let code = u32::from(other);
                let digits = match code {
                    0..=0xff => format!("x{code:02X}"),
                    0x100..=0xffff => format!("u{code:04X}"),
                    _ => format!("U{code:08X}"),
                };
                digits.chars().for_each(|digit| self.put(digit));
                return;
            }
        };
        self.put(short);
    }

    fn write_literal(&mut self, text: &str) {
        self.indicator("|", true, false, false);
        if text.starts_with([' ', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            self.indicator("2", false, false, false);
        }
        let mut from_end = text.chars().rev();
        let last_is_break = from_end.next().is_some_and(is_break);
        if !last_is_break {
            self.indicator("-", false, false, false);
        } else if from_end.next().is_none_or(is_break) {
            self.indicator("+", false, false, false);
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        let mut breaks = true;
        for c in text.chars() {
            if is_break(c) {
                self.write_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                self.put(c);
                self.indention = false;
                breaks = false;
            }
        }
    }
}

/// A number after its way through JSON and back, or, in the pretty style, as it is.
fn number_text(number: &Number, style: GoStyle) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    let float = number.as_f64().unwrap_or(f64::NAN);
    if style == GoStyle::Kubectl && float.fract() == 0.0 && float.abs() < 1e21 {
        // JSON has the shortest digits, filled up with zeros; what fits an integer is one when read back.
        let digits = format!("{float}");
        if digits == "-0" {
            return "0".to_owned();
        }
        if digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok() {
            return digits;
        }
    }
    go_float(float)
}

fn choose(text: &str, context: Context, style: GoStyle) -> Quoting {
    let allowed = analyze(text, style);
    let key = context == Context::Key;
    let wanted = if text.contains('\n') {
        Quoting::Literal
    } else if reads_as_text(text) {
        Quoting::Plain
    } else {
        Quoting::Double
    };
    let mut quoting = wanted;
    if quoting == Quoting::Plain && (!allowed.plain || (text.is_empty() && key)) {
        quoting = Quoting::Single;
    }
    if quoting == Quoting::Single && !allowed.single {
        quoting = Quoting::Double;
    }
    if quoting == Quoting::Literal && (!allowed.literal || key) {
        quoting = Quoting::Double;
    }
    quoting
}

/// The styles that can hold a text.
struct Allowed {
    plain: bool,
    single: bool,
    literal: bool,
}

fn analyze(text: &str, style: GoStyle) -> Allowed {
    if text.is_empty() {
        return Allowed { plain: true, single: true, literal: false };
    }
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut breaks, mut special, mut tabs) = (false, false, false);
    let (mut break_space, mut space_break) = (false, false);
    let (mut previous_space, mut previous_break) = (false, false);
    let mut after_blank = true;
    let mut chars = text.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        let before_blank = chars.peek().is_none_or(|c| matches!(c, ' ' | '\t'));
        indicators |= match c {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`'
                if first =>
            {
                true
            }
            '?' | '-' if first => before_blank,
            ':' => before_blank,
            '#' => after_blank,
            _ => false,
        };
        if c == '\t' && style == GoStyle::Pretty {
            tabs = true;
        } else {
            special |= !is_printable(c);
        }
        if c == ' ' {
            break_space |= previous_break;
            (previous_space, previous_break) = (true, false);
        } else if is_break(c) {
            breaks = true;
            space_break |= previous_space;
            (previous_space, previous_break) = (false, true);
        } else {
            (previous_space, previous_break) = (false, false);
        }
        after_blank = c == ' ' || c == '\t' || c == '\0' || is_break(c);
        first = false;
    }
    let edges = text.starts_with([' '])
        || text.ends_with(' ')
        || text.starts_with(is_break)
        || text.ends_with(is_break);
    Allowed {
        plain: !(indicators || edges || break_space || space_break || special || tabs || breaks),
        single: !(break_space || space_break || special || tabs),
        literal: !(text.ends_with(' ') || space_break || special),
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What Go writes as it is. Characters outside the basic plane are not among them.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    // The expected texts are what Helm 3.21 prints.

    #[test]
    fn quoting_follows_the_go_library() {
        let value = json!({
            "quoted": [
                "yes", "1", "0755", "1e3", "~", "", "a: b", "a #b", "- x", "2001-01-01", "1:30", "@x", "x:", " x", "a\tb",
                "😀", "a\u{a0}b",
            ],
            "plain": ["a:b", "http://x/y", "it's", "-x", "1.2.3", "<<", "=", "1e400", "?x", "a,b"],
            "block": ["a\nb", "a\nb\n", "a\n\n", " a\nb", "a \nb", "a\n b"],
            "long key ".repeat(15): {"a\nb": 1},
        });
        let expected = r###"block:
- |-
  a
  b
- |
  a
  b
- |+
  a

- |2-
   a
  b
- "a \nb"
- |-
  a
   b
? 'long key long key long key long key long key long key long key long key long key
  long key long key long key long key long key long key '
: ? |-
    a
    b
  : 1
plain:
- a:b
- http://x/y
- it's
- -x
- 1.2.3
- <<
- =
- 1e400
- ?x
- a,b
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
- '@x'
- 'x:'
- ' x'
- "a\tb"
- "\U0001F600"
- a b
"###;
        assert_eq!(to_go_string(&value, GoStyle::Kubectl).unwrap(), expected);
    }

    #[test]
    fn long_lines_fold_after_column_eighty() {
        let words = "word ".repeat(30) + "end";
        let value = json!({"a": words, "b": format!("{words}: x"), "c": format!("{words}\t")});
        let expected = r###"a: word word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word end
b: 'word word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word end: x'
c: "word word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word end\t"
"###;
        assert_eq!(to_go_string(&value, GoStyle::Kubectl).unwrap(), expected);
        assert_eq!(to_go_string(&json!(words), GoStyle::Pretty).unwrap().lines().count(), 1);
    }

    #[test]
    fn numbers_go_through_json() {
        let value = json!([1.0, 1_000_000.0, 1.5, 1e20, 1e21, 0.000_001, 1_234_567.5, -0.0, u64::MAX]);
        let text = to_go_string(&value, GoStyle::Kubectl).unwrap();
        assert_eq!(
            text,
            "- 1\n- 1000000\n- 1.5\n- 1e+20\n- 1e+21\n- 1e-06\n- 1.2345675e+06\n- 0\n- 18446744073709551615\n"
        );
        let text = to_go_string(&json!({"a": [1_000_000.0, [1]]}), GoStyle::Pretty).unwrap();
        assert_eq!(text, "a:\n  - 1e+06\n  - - 1\n");
    }
}
