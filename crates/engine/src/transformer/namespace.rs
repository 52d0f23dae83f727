//! Namespaces, with respect for the scope of kinds.
//!
//! A cluster-scoped object never gets a namespace, unless it is forced. Scopes come from the built-in kinds and from
//! the custom resource definitions in the same batch; a kind that nobody knows counts as namespaced, as in Kustomize.

use std::sync::Arc;

use podsmith_object::Object;

use crate::{BoxError, Context, Scope, Transformer};

/// Which objects a namespace is written on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reach {
    /// Those that live in a namespace.
    #[default]
    Namespaced,
    /// All, cluster-scoped ones too.
    Forced,
}

/// Sets the namespace of namespaced objects; the empty string removes it.
///
/// ```
/// use podsmith_engine::transformer::namespace;
/// let transformer = namespace::set("shop");
/// # let _ = transformer;
/// ```
pub fn set(namespace: impl Into<String>) -> Arc<dyn Transformer> {
    set_with(namespace, Reach::Namespaced)
}

/// [`set`] with a choice of which objects it reaches.
///
/// ```
/// use podsmith_engine::transformer::namespace::{Reach, set_with};
/// let transformer = set_with("shop", Reach::Forced);
/// # let _ = transformer;
/// ```
pub fn set_with(namespace: impl Into<String>, reach: Reach) -> Arc<dyn Transformer> {
    Arc::new(Set { namespace: namespace.into(), reach, only_if_unset: false })
}

/// Sets the namespace of namespaced objects that have none.
///
/// ```
/// use podsmith_engine::transformer::namespace;
/// let transformer = namespace::set_default("shop");
/// # let _ = transformer;
/// ```
pub fn set_default(namespace: impl Into<String>) -> Arc<dyn Transformer> {
    set_default_with(namespace, Reach::Namespaced)
}

/// [`set_default`] with a choice of which objects it reaches.
///
/// ```
/// use podsmith_engine::transformer::namespace::{Reach, set_default_with};
/// let transformer = set_default_with("shop", Reach::Namespaced);
/// # let _ = transformer;
/// ```
pub fn set_default_with(namespace: impl Into<String>, reach: Reach) -> Arc<dyn Transformer> {
    Arc::new(Set { namespace: namespace.into(), reach, only_if_unset: true })
}

struct Set {
    namespace: String,
    reach: Reach,
    only_if_unset: bool,
}

impl Transformer for Set {
    fn transform(&self, mut object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        let reached = match self.reach {
            Reach::Forced => true,
            Reach::Namespaced => context.scopes().of_object(&object) != Some(Scope::Cluster),
        };
        if reached && (!self.only_if_unset || object.namespace().is_empty()) {
            object.set_namespace(&self.namespace);
        }
        Ok(object)
    }

    fn asks_for_scopes(&self) -> bool {
        self.reach == Reach::Namespaced
    }
}
