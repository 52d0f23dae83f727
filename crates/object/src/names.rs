//! The name rules of Kubernetes.

use thiserror::Error;

/// Which rule a name breaks.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{name}` is no valid {rule}: {reason}")]
pub struct InvalidName {
    /// The name.
    pub name: String,
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong.
    pub reason: &'static str,
}

fn invalid(name: &str, rule: &'static str, reason: &'static str) -> InvalidName {
    InvalidName { name: name.to_owned(), rule, reason }
}

fn lower_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// RFC 1123 label: namespaces, most names of things that become host names.
///
/// # Errors
///
/// Says which rule is broken.
pub fn dns_label(name: &str) -> Result<(), InvalidName> {
    label(name, "DNS label", 63)
}

fn label(name: &str, rule: &'static str, longest: usize) -> Result<(), InvalidName> {
    let bytes = name.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return Err(invalid(name, rule, "it is empty"));
    };
    if bytes.len() > longest {
        return Err(invalid(name, rule, "it is too long (63 characters at most)"));
    }
    if !bytes.iter().all(|b| lower_alphanumeric(*b) || *b == b'-') {
        return Err(invalid(name, rule, "only lower case letters, digits and `-` are allowed"));
    }
    if !lower_alphanumeric(*first) || !lower_alphanumeric(*last) {
        return Err(invalid(name, rule, "it must start and end with a letter or digit"));
    }
    Ok(())
}

/// RFC 1035 label: Services. Like a DNS label, but it starts with a letter.
///
/// # Errors
///
/// Says which rule is broken.
pub fn service_name(name: &str) -> Result<(), InvalidName> {
    const RULE: &str = "Service name";
    label(name, RULE, 63)?;
    if !name.as_bytes()[0].is_ascii_lowercase() {
        return Err(invalid(name, RULE, "it must start with a letter"));
    }
    Ok(())
}

/// RFC 1123 subdomain: the names of most objects.
///
/// # Errors
///
/// Says which rule is broken.
pub fn dns_subdomain(name: &str) -> Result<(), InvalidName> {
    const RULE: &str = "DNS subdomain";
    if name.is_empty() {
        return Err(invalid(name, RULE, "it is empty"));
    }
    if name.len() > 253 {
        return Err(invalid(name, RULE, "it is too long (253 characters at most)"));
    }
    name.split('.')
        .try_for_each(|part| label(part, RULE, 253))
        .map_err(|error| InvalidName { name: name.to_owned(), ..error })
}

/// The key of a label or annotation: an optional `prefix/` and a name.
///
/// # Errors
///
/// Says which rule is broken.
pub fn qualified_name(name: &str) -> Result<(), InvalidName> {
    const RULE: &str = "label or annotation key";
    let part = match name.split_once('/') {
        None => name,
        Some((prefix, part)) => {
            dns_subdomain(prefix).map_err(|error| invalid(name, RULE, error.reason))?;
            part
        }
    };
    if part.is_empty() {
        return Err(invalid(name, RULE, "the part after the prefix is empty"));
    }
    qualified_part(part).map_err(|reason| invalid(name, RULE, reason))
}

/// The value of a label: empty, or like a key without prefix.
///
/// # Errors
///
/// Says which rule is broken.
pub fn label_value(value: &str) -> Result<(), InvalidName> {
    if value.is_empty() {
        return Ok(());
    }
    qualified_part(value).map_err(|reason| invalid(value, "label value", reason))
}

fn qualified_part(part: &str) -> Result<(), &'static str> {
    let bytes = part.as_bytes();
    if bytes.len() > 63 {
        return Err("it is too long (63 characters at most)");
    }
    if !bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
        return Err("only letters, digits, `-`, `_` and `.` are allowed");
    }
    let edges = [bytes.first(), bytes.last()];
    if edges.into_iter().flatten().all(|b| b.is_ascii_alphanumeric()) {
        Ok(())
    } else {
        Err("it must start and end with a letter or digit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_kubernetes_rules() {
        for good in ["a", "a-b", "0a", &"x".repeat(63)] {
            assert_eq!(dns_label(good), Ok(()), "{good}");
        }
        for bad in ["", "A", "-a", "a-", "a.b", "a_b", &"x".repeat(64)] {
            assert!(dns_label(bad).is_err(), "{bad}");
        }
        assert!(service_name("0a").is_err());
        assert!(dns_subdomain("a.b-c.d").is_ok());
        assert!(dns_subdomain("a..b").is_err());
        assert!(qualified_name("app.kubernetes.io/name").is_ok());
        assert!(qualified_name("a/b/c").is_err());
        assert!(qualified_name("/x").is_err());
        assert!(label_value("").is_ok());
        assert!(label_value("a b").is_err());
    }
}
