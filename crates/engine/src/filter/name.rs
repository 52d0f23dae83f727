//! By name. An object with only a `generateName` has the empty name.

use std::sync::Arc;

use podsmith_object::Object;
use regex::Regex;

use super::text_set;
use crate::Filter;

/// Keeps objects with one of these names. An empty list keeps nothing.
///
/// ```
/// use podsmith_engine::filter::name;
/// let filter = name::exact(["web", "db"]);
/// # let _ = filter;
/// ```
pub fn exact<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Arc<dyn Filter> {
    let wanted = text_set(names);
    Arc::new(move |object: &Object| wanted.contains(object.name()))
}

/// Keeps objects whose name starts with `prefix`.
///
/// ```
/// use podsmith_engine::filter::name;
/// let filter = name::prefix("web-");
/// # let _ = filter;
/// ```
pub fn prefix(prefix: impl Into<String>) -> Arc<dyn Filter> {
    let prefix = prefix.into();
    Arc::new(move |object: &Object| object.name().starts_with(&prefix))
}

/// Keeps objects whose name ends with `suffix`.
///
/// ```
/// use podsmith_engine::filter::name;
/// let filter = name::suffix("-canary");
/// # let _ = filter;
/// ```
pub fn suffix(suffix: impl Into<String>) -> Arc<dyn Filter> {
    let suffix = suffix.into();
    Arc::new(move |object: &Object| object.name().ends_with(&suffix))
}

/// Keeps objects in whose name the expression is found, anywhere; write `^…$` for the whole name.
///
/// ```
/// use podsmith_engine::filter::name;
/// let filter = name::regex("^web-[0-9]+$")?;
/// # let _ = filter;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the expression is not valid. There is no look-around.
pub fn regex(expression: &str) -> Result<Arc<dyn Filter>, regex::Error> {
    let regex = Regex::new(expression)?;
    Ok(Arc::new(move |object: &Object| regex.is_match(object.name())))
}
