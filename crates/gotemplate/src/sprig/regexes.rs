//! Regular expressions with RE2's syntax.

use regex::Regex;

use crate::args::{Out, Table, check_size, int, text};
use crate::error::CallError;
use crate::function::Parameter::{Int as I, String as S};
use crate::render::Renderer;
use crate::value::{Elements, List, Value};

pub(super) const TABLE: Table = &[
    ("regexMatch", &[S, S], None, |r, a| {
        Ok(regex(r, &text(a, 0)).is_ok_and(|regex| regex.is_match(&text(a, 1))).into())
    }),
    ("mustRegexMatch", &[S, S], None, |r, a| Ok(must(r, &text(a, 0))?.is_match(&text(a, 1)).into())),
    ("regexFindAll", &[S, S, I], None, |r, a| find_all(&compiled(r, &text(a, 0))?, &text(a, 1), int(a, 2))),
    ("mustRegexFindAll", &[S, S, I], None, |r, a| find_all(&must(r, &text(a, 0))?, &text(a, 1), int(a, 2))),
    ("regexFind", &[S, S], None, |r, a| find(&compiled(r, &text(a, 0))?, &text(a, 1))),
    ("mustRegexFind", &[S, S], None, |r, a| find(&must(r, &text(a, 0))?, &text(a, 1))),
    ("regexReplaceAll", &[S, S, S], None, |r, a| {
        let regex = compiled(r, &text(a, 0))?;
        replace(r, &regex, &text(a, 1), &text(a, 2))
    }),
    ("mustRegexReplaceAll", &[S, S, S], None, |r, a| {
        let regex = must(r, &text(a, 0))?;
        replace(r, &regex, &text(a, 1), &text(a, 2))
    }),
    ("regexReplaceAllLiteral", &[S, S, S], None, |r, a| {
        let regex = compiled(r, &text(a, 0))?;
        literal(r, &regex, &text(a, 1), &text(a, 2))
    }),
    ("mustRegexReplaceAllLiteral", &[S, S, S], None, |r, a| {
        let regex = must(r, &text(a, 0))?;
        literal(r, &regex, &text(a, 1), &text(a, 2))
    }),
    ("regexSplit", &[S, S, I], None, |r, a| split(&compiled(r, &text(a, 0))?, &text(a, 1), int(a, 2))),
    ("mustRegexSplit", &[S, S, I], None, |r, a| split(&must(r, &text(a, 0))?, &text(a, 1), int(a, 2))),
    ("regexQuoteMeta", &[S], None, |_, a| {
        let mut out = String::new();
        for c in text(a, 0).chars() {
            if r"\.+*?()|[]{}^$".contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
        Ok(out.into())
    }),
];

/// The compiled expression, from the render's own store.
fn regex(renderer: &mut Renderer<'_>, pattern: &str) -> Result<Regex, String> {
    if let Some(known) = renderer.regexes.get(pattern) {
        return known.clone();
    }
    let compiled = Regex::new(&translate(pattern)).map_err(|error| reason(&error, pattern));
    renderer.regexes.insert(pattern.into(), compiled.clone());
    compiled
}

fn must(renderer: &mut Renderer<'_>, pattern: &str) -> Result<Regex, CallError> {
    regex(renderer, pattern).map_err(CallError::from)
}

fn compiled(renderer: &mut Renderer<'_>, pattern: &str) -> Result<Regex, CallError> {
    regex(renderer, pattern).map_err(|reason| format!("regexp: Compile(`{pattern}`): {reason}").into())
}

/// The complaint in RE2's words, where they are known.
fn reason(error: &regex::Error, pattern: &str) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or("invalid").trim_start_matches("error: ");
    let from = |c: char| pattern.find(c).map_or(pattern, |at| &pattern[at..]);
    let (what, part) = match last {
        "unclosed group" => ("missing closing )", pattern),
        "unopened group" => ("unexpected )", pattern),
        "unclosed character class" => ("missing closing ]", from('[')),
        "repetition operator missing expression" => {
            let operator = pattern.find(['*', '+', '?']).map_or(pattern, |at| &pattern[at..=at]);
            ("missing argument to repetition operator", operator)
        }
        other => (other, pattern),
    };
    format!("error parsing regexp: {what}: `{part}`")
}

/// RE2's syntax in the words of the `regex` crate: classes such as `\d` are ASCII, `[` is a letter inside a class,
/// `{` is a letter where no count follows, `\Q…\E` quotes.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    let mut in_class = false;
    let mut class_start = false;
    while let Some(c) = rest.chars().next() {
        let starts_class = std::mem::take(&mut class_start);
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let (piece, used) = escape(after, in_class);
                out.push_str(&piece);
                rest = &after[used..];
                continue;
            }
            '[' if !in_class => {
                in_class = true;
                class_start = true;
                out.push('[');
                if let Some(negated) = after.strip_prefix('^') {
                    out.push('^');
                    rest = negated;
                    continue;
                }
            }
            '[' if after.starts_with(':') && after.contains(":]") => {
                let end = after.find(":]").map_or(0, |at| at + 2);
                out.push('[');
                out.push_str(&after[..end]);
                rest = &after[end..];
                continue;
            }
            '[' => out.push_str("\\["),
            ']' if in_class && starts_class => out.push_str("\\]"),
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            '-' if in_class && after.starts_with('-') => out.push_str("\\-"),
            '{' if !in_class && !is_count(after) => out.push_str("\\{"),
            other => out.push(other),
        }
        rest = after;
    }
    out
}

fn is_count(after: &str) -> bool {
    let Some((inside, _)) = after.split_once('}') else { return false };
    let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
    !low.is_empty() && low.bytes().chain(high.bytes()).all(|b| b.is_ascii_digit())
}

/// What an escape stands for, and how much of the text after the backslash it uses.
fn escape(after: &str, in_class: bool) -> (String, usize) {
    let Some(c) = after.chars().next() else { return ("\\".to_owned(), 0) };
    let class = |inside: &str, negated: bool| match (in_class, negated) {
        (true, false) => inside.to_owned(),
        (_, true) => format!("[^{inside}]"),
        (false, false) => format!("[{inside}]"),
    };
    let piece = match c {
        'd' => class("0-9", false),
        'D' => class("0-9", true),
        's' => class("\\t\\n\\f\\r ", false),
        'S' => class("\\t\\n\\f\\r ", true),
        'w' => class("0-9A-Za-z_", false),
        'W' => class("0-9A-Za-z_", true),
        'b' if !in_class => "(?-u:\\b)".to_owned(),
        '<' | '>' | '_' => c.to_string(),
        'Q' => {
            let quoted = &after[1..];
            let (text, used) = match quoted.find("\\E") {
                Some(at) => (&quoted[..at], 1 + at + 2),
                None => (quoted, after.len()),
            };
            return (regex::escape(text), used);
        }
        other => format!("\\{other}"),
    };
    (piece, c.len_utf8())
}

fn strings(items: Vec<&str>) -> Out {
    Ok(if items.is_empty() { List::nil(Elements::Strings).into() } else { List::strings(items).into() })
}

fn limit(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn find_all(regex: &Regex, text: &str, count: i64) -> Out {
    strings(regex.find_iter(text).take(limit(count)).map(|found| found.as_str()).collect())
}

fn find(regex: &Regex, text: &str) -> Out {
    Ok(regex.find(text).map_or("", |found| found.as_str()).into())
}

fn replace(renderer: &Renderer<'_>, regex: &Regex, text: &str, replacement: &str) -> Out {
    check_replacement(renderer, regex, text, replacement)?;
    Ok(Value::from(regex.replace_all(text, replacement).as_ref()))
}

fn literal(renderer: &Renderer<'_>, regex: &Regex, text: &str, replacement: &str) -> Out {
    check_replacement(renderer, regex, text, replacement)?;
    Ok(Value::from(regex.replace_all(text, regex::NoExpand(replacement)).as_ref()))
}

/// A long replacement for many matches must not take all memory.
fn check_replacement(
    renderer: &Renderer<'_>,
    regex: &Regex,
    text: &str,
    replacement: &str,
) -> Result<(), CallError> {
    if replacement.len() < 1024 {
        return Ok(());
    }
    check_size(renderer, regex.find_iter(text).count().saturating_mul(replacement.len()))
}

fn split(regex: &Regex, text: &str, count: i64) -> Out {
    if count == 0 {
        return strings(Vec::new());
    }
    if !regex.as_str().is_empty() && text.is_empty() {
        return Ok(List::strings([""]).into());
    }
    let mut parts = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for found in regex.find_iter(text).take(limit(count)) {
        if count > 0 && parts.len() + 1 == limit(count) {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(&text[begin..end]);
        }
        begin = found.end();
    }
    if end != text.len() {
        parts.push(&text[begin..]);
    }
    strings(parts)
}
