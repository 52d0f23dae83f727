//! Times and durations as Go prints, reads and adds them.

mod duration;
mod layout;
mod parse;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use podsmith_object::Value as Json;

use crate::native::Native;
use crate::value::{IntKind, Value};

pub(super) use duration::{format_duration, parse_duration};

/// A `time.Time`.
#[derive(Clone)]
pub(super) struct GoTime(pub Zoned);

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl GoTime {
    /// The time that Go has when it has none.
    pub(super) fn zero() -> Self {
        let civil = jiff::civil::date(1, 1, 1).at(0, 0, 0, 0);
        Self(civil.to_zoned(TimeZone::UTC).unwrap_or_default())
    }

    /// A point in time, in a zone.
    pub(super) fn at(timestamp: Timestamp, zone: TimeZone) -> Self {
        Self(timestamp.to_zoned(zone))
    }

    /// Seconds since 1970.
    pub(super) fn from_unix(seconds: i64) -> Self {
        Self::at(Timestamp::from_second(seconds).unwrap_or_default(), TimeZone::UTC)
    }

    /// The time in a zone by its name; an unknown name is UTC.
    pub(super) fn in_zone(&self, name: &str) -> Self {
        let zone = match name {
            "" | "UTC" => TimeZone::UTC,
            "Local" => TimeZone::system(),
            other => TimeZone::get(other).unwrap_or(TimeZone::UTC),
        };
        Self(self.0.with_time_zone(zone))
    }

    /// The time some nanoseconds later.
    pub(super) fn plus(&self, nanoseconds: i64) -> Self {
        let later = self.0.checked_add(SignedDuration::from_nanos(nanoseconds));
        Self(later.unwrap_or_else(|_| self.0.clone()))
    }

    /// The time in a Go layout.
    pub(super) fn format(&self, layout: &str) -> String {
        layout::format(&self.0, layout)
    }

    /// Reads `text` in a Go layout. A text without a zone is in `zone`.
    pub(super) fn parse(layout: &str, text: &str, zone: TimeZone) -> Result<Self, String> {
        parse::parse(layout, text, zone).map(Self)
    }

    fn add_date(&self, years: i64, months: i64, days: i64) -> Self {
        let total = i64::from(self.0.year()) * 12 + i64::from(self.0.month()) - 1 + years * 12 + months;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        let first = i16::try_from(year).ok().zip(i8::try_from(month).ok());
        // Days past the end of a month flow into the next one, as in Go.
        let moved =
            first.and_then(|(year, month)| jiff::civil::Date::new(year, month, 1).ok()).and_then(|date| {
                let days = days.checked_add(i64::from(self.0.day()) - 1)?;
                date.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
            });
        let zoned =
            moved.and_then(|date| date.to_datetime(self.0.time()).to_zoned(self.0.time_zone().clone()).ok());
        Self(zoned.unwrap_or_else(|| self.0.clone()))
    }
}

fn month_name(zoned: &Zoned) -> &'static str {
    usize::try_from(zoned.month() - 1).ok().and_then(|index| MONTHS.get(index)).copied().unwrap_or("")
}

fn day_name(zoned: &Zoned) -> &'static str {
    let index = zoned.weekday().to_sunday_zero_offset();
    usize::try_from(index).ok().and_then(|index| DAYS.get(index)).copied().unwrap_or("")
}

impl Native for GoTime {
    fn type_name(&self) -> &str {
        "time.Time"
    }

    fn field(&self, _: &str) -> Option<Value> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let zoned = &self.0;
        let integer = |number: i64| Value::int(number);
        let value = match (name, arguments) {
            ("Format", [Value::String(layout)]) => self.format(layout).into(),
            ("String", []) => self.print().into(),
            ("Unix", []) => Value::int64(zoned.timestamp().as_second()),
            ("UnixMilli", []) => Value::int64(zoned.timestamp().as_millisecond()),
            ("UnixNano", []) => {
                Value::int64(i64::try_from(zoned.timestamp().as_nanosecond()).unwrap_or(i64::MAX))
            }
            ("Year", []) => integer(zoned.year().into()),
            ("Month", []) => month_name(zoned).into(),
            ("Day", []) => integer(zoned.day().into()),
            ("Weekday", []) => day_name(zoned).into(),
            ("YearDay", []) => integer(zoned.day_of_year().into()),
            ("Hour", []) => integer(zoned.hour().into()),
            ("Minute", []) => integer(zoned.minute().into()),
            ("Second", []) => integer(zoned.second().into()),
            ("Nanosecond", []) => integer(zoned.subsec_nanosecond().into()),
            ("UTC", []) => Value::native(self.in_zone("UTC")),
            ("Local", []) => Value::native(self.in_zone("Local")),
            ("IsZero", []) => (zoned.timestamp() == Self::zero().0.timestamp()).into(),
            (
                "AddDate",
                [
                    Value::Int(years, IntKind::Int),
                    Value::Int(months, IntKind::Int),
                    Value::Int(days, IntKind::Int),
                ],
            ) => Value::native(self.add_date(*years, *months, *days)),
            ("Before" | "After" | "Equal", [Value::Native(other)]) => {
                let any: &dyn std::any::Any = &**other;
                let other = any.downcast_ref::<Self>()?;
                let order = zoned.timestamp().cmp(&other.0.timestamp());
                match name {
                    "Before" => order.is_lt().into(),
                    "After" => order.is_gt().into(),
                    _ => order.is_eq().into(),
                }
            }
            _ => return None,
        };
        Some(Ok(value))
    }

    fn print(&self) -> String {
        self.format("2006-01-02 15:04:05.999999999 -0700 MST")
    }

    fn to_json(&self) -> Json {
        Json::from(self.format("2006-01-02T15:04:05.999999999Z07:00"))
    }
}
