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
        "hostname" => {
            !text.is_empty()
                && text.len() <= 255
                && text.split('.').all(|part| {
                    (1..=63).contains(&part.len())
                        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                        && !part.starts_with('-')
                        && !part.ends_with('-')
                })
        }
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

fn is_duration(text: &str) -> bool {
    let units = ["ns", "us", "µs", "ms", "s", "m", "h", "d", "w"];
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
        let unit = after.get(..length).unwrap_or("");
        if digits == 0 || !units.contains(&unit) {
            return false;
        }
        parts += 1;
        rest = after.get(length..).unwrap_or("").trim_start();
    }
    parts > 0
}
