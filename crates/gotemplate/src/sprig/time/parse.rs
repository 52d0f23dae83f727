//! Reads times in Go's layouts.

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

use super::layout::{Piece, pieces};
use super::{DAYS, MONTHS};
use crate::format::quote;

/// What was read so far.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: i64,
    pm: Option<bool>,
    offset: Option<i32>,
    utc: bool,
}

/// Reads `text` in `layout`; a text without a zone is in `zone`.
pub(super) fn parse(layout: &str, text: &str, zone: TimeZone) -> Result<Zoned, String> {
    let mut fields = Fields {
        year: 0,
        month: 1,
        day: 1,
        year_day: None,
        hour: 0,
        minute: 0,
        second: 0,
        nanosecond: 0,
        pm: None,
        offset: None,
        utc: false,
    };
    let mut rest = text;
    let list = pieces(layout);
    for (index, piece) in list.iter().enumerate() {
        let wrong = || {
            let wanted = show(*piece);
            format!(
                "parsing time {} as {}: cannot parse {} as {}",
                quote(text),
                quote(layout),
                quote(rest),
                quote(&wanted)
            )
        };
        rest = read(&mut fields, *piece, rest).ok_or_else(wrong)?;
        // A fraction of a second is read even if the layout has none.
        let fraction_follows = matches!(list.get(index + 1), Some(Piece::Fraction { .. }));
        if matches!(piece, Piece::Second | Piece::ZeroSecond) && !fraction_follows {
            let digits = rest
                .strip_prefix(['.', ','])
                .map_or(0, |tail| tail.bytes().take_while(u8::is_ascii_digit).count());
            if digits > 0 {
                fields.nanosecond = nanoseconds(&rest[1..=digits]);
                rest = &rest[1 + digits..];
            }
        }
    }
    if !rest.is_empty() {
        let reason = format!("parsing time {}: extra text: {}", quote(text), quote(rest));
        return Err(reason);
    }
    let out_of_range = |what: &str| format!("parsing time {}: {what} out of range", quote(text));
    let checks = [
        (fields.month, 1, 12, "month"),
        (fields.hour, 0, 23, "hour"),
        (fields.minute, 0, 59, "minute"),
        (fields.second, 0, 59, "second"),
    ];
    for (value, least, most, what) in checks {
        if !(least..=most).contains(&value) {
            return Err(out_of_range(what));
        }
    }
    build(&fields, zone).ok_or_else(|| out_of_range("day"))
}

fn show(piece: Piece<'_>) -> String {
    match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::LongYear => "2006".to_owned(),
        Piece::Year => "06".to_owned(),
        Piece::ZeroMonth => "01".to_owned(),
        Piece::ZeroDay => "02".to_owned(),
        Piece::Hour => "15".to_owned(),
        Piece::ZeroMinute => "04".to_owned(),
        Piece::ZeroSecond => "05".to_owned(),
        Piece::Month => "Jan".to_owned(),
        other => format!("{other:?}"),
    }
}

fn build(fields: &Fields, zone: TimeZone) -> Option<Zoned> {
    let hour = match (fields.pm, fields.hour) {
        (Some(true), hour) if hour < 12 => hour + 12,
        (Some(false), 12) => 0,
        (_, hour) => hour,
    };
    let small =
        |number: i64, most: i64| (0..=most).contains(&number).then(|| i8::try_from(number).ok()).flatten();
    let year = i16::try_from(fields.year).ok()?;
    let date = match fields.year_day {
        Some(day) => {
            Date::new(year, 1, 1).ok()?.checked_add(jiff::Span::new().try_days(day - 1).ok()?).ok()?
        }
        None => Date::new(year, small(fields.month, 12)?, small(fields.day, 31)?).ok()?,
    };
    let nanosecond = i32::try_from(fields.nanosecond).ok()?;
    let time = date.at(small(hour, 23)?, small(fields.minute, 59)?, small(fields.second, 59)?, nanosecond);
    let zone = match fields.offset {
        _ if fields.utc => TimeZone::UTC,
        None => zone,
        Some(seconds) => {
            let offset = Offset::from_seconds(seconds).ok()?;
            // The zone of this machine keeps its name if the offset fits.
            let local = time.to_zoned(zone.clone()).ok()?;
            if local.offset() == offset { zone } else { TimeZone::fixed(offset) }
        }
    };
    time.to_zoned(zone).ok()
}

fn nanoseconds(digits: &str) -> i64 {
    let padded: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    padded.parse().unwrap_or(0)
}

fn number<'t>(text: &'t str, least: usize, most: usize, into: &mut i64) -> Option<&'t str> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return None;
    }
    *into = text[..count].parse().ok()?;
    Some(&text[count..])
}

fn name<'t>(text: &'t str, names: &[&str], short: bool, into: &mut i64) -> Option<&'t str> {
    for (index, name) in names.iter().enumerate() {
        let name = if short { &name[..3] } else { name };
        if text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)) {
            *into = i64::try_from(index).unwrap_or(0) + 1;
            return Some(&text[name.len()..]);
        }
    }
    None
}

/// Literal text; a run of spaces matches any run of spaces.
fn literal<'t>(mut text: &'t str, mut pattern: &str) -> Option<&'t str> {
    while let Some(c) = pattern.chars().next() {
        if c == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return None;
            }
            pattern = pattern.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(c)?;
        pattern = &pattern[c.len_utf8()..];
    }
    Some(text)
}

fn read<'t>(fields: &mut Fields, piece: Piece<'_>, text: &'t str) -> Option<&'t str> {
    match piece {
        Piece::Text(pattern) => literal(text, pattern),
        Piece::LongMonth => name(text, &MONTHS, false, &mut fields.month),
        Piece::Month => name(text, &MONTHS, true, &mut fields.month),
        Piece::NumberMonth => number(text, 1, 2, &mut fields.month),
        Piece::ZeroMonth => number(text, 2, 2, &mut fields.month),
        Piece::LongWeekday => name(text, &DAYS, false, &mut 0),
        Piece::Weekday => name(text, &DAYS, true, &mut 0),
        Piece::Day => number(text, 1, 2, &mut fields.day),
        Piece::SpaceDay => number(text.strip_prefix(' ').unwrap_or(text), 1, 2, &mut fields.day),
        Piece::ZeroDay => number(text, 2, 2, &mut fields.day),
        Piece::SpaceYearDay | Piece::ZeroYearDay => {
            let mut day = 0;
            let rest = number(text.trim_start_matches(' '), 1, 3, &mut day)?;
            fields.year_day = Some(day);
            Some(rest)
        }
        Piece::Hour => number(text, 1, 2, &mut fields.hour),
        Piece::Hour12 => number(text, 1, 2, &mut fields.hour),
        Piece::ZeroHour12 => number(text, 2, 2, &mut fields.hour),
        Piece::Minute => number(text, 1, 2, &mut fields.minute),
        Piece::ZeroMinute => number(text, 2, 2, &mut fields.minute),
        Piece::Second => number(text, 1, 2, &mut fields.second),
        Piece::ZeroSecond => number(text, 2, 2, &mut fields.second),
        Piece::LongYear => number(text, 4, 4, &mut fields.year),
        Piece::Year => {
            let rest = number(text, 2, 2, &mut fields.year)?;
            fields.year += if fields.year >= 69 { 1900 } else { 2000 };
            Some(rest)
        }
        Piece::UpperAmPm | Piece::LowerAmPm => {
            let head = text.get(..2)?;
            fields.pm = Some(match head {
                "PM" | "pm" => true,
                "AM" | "am" => false,
                _ => return None,
            });
            Some(&text[2..])
        }
        Piece::ZoneName => {
            let length = text.bytes().take(5).take_while(u8::is_ascii_uppercase).count();
            if length < 3 {
                return None;
            }
            match &text[..length] {
                "UTC" | "GMT" => fields.utc = true,
                _ => fields.offset = fields.offset.or(Some(0)),
            }
            Some(&text[length..])
        }
        Piece::Offset { z, colons, minutes, seconds } => {
            if z && let Some(rest) = text.strip_prefix('Z') {
                fields.utc = true;
                return Some(rest);
            }
            let negative = text.starts_with('-');
            let mut rest = text.strip_prefix(['+', '-'])?;
            let mut total = 0;
            let mut part = 0;
            for (wanted, factor) in [(true, 3600), (minutes, 60), (seconds, 1)] {
                if wanted {
                    if factor < 3600 && colons {
                        rest = rest.strip_prefix(':')?;
                    }
                    rest = number(rest, 2, 2, &mut part)?;
                    total += part * factor;
                }
            }
            let total = i32::try_from(total).ok()?;
            fields.offset = Some(if negative { -total } else { total });
            Some(rest)
        }
        Piece::Fraction { digits, zeros, .. } => {
            let after = text.strip_prefix(['.', ',']);
            let found = after.map_or(0, |after| after.bytes().take_while(u8::is_ascii_digit).count());
            if !zeros && found == 0 {
                return Some(text);
            }
            if zeros && found != digits {
                return None;
            }
            fields.nanosecond = nanoseconds(&text[1..=found]);
            Some(&text[1 + found..])
        }
    }
}
