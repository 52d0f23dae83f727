//! Variables and directives, before YAML is read.
//!
//! One pass over the lines: a directive at column 0 opens or closes a block, every other line of an open block is
//! copied with its `${NAME}` replaced. Values are inserted as they are and never looked at again, so no character in
//! them means anything. Positions of the result lead back to the source through [`Processed::source_place`].

mod values;

use podsmith_object::diagnostic::Excerpt;
use podsmith_object::{Diagnostic, Diagnostics, Place};

pub use values::{ClusterValues, EnvFile, FileValues, Lookup, PortPool, Values};

/// What to do about a variable without a value.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Missing {
    /// Warn and insert nothing.
    #[default]
    Warn,
    /// An error, unless only a directive asks for it.
    Refuse,
}

/// The text after preprocessing.
#[derive(Clone, Debug, Default)]
pub struct Processed {
    /// The text to be read as YAML.
    pub text: String,
    /// Warnings, in file order.
    pub warnings: Diagnostics,
    lines: Vec<LineOrigin>,
}

/// Where one line of the result came from.
#[derive(Clone, Debug, Default)]
struct LineOrigin {
    line: usize,
    /// Replacements as (column in the result, its width there, column in the source, its width there), from 0.
    spans: Vec<(usize, usize, usize, usize)>,
}

impl Processed {
    /// A text that was not preprocessed.
    pub fn unchanged(text: &str) -> Self {
        let lines = (1..=text.lines().count()).map(|line| LineOrigin { line, spans: Vec::new() }).collect();
        Self { text: text.to_owned(), warnings: Diagnostics::new(), lines }
    }

    /// The line and column of the source behind a line and column of the result.
    pub fn source_place(&self, line: usize, column: usize) -> (usize, usize) {
        let Some(origin) = line.checked_sub(1).and_then(|index| self.lines.get(index)) else {
            return (self.lines.last().map_or(line, |last| last.line), column);
        };
        let at = column.saturating_sub(1);
        let mut shift: i64 = 0;
        for (result, width, source, source_width) in &origin.spans {
            if at < *result {
                break;
            }
            if at < result + width {
                return (origin.line, source + 1);
            }
            shift = (*source + *source_width) as i64 - (*result + *width) as i64;
        }
        let found = usize::try_from(at as i64 + shift).unwrap_or(at);
        (origin.line, found + 1)
    }

    /// Moves diagnostics about the result to the source.
    pub fn relocate(&self, diagnostics: Diagnostics, source: &str) -> Diagnostics {
        let moved = diagnostics.into_iter().map(|mut diagnostic| {
            if let Some(place) = &mut diagnostic.place
                && place.line > 0
            {
                (place.line, place.column) = self.source_place(place.line, place.column);
                diagnostic.excerpt = Excerpt::cut(source, place.line, place.column);
            }
            diagnostic
        });
        Diagnostics(moved.collect())
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Directive {
    IfDefined,
    IfNotDefined,
    IfTrue,
    IfNotTrue,
    End,
}

/// Recognises a directive at column 0 and returns its operand.
fn directive(line: &str) -> Option<(Directive, &str)> {
    let (word, operand) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let kind = match word {
        "#ifdef" => Directive::IfDefined,
        "#ifndef" => Directive::IfNotDefined,
        "#iftrue" => Directive::IfTrue,
        "#ifntrue" => Directive::IfNotTrue,
        "#endif" => Directive::End,
        _ => return None,
    };
    Some((kind, operand))
}

struct Block {
    line: usize,
    open: bool,
}

/// Preprocesses `text`.
///
/// # Errors
///
/// Unbalanced directives, and missing variables when they are refused.
pub fn preprocess(
    file: &str,
    text: &str,
    values: &mut dyn Values,
    missing: Missing,
) -> Result<Processed, Diagnostics> {
    let mut run = Run { file, source: text, missing, problems: Diagnostics::new(), told: Vec::new() };
    let mut out = Processed::default();
    let mut blocks: Vec<Block> = Vec::new();
    for (index, raw) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        let line = raw.trim_end_matches(['\n', '\r']);
        let open = blocks.last().is_none_or(|block| block.open);
        match directive(line) {
            Some((Directive::End, _)) => {
                let closed = blocks.pop();
                if closed.is_none() {
                    run.error(number, 1, "`#endif` without a directive before it", None);
                }
            }
            Some((kind, operand)) => {
                let holds = open && run.holds(kind, operand, number, values);
                blocks.push(Block { line: number, open: holds });
            }
            None if open => {
                if line.starts_with("#else") {
                    let text = "`#else` is not a directive, this line is a comment";
                    run.warn(number, 1, text, "close the block with `#endif` and open the opposite one");
                }
                let (replaced, spans) = run.replace(line, number, values, Use::Text);
                push_line(&mut out, &replaced, number, spans);
                out.text.push_str(&raw[line.len()..]);
            }
            None => {}
        }
    }
    for block in blocks {
        run.error(block.line, 1, "this block is never closed", Some("add `#endif` at the start of a line"));
    }
    out.warnings = run.problems.clone().into_result(run.problems)?;
    Ok(out)
}

/// A value may hold line breaks; each of its lines comes from the same line of the source.
fn push_line(out: &mut Processed, replaced: &str, number: usize, spans: Vec<(usize, usize, usize, usize)>) {
    out.text.push_str(replaced);
    let extra = replaced.matches('\n').count();
    let spans = if extra > 0 { Vec::new() } else { spans };
    out.lines.push(LineOrigin { line: number, spans });
    out.lines.extend(std::iter::repeat_n(LineOrigin { line: number, spans: Vec::new() }, extra));
}

#[derive(Clone, Copy, PartialEq)]
enum Use {
    Text,
    Condition,
}

struct Run<'a> {
    file: &'a str,
    source: &'a str,
    missing: Missing,
    problems: Diagnostics,
    told: Vec<String>,
}

impl Run<'_> {
    fn place(&self, line: usize, column: usize) -> Place {
        Place::new(self.file, line, column)
    }

    fn error(&mut self, line: usize, column: usize, message: &str, hint: Option<&str>) {
        let diagnostic = Diagnostic::error(message)
            .at(self.place(line, column))
            .with_excerpt_of(self.source)
            .with_hint_if(hint.map(str::to_owned));
        self.problems.push(diagnostic);
    }

    fn warn(&mut self, line: usize, column: usize, message: &str, hint: &str) {
        let diagnostic = Diagnostic::warning(message)
            .at(self.place(line, column))
            .with_excerpt_of(self.source)
            .with_hint(hint);
        self.problems.push(diagnostic);
    }

    fn holds(&mut self, kind: Directive, operand: &str, line: usize, values: &mut dyn Values) -> bool {
        let (operand, _) = self.replace(operand, line, values, Use::Condition);
        let operand = operand.trim();
        match kind {
            Directive::IfDefined => !operand.is_empty(),
            Directive::IfNotDefined => operand.is_empty(),
            Directive::IfTrue => operand == "true",
            Directive::IfNotTrue | Directive::End => operand != "true",
        }
    }

    fn replace(
        &mut self,
        line: &str,
        number: usize,
        values: &mut dyn Values,
        purpose: Use,
    ) -> (String, Vec<(usize, usize, usize, usize)>) {
        let mut out = String::with_capacity(line.len());
        let mut spans = Vec::new();
        let mut rest = line;
        while let Some((before, name, after)) = next_variable(rest) {
            out.push_str(before);
            let written = &rest[before.len()..rest.len() - after.len()];
            let column = line.chars().count() - rest.chars().count() + before.chars().count();
            let value = match values.lookup(name) {
                Lookup::Value(value) => value,
                Lookup::Keep => written.to_owned(),
                Lookup::Missing => {
                    self.tell_missing(name, number, column + 1, purpose);
                    String::new()
                }
            };
            spans.push((out.chars().count(), value.chars().count(), column, written.chars().count()));
            out.push_str(&value);
            rest = after;
        }
        out.push_str(rest);
        (out, spans)
    }

    fn tell_missing(&mut self, name: &str, line: usize, column: usize, purpose: Use) {
        if self.missing == Missing::Refuse {
            if purpose == Use::Text {
                let hint = format!("add `{name}=…` to the .env file");
                self.error(line, column, &format!("variable `{name}` has no value"), Some(&hint));
            }
            return;
        }
        if self.told.iter().any(|known| known == name) {
            return;
        }
        self.told.push(name.to_owned());
        self.warn(
            line,
            column,
            &format!("variable `{name}` has no value, nothing is inserted"),
            &format!("add `{name}=…` to the .env file"),
        );
    }
}

/// Splits at the next `${NAME}`: what is before it, the name, what is after it.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find("${") {
        let start = from + found;
        let inner = text.get(start + 2..)?;
        let length = inner.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let name = inner.get(..length)?;
        if length > 0 && !name.starts_with(|c: char| c.is_ascii_digit()) && inner[length..].starts_with('}') {
            return Some((&text[..start], name, &inner[length + 1..]));
        }
        from = start + 2;
    }
    None
}

#[cfg(test)]
mod tests;
