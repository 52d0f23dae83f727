//! Dates. There is no function for the present time: the same Podfile gives the same objects on every run.

use jiff::{SignedDuration, Timestamp};
use podsmith_object::Value;

use super::{Function, function, text_of};

pub(super) const FUNCTIONS: &[Function] = &[
    function("timeadd", 2, Some(2), "timeadd(timestamp, duration)", |_, a| {
        let duration = text_of(a, 1)?;
        let step: SignedDuration =
            duration.parse().map_err(|_| format!("`{duration}` is no duration such as 1h30m"))?;
        let sum = timestamp(&text_of(a, 0)?)?.checked_add(step).map_err(|error| error.to_string())?;
        Ok(sum.to_string().into())
    }),
    function("timecmp", 2, Some(2), "timecmp(timestamp, timestamp)", |_, a| {
        Ok(match timestamp(&text_of(a, 0)?)?.cmp(&timestamp(&text_of(a, 1)?)?) {
            std::cmp::Ordering::Less => -1,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => 1,
        }
        .into())
    }),
    function("formatdate", 2, Some(2), "formatdate(pattern, timestamp)", |_, a| {
        let pattern = text_of(a, 0)?;
        format_date(&pattern, timestamp(&text_of(a, 1)?)?).map(Value::from)
    }),
];

fn timestamp(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("`{text}` is no timestamp such as 2026-01-02T15:04:05Z"))
}

/// The letters of Terraform's `formatdate`; text in single quotes stands for itself.
fn format_date(pattern: &str, at: Timestamp) -> Result<String, String> {
    let zoned = at.to_zoned(jiff::tz::TimeZone::UTC);
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '\'' {
            out.extend(rest.by_ref().take_while(|c| *c != '\''));
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            out.push(letter);
            continue;
        }
        let mut run = String::from(letter);
        while let Some(same) = rest.next_if_eq(&letter) {
            run.push(same);
        }
        let directive = match run.as_str() {
            "YYYY" => "%Y",
            "YY" => "%y",
            "MMMM" => "%B",
            "MMM" => "%b",
            "MM" => "%m",
            "M" => "%-m",
            "DD" => "%d",
            "D" => "%-d",
            "EEEE" => "%A",
            "EEE" => "%a",
            "hh" => "%H",
            "h" => "%-H",
            "HH" => "%I",
            "H" => "%-I",
            "AA" => "%p",
            "aa" => "%P",
            "mm" => "%M",
            "m" => "%-M",
            "ss" => "%S",
            "s" => "%-S",
            "Z" => "Z",
            "ZZZZ" => "%z",
            "ZZZZZ" => "%:z",
            "T" => "T",
            other => return Err(format!("`{other}` is no part of a date; put plain text in single quotes")),
        };
        out.push_str(&zoned.strftime(directive).to_string());
    }
    Ok(out)
}
