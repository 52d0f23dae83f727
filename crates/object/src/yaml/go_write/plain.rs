//! Which texts need quotes because a reader would take them for something else.

use super::super::scalar::{Scalar, resolve_plain};

/// True if an unquoted `text` reads back as this text, for readers of YAML 1.1 too.
pub(super) fn reads_as_text(text: &str) -> bool {
    let plain = match resolve_plain(text) {
        Scalar::Text => true,
        // Go takes a number too large for a float for a text.
        Scalar::NotFinite => !text.trim_start_matches(['+', '-']).starts_with('.'),
        // After a leading point, an underscore counts only between digits.
        Scalar::Number(_) => {
            let between_digits = |at: usize| {
                let bytes = text.as_bytes();
                let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
                at > 0 && digit(at - 1) && digit(at + 1)
            };
            text.starts_with('.') && !text.match_indices('_').all(|(at, _)| between_digits(at))
        }
        Scalar::Null | Scalar::Bool(_) => false,
    };
    plain && !is_timestamp(text) && !is_sexagesimal(text)
}

/// `1:30`, `-10:20.5`: numbers to base 60 in YAML 1.1.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let mut parts = unsigned.split(':');
    let head = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    let is_part = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
        _ => false,
    };
    let Some((last, middle)) = rest.split_last() else { return false };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    head.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && middle.iter().all(|part| is_part(part))
        && is_part(last)
        && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// `2001-1-2`, `2001-01-02T03:04:05.6Z`, `2001-01-02 03:04:05`.
fn is_timestamp(text: &str) -> bool {
    let mut rest = text;
    let Some(year) = digits(&mut rest, 4, 4) else { return false };
    let date = literal(&mut rest, '-')
        .and_then(|()| digits(&mut rest, 1, 2))
        .and_then(|month| literal(&mut rest, '-').map(|()| month))
        .and_then(|month| digits(&mut rest, 1, 2).map(|day| (month, day)));
    let Some((month, day)) = date else { return false };
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return false;
    }
    if rest.is_empty() {
        return true;
    }
    let zoned = rest.starts_with(['T', 't']);
    if !zoned && !rest.starts_with(' ') {
        return false;
    }
    rest = &rest[1..];
    is_time(&mut rest) && if zoned { is_zone(rest) } else { rest.is_empty() }
}

fn is_time(rest: &mut &str) -> bool {
    let Some(hour) = digits(rest, 1, 2) else { return false };
    let minute = literal(rest, ':').and_then(|()| digits(rest, 1, 2));
    let second = literal(rest, ':').and_then(|()| digits(rest, 1, 2));
    let (Some(minute), Some(second)) = (minute, second) else { return false };
    if rest.len() > 1 && rest.starts_with(['.', ',']) && rest.as_bytes()[1].is_ascii_digit() {
        *rest = rest[1..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    hour < 24 && minute < 60 && second < 60
}

fn is_zone(rest: &str) -> bool {
    if rest == "Z" {
        return true;
    }
    let Some(mut offset) = rest.strip_prefix(['+', '-']) else { return false };
    let hours = digits(&mut offset, 2, 2);
    let minutes = literal(&mut offset, ':').and_then(|()| digits(&mut offset, 2, 2));
    matches!((hours, minutes), (Some(0..=24), Some(0..=60))) && offset.is_empty()
}

fn literal(rest: &mut &str, c: char) -> Option<()> {
    *rest = rest.strip_prefix(c)?;
    Some(())
}

fn digits(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return None;
    }
    let (head, tail) = rest.split_at(count);
    *rest = tail;
    head.parse().ok()
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
