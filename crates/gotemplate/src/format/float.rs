//! Floats as Go's strconv prints them.

/// The shortest decimal digits of a finite number, and the place of the decimal point: 0.d1d2… × 10^point.
struct Digits {
    negative: bool,
    digits: String,
    point: i32,
}

fn split(scientific: &str) -> Digits {
    let (negative, rest) = scientific.strip_prefix('-').map_or((false, scientific), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
    let mut digits = mantissa.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let kept = digits.trim_end_matches('0').len();
    digits.truncate(kept);
    if digits.is_empty() {
        return Digits { negative, digits, point: 0 };
    }
    Digits { negative, digits, point }
}

fn not_finite(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number.is_infinite() {
        Some(if number > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

impl Digits {
    fn shortest(number: f64) -> Self {
        split(&format!("{number:e}"))
    }

    /// `d.ddde±xx` with `decimals` digits after the point.
    fn exponential(&self, decimals: usize, letter: char) -> String {
        let mut out = String::new();
        if self.negative {
            out.push('-');
        }
        let mut digits = self.digits.chars();
        out.push(digits.next().unwrap_or('0'));
        if decimals > 0 {
            out.push('.');
            out.extend(digits.chain(std::iter::repeat('0')).take(decimals));
        }
        let exponent = if self.digits.is_empty() { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("{letter}{sign}{:02}", exponent.abs()));
        out
    }

    /// `ddd.ddd` with `decimals` digits after the point.
    fn plain(&self, decimals: usize) -> String {
        let mut out = String::new();
        if self.negative {
            out.push('-');
        }
        let digit = |place: i32| -> char {
            usize::try_from(place).ok().and_then(|place| self.digits.chars().nth(place)).unwrap_or('0')
        };
        if self.point > 0 {
            out.extend((0..self.point).map(digit));
        } else {
            out.push('0');
        }
        if decimals > 0 {
            out.push('.');
            let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
            out.extend((0..decimals).map(|place| digit(self.point + place)));
        }
        out
    }

    /// The `%g` form. `precision` is `None` for the shortest.
    fn general(&self, precision: Option<usize>, threshold: i32, letter: char) -> String {
        let count = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        let mut limit = precision.map_or(threshold, |p| i32::try_from(p).unwrap_or(i32::MAX));
        if precision.is_some() && limit > count && count >= self.point {
            limit = count;
        }
        let exponent = self.point - 1;
        if !self.digits.is_empty() && (exponent < -4 || exponent >= limit) {
            return self.exponential(self.digits.len().saturating_sub(1), letter);
        }
        self.plain(usize::try_from(count - self.point).unwrap_or(0))
    }
}

/// `%v`: the shortest form; from a million up with an exponent (`1e+06`), as Helm users know it.
pub(crate) fn shortest_general(number: f64) -> String {
    general(number, None, 'e')
}

/// `%g` with digits or, without, the shortest form.
pub(crate) fn general(number: f64, precision: Option<usize>, letter: char) -> String {
    if let Some(text) = not_finite(number) {
        return text.to_owned();
    }
    match precision {
        None => Digits::shortest(number).general(None, 6, letter),
        Some(precision) => {
            let precision = precision.max(1);
            split(&format!("{number:.*e}", precision - 1)).general(Some(precision), 0, letter)
        }
    }
}

/// `%e`.
pub(crate) fn exponential(number: f64, precision: Option<usize>, letter: char) -> String {
    if let Some(text) = not_finite(number) {
        return text.to_owned();
    }
    match precision {
        None => {
            let digits = Digits::shortest(number);
            digits.exponential(digits.digits.len().saturating_sub(1), letter)
        }
        Some(precision) => split(&format!("{number:.precision$e}")).exponential(precision, letter),
    }
}

/// `%f` with a number of decimals.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    not_finite(number).map_or_else(|| format!("{number:.decimals$}"), str::to_owned)
}

/// The shortest form without an exponent.
pub(crate) fn shortest(number: f64) -> String {
    not_finite(number).map_or_else(|| format!("{number}"), str::to_owned)
}

/// A float as encoding/json prints it: an exponent only below 1e-6 and from 1e21.
pub(crate) fn json_float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = exponential(number, None, 'e');
        // JSON writes e-09 as e-9.
        return match text.split_once("e-0") {
            Some((mantissa, exponent)) => format!("{mantissa}e-{exponent}"),
            None => text,
        };
    }
    shortest(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_go() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (999_999.0, "999999"),
            (1_000_000.0, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e21, "1e+21"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(shortest_general(number), expected);
        }
        assert_eq!(general(100_000.0, Some(3), 'e'), "1e+05");
        assert_eq!(general(1.0, Some(3), 'e'), "1");
        assert_eq!(json_float(1e-9), "1e-9");
        assert_eq!(json_float(1e21), "1e+21");
        assert_eq!(json_float(1_000_000.0), "1000000");
    }
}
