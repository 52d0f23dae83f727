//! Numbers as HCL sees them: whole numbers stay exact, everything else is a float.

use podsmith_object::{Number, Value};

/// A number from a float; whole values become integers so that `6 / 2` prints as `3`.
pub(crate) fn from_float(float: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() == 0.0 && float.abs() <= EXACT {
        #[allow(clippy::cast_possible_truncation)]
        return Some(Value::from(float as i64));
    }
    Number::from_f64(float).map(Value::Number)
}

/// A number from an exact result; beyond 64 bits it becomes a float.
pub(crate) fn from_exact(exact: i128) -> Option<Value> {
    if let Ok(small) = i64::try_from(exact) {
        return Some(Value::from(small));
    }
    if let Ok(large) = u64::try_from(exact) {
        return Some(Value::from(large));
    }
    #[allow(clippy::cast_precision_loss)]
    from_float(exact as f64)
}

/// The exact value, if the number is whole and stored as such.
pub(crate) fn exact(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// How a number reads as text.
pub(crate) fn text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if exact(number).is_none() => format!("{float}"),
        _ => number.to_string(),
    }
}

/// Reads text as a number, as HCL converts strings.
pub(crate) fn parse(text: &str) -> Option<Value> {
    if let Ok(exact) = text.parse::<i128>() {
        return from_exact(exact);
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    plain.then(|| text.parse::<f64>().ok()).flatten().and_then(from_float)
}
