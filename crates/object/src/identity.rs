//! Which object is meant: group, version, kind, namespace and name.

use std::fmt;
use std::sync::Arc;

use crate::{Map, Value};

/// The type of an object.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct GroupVersionKind {
    /// API group; empty for the core group.
    pub group: Arc<str>,
    /// API version within the group.
    pub version: Arc<str>,
    /// Kind, in CamelCase.
    pub kind: Arc<str>,
}

impl GroupVersionKind {
    /// A type from its three parts.
    pub fn new(group: impl Into<Arc<str>>, version: impl Into<Arc<str>>, kind: impl Into<Arc<str>>) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Splits `apiVersion` at its slash. An `apiVersion` with two slashes has no meaning and yields an empty group
    /// and version, as the Kubernetes libraries do.
    pub fn from_api_version(api_version: &str, kind: &str) -> Self {
        match api_version.split_once('/') {
            None => Self::new("", api_version, kind),
            Some((_, version)) if version.contains('/') => Self::default(),
            Some((group, version)) => Self::new(group, version, kind),
        }
    }

    /// `group/version`, or only the version for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        write!(f, "{}/{}", self.version, self.kind)
    }
}

/// The full identity of one object.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct ObjectId {
    /// Type of the object.
    pub gvk: GroupVersionKind,
    /// Namespace; empty when the object has none.
    pub namespace: Arc<str>,
    /// Name; empty for an object that only has `generateName`.
    pub name: Arc<str>,
}

impl ObjectId {
    /// An identity from its parts.
    pub fn new(gvk: GroupVersionKind, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { gvk, namespace: namespace.into(), name: name.into() }
    }

    /// The identity as it stands under `object` in every JSON output.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("apiVersion".into(), Value::from(self.gvk.api_version()));
        out.insert("kind".into(), Value::from(self.gvk.kind.as_ref()));
        if !self.namespace.is_empty() {
            out.insert("namespace".into(), Value::from(self.namespace.as_ref()));
        }
        out.insert("name".into(), Value::from(self.name.as_ref()));
        Value::Object(out)
    }
}

/// `Deployment shop/web`, with the group for kinds outside the well-known groups: `Certificate.cert-manager.io shop/web`.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.gvk.kind)?;
        let group = &*self.gvk.group;
        let well_known =
            matches!(group, "" | "apps" | "batch" | "policy" | "autoscaling") || group.ends_with(".k8s.io");
        if !well_known {
            write!(f, ".{group}")?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(if self.name.is_empty() { "(no name)" } else { &self.name })
    }
}
