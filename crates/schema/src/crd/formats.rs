//! The string formats a custom schema may ask for. Formats nobody knows are ignored.

/// Whether a text has a format.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => text.parse::<jiff::Timestamp>().is_ok(),
        "date" => text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10,
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "byte" => is_base64(text),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => is_uuid(format, text),
        "mac" => is_mac(text),
        "email" => is_email(text),
        "uri" => text.starts_with('/') || text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)),
        "hostname" => is_hostname(text),
        "duration" => is_duration(text),
        "k8s-short-name" => podsmith_object::names::dns_label(text).is_ok(),
        "k8s-long-name" => podsmith_object::names::dns_subdomain(text).is_ok(),
        _ => true,
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    match (address.parse::<std::net::IpAddr>(), bits.parse::<u8>()) {
        (Ok(address), Ok(bits)) => bits <= if address.is_ipv4() { 32 } else { 128 },
        _ => false,
    }
}

fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}

fn is_uuid(format: &str, text: &str) -> bool {
    let hex: Vec<u8> = text.bytes().filter(|b| *b != b'-').collect();
    let version = match format {
        "uuid3" => hex.get(12) == Some(&b'3'),
        "uuid4" => hex.get(12) == Some(&b'4'),
        "uuid5" => hex.get(12) == Some(&b'5'),
        _ => true,
    };
    hex.len() == 32 && hex.iter().all(u8::is_ascii_hexdigit) && version
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    matches!(parts.len(), 6 | 8 | 20)
        && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace) && !host.contains('@')
    })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// One label, or labels with a top-level name of two letters or more at the end.
fn is_hostname(text: &str) -> bool {
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let parts: Vec<&str> = text.split('.').collect();
    let top =
        parts.last().is_some_and(|last| last.chars().count() >= 2 && last.chars().all(char::is_alphabetic));
    text.len() <= 255 && parts.iter().all(|part| label(part)) && (parts.len() == 1 || top)
}

/// Lengths of time with units that people write: `1h30m`, `2 days`.
fn is_duration(text: &str) -> bool {
    const UNITS: [&str; 15] =
        ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano", "micro", "milli", "sec"];
    const WORDS: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    let known = |unit: &str| UNITS.contains(&unit) || WORDS.iter().any(|word| unit.starts_with(word));
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut rest = rest.trim_start();
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let after = rest.get(digits..).unwrap_or("").trim_start();
        let length = after.len() - after.trim_start_matches(char::is_alphabetic).len();
        if digits == 0 || !known(after.get(..length).unwrap_or("")) {
            return false;
        }
        parts += 1;
        rest = after.get(length..).unwrap_or("").trim_start();
    }
    parts > 0
}
