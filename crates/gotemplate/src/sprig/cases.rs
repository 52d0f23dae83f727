//! Changes of case and of word separators.

use crate::unicode::{is_number, is_punctuation};

/// One character in lower case, without regard to its neighbours.
pub(super) fn lower(c: char) -> char {
    if c == '\u{130}' {
        return 'i';
    }
    let mut chars = c.to_lowercase();
    chars.next().filter(|_| chars.next().is_none()).unwrap_or(c)
}

/// One character in upper case; characters that would become two stay as they are, as in Go.
pub(super) fn upper(c: char) -> char {
    let mut chars = c.to_uppercase();
    chars.next().filter(|_| chars.next().is_none()).unwrap_or(c)
}

/// The first letter of each word in upper case.
pub(super) fn title(text: &str) -> String {
    let mut previous = ' ';
    text.chars()
        .map(|c| {
            let starts = is_separator(previous);
            previous = c;
            if starts { upper(c) } else { c }
        })
        .collect()
}

fn is_separator(c: char) -> bool {
    if c.is_ascii() {
        return !(c.is_ascii_alphanumeric() || c == '_');
    }
    !c.is_alphanumeric() && c.is_whitespace()
}

/// The first letter of each word in lower case.
pub(super) fn untitle(text: &str) -> String {
    let mut next = true;
    text.chars()
        .map(|c| {
            if c.is_whitespace() {
                next = true;
                c
            } else if std::mem::take(&mut next) {
                lower(c)
            } else {
                c
            }
        })
        .collect()
}

/// Upper case to lower and back.
pub(super) fn swap(text: &str) -> String {
    let mut after_space = true;
    text.chars()
        .map(|c| {
            if c.is_uppercase() {
                after_space = false;
                lower(c)
            } else if c.is_lowercase() {
                after_space = false;
                upper(c)
            } else {
                after_space = c.is_whitespace();
                c
            }
        })
        .collect()
}

/// The first byte of each word, as a character of that code.
pub(super) fn initials(text: &str) -> String {
    let mut gap = true;
    let mut out = String::new();
    for c in text.bytes().map(char::from) {
        if c.is_whitespace() {
            gap = true;
        } else if std::mem::take(&mut gap) {
            out.push(c);
        }
    }
    out
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// `some_words` to `SomeWords`.
pub(super) fn pascal(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    let mut current = None;
    let mut first_is_upper = false;
    for c in chars.by_ref() {
        if !is_connector(c) {
            first_is_upper = c.is_uppercase();
            current = Some(upper(c));
            break;
        }
        out.push(c);
    }
    let Some(mut current) = current else {
        // Only connectors: the last one is written twice, a quirk that templates can see.
        out.extend(text.chars().last());
        return out;
    };
    for c in chars {
        let previous = std::mem::replace(&mut current, c);
        if is_connector(c) && is_connector(previous) {
            out.push(previous);
            continue;
        }
        if is_connector(previous) {
            first_is_upper = c.is_uppercase();
            current = upper(c);
        } else {
            if first_is_upper {
                if c.is_uppercase() {
                    current = lower(c);
                } else {
                    first_is_upper = false;
                }
            }
            out.push(previous);
        }
    }
    out.push(current);
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Word {
    None,
    Number,
    Upper,
    Letters,
    Connector,
    Punctuation,
    Other,
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic()
}

/// Cuts the next word off `text`.
fn next_word(text: &str) -> (Word, &str, &str) {
    let Some(first) = text.chars().next() else { return (Word::None, "", "") };
    let run = |from: usize, test: &dyn Fn(char) -> bool| -> usize {
        let rest = &text[from..];
        from + rest.find(|c| !test(c)).unwrap_or(rest.len())
    };
    let after_first = first.len_utf8();
    let (kind, end) = if is_connector(first) {
        (Word::Connector, run(0, &is_connector))
    } else if is_punctuation(first) {
        (Word::Punctuation, run(0, &is_punctuation))
    } else if first.is_uppercase() {
        (Word::Upper, upper_word(text, after_first, &run))
    } else if is_letter(first) {
        (Word::Letters, run(after_first, &|c| is_letter(c) && !c.is_uppercase()))
    } else if is_number(first) {
        (Word::Number, run(0, &is_number))
    } else {
        let other = |c: char| !(is_connector(c) || is_letter(c) || is_number(c) || is_punctuation(c));
        (Word::Other, run(after_first, &other))
    };
    (kind, &text[..end], &text[end..])
}

/// Where the run of characters that pass a test ends.
type Run<'r> = &'r dyn Fn(usize, &dyn Fn(char) -> bool) -> usize;

/// `HTTPServer` gives `HTTP`, `Server` gives `Server`.
fn upper_word(text: &str, after_first: usize, run: Run<'_>) -> usize {
    match text[after_first..].chars().next() {
        Some(second) if second.is_uppercase() => {
            let end = run(after_first, &char::is_uppercase);
            match text[end..].chars().next() {
                Some(next) if is_letter(next) => {
                    end - text[..end].chars().next_back().map_or(0, char::len_utf8)
                }
                _ => end,
            }
        }
        Some(second) if is_letter(second) => run(after_first, &|c| is_letter(c) && !c.is_uppercase()),
        _ => after_first,
    }
}

fn push_lower(out: &mut String, kind: Word, word: &str, connector: char) {
    match kind {
        Word::Upper | Word::Letters => out.extend(word.chars().map(lower)),
        Word::Connector => out.extend(word.chars().map(|_| connector)),
        _ => out.push_str(word),
    }
}

/// `SomeWords` to `some_words` or `some-words`.
pub(super) fn separated(text: &str, connector: char) -> String {
    let mut out = String::new();
    let (mut kind, mut word, mut rest) = next_word(text);
    let joins = |kind: Word| !matches!(kind, Word::None | Word::Punctuation | Word::Connector);
    while !rest.is_empty() {
        if kind != Word::Connector {
            push_lower(&mut out, kind, word, connector);
        }
        let (previous, last) = (kind, word);
        (kind, word, rest) = next_word(rest);
        match previous {
            Word::Number => {
                while matches!(kind, Word::Letters | Word::Number) {
                    push_lower(&mut out, kind, word, connector);
                    (kind, word, rest) = next_word(rest);
                }
                if joins(kind) {
                    out.push(connector);
                }
            }
            Word::Connector => push_lower(&mut out, previous, last, connector),
            Word::Punctuation => {}
            _ if kind != Word::Number => {
                if !matches!(kind, Word::Connector | Word::Punctuation) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word, rest) = next_word(rest);
                if kind != Word::Letters {
                    push_lower(&mut out, Word::Number, number, connector);
                    if !matches!(kind, Word::Connector | Word::Punctuation) {
                        out.push(connector);
                    }
                    continue;
                }
                out.push(connector);
                push_lower(&mut out, Word::Number, number, connector);
                while matches!(kind, Word::Letters | Word::Number) {
                    push_lower(&mut out, kind, word, connector);
                    (kind, word, rest) = next_word(rest);
                }
                if joins(kind) {
                    out.push(connector);
                }
            }
        }
    }
    push_lower(&mut out, kind, word, connector);
    out
}
