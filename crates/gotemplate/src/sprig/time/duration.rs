//! Go durations: `1h2m3.5s`.

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Nanoseconds of a Go duration, or Go's complaint.
pub(in crate::sprig) fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", crate::format::quote(text));
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0i64;
    while !rest.is_empty() {
        let length = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, after) = rest.split_at(length);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(invalid());
        }
        let unit_length = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, tail) = after.split_at(unit_length);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", crate::format::quote(text)));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            let (unit, text) = (crate::format::quote(unit), crate::format::quote(text));
            return Err(format!("time: unknown unit {unit} in duration {text}"));
        };
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let mut part = whole.checked_mul(*scale).ok_or_else(invalid)?;
        let mut step = *scale;
        for digit in fraction.bytes() {
            step /= 10;
            part = part.checked_add(i64::from(digit - b'0') * step).ok_or_else(invalid)?;
        }
        total = total.checked_add(part).ok_or_else(invalid)?;
        rest = tail;
    }
    Ok(if negative { -total } else { total })
}

/// Nanoseconds as Go prints a duration.
pub(in crate::sprig) fn format_duration(nanoseconds: i64) -> String {
    if nanoseconds == 0 {
        return "0s".to_owned();
    }
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let total = nanoseconds.unsigned_abs();
    let decimal = |value: u64, unit: u64| -> String {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", value % unit);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() || width == 0 {
            (value / unit).to_string()
        } else {
            format!("{}.{fraction}", value / unit)
        }
    };
    let body = match total {
        0..1_000 => format!("{total}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(total, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(total, 1_000_000)),
        _ => {
            let (hours, minutes) = (total / 3_600_000_000_000, total / 60_000_000_000 % 60);
            let seconds = decimal(total % 60_000_000_000, 1_000_000_000);
            match (hours, minutes) {
                (0, 0) => format!("{seconds}s"),
                (0, _) => format!("{minutes}m{seconds}s"),
                _ => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{body}")
}
