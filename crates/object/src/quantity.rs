//! Resource quantities: `500m`, `1Gi`, `1e3`.

use std::cmp::Ordering;
use std::fmt;

use thiserror::Error;

/// An exact amount, in units of 10⁻⁹.
///
/// ```
/// use podsmith_object::quantity::Quantity;
/// assert_eq!(Quantity::parse("1000m").unwrap(), Quantity::parse("1").unwrap());
/// assert_eq!(Quantity::parse("1Ki").unwrap().to_string(), "1Ki");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Format {
    Decimal,
    Binary,
    Exponent,
}

/// Text that is no quantity.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{0}` is no quantity: write a number with an optional suffix such as 500m, 2, 1.5Gi or 1e3")]
pub struct InvalidQuantity(pub String);

const NANO: i128 = 1_000_000_000;
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Reads a quantity. What is finer than 10⁻⁹ is rounded up, as Kubernetes does.
    ///
    /// # Errors
    ///
    /// When the text is no quantity.
    pub fn parse(text: &str) -> Result<Self, InvalidQuantity> {
        Self::read(text).ok_or_else(|| InvalidQuantity(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest.bytes().position(|b| !b.is_ascii_digit() && b != b'.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let mut digits: i128 = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            digits = digits.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
        }
        let scale = 9 - i32::try_from(fraction.len()).ok()?;
        let (nanos, format) = if let Some(index) = BINARY.iter().position(|known| *known == suffix) {
            let factor = 1i128.checked_shl(10 * (u32::try_from(index).ok()? + 1))?;
            (scaled(digits.checked_mul(factor)?, scale)?, Format::Binary)
        } else if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
            (scaled(digits, scale + exponent)?, Format::Decimal)
        } else {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (scaled(digits, scale.checked_add(exponent)?)?, Format::Exponent)
        };
        Some(Self { nanos: if negative { -nanos } else { nanos }, format })
    }

    /// The amount in whole units, rounded up.
    pub fn ceil(self) -> i128 {
        self.nanos.div_euclid(NANO) + i128::from(self.nanos.rem_euclid(NANO) != 0)
    }

    /// The amount in thousandths, rounded up.
    pub fn milli(self) -> i128 {
        const MICRO: i128 = 1_000_000;
        self.nanos.div_euclid(MICRO) + i128::from(self.nanos.rem_euclid(MICRO) != 0)
    }

    /// The sum; `None` past the range of the type.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self { nanos: self.nanos.checked_add(other.nanos)?, ..self })
    }

    /// The difference; `None` past the range of the type.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        Some(Self { nanos: self.nanos.checked_sub(other.nanos)?, ..self })
    }

    /// True below zero.
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }
}

/// `digits` times ten to the `power`, rounded away from zero.
fn scaled(digits: i128, power: i32) -> Option<i128> {
    let factor = 10i128.checked_pow(power.unsigned_abs());
    if power >= 0 {
        return digits.checked_mul(factor?);
    }
    let Some(factor) = factor else { return Some(i128::from(digits != 0)) };
    Some(digits / factor + i128::from(digits % factor != 0))
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}
impl Eq for Quantity {}
impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// The canonical form: the largest suffix that leaves a whole number, as the API server stores it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        if self.format == Format::Binary && self.nanos % NANO == 0 {
            let mut whole = self.nanos / NANO;
            let mut suffix = "";
            if whole.abs() >= 1024 {
                for next in BINARY {
                    if whole % 1024 != 0 {
                        break;
                    }
                    whole /= 1024;
                    suffix = next;
                }
            }
            return write!(f, "{whole}{suffix}");
        }
        let (mut amount, mut power) = (self.nanos, -9);
        while amount % 1000 == 0 && power < 18 {
            amount /= 1000;
            power += 3;
        }
        if self.format == Format::Exponent {
            return if power == 0 { write!(f, "{amount}") } else { write!(f, "{amount}e{power}") };
        }
        let suffix = DECIMAL.iter().find(|(_, known)| *known == power).map_or("", |(suffix, _)| suffix);
        write!(f, "{amount}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_equal_by_amount_and_print_canonically() {
        for (text, canonical) in [
            ("0", "0"),
            ("1", "1"),
            ("1000m", "1"),
            ("100m", "100m"),
            ("1.5", "1500m"),
            ("0.1", "100m"),
            ("1k", "1k"),
            ("1000", "1k"),
            ("1024", "1024"),
            ("1Ki", "1Ki"),
            ("1024Ki", "1Mi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("1E3", "1e3"),
            ("12e6", "12e6"),
            ("-1", "-1"),
            ("+2", "2"),
            ("1n", "1n"),
            ("0.1n", "1n"),
            ("1E", "1E"),
            (".5", "500m"),
            ("5.", "5"),
            ("100000000000", "100G"),
        ] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), canonical, "{text}");
        }
        for bad in [
            "",
            "x",
            "1x",
            "1.2.3",
            "Ki",
            "1 Ki",
            "1ki",
            "--1",
            ".",
            "1e",
            "99999999999999999999999999999999999999",
        ] {
            assert!(Quantity::parse(bad).is_err(), "{bad}");
        }
    }
}
