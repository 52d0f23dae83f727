//! Numbers.

use super::decimal::Decimal;
use crate::args::{Out, Table, any, int, rest, text};
use crate::error::CallError;
use crate::format;
use crate::function::Parameter::{Any as A, Float as F, Int as I, String as S};
use crate::parse::underscores_are_fine;
use crate::value::{Elements, List, Value};

pub(super) const TABLE: Table = &[
    ("atoi", &[S], None, |_, a| Ok(Value::int(text(a, 0).parse().unwrap_or(0)))),
    ("int64", &[A], None, |_, a| Ok(Value::int64(to_int(any(a, 0))))),
    ("int", &[A], None, |_, a| Ok(Value::int(to_int(any(a, 0))))),
    ("float64", &[A], None, |_, a| Ok(to_float(any(a, 0)).into())),
    ("toDecimal", &[A], None, |_, a| {
        Ok(Value::int64(i64::from_str_radix(&format::to_string(any(a, 0)), 8).unwrap_or(0)))
    }),
    ("seq", &[], Some(I), |_, a| seq(a)),
    ("until", &[I], None, |_, a| {
        let step = if int(a, 0) < 0 { -1 } else { 1 };
        ints(until_step(0, int(a, 0), step)?)
    }),
    ("untilStep", &[I, I, I], None, |_, a| ints(until_step(int(a, 0), int(a, 1), int(a, 2))?)),
    ("add1", &[A], None, |_, a| Ok(Value::int64(to_int(any(a, 0)).wrapping_add(1)))),
    ("add", &[], Some(A), |_, a| {
        Ok(Value::int64(a.iter().fold(0, |sum: i64, value| sum.wrapping_add(to_int(value)))))
    }),
    ("sub", &[A, A], None, |_, a| Ok(Value::int64(to_int(any(a, 0)).wrapping_sub(to_int(any(a, 1)))))),
    ("div", &[A, A], None, |_, a| match to_int(any(a, 1)) {
        0 => Err("runtime error: integer divide by zero".into()),
        divisor => Ok(Value::int64(to_int(any(a, 0)).wrapping_div(divisor))),
    }),
    ("mod", &[A, A], None, |_, a| match to_int(any(a, 1)) {
        0 => Err("runtime error: integer divide by zero".into()),
        divisor => Ok(Value::int64(to_int(any(a, 0)).wrapping_rem(divisor))),
    }),
    ("mul", &[A], Some(A), |_, a| {
        Ok(Value::int64(a.iter().fold(1, |product: i64, value| product.wrapping_mul(to_int(value)))))
    }),
    ("randInt", &[I, I], None, |r, a| {
        let span = int(a, 1).checked_sub(int(a, 0)).and_then(|span| u64::try_from(span).ok()).unwrap_or(0);
        if span == 0 {
            return Err("invalid argument to Intn".into());
        }
        Ok(Value::int(int(a, 0).wrapping_add(r.random.below(span).cast_signed())))
    }),
    ("add1f", &[A], None, |_, a| decimal(any(a, 0), &[Value::int(1)], |x, y| Ok(x.add(y)))),
    ("addf", &[], Some(A), |_, a| decimal(&Value::Float(0.0), a, |x, y| Ok(x.add(y)))),
    ("subf", &[A], Some(A), |_, a| decimal(any(a, 0), rest(a, 1), |x, y| Ok(x.subtract(y)))),
    ("divf", &[A], Some(A), |_, a| {
        decimal(any(a, 0), rest(a, 1), |x, y| x.divide(y).ok_or_else(|| "decimal division by 0".into()))
    }),
    ("mulf", &[A], Some(A), |_, a| decimal(any(a, 0), rest(a, 1), |x, y| Ok(x.multiply(y)))),
    ("biggest", &[A], Some(A), |_, a| Ok(Value::int64(a.iter().map(to_int).max().unwrap_or(0)))),
    ("max", &[A], Some(A), |_, a| Ok(Value::int64(a.iter().map(to_int).max().unwrap_or(0)))),
    ("min", &[A], Some(A), |_, a| Ok(Value::int64(a.iter().map(to_int).min().unwrap_or(0)))),
    ("maxf", &[A], Some(A), |_, a| Ok(a.iter().map(to_float).reduce(f64::max).unwrap_or(0.0).into())),
    ("minf", &[A], Some(A), |_, a| Ok(a.iter().map(to_float).reduce(f64::min).unwrap_or(0.0).into())),
    ("ceil", &[A], None, |_, a| Ok(to_float(any(a, 0)).ceil().into())),
    ("floor", &[A], None, |_, a| Ok(to_float(any(a, 0)).floor().into())),
    ("round", &[A, I], Some(F), |_, a| {
        let half = rest(a, 2).first().map_or(0.5, to_float);
        // Read, not computed: the nearest float to each power of ten.
        let power: f64 = format!("1e{}", int(a, 1)).parse().unwrap_or(f64::INFINITY);
        let scaled = power * to_float(any(a, 0));
        let rounded = if scaled.fract() >= half { scaled.ceil() } else { scaled.floor() };
        Ok((rounded / power).into())
    }),
];

/// No list of numbers longer than this; templates count, they do not compute.
const LONGEST: usize = 10_000_000;

/// A value as an integer, zero if it is none.
pub(super) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(number, _) => *number,
        Value::Float(number) => float_to_int(*number),
        Value::Bool(flag) => i64::from(*flag),
        Value::String(text) => parse_int(text).unwrap_or(0),
        _ => 0,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked")]
fn float_to_int(number: f64) -> i64 {
    // What the processor gives for everything that does not fit.
    if number.is_nan() || number.abs() >= 9_223_372_036_854_775_808.0 { i64::MIN } else { number as i64 }
}

/// `strconv.ParseInt` with any base prefix, after a decimal part of zeros is cut off.
fn parse_int(text: &str) -> Option<i64> {
    let trimmed = match text.rsplit_once('.') {
        Some((head, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => head,
        _ => text,
    };
    let (negative, digits) = match trimmed.as_bytes().first()? {
        b'-' => (true, &trimmed[1..]),
        b'+' => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !underscores_are_fine(body, radix != 10) {
        return None;
    }
    let cleaned = body.replace('_', "");
    if cleaned.is_empty() || !cleaned.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = u64::from_str_radix(&cleaned, radix).ok()?;
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// A value as a float, zero if it is none.
#[expect(clippy::cast_precision_loss, reason = "as Go converts")]
pub(super) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Int(number, _) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::String(text) => parse_float(text).unwrap_or(0.0),
        _ => 0.0,
    }
}

fn parse_float(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let names_it = text.trim_start_matches(['+', '-']).starts_with(['i', 'I', 'n', 'N']);
    (number.is_finite() || names_it).then_some(number)
}

fn decimal(
    first: &Value,
    others: &[Value],
    operate: impl Fn(Decimal, Decimal) -> Result<Decimal, CallError>,
) -> Out {
    let mut result = Decimal::from_float(to_float(first));
    for other in others {
        result = operate(result, Decimal::from_float(to_float(other)))?;
    }
    Ok(result.to_float().into())
}

fn until_step(start: i64, stop: i64, step: i64) -> Result<Vec<i64>, CallError> {
    let mut out = Vec::new();
    let upward = stop >= start;
    if (upward && step <= 0) || (!upward && step >= 0) {
        return Ok(out);
    }
    let mut next = Some(start);
    while let Some(number) = next {
        if if upward { number >= stop } else { number <= stop } {
            break;
        }
        if out.len() >= LONGEST {
            return Err(CallError::Limit(format!("more than {LONGEST} numbers")));
        }
        out.push(number);
        next = number.checked_add(step);
    }
    Ok(out)
}

fn ints(numbers: Vec<i64>) -> Out {
    Ok(List::typed(Elements::Ints, numbers.into_iter().map(Value::int).collect()).into())
}

fn seq(parameters: &[Value]) -> Out {
    let (start, step, end) = match parameters.len() {
        1 => (1, None, int(parameters, 0)),
        2 => (int(parameters, 0), None, int(parameters, 1)),
        3 => (int(parameters, 0), Some(int(parameters, 1)), int(parameters, 2)),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let numbers = until_step(start, end.saturating_add(direction), step.unwrap_or(direction))?;
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    Ok(texts.join(" ").into())
}
