//! Filters: which objects to keep.
//!
//! Several filters in one list must all keep an object. [`or`], [`and`], [`not`] and [`if_then`] combine them in other
//! ways, to any depth.
//!
//! ```
//! use podsmith_engine::filter::{and, kind, name, namespace, not, or};
//! let filter = or([
//!     and([namespace::one_of(["production"]), kind::one_of(["Deployment"])?]),
//!     not(name::regex("^tmp-")?),
//! ]);
//! # let _ = filter;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod annotations;
mod combine;
pub mod gvk;
pub mod jq;
pub mod kind;
pub mod labels;
pub mod name;
pub mod namespace;

use std::collections::HashSet;
use std::sync::Arc;

use podsmith_object::{Map, Object, Value};

use crate::lookup::{entries, field};
use crate::{BoxError, Context, Outcome};

pub use combine::{and, if_then, not, or, shared};

/// Decides whether to keep an object.
///
/// A closure from `&Object` to `bool` or `Result<bool, E>` is a filter:
///
/// ```
/// use podsmith_engine::Filter;
/// use podsmith_object::Object;
/// fn takes(_: impl Filter) {}
/// takes(|object: &Object| object.kind() == "Deployment");
/// takes(|object: &Object| object.name().parse::<u8>().map(|number| number > 3));
/// ```
pub trait Filter: Send + Sync {
    /// True to keep the object.
    ///
    /// # Errors
    ///
    /// When the filter cannot decide. The render stops.
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError>;
}

impl<F, R> Filter for F
where
    F: Fn(&Object) -> R + Send + Sync,
    R: Outcome<bool>,
{
    fn keep(&self, object: &Object, _: &Context<'_>) -> Result<bool, BoxError> {
        self(object).into_outcome()
    }
}

impl<T: Filter + ?Sized> Filter for Arc<T> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        (**self).keep(object, context)
    }
}

impl Filter for Box<dyn Filter> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        (**self).keep(object, context)
    }
}

fn text_set<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> HashSet<String> {
    texts.into_iter().map(Into::into).collect()
}

/// A label or annotation is there whatever its value is, so that a number does not hide a key.
fn has_entries<S: Into<String>>(name: &'static str, keys: impl IntoIterator<Item = S>) -> Arc<dyn Filter> {
    let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
    Arc::new(move |object: &Object| {
        let entries = entries(object, name);
        keys.iter().all(|key| entries.is_some_and(|entries| field(entries, key).is_some()))
    })
}

fn matches_entries<K: Into<String>, V: Into<String>>(
    name: &'static str,
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Arc<dyn Filter> {
    let pairs: Vec<(String, String)> = pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
    Arc::new(move |object: &Object| {
        let entries = entries(object, name);
        pairs.iter().all(|(key, wanted)| entries.and_then(|entries| text_entry(entries, key)) == Some(wanted))
    })
}

/// One label or annotation: null reads as "", and what is no string as absent.
fn text_entry<'m>(entries: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    match field(entries, key)? {
        Value::String(text) => Some(text),
        Value::Null => Some(""),
        _ => None,
    }
}
