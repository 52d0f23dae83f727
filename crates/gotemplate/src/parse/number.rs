//! Number literals: one literal can serve as an integer, an unsigned integer or a float.

use super::unquote::unquote_rune;

/// What a number literal can stand for.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub text: String,
    pub int: Option<i64>,
    pub uint: Option<u64>,
    pub float: Option<f64>,
    rune: bool,
}

impl Number {
    /// Reads a literal, or says in Go's words why not.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with('\'') {
            let code = unquote_rune(text).ok_or_else(|| format!("malformed character constant: {text}"))?;
            #[expect(clippy::cast_precision_loss, reason = "a character code is small")]
            let float = code as f64;
            let (int, uint) = (Some(code), u64::try_from(code).ok());
            return Ok(Self { text: text.to_owned(), int, uint, float: Some(float), rune: true });
        }
        let mut number = Self { text: text.to_owned(), int: None, uint: None, float: None, rune: false };
        let (int, uint) = integers(text);
        (number.int, number.uint) = (int, uint);
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        if let Some(int) = int {
            number.float = Some(int as f64);
        } else if let Some(uint) = uint {
            number.float = Some(uint as f64);
        } else if let Some(float) = parse_float(text) {
            if !text.contains(['.', 'e', 'E', 'p', 'P']) {
                return Err(format!("integer overflow: {text:?}"));
            }
            number.float = Some(float);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
            if float.fract() == 0.0 && float.abs() < 9e18 {
                number.int = Some(float as i64);
                number.uint = (float >= 0.0).then_some(float as u64);
            }
        }
        if number.float.is_none() {
            return Err(format!("illegal number syntax: {text:?}"));
        }
        Ok(number)
    }

    /// The float, if the literal is written like one; else it is an integer.
    pub(crate) fn as_written_float(&self) -> Option<f64> {
        let hex = self.text.starts_with("0x") || self.text.starts_with("0X");
        let hex_int = hex && self.text.len() > 2 && !self.text.contains(['p', 'P']);
        if self.rune || hex_int || !self.text.contains(['.', 'e', 'E', 'p', 'P']) { None } else { self.float }
    }
}

/// The literal as a signed and as an unsigned 64-bit integer, in any of Go's bases.
fn integers(text: &str) -> (Option<i64>, Option<u64>) {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let Some(magnitude) = magnitude(digits) else { return (None, None) };
    let signed = text.starts_with(['-', '+']);
    let int = if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
    let uint = if !signed || int == Some(0) { Some(magnitude) } else { None };
    (int, uint)
}

fn magnitude(digits: &str) -> Option<u64> {
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !underscores_are_fine(body, radix != 10) || body.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(&body.replace('_', ""), radix).ok()
}

/// Underscores may only stand between digits, or between a base prefix and the first digit.
pub(crate) fn underscores_are_fine(body: &str, prefixed: bool) -> bool {
    !body.contains('_')
        || !(body.ends_with('_') || body.contains("__") || (!prefixed && body.starts_with('_')))
}

fn parse_float(text: &str) -> Option<f64> {
    if text.contains('_') || text.ends_with('i') || text.starts_with("0x") {
        return None;
    }
    let float: f64 = text.parse().ok()?;
    float.is_finite().then_some(float)
}
