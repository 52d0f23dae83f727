//! Decimal arithmetic for `addf`, `mulf` and their kin: `0.1 + 0.2` is `0.3`.

/// A decimal number, or a float once the numbers become too large to count exactly.
#[derive(Clone, Copy)]
pub(super) enum Decimal {
    Exact { digits: i128, exponent: i32 },
    Float(f64),
}

use Decimal::{Exact, Float};

/// Digits after the point in a quotient.
const PRECISION: i32 = 16;

fn power(exponent: i32) -> Option<i128> {
    10i128.checked_pow(u32::try_from(exponent).ok()?)
}

impl Decimal {
    /// The shortest decimal that reads as `number`.
    pub(super) fn from_float(number: f64) -> Self {
        let text = format!("{number:e}");
        let parsed = text.split_once('e').and_then(|(mantissa, exponent)| {
            let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let digits = mantissa.replace('.', "").parse().ok()?;
            let exponent = exponent.parse::<i32>().ok()? - i32::try_from(decimals).ok()?;
            Some(Exact { digits, exponent })
        });
        parsed.unwrap_or(Float(number))
    }

    /// The nearest float.
    pub(super) fn to_float(self) -> f64 {
        match self {
            Exact { digits, exponent } => format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN),
            Float(number) => number,
        }
    }

    /// Both numbers with one exponent.
    fn align(self, other: Self) -> Option<(i128, i128, i32)> {
        let (Exact { digits: a, exponent: x }, Exact { digits: b, exponent: y }) = (self, other) else {
            return None;
        };
        let exponent = x.min(y);
        Some((a.checked_mul(power(x - exponent)?)?, b.checked_mul(power(y - exponent)?)?, exponent))
    }

    pub(super) fn add(self, other: Self) -> Self {
        self.align(other)
            .and_then(|(a, b, exponent)| Some(Exact { digits: a.checked_add(b)?, exponent }))
            .unwrap_or_else(|| Float(self.to_float() + other.to_float()))
    }

    pub(super) fn subtract(self, other: Self) -> Self {
        self.align(other)
            .and_then(|(a, b, exponent)| Some(Exact { digits: a.checked_sub(b)?, exponent }))
            .unwrap_or_else(|| Float(self.to_float() - other.to_float()))
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        let exact = || {
            let (Exact { digits: a, exponent: x }, Exact { digits: b, exponent: y }) = (self, other) else {
                return None;
            };
            Some(Exact { digits: a.checked_mul(b)?, exponent: x.checked_add(y)? })
        };
        exact().unwrap_or_else(|| Float(self.to_float() * other.to_float()))
    }

    /// The quotient, rounded half away from zero; nothing when divided by zero.
    pub(super) fn divide(self, other: Self) -> Option<Self> {
        if other.to_float() == 0.0 {
            return None;
        }
        let exact = || {
            let (Exact { digits: a, exponent: x }, Exact { digits: b, exponent: y }) = (self, other) else {
                return None;
            };
            let shift = x - y + PRECISION;
            let (a, b) = if shift >= 0 {
                (a.checked_mul(power(shift)?)?, b)
            } else {
                (a, b.checked_mul(power(-shift)?)?)
            };
            let (quotient, remainder) = (a.checked_div(b)?, a.checked_rem(b)?);
            let away = remainder.checked_mul(2)?.checked_abs()? >= b.checked_abs()?;
            let digits = if !away {
                quotient
            } else if (a < 0) == (b < 0) {
                quotient.checked_add(1)?
            } else {
                quotient.checked_sub(1)?
            };
            Some(Exact { digits, exponent: -PRECISION })
        };
        Some(exact().unwrap_or_else(|| Float(self.to_float() / other.to_float())))
    }
}
