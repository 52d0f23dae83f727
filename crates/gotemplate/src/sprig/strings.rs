//! Texts.

use base64::Engine as _;

use super::cases;
use crate::args::{self, Out, Table, any, bytes, int, rest, text};
use crate::error::CallError;
use crate::format;
use crate::function::Parameter::{Any as A, Int as I, String as S};
use crate::value::{List, Map, MapKind, Value};

pub(super) const TABLE: Table = &[
    ("hello", &[], None, |_, _| Ok("Hello!".into())),
    ("abbrev", &[I, S], None, |_, a| Ok(Value::string_from_bytes(abbreviate(bytes(a, 1), 0, int(a, 0))))),
    ("abbrevboth", &[I, I, S], None, |_, a| {
        Ok(Value::string_from_bytes(abbreviate_both(int(a, 0), int(a, 1), bytes(a, 2))))
    }),
    ("trunc", &[I, S], None, |_, a| Ok(truncate(int(a, 0), any(a, 1)))),
    ("trim", &[S], None, |_, a| Ok(text(a, 0).trim().into())),
    ("upper", &[S], None, |_, a| Ok(text(a, 0).chars().map(cases::upper).collect::<String>().into())),
    ("lower", &[S], None, |_, a| Ok(text(a, 0).chars().map(cases::lower).collect::<String>().into())),
    ("title", &[S], None, |_, a| Ok(cases::title(&text(a, 0)).into())),
    ("untitle", &[S], None, |_, a| Ok(cases::untitle(&text(a, 0)).into())),
    ("substr", &[I, I, S], None, |_, a| substring(int(a, 0), int(a, 1), bytes(a, 2))),
    ("repeat", &[I, S], None, |r, a| {
        let count =
            usize::try_from(int(a, 0)).map_err(|_| CallError::from("strings: negative Repeat count"))?;
        args::check_size(r, count.saturating_mul(bytes(a, 1).len()))?;
        Ok(text(a, 1).repeat(count).into())
    }),
    ("trimall", &[S, S], None, |_, a| Ok(trim_set(&text(a, 0), &text(a, 1)))),
    ("trimAll", &[S, S], None, |_, a| Ok(trim_set(&text(a, 0), &text(a, 1)))),
    ("trimSuffix", &[S, S], None, |_, a| {
        let given = text(a, 1);
        Ok(given.strip_suffix(&*text(a, 0)).map_or_else(|| any(a, 1).clone(), Value::from))
    }),
    ("trimPrefix", &[S, S], None, |_, a| {
        let given = text(a, 1);
        Ok(given.strip_prefix(&*text(a, 0)).map_or_else(|| any(a, 1).clone(), Value::from))
    }),
    // Sprig goes byte by byte here, so that letters outside ASCII fall apart.
    ("nospace", &[S], None, |_, a| {
        let kept = bytes(a, 0).iter().map(|byte| char::from(*byte)).filter(|c| !c.is_whitespace());
        Ok(kept.collect::<String>().into())
    }),
    ("initials", &[S], None, |_, a| Ok(cases::initials(&text(a, 0)).into())),
    ("randAlphaNum", &[I], None, |r, a| {
        random(r, int(a, 0), b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    }),
    ("randAlpha", &[I], None, |r, a| {
        random(r, int(a, 0), b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    }),
    ("randAscii", &[I], None, |r, a| {
        let printable: Vec<u8> = (b' '..=b'~').collect();
        random(r, int(a, 0), &printable)
    }),
    ("randNumeric", &[I], None, |r, a| random(r, int(a, 0), b"0123456789")),
    ("swapcase", &[S], None, |_, a| Ok(cases::swap(&text(a, 0)).into())),
    ("shuffle", &[S], None, |r, a| {
        let mut chars: Vec<char> = text(a, 0).chars().collect();
        for last in (1..chars.len()).rev() {
            let other = usize::try_from(r.random.below(last as u64 + 1)).unwrap_or(0);
            chars.swap(last, other);
        }
        Ok(chars.into_iter().collect::<String>().into())
    }),
    ("snakecase", &[S], None, |_, a| Ok(cases::separated(&text(a, 0), '_').into())),
    ("kebabcase", &[S], None, |_, a| Ok(cases::separated(&text(a, 0), '-').into())),
    ("camelcase", &[S], None, |_, a| Ok(cases::pascal(&text(a, 0)).into())),
    ("wrap", &[I, S], None, |_, a| Ok(Value::string_from_bytes(wrap(bytes(a, 1), int(a, 0), b"\n", false)))),
    ("wrapWith", &[I, S, S], None, |r, a| {
        let width = usize::try_from(int(a, 0)).unwrap_or(1).max(1);
        args::check_size(r, (bytes(a, 2).len() / width).saturating_mul(bytes(a, 1).len()))?;
        let line = if bytes(a, 1).is_empty() { b"\n" } else { bytes(a, 1) };
        Ok(Value::string_from_bytes(wrap(bytes(a, 2), int(a, 0), line, true)))
    }),
    ("contains", &[S, S], None, |_, a| Ok(text(a, 1).contains(&*text(a, 0)).into())),
    ("hasPrefix", &[S, S], None, |_, a| Ok(bytes(a, 1).starts_with(bytes(a, 0)).into())),
    ("hasSuffix", &[S, S], None, |_, a| Ok(bytes(a, 1).ends_with(bytes(a, 0)).into())),
    ("quote", &[], Some(A), |_, a| Ok(quote(a))),
    ("squote", &[], Some(A), |_, a| {
        let quoted = a.iter().filter(|value| !value.is_nil()).map(|v| format!("'{}'", format::to_string(v)));
        Ok(quoted.collect::<Vec<_>>().join(" ").into())
    }),
    ("cat", &[], Some(A), |_, a| {
        let shown: Vec<String> = a.iter().filter(|v| !v.is_nil()).map(format::to_string).collect();
        Ok(shown.join(" ").into())
    }),
    ("indent", &[I, S], None, |r, a| indent(r, "", int(a, 0), &text(a, 1))),
    ("nindent", &[I, S], None, |r, a| indent(r, "\n", int(a, 0), &text(a, 1))),
    ("replace", &[S, S, S], None, |r, a| {
        let (old, new, given) = (text(a, 0), text(a, 1), text(a, 2));
        args::check_size(r, given.matches(&*old).count().saturating_mul(new.len()))?;
        Ok(given.replace(&*old, &new).into())
    }),
    ("plural", &[S, S, I], None, |_, a| Ok(any(a, if int(a, 2) == 1 { 0 } else { 1 }).clone())),
    ("toString", &[A], None, |_, a| Ok(to_text(any(a, 0)))),
    ("split", &[S, S], None, |_, a| Ok(numbered(split(&text(a, 1), &text(a, 0), None)))),
    ("splitn", &[S, I, S], None, |_, a| Ok(numbered(split(&text(a, 2), &text(a, 0), Some(int(a, 1)))))),
    ("splitList", &[S, S], None, |_, a| Ok(List::strings(split(&text(a, 1), &text(a, 0), None)).into())),
    ("toStrings", &[A], None, |_, a| Ok(List::strings(to_texts(any(a, 0))).into())),
    ("join", &[S, A], None, |r, a| {
        let texts = to_texts(any(a, 1));
        args::check_size(r, texts.len().saturating_mul(bytes(a, 0).len()))?;
        Ok(texts.join(&text(a, 0)).into())
    }),
    ("sortAlpha", &[A], None, |_, a| {
        let mut texts = to_texts(any(a, 0));
        if !matches!(any(a, 0), Value::List(_)) {
            texts = vec![strval(any(a, 0))];
        }
        texts.sort();
        Ok(List::strings(texts).into())
    }),
    ("b64enc", &[S], None, |_, a| Ok(base64::engine::general_purpose::STANDARD.encode(bytes(a, 0)).into())),
    ("b64dec", &[S], None, |_, a| {
        Ok(base64_decode(bytes(a, 0)).map_or_else(Value::from, Value::string_from_bytes))
    }),
    ("b32enc", &[S], None, |_, a| Ok(base32_encode(bytes(a, 0)).into())),
    ("b32dec", &[S], None, |_, a| {
        Ok(base32_decode(bytes(a, 0)).map_or_else(Value::from, Value::string_from_bytes))
    }),
];

/// A value as text: strings and bytes as they are, all else as `%v` prints it.
pub(super) fn to_text(value: &Value) -> Value {
    match value {
        Value::String(_) | Value::RawString(_) => value.clone(),
        Value::Bytes(bytes) => Value::string_from_bytes(bytes.to_vec()),
        other => Value::from(format::to_string(other)),
    }
}

/// [`to_text`] as UTF-8.
pub(super) fn strval(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format::to_string(other),
    }
}

/// The elements of a list as texts, without nils; anything else is a list of one.
pub(super) fn to_texts(value: &Value) -> Vec<String> {
    match value {
        Value::Absent | Value::Nil => Vec::new(),
        Value::List(list) => list.items().iter().filter(|item| !item.is_nil()).map(strval).collect(),
        Value::Native(native) if native.kind() == "slice" => {
            native.entries().unwrap_or_default().iter().map(|(_, item)| strval(item)).collect()
        }
        Value::Bytes(bytes) => bytes.iter().map(u8::to_string).collect(),
        other => vec![strval(other)],
    }
}

fn quote(values: &[Value]) -> Value {
    let quoted = values.iter().filter(|value| !value.is_nil()).map(|value| match value {
        Value::String(text) => format::quote(text),
        Value::RawString(bytes) | Value::Bytes(bytes) => format::quote_bytes(bytes),
        other => format::quote(&format::to_string(other)),
    });
    quoted.collect::<Vec<_>>().join(" ").into()
}

fn indent(renderer: &crate::render::Renderer<'_>, before: &str, spaces: i64, text: &str) -> Out {
    let spaces = usize::try_from(spaces).map_err(|_| CallError::from("strings: negative Repeat count"))?;
    let lines = text.bytes().filter(|b| *b == b'\n').count() + 1;
    args::check_size(renderer, text.len().saturating_add(lines.saturating_mul(spaces)))?;
    let padding = " ".repeat(spaces);
    let mut out = String::with_capacity(before.len() + text.len() + lines * spaces);
    out.push_str(before);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&padding);
        out.push_str(line);
    }
    Ok(out.into())
}

/// `strings.Split` and `strings.SplitN`: an empty separator splits into characters.
fn split(text: &str, separator: &str, limit: Option<i64>) -> Vec<String> {
    let limit = match limit {
        Some(0) => return Vec::new(),
        Some(limit) if limit > 0 => usize::try_from(limit).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    if separator.is_empty() {
        let mut out: Vec<String> = text.chars().take(limit.saturating_sub(1)).map(String::from).collect();
        let used: usize = out.iter().map(String::len).sum();
        if used < text.len() {
            out.push(text[used..].to_owned());
        }
        return out;
    }
    text.splitn(limit, separator).map(str::to_owned).collect()
}

fn numbered(parts: Vec<String>) -> Value {
    let map = Map::of_kind(MapKind::Strings);
    for (index, part) in parts.into_iter().enumerate() {
        map.insert(format!("_{index}"), part);
    }
    map.into()
}

fn trim_set(set: &str, text: &str) -> Value {
    text.trim_matches(|c| set.contains(c)).into()
}

fn truncate(count: i64, value: &Value) -> Value {
    let given = args::bytes(std::slice::from_ref(value), 0);
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if wanted >= given.len() && !(count >= 0 && given.len() > wanted) {
        return value.clone();
    }
    let kept = if count < 0 { &given[given.len() - wanted..] } else { &given[..wanted] };
    Value::string_from_bytes(kept.to_vec())
}

fn substring(start: i64, end: i64, text: &[u8]) -> Out {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let (from, to) = if start < 0 {
        (0, end)
    } else if end < 0 || end > length {
        (start, length)
    } else {
        (start, end)
    };
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    if let Some(part) = range.and_then(|(from, to)| text.get(from..to)) {
        return Ok(Value::string_from_bytes(part.to_vec()));
    }
    let bounds = if start < 0 && end < 0 {
        format!("[:{end}]")
    } else if start < 0 {
        format!("[:{end}] with length {length}")
    } else {
        format!("[{from}:{to}]")
    };
    Err(format!("runtime error: slice bounds out of range {bounds}").into())
}

fn abbreviate(text: &[u8], offset: i64, width: i64) -> Vec<u8> {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    if width < 4 || length <= width {
        return text.to_vec();
    }
    let cut = |from: i64, to: i64| -> Vec<u8> {
        let from = usize::try_from(from.max(0)).unwrap_or(0);
        let to = usize::try_from(to.max(0)).unwrap_or(0);
        text.get(from..to.min(text.len())).unwrap_or(&[]).to_vec()
    };
    let mut offset = offset.min(length);
    if length - offset < width - 3 {
        offset = length - (width - 3);
    }
    if offset <= 4 {
        return [cut(0, width - 3), b"...".to_vec()].concat();
    }
    if width < 7 {
        return Vec::new();
    }
    if offset + width - 3 < length {
        return [b"...".to_vec(), abbreviate(&cut(offset, length), 0, width - 3)].concat();
    }
    [b"...".to_vec(), cut(length - (width - 3), length)].concat()
}

fn abbreviate_both(left: i64, right: i64, text: &[u8]) -> Vec<u8> {
    if right < 4 || (left > 0 && right < 7) {
        return text.to_vec();
    }
    abbreviate(text, left, right)
}

fn wrap(text: &[u8], width: i64, line: &[u8], break_words: bool) -> Vec<u8> {
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while text.len() - at > width {
        if text[at] == b' ' {
            at += 1;
            continue;
        }
        let window = &text[at..(at + width + 1).min(text.len())];
        if let Some(space) = window.iter().rposition(|byte| *byte == b' ') {
            out.extend_from_slice(&text[at..at + space]);
            out.extend_from_slice(line);
            at += space + 1;
        } else if break_words {
            out.extend_from_slice(&text[at..at + width]);
            out.extend_from_slice(line);
            at += width;
        } else if let Some(space) = text[at + width..].iter().position(|byte| *byte == b' ') {
            out.extend_from_slice(&text[at..at + width + space]);
            out.extend_from_slice(line);
            at += width + space + 1;
        } else {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
    out
}

fn random(renderer: &mut crate::render::Renderer<'_>, count: i64, alphabet: &[u8]) -> Out {
    let count = usize::try_from(count).unwrap_or(0);
    args::check_size(renderer, count)?;
    Ok(renderer.random.text(count, alphabet).into())
}

/// Standard base64, with Go's error text.
pub(super) fn base64_decode(given: &[u8]) -> Result<Vec<u8>, String> {
    let clean: Vec<u8> = given.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    base64::engine::general_purpose::STANDARD.decode(&clean).map_err(|_| {
        let wrong = |byte: u8| !(byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
        let at = given
            .iter()
            .position(|byte| wrong(*byte) && !matches!(byte, b'\r' | b'\n'))
            .unwrap_or(given.len() - given.len() % 4);
        format!("illegal base64 data at input byte {at}")
    })
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn base32_encode(given: &[u8]) -> String {
    let mut out = String::new();
    for chunk in given.chunks(5) {
        let mut block = [0u8; 5];
        block[..chunk.len()].copy_from_slice(chunk);
        let bits = block.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let used = (chunk.len() * 8).div_ceil(5);
        for index in 0..8 {
            let symbol = usize::try_from(bits >> (35 - 5 * index) & 31).unwrap_or(0);
            out.push(if index < used { char::from(BASE32[symbol]) } else { '=' });
        }
    }
    out
}

fn base32_decode(given: &[u8]) -> Result<Vec<u8>, String> {
    let clean: Vec<u8> = given.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let illegal = |at: usize| format!("illegal base32 data at input byte {at}");
    let symbols = clean.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u64, 0);
    for (at, byte) in clean[..symbols].iter().enumerate() {
        let symbol = BASE32.iter().position(|known| known == byte).ok_or_else(|| illegal(at))?;
        bits = bits << 5 | symbol as u64;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xff).unwrap_or(0));
        }
    }
    if !clean.len().is_multiple_of(8) || matches!(symbols % 8, 1 | 3 | 6) {
        return Err(illegal(clean.len() - clean.len() % 8));
    }
    Ok(out)
}

/// Arguments from `index` on, as texts.
pub(super) fn texts_from(arguments: &[Value], index: usize) -> Vec<String> {
    rest(arguments, index).iter().map(strval).collect()
}
