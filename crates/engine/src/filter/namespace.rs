//! By namespace. The empty string stands for objects without one, cluster-scoped or not.

use std::sync::Arc;

use podsmith_object::Object;

use super::text_set;
use crate::Filter;

/// Keeps objects of these namespaces. An empty list keeps nothing.
///
/// ```
/// use podsmith_engine::filter::namespace;
/// let filter = namespace::one_of(["shop", ""]);
/// # let _ = filter;
/// ```
pub fn one_of<S: Into<String>>(namespaces: impl IntoIterator<Item = S>) -> Arc<dyn Filter> {
    let wanted = text_set(namespaces);
    Arc::new(move |object: &Object| wanted.contains(object.namespace()))
}

/// Drops objects of these namespaces. An empty list keeps everything.
///
/// ```
/// use podsmith_engine::filter::namespace;
/// let filter = namespace::none_of(["kube-system"]);
/// # let _ = filter;
/// ```
pub fn none_of<S: Into<String>>(namespaces: impl IntoIterator<Item = S>) -> Arc<dyn Filter> {
    let unwanted = text_set(namespaces);
    Arc::new(move |object: &Object| !unwanted.contains(object.namespace()))
}
