//! The name rules, in the words of the server. Each returns what is wrong; nothing means fine.

fn with_regex(text: &str, regex: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{text} (e.g. {} regex used for validation is '{regex}')", examples.join(" or ").trim_end())
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

fn is_label(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// A lower-case label: `my-name`.
pub(super) fn dns_label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push(too_long(63));
    }
    if !is_label(text) {
        // A name that would be a subdomain fails on its dots alone.
        if !text.is_empty() && text.split('.').all(is_label) && text.contains('.') {
            wrong.push("must not contain dots".to_owned());
        } else {
            wrong.push(with_regex(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
                LABEL,
                &["my-name", "123-abc"],
            ));
        }
    }
    wrong
}

/// Labels joined by dots: `example.com`.
pub(super) fn dns_subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push(too_long(253));
    }
    if !text.split('.').all(is_label) {
        wrong.push(with_regex(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            &format!("{LABEL}(\\.{LABEL})*"),
            &["example.com"],
        ));
    }
    wrong
}

/// A label that starts with a letter.
pub(super) fn dns_1035_label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push(too_long(63));
    }
    if !is_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        wrong.push(with_regex(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    wrong
}

/// A host name that may begin with `*.`.
pub(super) fn wildcard_subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push(too_long(253));
    }
    if !text.strip_prefix("*.").is_some_and(|rest| rest.split('.').all(is_label)) {
        wrong.push(with_regex(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
            &format!("\\*\\.{LABEL}(\\.{LABEL})*"),
            &["*.example.com"],
        ));
    }
    wrong
}

/// A name that is a segment of a path: no slash, no percent sign, no dots alone.
pub(super) fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    let mut wrong = Vec::new();
    for bad in ["/", "%"] {
        if text.contains(bad) {
            wrong.push(format!("may not contain '{bad}'"));
        }
    }
    wrong
}

fn is_qualified_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// The key of a label or annotation, a finalizer, a resource name.
pub(super) fn qualified_name(text: &str) -> Vec<String> {
    const RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    const REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
    const EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
    let mut wrong = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(dns_subdomain(prefix).into_iter().map(|text| format!("prefix part {text}")));
            }
            *name
        }
        _ => {
            let text = with_regex(&format!("a qualified name {RULE}"), REGEX, &EXAMPLES);
            return vec![format!(
                "{text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_qualified_part(name) {
        wrong.push(format!("name part {}", with_regex(RULE, REGEX, &EXAMPLES)));
    }
    wrong
}

/// The key of a label: a qualified name by another name.
pub(super) fn label_key(text: &str) -> Vec<String> {
    let wrong = qualified_name(text).into_iter();
    wrong.map(|text| text.replacen("a qualified name must", "a valid label key must", 1)).collect()
}

/// The value of a label.
pub(super) fn label_value(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !text.is_empty() && !is_qualified_part(text) {
        wrong.push(with_regex(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
            &["MyValue", "my_value", "12345"],
        ));
    }
    wrong
}

/// A key of a ConfigMap or Secret.
pub(super) fn config_key(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push(too_long(253));
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    {
        wrong.push(with_regex(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    if text == "." {
        wrong.push("must not be '.'".to_owned());
    } else if text == ".." {
        wrong.push("must not be '..'".to_owned());
    } else if text.starts_with("..") {
        wrong.push("must not start with '..'".to_owned());
    }
    wrong
}

/// The name of an environment variable.
pub(super) fn env_name(text: &str) -> Vec<String> {
    if text.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b'=') {
        return Vec::new();
    }
    vec![
        "a valid environment variable name must consist only of printable ASCII characters other than '='"
            .to_owned(),
    ]
}

/// A port number.
pub(super) fn port_number(port: i64) -> Vec<String> {
    if (1..=65535).contains(&port) {
        Vec::new()
    } else {
        vec!["must be between 1 and 65535, inclusive".to_owned()]
    }
}

/// The name of a port.
pub(super) fn port_name(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 15 {
        wrong.push(too_long(15));
    }
    if !text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|b| b.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        wrong.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        wrong.push("must not begin or end with a hyphen".to_owned());
    }
    wrong
}

/// A share such as `25%`.
pub(super) fn percent(text: &str) -> Vec<String> {
    let fits = text.strip_suffix('%').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    if fits {
        return Vec::new();
    }
    vec![with_regex(
        "a valid percent string must be a numeric string followed by an ending '%'",
        "[0-9]+%",
        &["1%", "93%"],
    )]
}

/// An address without leading zeros.
pub(super) fn ip_address(text: &str) -> Vec<String> {
    if text.parse::<std::net::IpAddr>().is_ok() {
        return Vec::new();
    }
    vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()]
}

/// The longest part of a generated name that is kept; what is checked of `generateName`.
pub(super) fn without_trailing_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) => format!("{rest}a"),
        None => text.to_owned(),
    }
}
