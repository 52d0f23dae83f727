//! What a plain scalar means.

use serde_json::Number;

/// A scalar after resolution.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `~`, `null` or nothing.
    Null,
    /// A boolean, in any of the YAML 1.1 spellings.
    Bool(bool),
    /// An integer or a float. Integers past 64 bits are floats.
    Number(Number),
    /// `.inf` or `.nan`: not representable in JSON.
    NotFinite,
    /// Anything else.
    Text,
}

/// Resolves an unquoted scalar as kubectl does.
///
/// ```
/// use podsmith_object::yaml::{Scalar, resolve_plain};
/// assert_eq!(resolve_plain("yes"), Scalar::Bool(true));
/// assert_eq!(resolve_plain("0755"), Scalar::Number(493.into()));
/// assert_eq!(resolve_plain("2001-01-01"), Scalar::Text);
/// ```
pub fn resolve_plain(text: &str) -> Scalar {
    let Some(first) = text.bytes().next() else { return Scalar::Null };
    match first {
        b'~' if text == "~" => Scalar::Null,
        b'n' | b'N' | b'y' | b'Y' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => word(text),
        b'.' | b'+' | b'-' | b'0'..=b'9' => number(text),
        _ => Scalar::Text,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        _ => Scalar::Text,
    }
}

fn number(text: &str) -> Scalar {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF" | ".nan"
        | ".NaN" | ".NAN" => return Scalar::NotFinite,
        _ => {}
    }
    let cleaned;
    let plain = if text.contains('_') {
        cleaned = text.replace('_', "");
        &cleaned
    } else {
        text
    };
    if let Some(number) = integer(plain) {
        return Scalar::Number(number);
    }
    if is_float(plain)
        && let Ok(float) = plain.parse::<f64>()
    {
        return json_number(float).map_or(Scalar::NotFinite, Scalar::Number);
    }
    Scalar::Text
}

/// A float as JSON would print it: whole numbers within 64 bits become integers, so that `1e3` reads as `1000`.
fn json_number(float: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() == 0.0 && float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        return Some(Number::from(float as i64));
    }
    Number::from_f64(float)
}

fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if !negative {
        return Some(Number::from(magnitude));
    }
    0i64.checked_sub_unsigned(magnitude).map(Number::from)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = digits(rest);
    let rest = &rest[whole..];
    let rest = if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if whole == 0 && count == 0 {
            return false;
        }
        &fraction[count..]
    } else if whole == 0 {
        return false;
    } else {
        rest
    };
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    !exponent.is_empty() && digits(exponent) == exponent.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_read_as_kubectl_reads_them() {
        let number = |n: i64| Scalar::Number(n.into());
        let float = |f: f64| Scalar::Number(Number::from_f64(f).unwrap());
        for (text, expected) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("NULL", Scalar::Null),
            ("nULL", Scalar::Text),
            ("y", Scalar::Bool(true)),
            ("No", Scalar::Bool(false)),
            ("off", Scalar::Bool(false)),
            ("oFf", Scalar::Text),
            ("0755", number(493)),
            ("-0755", number(-493)),
            ("0o14", number(12)),
            ("0x1F", number(31)),
            ("0b101", number(5)),
            ("1_000", number(1000)),
            ("+12", number(12)),
            ("08", number(8)),
            ("1e3", number(1000)),
            ("1.5", float(1.5)),
            (".5", float(0.5)),
            ("1.", number(1)),
            ("18446744073709551615", Scalar::Number(u64::MAX.into())),
            ("-9223372036854775808", number(i64::MIN)),
            ("123456789012345678901234567890", float(1.234_567_890_123_456_8e29)),
            ("2001-01-01", Scalar::Text),
            ("1.2.3", Scalar::Text),
            ("1:30", Scalar::Text),
            ("0x", Scalar::Text),
            ("-", Scalar::Text),
            (".", Scalar::Text),
            ("e3", Scalar::Text),
            (".inf", Scalar::NotFinite),
            ("1e400", Scalar::NotFinite),
        ] {
            assert_eq!(resolve_plain(text), expected, "{text:?}");
        }
    }
}
