//! Go string and character literals.

/// The bytes of a quoted or raw string literal, or nothing if it breaks the rules.
pub(crate) fn unquote(literal: &str) -> Option<Vec<u8>> {
    if let Some(raw) = literal.strip_prefix('`') {
        return Some(raw.strip_suffix('`')?.replace('\r', "").into_bytes());
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let (piece, tail) = unquote_char(rest, '"')?;
        match piece {
            Piece::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Piece::Byte(byte) => out.push(byte),
        }
        rest = tail;
    }
    Some(out)
}

/// The code of a character literal.
pub(crate) fn unquote_rune(literal: &str) -> Option<i64> {
    let inner = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    let (piece, tail) = unquote_char(inner, '\'')?;
    tail.is_empty().then(|| match piece {
        Piece::Char(c) => i64::from(u32::from(c)),
        Piece::Byte(byte) => i64::from(byte),
    })
}

enum Piece {
    Char(char),
    Byte(u8),
}

fn unquote_char(text: &str, quote: char) -> Option<(Piece, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first == quote || first == '\n' {
        return None;
    }
    if first != '\\' {
        return Some((Piece::Char(first), chars.as_str()));
    }
    let simple = |c| Some(Piece::Char(c));
    let escape = chars.next()?;
    let rest = chars.as_str();
    let piece = match escape {
        'a' => simple('\x07'),
        'b' => simple('\x08'),
        'f' => simple('\x0c'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'v' => simple('\x0b'),
        '\\' => simple('\\'),
        c @ ('\'' | '"') if c == quote => simple(c),
        'x' => return digits(rest, 2, 16).map(|(code, rest)| (byte(code), rest)),
        'u' => {
            return digits(rest, 4, 16)
                .and_then(|(code, rest)| Some((Piece::Char(char::from_u32(code)?), rest)));
        }
        'U' => {
            return digits(rest, 8, 16)
                .and_then(|(code, rest)| Some((Piece::Char(char::from_u32(code)?), rest)));
        }
        '0'..='7' => {
            let (code, rest) = digits(&text[1..], 3, 8)?;
            return (code < 256).then(|| (byte(code), rest));
        }
        _ => None,
    }?;
    Some((piece, rest))
}

fn byte(code: u32) -> Piece {
    Piece::Byte(u8::try_from(code).unwrap_or(u8::MAX))
}

fn digits(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let head = text.get(..count)?;
    if !head.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some((u32::from_str_radix(head, radix).ok()?, &text[count..]))
}
