//! By exact group, version and kind.

use std::sync::Arc;

use std::collections::HashMap;

use podsmith_object::{GroupVersionKind, Object};

use crate::Filter;

/// Keeps objects whose group, version and kind are all in the list. An empty list keeps nothing.
///
/// ```
/// use podsmith_engine::filter::gvk;
/// use podsmith_object::GroupVersionKind;
/// let filter = gvk::one_of([GroupVersionKind::new("apps", "v1", "Deployment")]);
/// # let _ = filter;
/// ```
pub fn one_of(wanted: impl IntoIterator<Item = GroupVersionKind>) -> Arc<dyn Filter> {
    // Grouped by kind and compared as text: no object needs an owned identity to be tested.
    let mut by_kind: HashMap<String, Vec<String>> = HashMap::new();
    for gvk in wanted {
        by_kind.entry(gvk.kind.to_string()).or_default().push(gvk.api_version());
    }
    Arc::new(move |object: &Object| {
        by_kind
            .get(object.kind())
            .is_some_and(|versions| versions.iter().any(|version| version == object.api_version()))
    })
}
