//! `strconv.Quote`.

use std::fmt::Write as _;

/// `text` in double quotes with Go's escapes.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    text.chars().for_each(|c| escape(&mut out, c, '"', false));
    out.push('"');
    out
}

/// `text` in double quotes, with only ASCII inside.
pub(super) fn quote_ascii(text: &str) -> String {
    let mut out = String::from("\"");
    text.chars().for_each(|c| escape(&mut out, c, '"', true));
    out.push('"');
    out
}

/// Bytes that need not be UTF-8, in double quotes.
pub(crate) fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| escape(&mut out, c, '"', false));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// A character in single quotes.
pub(super) fn quote_rune(c: char, ascii: bool) -> String {
    let mut out = String::from("'");
    escape(&mut out, c, '\'', ascii);
    out.push('\'');
    out
}

fn escape(out: &mut String, c: char, quote: char, ascii: bool) {
    match c {
        c if c == quote => {
            out.push('\\');
            out.push(c);
        }
        '\\' => out.push_str("\\\\"),
        ' '..='~' => out.push(c),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        c if !ascii && is_printable(c) => out.push(c),
        c if u32::from(c) < 0x20 || c == '\x7f' => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if u32::from(c) < 0x1_0000 => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        c => {
            let _ = write!(out, "\\U{:08x}", u32::from(c));
        }
    }
}

/// Letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    // The standard library knows, but only tells through its own escapes, which leave combining marks alone only
    // when they follow another character.
    let mut buffer = [b'a'; 5];
    let length = c.encode_utf8(&mut buffer[1..]).len();
    match std::str::from_utf8(&buffer[..=length]) {
        Ok(text) => text.escape_debug().nth(1) == Some(c),
        Err(_) => false,
    }
}
