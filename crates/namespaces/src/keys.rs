//! The labels and annotations that steer everything, under one prefix.

use std::sync::Arc;

/// The prefix of a new installation.
pub const DEFAULT_PREFIX: &str = "innu.cybozu.com";

/// The prefix of Accurate, for taking over an existing installation.
pub const ACCURATE_PREFIX: &str = "accurate.cybozu.com";

/// Marks sub-namespaces and copies, for people and for selectors. It decides nothing.
pub const CREATED_BY: &str = "app.kubernetes.io/created-by";

/// All keys under one prefix.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Keys {
    /// The prefix, which is the API group of SubNamespace too.
    pub prefix: Arc<str>,
    /// Namespace label: `root` or `template`.
    pub kind: String,
    /// Namespace label: the template of an instance.
    pub template: String,
    /// Namespace label: the parent of a sub-namespace.
    pub parent: String,
    /// Annotation of a resource: `create` or `update`.
    pub propagate: String,
    /// Annotation of a copy: the namespace it was copied from.
    pub from: String,
    /// Annotation of an owner: the mode of what it owns.
    pub propagate_generated: String,
    /// Annotation by which Accurate remembers that an owner was looked at. We never write it.
    pub generated: String,
    /// Finalizer of SubNamespaces.
    pub finalizer: String,
    /// Namespace annotation on the top of a tree: deletes are not held back.
    pub confirm_deletes: String,
    /// Namespace annotation on the top of a tree: deletes of namespaces with children are allowed.
    pub allow_cascade: String,
    /// Value of [`CREATED_BY`].
    pub creator: String,
    /// Field manager of our writes; what it owns in a namespace is what we may take away again.
    pub manager: String,
}

impl Keys {
    /// The keys under `prefix`.
    pub fn new(prefix: &str) -> Self {
        let key = |name: &str| format!("{prefix}/{name}");
        let creator = prefix.split('.').next().unwrap_or(prefix).to_owned();
        Self {
            kind: key("type"),
            template: key("template"),
            parent: key("parent"),
            propagate: key("propagate"),
            from: key("from"),
            propagate_generated: key("propagate-generated"),
            generated: key("generated"),
            finalizer: key("finalizer"),
            confirm_deletes: key("confirm-deletes"),
            allow_cascade: key("allow-cascading-deletion"),
            manager: format!("{creator}-controller"),
            creator,
            prefix: Arc::from(prefix),
        }
    }

    /// The keys that no inheritance may touch: the ones with a meaning here, and whatever else has the prefix.
    pub fn reserved(&self) -> [&str; 9] {
        [
            &self.kind,
            &self.template,
            &self.parent,
            &self.propagate,
            &self.from,
            &self.propagate_generated,
            &self.generated,
            &self.confirm_deletes,
            &self.allow_cascade,
        ]
    }

    /// True for a key under the prefix or a subdomain of it.
    pub fn is_ours(&self, key: &str) -> bool {
        key.split_once('/').is_some_and(|(domain, _)| {
            domain == &*self.prefix
                || domain.strip_suffix(&*self.prefix).is_some_and(|head| head.ends_with('.'))
        })
    }
}

impl Default for Keys {
    fn default() -> Self {
        Self::new(DEFAULT_PREFIX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accurate_keeps_its_own_names() {
        let keys = Keys::new(ACCURATE_PREFIX);
        assert_eq!(keys.parent, "accurate.cybozu.com/parent");
        assert_eq!(keys.finalizer, "accurate.cybozu.com/finalizer");
        assert_eq!((keys.creator.as_str(), keys.manager.as_str()), ("accurate", "accurate-controller"));
    }

    #[test]
    fn keys_under_the_prefix_are_ours() {
        let keys = Keys::default();
        assert!(keys.is_ours("innu.cybozu.com/anything"));
        assert!(keys.is_ours("internal.innu.cybozu.com/conditions"));
        assert!(!keys.is_ours("xinnu.cybozu.com/parent"));
        assert!(!keys.is_ours("innu.cybozu.com"));
    }
}
