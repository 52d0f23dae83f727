//! Labels of the object itself. Pod templates and selectors are not touched.

use std::sync::Arc;

use super::entries::{Edit, EditEntries};
use crate::Transformer;

/// Sets these labels. Others stay, whatever their type.
///
/// ```
/// use podsmith_engine::transformer::labels;
/// let transformer = labels::set([("team", "web")]);
/// # let _ = transformer;
/// ```
pub fn set<K: Into<String>, V: Into<String>>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Arc<dyn Transformer> {
    let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    Arc::new(EditEntries { field: "labels", edit: Edit::Set(pairs) })
}

/// Removes these labels. Removing the last one leaves an empty mapping.
///
/// ```
/// use podsmith_engine::transformer::labels;
/// let transformer = labels::remove(["old"]);
/// # let _ = transformer;
/// ```
pub fn remove<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Arc<dyn Transformer> {
    Arc::new(EditEntries { field: "labels", edit: Edit::Remove(keys.into_iter().map(Into::into).collect()) })
}

/// Removes every label whose key and value `unwanted` names.
///
/// ```
/// use podsmith_engine::transformer::labels;
/// let transformer = labels::remove_if(|key, _value| key.starts_with("tmp/"));
/// # let _ = transformer;
/// ```
pub fn remove_if(unwanted: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Arc<dyn Transformer> {
    Arc::new(EditEntries { field: "labels", edit: Edit::RemoveIf(Box::new(unwanted)) })
}
