//! Scalars, and messages that are one scalar in JSON.

use base64::Engine as _;
use podsmith_object::{Number, Value};

use super::wire::{Fields, Raw};
use super::{ProtobufError, wrong};
use crate::types::Base;

/// True for what a list may hold packed.
pub(super) fn is_number(base: Base) -> bool {
    matches!(base, Base::Bool | Base::Int32 | Base::Int64 | Base::Uint8 | Base::Uint32 | Base::Uint64)
}

pub(super) fn text(name: &str, bytes: &[u8]) -> Result<String, ProtobufError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| ProtobufError::NotText(name.to_owned()))
}

/// Reads a scalar from its field.
pub(super) fn read(base: Base, name: &str, raw: Raw<'_>) -> Result<Value, ProtobufError> {
    Ok(match (base, raw) {
        (Base::Bool, Raw::Varint(number)) => Value::from(number != 0),
        // Negative numbers take all 64 bits, whatever the type.
        (Base::Int32, Raw::Varint(number)) => Value::from(number as i32),
        (Base::Int64, Raw::Varint(number)) => Value::from(number as i64),
        (Base::Uint8 | Base::Uint32 | Base::Uint64, Raw::Varint(number)) => Value::from(number),
        (Base::Float64, Raw::Fixed64(bits)) => float(f64::from_bits(bits)),
        (Base::Float32, Raw::Fixed32(bits)) => float(f64::from(f32::from_bits(bits))),
        (Base::String | Base::Any, Raw::Bytes(bytes)) => Value::from(text(name, bytes)?),
        (Base::Bytes, Raw::Bytes(bytes)) => {
            Value::from(base64::engine::general_purpose::STANDARD.encode(bytes))
        }
        (Base::Quantity, Raw::Bytes(bytes)) => Value::from(quantity(name, bytes)?),
        (Base::IntOrString, Raw::Bytes(bytes)) => int_or_string(name, bytes)?,
        (Base::Time, Raw::Bytes(bytes)) => time(bytes, "%Y-%m-%dT%H:%M:%SZ")?,
        (Base::MicroTime, Raw::Bytes(bytes)) => time(bytes, "%Y-%m-%dT%H:%M:%S.%6fZ")?,
        (Base::Duration, Raw::Bytes(bytes)) => Value::from(duration(first_number(bytes)? as i64)),
        _ => return Err(wrong(name)),
    })
}

/// A float without a fraction is written without one.
fn float(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn quantity(name: &str, bytes: &[u8]) -> Result<String, ProtobufError> {
    let mut fields = Fields::new(bytes);
    while let Some((number, raw)) = fields.next()? {
        if let (1, Raw::Bytes(inner)) = (number, raw) {
            return text(name, inner);
        }
    }
    Ok("0".to_owned())
}

fn int_or_string(name: &str, bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut sort, mut number, mut string) = (0, 0, String::new());
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Raw::Varint(value)) => sort = value,
            (2, Raw::Varint(value)) => number = value as i32,
            (3, Raw::Bytes(value)) => string = text(name, value)?,
            _ => {}
        }
    }
    Ok(if sort == 0 { Value::from(number) } else { Value::from(string) })
}

fn time(bytes: &[u8], format: &str) -> Result<Value, ProtobufError> {
    let (mut seconds, mut nanos) = (0i64, 0i32);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Raw::Varint(value)) => seconds = value as i64,
            (2, Raw::Varint(value)) => nanos = value as i32,
            _ => {}
        }
    }
    if (seconds, nanos) == (0, 0) {
        return Ok(Value::Null);
    }
    let time = jiff::Timestamp::new(seconds, nanos).map_err(|_| ProtobufError::BadTag)?;
    Ok(Value::from(time.strftime(format).to_string()))
}

fn first_number(bytes: &[u8]) -> Result<u64, ProtobufError> {
    let mut fields = Fields::new(bytes);
    while let Some((number, raw)) = fields.next()? {
        if let (1, Raw::Varint(value)) = (number, raw) {
            return Ok(value);
        }
    }
    Ok(0)
}

/// Nanoseconds the way Go prints a duration: `1h0m1.5s`, `250ms`, `0s`.
fn duration(nanos: i64) -> String {
    let total = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let decimal = |amount: u64, unit: u64| {
        let fraction = format!("{:0width$}", amount % unit, width = unit.ilog10() as usize);
        let fraction = fraction.trim_end_matches('0');
        let whole = amount / unit;
        if fraction.is_empty() || unit == 1 { whole.to_string() } else { format!("{whole}.{fraction}") }
    };
    if total == 0 {
        return "0s".to_owned();
    }
    if total < 1_000 {
        return format!("{sign}{total}ns");
    }
    if total < 1_000_000 {
        return format!("{sign}{}µs", decimal(total, 1_000));
    }
    if total < 1_000_000_000 {
        return format!("{sign}{}ms", decimal(total, 1_000_000));
    }
    let (minutes, rest) = (total / 60_000_000_000, total % 60_000_000_000);
    let seconds = format!("{}s", decimal(rest, 1_000_000_000));
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}"),
    }
}
