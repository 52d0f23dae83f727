//! Versions and ranges of versions, in the grammar that charts use.

use podsmith_gotemplate::semver::{Constraint, Version};

/// True if `text` is a semantic version, in the loose form that charts may use (`1`, `v1.2`).
pub fn is_valid(text: &str) -> bool {
    Version::parse(text).is_ok()
}

/// True if `version` is inside `range`; a broken range or version is never inside.
pub fn is_compatible(range: &str, version: &str) -> bool {
    match (Constraint::parse(range), Version::parse(version)) {
        (Ok(range), Ok(version)) => range.matches(&version),
        _ => false,
    }
}
