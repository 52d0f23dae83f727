//! By labels.

use std::sync::Arc;

use podsmith_object::Object;
use podsmith_object::selector::{InvalidSelector, Selector};

use super::{has_entries, matches_entries, text_entry};
use crate::Filter;
use crate::lookup::entries;

/// Keeps objects that have every one of these labels, with any value. An empty list keeps everything.
///
/// ```
/// use podsmith_engine::filter::labels;
/// let filter = labels::has(["app", "tier"]);
/// # let _ = filter;
/// ```
pub fn has<S: Into<String>>(keys: impl IntoIterator<Item = S>) -> Arc<dyn Filter> {
    has_entries("labels", keys)
}

/// Keeps objects that have every one of these labels with exactly this value. An empty list keeps everything.
///
/// ```
/// use podsmith_engine::filter::labels;
/// let filter = labels::matches([("app", "web"), ("tier", "front")]);
/// # let _ = filter;
/// ```
pub fn matches<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Arc<dyn Filter> {
    matches_entries("labels", pairs)
}

/// Keeps objects that a Kubernetes label selector matches. The empty selector keeps everything; `!=` and `notin` also
/// match objects without the label.
///
/// ```
/// use podsmith_engine::filter::labels;
/// let filter = labels::selector("app=web,tier in (front, back),!legacy")?;
/// # let _ = filter;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the selector is not valid.
pub fn selector(text: &str) -> Result<Arc<dyn Filter>, InvalidSelector> {
    let selector = Selector::parse(text)?;
    Ok(Arc::new(move |object: &Object| {
        let labels = entries(object, "labels");
        selector.matches(|key| labels.and_then(|labels| text_entry(labels, key)))
    }))
}
