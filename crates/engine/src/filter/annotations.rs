//! By annotations.

use std::sync::Arc;

use super::{has_entries, matches_entries};
use crate::Filter;

/// Keeps objects that have every one of these annotations, with any value. An empty list keeps everything.
///
/// ```
/// use podsmith_engine::filter::annotations;
/// let filter = annotations::has(["example.org/owner"]);
/// # let _ = filter;
/// ```
pub fn has<S: Into<String>>(keys: impl IntoIterator<Item = S>) -> Arc<dyn Filter> {
    has_entries("annotations", keys)
}

/// Keeps objects that have every one of these annotations with exactly this value. An empty list keeps everything.
///
/// ```
/// use podsmith_engine::filter::annotations;
/// let filter = annotations::matches([("example.org/owner", "web")]);
/// # let _ = filter;
/// ```
pub fn matches<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Arc<dyn Filter> {
    matches_entries("annotations", pairs)
}
