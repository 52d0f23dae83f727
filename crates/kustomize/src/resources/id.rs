//! Group, version and kind with wildcards, and keys to find resources by identity.

use std::fmt;

use podsmith_object::GroupVersionKind;

/// Stands for the namespace of kinds that have none.
pub(crate) const NOT_NAMESPACED: &str = "_non_namespaceable_";

/// A type; in a field specification or selector an empty part means any.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Gvk {
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl Gvk {
    /// Splits at the first slash only, so that odd versions still find themselves again.
    pub(crate) fn of(api_version: &str, kind: &str) -> Self {
        let (group, version) = split_api_version(api_version);
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// True if every part of `selector` that is set equals ours.
    pub(crate) fn is_selected_by(&self, selector: &Self) -> bool {
        (selector.group.is_empty() || selector.group == self.group)
            && (selector.version.is_empty() || selector.version == self.version)
            && (selector.kind.is_empty() || selector.kind == self.kind)
    }

    /// Where the type stands when configuration is sorted: known kinds in a fixed order around all others.
    pub(crate) fn rank(&self) -> (i32, String) {
        let part =
            |text: &str, none: &'static str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
        let text =
            format!("{}_{}_{}", part(&self.group, "~G"), part(&self.version, "~V"), part(&self.kind, "~K"));
        (crate::transform::legacy_rank(&self.kind), text)
    }

    pub(crate) fn to_public(&self) -> GroupVersionKind {
        GroupVersionKind::new(self.group.as_str(), self.version.as_str(), self.kind.as_str())
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_public().fmt(f)
    }
}

pub(crate) fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Group, version, kind, effective namespace and name in one string, for hash maps.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct IdKey(String);

impl IdKey {
    pub(crate) fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let mut key =
            String::with_capacity(api_version.len() + kind.len() + namespace.len() + name.len() + 3);
        for (index, part) in [api_version, kind, namespace, name].into_iter().enumerate() {
            if index > 0 {
                key.push('\0');
            }
            key.push_str(part);
        }
        Self(key)
    }
}
