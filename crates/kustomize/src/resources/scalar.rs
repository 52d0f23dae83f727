//! What an unquoted scalar of a resource means, and how a value reads as text.

use std::borrow::Cow;

use podsmith_object::Value;
use podsmith_object::yaml::{Scalar, resolve_plain};

/// Resolves a plain scalar: `yes` and `on` stay text, dates become full timestamps. `None` for infinities.
pub(crate) fn resolve(text: &str) -> Option<Value> {
    match resolve_plain(text) {
        Scalar::Null => Some(Value::Null),
        Scalar::Bool(flag) => match text {
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Some(Value::Bool(flag)),
            _ => Some(Value::String(text.to_owned())),
        },
        Scalar::Number(number) => Some(Value::Number(number)),
        Scalar::NotFinite => None,
        Scalar::Text => Some(Value::String(timestamp(text).unwrap_or_else(|| text.to_owned()))),
    }
}

/// True if an unquoted scalar is nothing but its text.
pub(crate) fn is_text(text: &str) -> bool {
    match resolve_plain(text) {
        Scalar::Text => timestamp(text).is_none(),
        Scalar::Bool(_) => !matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        _ => false,
    }
}

/// The text of a scalar; null, lists and mappings read as nothing.
pub(crate) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Bool(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
        Value::Number(number) => Cow::Owned(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Cow::Borrowed(""),
    }
}

/// A number as Go's shortest `%g` prints it: with an exponent from a million on.
pub(crate) fn go_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    match scientific.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{float}"),
    }
}

/// `2001-1-2`, `2001-01-02T03:04:05Z` and their relatives as RFC 3339.
fn timestamp(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let year: u32 = text.get(..4)?.parse().ok()?;
    let (month, rest) = number(text.get(5..)?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days(year, month) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest.is_empty() {
        return Some(format!("{date}T00:00:00Z"));
    }
    let (zoned, rest) = match rest.as_bytes().first()? {
        b'T' | b't' => (true, &rest[1..]),
        b' ' => (false, &rest[1..]),
        _ => return None,
    };
    let (hour, rest) = number(rest, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, mut rest) = number(rest.strip_prefix(':')?, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut out = format!("{date}T{hour:02}:{minute:02}:{second:02}");
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return None;
        }
        let kept = fraction[..length.min(9)].trim_end_matches('0');
        if !kept.is_empty() {
            out.push('.');
            out.push_str(kept);
        }
        rest = &fraction[length..];
    }
    match (zoned, rest) {
        (false, "") | (true, "Z") => out.push('Z'),
        (true, offset) if valid_offset(offset) => out.push_str(offset),
        _ => return None,
    }
    Some(out)
}

fn number(text: &str, most: usize) -> Option<(u32, &str)> {
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    Some((text.get(..length)?.parse().ok()?, &text[length..]))
}

fn valid_offset(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 6
        && matches!(bytes[0], b'+' | b'-')
        && bytes[3] == b':'
        && [1, 2, 4, 5].iter().all(|index| bytes[*index].is_ascii_digit())
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn plain_scalars_mean_what_yaml_1_2_says() {
        let cases = [
            ("yes", json!("yes")),
            ("on", json!("on")),
            ("True", json!(true)),
            ("~", json!(null)),
            ("", json!(null)),
            ("0755", json!(493)),
            ("0o17", json!(15)),
            ("089", json!(89)),
            ("1e3", json!(1000)),
            ("1.0", json!(1)),
            ("2001-1-2", json!("2001-01-02T00:00:00Z")),
            ("2001-02-30", json!("2001-02-30")),
            ("2001-01-02T03:04:05.120+02:00", json!("2001-01-02T03:04:05.12+02:00")),
            ("2001-01-02 03:04:05", json!("2001-01-02T03:04:05Z")),
            ("1.2.3", json!("1.2.3")),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text), Some(expected), "{text}");
        }
        assert_eq!(resolve(".inf"), None);
    }
}
