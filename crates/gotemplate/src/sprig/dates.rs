//! Dates.

use jiff::tz::TimeZone;

use super::time::{GoTime, format_duration, parse_duration};
use crate::args::{Table, any, text};
use crate::error::CallError;
use crate::function::Parameter::{Any as A, Native, String as S};
use crate::render::Renderer;
use crate::value::{IntKind, Value};

const T: crate::function::Parameter = Native("time.Time");

pub(super) const TABLE: Table = &[
    ("now", &[], None, |r, _| Ok(Value::native(GoTime::at(r.now(), local(r))))),
    ("ago", &[A], None, |r, a| {
        let then = match any(a, 0) {
            Value::Int(seconds, IntKind::Int | IntKind::Int64) => GoTime::from_unix(*seconds),
            other => time(other).unwrap_or_else(|| GoTime::at(r.now(), local(r))),
        };
        let elapsed = r.now().as_nanosecond() - then.0.timestamp().as_nanosecond();
        let second = 1_000_000_000;
        let half = if elapsed < 0 { -second / 2 } else { second / 2 };
        let rounded = (elapsed + half) / second * second;
        Ok(format_duration(i64::try_from(rounded).unwrap_or(i64::MAX)).into())
    }),
    ("date", &[S, A], None, |r, a| Ok(date(r, &text(a, 0), any(a, 1), "Local"))),
    ("dateInZone", &[S, A, S], None, |r, a| Ok(date(r, &text(a, 0), any(a, 1), &text(a, 2)))),
    ("date_in_zone", &[S, A, S], None, |r, a| Ok(date(r, &text(a, 0), any(a, 1), &text(a, 2)))),
    ("htmlDate", &[A], None, |r, a| Ok(date(r, "2006-01-02", any(a, 0), "Local"))),
    ("htmlDateInZone", &[A, S], None, |r, a| Ok(date(r, "2006-01-02", any(a, 0), &text(a, 1)))),
    ("dateModify", &[S, T], None, |_, a| Ok(modify(a).unwrap_or_else(|_| any(a, 1).clone()))),
    ("date_modify", &[S, T], None, |_, a| Ok(modify(a).unwrap_or_else(|_| any(a, 1).clone()))),
    ("mustDateModify", &[S, T], None, |_, a| modify(a)),
    ("must_date_modify", &[S, T], None, |_, a| modify(a)),
    ("duration", &[A], None, |_, a| {
        let seconds = match any(a, 0) {
            Value::String(text) => text.parse().unwrap_or(0),
            Value::Int(seconds, IntKind::Int64) => *seconds,
            _ => 0i64,
        };
        Ok(format_duration(seconds.wrapping_mul(1_000_000_000)).into())
    }),
    ("durationRound", &[A], None, |r, a| Ok(round(duration_of(r, any(a, 0))).into())),
    ("toDate", &[S, S], None, |r, a| {
        let parsed = GoTime::parse(&text(a, 0), &text(a, 1), local(r));
        Ok(Value::native(parsed.unwrap_or_else(|_| GoTime::zero())))
    }),
    ("mustToDate", &[S, S], None, |r, a| {
        GoTime::parse(&text(a, 0), &text(a, 1), local(r)).map(Value::native).map_err(CallError::from)
    }),
    ("unixEpoch", &[T], None, |_, a| {
        Ok(time(any(a, 0)).map_or(0, |time| time.0.timestamp().as_second()).to_string().into())
    }),
];

/// A reproducible render does not depend on the zone of the machine either.
fn local(renderer: &Renderer<'_>) -> TimeZone {
    if renderer.random.is_seeded() { TimeZone::UTC } else { TimeZone::system() }
}

fn time(value: &Value) -> Option<GoTime> {
    let Value::Native(native) = value else { return None };
    let any: &dyn std::any::Any = &**native;
    any.downcast_ref::<GoTime>().cloned()
}

fn date(renderer: &Renderer<'_>, layout: &str, value: &Value, zone: &str) -> Value {
    let moment = match value {
        Value::Int(seconds, IntKind::Int | IntKind::Int64 | IntKind::Int32) => GoTime::from_unix(*seconds),
        other => time(other).unwrap_or_else(|| GoTime::at(renderer.now(), TimeZone::UTC)),
    };
    let zone = if zone == "Local" && renderer.random.is_seeded() { "UTC" } else { zone };
    moment.in_zone(zone).format(layout).into()
}

fn modify(a: &[Value]) -> Result<Value, CallError> {
    let nanoseconds = parse_duration(&text(a, 0))?;
    Ok(time(any(a, 1)).map_or(Value::Nil, |time| Value::native(time.plus(nanoseconds))))
}

fn duration_of(renderer: &Renderer<'_>, value: &Value) -> i64 {
    match value {
        Value::String(text) => parse_duration(text).unwrap_or(0),
        Value::Int(nanoseconds, IntKind::Int64) => *nanoseconds,
        other => time(other).map_or(0, |time| {
            let elapsed = renderer.now().as_nanosecond() - time.0.timestamp().as_nanosecond();
            i64::try_from(elapsed).unwrap_or(i64::MAX)
        }),
    }
}

/// The largest unit that fits more than once: `2y`, `3mo`, `5h`.
fn round(nanoseconds: i64) -> String {
    const SECOND: u64 = 1_000_000_000;
    const HOUR: u64 = 3600 * SECOND;
    let total = nanoseconds.unsigned_abs();
    let units = [
        (24 * 365 * HOUR, "y"),
        (24 * 30 * HOUR, "mo"),
        (24 * HOUR, "d"),
        (HOUR, "h"),
        (60 * SECOND, "m"),
        (SECOND, "s"),
    ];
    units
        .iter()
        .find(|(unit, _)| total > *unit)
        .map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", total / unit))
}

/// A TOML date as the time that Go reads it as.
pub(crate) fn time_from_toml(written: &str) -> Value {
    let layouts = [
        "2006-01-02T15:04:05Z07:00",
        "2006-01-02 15:04:05Z07:00",
        "2006-01-02T15:04:05",
        "2006-01-02",
        "15:04:05",
    ];
    let found = layouts.iter().find_map(|layout| GoTime::parse(layout, written, TimeZone::UTC).ok());
    found.map_or_else(|| Value::from(written), Value::native)
}
