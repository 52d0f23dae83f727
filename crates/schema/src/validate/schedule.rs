//! Cron schedules.

/// The bounds of the five fields.
const FIELDS: [(u32, u32); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Says what is wrong with a schedule.
pub(super) fn check(text: &str) -> Result<(), String> {
    let text = match text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest.trim()),
        None => text,
    };
    if let Some(name) = text.strip_prefix('@') {
        return descriptor(text, name);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 5 {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    fields
        .iter()
        .zip(FIELDS)
        .enumerate()
        .try_for_each(|(at, (field, bounds))| field.split(',').try_for_each(|part| range(part, bounds, at)))
}

fn descriptor(text: &str, name: &str) -> Result<(), String> {
    match name {
        "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly" => Ok(()),
        _ if name.starts_with("every ") => Ok(()),
        _ => Err(format!("unrecognized descriptor: {text}")),
    }
}

fn range(part: &str, (low, high): (u32, u32), field: usize) -> Result<(), String> {
    let pieces: Vec<&str> = part.split('/').collect();
    let ends: Vec<&str> = pieces.first().map(|first| first.split('-').collect()).unwrap_or_default();
    let (start, mut end);
    match ends.as_slice() {
        ["*" | "?"] => (start, end) = (low, high),
        [only] => {
            start = number(only, field)?;
            end = start;
            if pieces.len() > 1 {
                end = high;
            }
        }
        [first, last] => {
            start = number(first, field)?;
            end = number(last, field)?;
        }
        _ => return Err(format!("too many hyphens: {part}")),
    }
    let step = match pieces.as_slice() {
        [_] => 1,
        [_, step] => step.parse::<u32>().map_err(|_| bad_number(step))?,
        _ => return Err(format!("too many slashes: {part}")),
    };
    if start < low {
        return Err(format!("beginning of range ({start}) below minimum ({low}): {part}"));
    }
    if end > high {
        return Err(format!("end of range ({end}) above maximum ({high}): {part}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {part}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    Ok(())
}

fn number(text: &str, field: usize) -> Result<u32, String> {
    let names: &[&str] = match field {
        3 => &MONTHS,
        4 => &DAYS,
        _ => &[],
    };
    if let Some(at) = names.iter().position(|name| name.eq_ignore_ascii_case(text)) {
        let first = if field == 3 { 1 } else { 0 };
        return Ok(u32::try_from(at).unwrap_or(0) + first);
    }
    text.parse().map_err(|_| bad_number(text))
}

fn bad_number(text: &str) -> String {
    format!(
        "failed to parse int from {text}: strconv.Atoi: parsing {}: invalid syntax",
        crate::gotext::quoted(text)
    )
}
