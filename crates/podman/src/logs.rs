//! The log files that conmon writes, and ours in the same form.
//!
//! A line is `TIME STREAM P|F TEXT`: `P` is a part of a long line, `F` its end. conmon keeps writing whatever happens
//! to us, so nothing is lost when a supervisor dies. Rotation renames the file and asks conmon to open a new one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// The word in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// One line of a log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Line {
    /// Unix time in nanoseconds.
    pub time: i128,
    /// Where it was written.
    pub stream: Stream,
    /// The text without its line break.
    pub text: String,
}

/// Reads the log at `path` with its rotated files, oldest first.
///
/// # Errors
///
/// A file cannot be read. A missing file is an empty log.
pub fn read(path: &Path) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for file in files(path)? {
        match File::open(&file) {
            Ok(file) => read_into(BufReader::new(file), &mut lines)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lines)
}

fn read_into(reader: impl BufRead, lines: &mut Vec<Line>) -> io::Result<()> {
    let mut part: Option<Line> = None;
    for raw in reader.split(b'\n') {
        let raw = raw?;
        let text = String::from_utf8_lossy(&raw);
        let Some((line, whole)) = parse(&text) else { continue };
        let joined = match part.take() {
            Some(mut before) if before.stream == line.stream => {
                before.text.push_str(&line.text);
                before
            }
            Some(before) => {
                lines.push(before);
                line
            }
            None => line,
        };
        if whole {
            lines.push(joined);
        } else {
            part = Some(joined);
        }
    }
    lines.extend(part);
    Ok(())
}

fn parse(text: &str) -> Option<(Line, bool)> {
    let (time, rest) = text.split_once(' ')?;
    let (stream, rest) = rest.split_once(' ')?;
    let (tag, body) = rest.split_once(' ').unwrap_or((rest, ""));
    let stream = match stream {
        "stdout" => Stream::Stdout,
        "stderr" => Stream::Stderr,
        _ => return None,
    };
    Some((Line { time: parse_time(time)?, stream, text: body.to_owned() }, tag != "P"))
}

/// Days since 1970-01-01 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Reads `2026-01-02T03:04:05.123456789+01:00` as Unix nanoseconds.
fn parse_time(text: &str) -> Option<i128> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let date = days(number(0..4)?, number(5..7)?, number(8..10)?);
    let seconds = date * 86_400 + number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
    let rest = text.get(19..)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
    };
    let nanos: i128 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let offset = match zone.as_bytes().first() {
        Some(sign @ (b'+' | b'-')) => {
            let minutes = zone.get(1..3)?.parse::<i64>().ok()? * 60 + zone.get(4..6)?.parse::<i64>().ok()?;
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => 0,
    };
    Some(i128::from(seconds - offset * 60) * 1_000_000_000 + nanos)
}

/// Writes a Unix time in nanoseconds as RFC 3339 in UTC.
pub fn format_time(nanos: i128) -> String {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or(0);
    let fraction = nanos.rem_euclid(1_000_000_000);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let date = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{fraction:09}+00:00")
}

/// Appends one line in the form of the log.
///
/// # Errors
///
/// The file cannot be written.
pub fn append(path: &Path, line: &Line) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    let time = format_time(line.time);
    let mut text = String::new();
    for part in line.text.lines() {
        text.push_str(&format!("{time} {} F {part}\n", line.stream.as_str()));
    }
    file.write_all(text.as_bytes())
}

/// The rotated files of a log and the log itself, oldest first.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = rotated(path)?;
    found.push(path.to_owned());
    Ok(found)
}

/// The rotated files of a log, oldest first: `NAME.UNIXTIME`, or `NAME.UNIXTIME-N` for more than one in a second.
fn rotated(path: &Path) -> io::Result<Vec<PathBuf>> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default() + ".";
    let parent =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(u64, u64, PathBuf)> = Vec::new();
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(suffix) = file.strip_prefix(&name) else { continue };
        let (time, number) = suffix.split_once('-').unwrap_or((suffix, "0"));
        if let (Ok(time), Ok(number)) = (time.parse(), number.parse()) {
            found.push((time, number, entry.path()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, _, path)| path).collect())
}

/// Bounds of one log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// A file larger than this is rotated.
    pub bytes: u64,
    /// So many rotated files are kept.
    pub files: usize,
}

/// True if the file at `path` has outgrown its bound.
pub fn is_full(path: &Path, bounds: Bounds) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > bounds.bytes)
}

/// Renames a full log and removes the oldest beyond the bound. `conmon` is the directory of the writer's control
/// pipe; without it the next writer opens a new file by itself.
///
/// # Errors
///
/// A file cannot be renamed or removed, or the control pipe cannot be written.
pub fn rotate(path: &Path, bounds: Bounds, unix_time: u64, conmon: Option<&Path>) -> io::Result<()> {
    let mut target = PathBuf::from(format!("{}.{unix_time}", path.display()));
    let mut number = 0;
    while target.exists() {
        number += 1;
        target = PathBuf::from(format!("{}.{unix_time}-{number}", path.display()));
    }
    std::fs::rename(path, &target)?;
    if let Some(directory) = conmon {
        // Message 2 of conmon's control pipe: open the log again. The pipe is never waited for: a dead conmon reads
        // nothing.
        use rustix::fs::{Mode, OFlags};
        let pipe = rustix::fs::open(
            directory.join("ctl"),
            OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
            Mode::empty(),
        );
        match pipe {
            Ok(pipe) => File::from(pipe).write_all(b"2 0 0\n")?,
            Err(rustix::io::Errno::NXIO | rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let old = rotated(path)?;
    for file in old.iter().take(old.len().saturating_sub(bounds.files)) {
        std::fs::remove_file(file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip() {
        for text in [
            "1970-01-01T00:00:00.000000000+00:00",
            "2026-11-15T16:49:44.695102161+00:00",
            "2000-02-29T23:59:59.000000001+00:00",
        ] {
            assert_eq!(format_time(parse_time(text).unwrap()), text);
        }
        assert_eq!(parse_time("2026-01-01T01:00:00+01:00"), parse_time("2026-01-01T00:00:00Z"));
    }

    #[test]
    fn parts_are_joined_and_rotated_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        std::fs::write(&path, "2026-01-01T00:00:00Z stdout P ab\n2026-01-01T00:00:00Z stdout F c\nrubbish\n")
            .unwrap();
        rotate(&path, Bounds { bytes: 1, files: 2 }, 5, None).unwrap();
        std::fs::write(&path, "2026-01-01T00:00:01Z stderr F \n").unwrap();
        let lines = read(&path).unwrap();
        assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["abc", ""]);
    }

    #[test]
    fn the_oldest_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        for time in [9, 10, 10, 11] {
            std::fs::write(&path, format!("2026-01-01T00:00:00Z stdout F {time}\n")).unwrap();
            rotate(&path, Bounds { bytes: 1, files: 2 }, time, None).unwrap();
        }
        let kept: Vec<_> = read(&path).unwrap().into_iter().map(|line| line.text).collect();
        assert_eq!(kept, ["10", "11"]);
    }
}
