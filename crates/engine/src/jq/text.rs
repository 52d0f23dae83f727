//! Functions on strings.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use jaq_core::{Error, ValR, ValT};
use regex::{Captures, Regex, RegexBuilder};

use super::natives::fail;
use super::value::Val;
use super::{arithmetic, budget};

type Result = ValR<Val>;

fn needed<'v>(value: &'v Val, what: &str) -> std::result::Result<&'v str, Error<Val>> {
    value.as_text().ok_or_else(|| Error::str(format!("{what} a string, this is {}", value.described())))
}

/// Cuts a text off; other values stay as they are.
fn cut(value: Val, part: &Val, cut: impl for<'t> Fn(&'t str, &str) -> &'t str) -> Result {
    Ok(match (value.as_text(), part.as_text()) {
        (Some(text), Some(part)) => Val::text(cut(text, part)),
        _ => value,
    })
}

pub(super) fn trim_start_text(value: Val, part: Val) -> Result {
    cut(value, &part, |text, part| text.strip_prefix(part).unwrap_or(text))
}

pub(super) fn trim_end_text(value: Val, part: Val) -> Result {
    cut(value, &part, |text, part| text.strip_suffix(part).unwrap_or(text))
}

pub(super) fn trim_text(value: Val, part: Val) -> Result {
    trim_end_text(trim_start_text(value, part.clone())?, part)
}

pub(super) fn trim(value: Val) -> Result {
    needed(&value, "only white space around").map(|text| Val::text(text.trim()))
}

pub(super) fn trim_start(value: Val) -> Result {
    needed(&value, "only white space before").map(|text| Val::text(text.trim_start()))
}

pub(super) fn trim_end(value: Val) -> Result {
    needed(&value, "only white space after").map(|text| Val::text(text.trim_end()))
}

pub(super) fn split(value: Val, separator: Val) -> Result {
    match (value.as_text(), separator.as_text()) {
        (Some(text), Some(separator)) => Ok(arithmetic::split(text, separator)),
        _ => fail(format!("cannot split {} at {}", value.described(), separator.described())),
    }
}

/// Numbers and booleans are written as JSON, null as nothing.
pub(super) fn join(value: Val, separator: Val) -> Result {
    let mut out = String::new();
    for (index, item) in value.values().enumerate() {
        if index > 0 {
            out.push_str(needed(&separator, "the separator of join must be")?);
        }
        match item? {
            Val::Null | Val::Absent => {}
            Val::Str(text) => out.push_str(&text),
            item @ (Val::Bool(_) | Val::Int(_) | Val::Float(_) | Val::Read(_)) => {
                out.push_str(&item.to_string())
            }
            other => return fail(format!("cannot join {} with strings", other.described())),
        }
    }
    Ok(Val::text(&out))
}

fn row(value: Val, format: &str, separator: &str, quote: impl Fn(&str) -> String) -> Result {
    let mut cells = Vec::new();
    for cell in value.values() {
        cells.push(match cell? {
            Val::Null | Val::Absent => String::new(),
            Val::Str(text) => quote(&text),
            cell @ (Val::Bool(_) | Val::Int(_) | Val::Float(_) | Val::Read(_)) => cell.to_string(),
            other => return fail(format!("{} cannot stand in a row of @{format}", other.described())),
        });
    }
    Ok(Val::text(&cells.join(separator)))
}

pub(super) fn csv_row(value: Val) -> Result {
    row(value, "csv", ",", |text| format!("\"{}\"", text.replace('"', "\"\"")))
}

pub(super) fn tsv_row(value: Val) -> Result {
    let escape = |text: &str| {
        text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
    };
    row(value, "tsv", "\t", escape)
}

/// Flags as jq knows them: `g` all matches, `n` no empty ones, the rest for the expression itself.
struct Flags {
    global: bool,
    skip_empty: bool,
}

/// How many compiled expressions a thread keeps.
const KEPT: usize = 64;

thread_local! {
    /// Compiled expressions. A filter runs the same few on every object, and compiling costs more than matching.
    static COMPILED: RefCell<HashMap<(String, String), Rc<Regex>>> = RefCell::new(HashMap::new());
}

fn compile(expression: &str, flags: &str) -> std::result::Result<(Rc<Regex>, Flags), Error<Val>> {
    let read = Flags { global: flags.contains('g'), skip_empty: flags.contains('n') };
    let key = (expression.to_owned(), flags.to_owned());
    if let Some(known) = COMPILED.with_borrow(|compiled| compiled.get(&key).cloned()) {
        return Ok((known, read));
    }
    if let Some(unknown) = flags.chars().find(|flag| !"gnimsxlp".contains(*flag)) {
        return Err(Error::str(format!("`{unknown}` is not a flag of a regular expression")));
    }
    let has = |flag: char| flags.contains(flag);
    let regex = RegexBuilder::new(expression)
        .case_insensitive(has('i'))
        .ignore_whitespace(has('x'))
        .dot_matches_new_line(has('s') || has('p'))
        .build()
        .map_err(|error| Error::str(format!("not a valid regular expression: {error}")))?;
    let regex = Rc::new(regex);
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() >= KEPT {
            compiled.clear();
        }
        compiled.insert(key, regex.clone());
    });
    Ok((regex, read))
}

/// The expression and its flags: a text, or a pair of texts, and further flags.
fn arguments(expression: &Val, flags: &Val) -> std::result::Result<(Rc<Regex>, Flags), Error<Val>> {
    let flags = match flags {
        Val::Null | Val::Absent => "",
        flags => needed(flags, "the flags of a regular expression must be")?,
    };
    match expression.clone().shallow() {
        Val::Arr(pair) => {
            let text = |index| pair.items.get(index).and_then(Val::as_text).unwrap_or("");
            compile(text(0), &format!("{flags}{}", text(1)))
        }
        expression => compile(needed(&expression, "a regular expression must be")?, flags),
    }
}

pub(super) fn test(value: Val, expression: Val, flags: Val) -> Result {
    let (regex, flags) = arguments(&expression, &flags)?;
    let text = needed(&value, "a regular expression is matched against")?;
    let found = match flags.skip_empty {
        false => regex.is_match(text),
        true => regex.find_iter(text).any(|found| !found.is_empty()),
    };
    Ok(Val::Bool(found))
}

/// All matches, each as jq describes them.
pub(super) fn matches(value: Val, expression: Val, flags: Val) -> Result {
    let (regex, flags) = arguments(&expression, &flags)?;
    let text = needed(&value, "a regular expression is matched against")?;
    let mut characters = Characters { text, byte: 0, count: 0 };
    let mut found = Vec::new();
    for captures in regex.captures_iter(text) {
        if flags.skip_empty && captures.get(0).is_none_or(|whole| whole.is_empty()) {
            continue;
        }
        budget::grow(8 * captures.len());
        found.push(describe(&regex, &captures, &mut characters)?);
        if !flags.global {
            break;
        }
    }
    Ok(Val::list(found))
}

/// Counts characters up to a byte, without starting again for each match.
struct Characters<'t> {
    text: &'t str,
    byte: usize,
    count: usize,
}

impl Characters<'_> {
    fn before(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.count) = (0, 0);
        }
        self.count += self.text.get(self.byte..byte).map_or(0, |part| part.chars().count());
        self.byte = byte;
        self.count
    }
}

fn describe(regex: &Regex, captures: &Captures<'_>, characters: &mut Characters<'_>) -> Result {
    let mut groups = Vec::new();
    for (index, name) in regex.capture_names().enumerate() {
        let mut entries = match captures.get(index) {
            Some(part) => vec![
                ("offset", Val::from(characters.before(part.start()))),
                ("length", Val::from(part.as_str().chars().count())),
                ("string", Val::text(part.as_str())),
            ],
            None => vec![("offset", Val::Int(-1)), ("length", Val::Int(0)), ("string", Val::Null)],
        };
        if index > 0 {
            entries.push(("name", name.map_or(Val::Null, Val::text)));
        }
        groups.push(entries);
    }
    let object = |entries: Vec<(&str, Val)>| {
        Val::from_map(entries.into_iter().map(|(key, value)| (Val::text(key), value)))
    };
    let mut groups = groups.into_iter();
    let mut whole = groups.next().unwrap_or_default();
    whole.push(("captures", Val::list(groups.map(object).collect::<std::result::Result<_, _>>()?)));
    object(whole)
}
