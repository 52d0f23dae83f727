//! Lengths of time as tables show them.

use podsmith_object::Value;

use crate::clock;
use crate::fields;

/// The time since a moment: `3m20s`; `<unknown>` without one.
pub fn since(time: &str) -> String {
    if time.is_empty() {
        return "<unknown>".to_owned();
    }
    human(clock::seconds_since(time))
}

/// The age of an object.
pub fn of(object: &Value) -> Value {
    since(fields::text(object, &["metadata", "creationTimestamp"])).into()
}

/// Seconds in words: two units where the first is small, one where it is large.
pub fn human(seconds: i64) -> String {
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |large: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{small_unit}") }
    };
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        pair(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        pair(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if hours < 24 * 8 {
        pair(days, "d", hours % 24, "h")
    } else if days < 365 * 2 {
        format!("{days}d")
    } else if days < 365 * 8 {
        pair(days / 365, "y", days % 365, "d")
    } else {
        format!("{}y", days / 365)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (200, "3m20s"),
            (600, "10m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 60, "3h1m"),
            (9 * 3600, "9h"),
            (49 * 3600, "2d1h"),
            (9 * 86_400, "9d"),
            (800 * 86_400, "2y70d"),
            (-5, "<invalid>"),
        ] {
            assert_eq!(human(seconds), text);
        }
    }
}
