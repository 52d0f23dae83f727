//! Go's layouts: a format is the reference time `Mon Jan 2 15:04:05 MST 2006`, written as wanted.

use std::fmt::Write as _;

use jiff::Zoned;

use super::{day_name, month_name};

/// A piece of a layout.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Piece<'l> {
    Text(&'l str),
    LongMonth,
    Month,
    NumberMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    SpaceDay,
    ZeroDay,
    SpaceYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperAmPm,
    LowerAmPm,
    ZoneName,
    /// An offset: `Z` for zero, colons, seconds, minutes.
    Offset {
        z: bool,
        colons: bool,
        minutes: bool,
        seconds: bool,
    },
    /// Digits after the seconds: how many, and whether trailing zeros stay; with the mark before them.
    Fraction {
        digits: usize,
        zeros: bool,
        mark: char,
    },
}

/// Cuts a layout into pieces.
pub(super) fn pieces(layout: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut text_start = 0;
    let mut at = 0;
    while at < layout.len() {
        let Some((piece, length)) = piece_at(layout, at) else {
            at += layout[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        // `_2006` is a year after an underscore.
        let skip = usize::from(piece == Piece::LongYear && layout[at..].starts_with('_'));
        if text_start < at + skip {
            out.push(Piece::Text(&layout[text_start..at + skip]));
        }
        out.push(piece);
        at += length;
        text_start = at;
    }
    if text_start < layout.len() {
        out.push(Piece::Text(&layout[text_start..]));
    }
    out
}

fn piece_at(layout: &str, at: usize) -> Option<(Piece<'_>, usize)> {
    let rest = &layout[at..];
    let lower_after =
        |skip: usize| rest.get(skip..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_lowercase()));
    const FIXED: &[(&str, Piece<'static>)] = &[
        ("January", Piece::LongMonth),
        ("Monday", Piece::LongWeekday),
        ("MST", Piece::ZoneName),
        ("002", Piece::ZeroYearDay),
        ("01", Piece::ZeroMonth),
        ("02", Piece::ZeroDay),
        ("03", Piece::ZeroHour12),
        ("04", Piece::ZeroMinute),
        ("05", Piece::ZeroSecond),
        ("06", Piece::Year),
        ("15", Piece::Hour),
        ("1", Piece::NumberMonth),
        ("2006", Piece::LongYear),
        ("2", Piece::Day),
        ("_2006", Piece::LongYear),
        ("__2", Piece::SpaceYearDay),
        ("_2", Piece::SpaceDay),
        ("3", Piece::Hour12),
        ("4", Piece::Minute),
        ("5", Piece::Second),
        ("PM", Piece::UpperAmPm),
        ("pm", Piece::LowerAmPm),
        ("-070000", Piece::Offset { z: false, colons: false, minutes: true, seconds: true }),
        ("-07:00:00", Piece::Offset { z: false, colons: true, minutes: true, seconds: true }),
        ("-0700", Piece::Offset { z: false, colons: false, minutes: true, seconds: false }),
        ("-07:00", Piece::Offset { z: false, colons: true, minutes: true, seconds: false }),
        ("-07", Piece::Offset { z: false, colons: false, minutes: false, seconds: false }),
        ("Z070000", Piece::Offset { z: true, colons: false, minutes: true, seconds: true }),
        ("Z07:00:00", Piece::Offset { z: true, colons: true, minutes: true, seconds: true }),
        ("Z0700", Piece::Offset { z: true, colons: false, minutes: true, seconds: false }),
        ("Z07:00", Piece::Offset { z: true, colons: true, minutes: true, seconds: false }),
        ("Z07", Piece::Offset { z: true, colons: false, minutes: false, seconds: false }),
    ];
    if let Some((text, piece)) = FIXED.iter().find(|(text, _)| rest.starts_with(text)) {
        return Some((*piece, text.len()));
    }
    if rest.starts_with("Jan") && !lower_after(3) {
        return Some((Piece::Month, 3));
    }
    if rest.starts_with("Mon") && !lower_after(3) {
        return Some((Piece::Weekday, 3));
    }
    let mark = rest.chars().next().filter(|c| matches!(c, '.' | ','))?;
    let kind = rest[1..].chars().next().filter(|c| matches!(c, '0' | '9'))?;
    let digits = rest[1..].chars().take_while(|c| *c == kind).count();
    let followed = rest[1 + digits..].starts_with(|c: char| c.is_ascii_digit());
    (!followed).then_some((Piece::Fraction { digits, zeros: kind == '0', mark }, 1 + digits))
}

/// `zoned` in a layout.
pub(super) fn format(zoned: &Zoned, layout: &str) -> String {
    let mut out = String::new();
    for piece in pieces(layout) {
        write_piece(&mut out, zoned, piece);
    }
    out
}

fn write_piece(out: &mut String, zoned: &Zoned, piece: Piece<'_>) {
    let hour12 = match zoned.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let upper = if zoned.hour() < 12 { "AM" } else { "PM" };
    // Writing to a string cannot fail.
    let _ = match piece {
        Piece::Text(text) => write!(out, "{text}"),
        Piece::LongMonth => write!(out, "{}", month_name(zoned)),
        Piece::Month => write!(out, "{:.3}", month_name(zoned)),
        Piece::NumberMonth => write!(out, "{}", zoned.month()),
        Piece::ZeroMonth => write!(out, "{:02}", zoned.month()),
        Piece::LongWeekday => write!(out, "{}", day_name(zoned)),
        Piece::Weekday => write!(out, "{:.3}", day_name(zoned)),
        Piece::Day => write!(out, "{}", zoned.day()),
        Piece::SpaceDay => write!(out, "{:2}", zoned.day()),
        Piece::ZeroDay => write!(out, "{:02}", zoned.day()),
        Piece::SpaceYearDay => write!(out, "{:3}", zoned.day_of_year()),
        Piece::ZeroYearDay => write!(out, "{:03}", zoned.day_of_year()),
        Piece::Hour => write!(out, "{:02}", zoned.hour()),
        Piece::Hour12 => write!(out, "{hour12}"),
        Piece::ZeroHour12 => write!(out, "{hour12:02}"),
        Piece::Minute => write!(out, "{}", zoned.minute()),
        Piece::ZeroMinute => write!(out, "{:02}", zoned.minute()),
        Piece::Second => write!(out, "{}", zoned.second()),
        Piece::ZeroSecond => write!(out, "{:02}", zoned.second()),
        Piece::LongYear => write!(out, "{:04}", zoned.year()),
        Piece::Year => write!(out, "{:02}", zoned.year().rem_euclid(100)),
        Piece::UpperAmPm => write!(out, "{upper}"),
        Piece::LowerAmPm => write!(out, "{}", upper.to_ascii_lowercase()),
        Piece::ZoneName => write!(out, "{}", zone_name(zoned)),
        Piece::Offset { z, colons, minutes, seconds } => {
            write!(out, "{}", offset(zoned.offset().seconds(), z, colons, minutes, seconds))
        }
        Piece::Fraction { digits, zeros, mark } => {
            let all = format!("{:09}", zoned.subsec_nanosecond());
            let padded = format!("{all:0<digits$}");
            let mut shown = &padded[..digits.min(padded.len())];
            if !zeros {
                shown = shown.trim_end_matches('0');
            }
            if shown.is_empty() { Ok(()) } else { write!(out, "{mark}{shown}") }
        }
    };
}

fn offset(total: i32, z: bool, colons: bool, minutes: bool, seconds: bool) -> String {
    if z && total == 0 {
        return "Z".to_owned();
    }
    let sign = if total < 0 { '-' } else { '+' };
    let rest = total.abs();
    let colon = if colons { ":" } else { "" };
    let mut out = format!("{sign}{:02}", rest / 3600);
    if minutes {
        out += &format!("{colon}{:02}", rest / 60 % 60);
    }
    if seconds {
        out += &format!("{colon}{:02}", rest % 60);
    }
    out
}

fn zone_name(zoned: &Zoned) -> String {
    if zoned.time_zone().is_unknown() || zoned.time_zone() == &jiff::tz::TimeZone::UTC {
        return "UTC".to_owned();
    }
    let info = zoned.time_zone().to_offset_info(zoned.timestamp());
    let name = info.abbreviation();
    if name.starts_with(['+', '-']) || name.is_empty() {
        return match zoned.time_zone().iana_name() {
            Some(_) => name.to_owned(),
            None => offset(zoned.offset().seconds(), false, false, true, false),
        };
    }
    name.to_owned()
}
