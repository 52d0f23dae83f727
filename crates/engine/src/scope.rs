//! Which kinds live in a namespace.

use std::collections::HashMap;

use podsmith_object::{Object, Value};

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster, outside every namespace.
    Cluster,
}

/// What is known about the scopes of kinds: the built-in kinds, and the custom ones learned from their definitions.
///
/// ```
/// use podsmith_engine::{Scope, Scopes};
/// use podsmith_object::{Object, json};
/// let mut scopes = Scopes::new();
/// assert_eq!(scopes.of("", "Namespace"), Some(Scope::Cluster));
/// assert_eq!(scopes.of("example.org", "Zone"), None);
/// let definition = json!({
///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "zones.example.org"},
///     "spec": {"group": "example.org", "scope": "Cluster", "names": {"kind": "Zone"}}
/// });
/// scopes.learn(&Object::from_value(definition)?);
/// assert_eq!(scopes.of("example.org", "Zone"), Some(Scope::Cluster));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    custom: HashMap<String, HashMap<String, Scope>>,
}

impl Scopes {
    /// The built-in kinds only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind, for example from a cluster's discovery.
    #[must_use]
    pub fn with(mut self, group: &str, kind: &str, scope: Scope) -> Self {
        self.insert(group, kind, scope);
        self
    }

    fn insert(&mut self, group: &str, kind: &str, scope: Scope) {
        self.custom.entry(group.to_owned()).or_default().insert(kind.to_owned(), scope);
    }

    /// Takes the scope from `object`, if it is a custom resource definition. True if it was one.
    pub fn learn(&mut self, object: &Object) -> bool {
        if object.kind() != "CustomResourceDefinition"
            || !object.api_version().starts_with("apiextensions.k8s.io/")
        {
            return false;
        }
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).unwrap_or("");
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        match text(&["spec", "scope"]) {
            "Cluster" => self.insert(group, kind, Scope::Cluster),
            // v1beta1 definitions may leave the scope out; it means the same.
            "Namespaced" | "" => self.insert(group, kind, Scope::Namespaced),
            _ => {}
        }
        true
    }

    /// Adds everything known to `other`.
    pub fn extend(&mut self, other: Self) {
        for (group, kinds) in other.custom {
            self.custom.entry(group).or_default().extend(kinds);
        }
    }

    /// `known`, and what the custom resource definitions among `objects` say.
    pub(crate) fn of_batch(known: &Self, objects: &[Object]) -> Self {
        let mut scopes = known.clone();
        for object in objects {
            scopes.learn(object);
        }
        scopes
    }

    /// The scope of a kind in any version, or `None` when nobody knows.
    pub fn of(&self, group: &str, kind: &str) -> Option<Scope> {
        if let Some(scope) = self.custom.get(group).and_then(|kinds| kinds.get(kind)) {
            return Some(*scope);
        }
        let cluster = is_cluster_scoped(group, kind)?;
        Some(if cluster { Scope::Cluster } else { Scope::Namespaced })
    }

    /// The scope of an object's kind.
    pub fn of_object(&self, object: &Object) -> Option<Scope> {
        let api_version = object.api_version();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        self.of(group, object.kind())
    }
}

/// The cluster-scoped built-in kinds by group. Every other kind of these groups lives in a namespace.
const CLUSTER_SCOPED: &[(&str, &[&str])] = &[
    ("", &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("apps", &[]),
    ("authentication.k8s.io", &["SelfSubjectReview", "TokenReview"]),
    ("authorization.k8s.io", &["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"]),
    ("autoscaling", &[]),
    ("batch", &[]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("coordination.k8s.io", &[]),
    ("discovery.k8s.io", &[]),
    ("events.k8s.io", &[]),
    ("extensions", &["PodSecurityPolicy"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("internal.apiserver.k8s.io", &["StorageVersion"]),
    ("networking.k8s.io", &["IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("policy", &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("resource.k8s.io", &["DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "storage.k8s.io",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
    ),
    ("storagemigration.k8s.io", &["StorageVersionMigration"]),
];

/// True or false for a built-in kind in any version, `None` for a group that Kubernetes does not ship.
fn is_cluster_scoped(group: &str, kind: &str) -> Option<bool> {
    let index = CLUSTER_SCOPED.binary_search_by(|(known, _)| (*known).cmp(group)).ok()?;
    CLUSTER_SCOPED.get(index).map(|(_, kinds)| kinds.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        assert!(CLUSTER_SCOPED.is_sorted_by_key(|(group, _)| *group));
    }

    #[test]
    fn built_in_groups_are_known_and_others_are_not() {
        let scopes = Scopes::new();
        for (group, kind, scope) in [
            ("", "Pod", Some(Scope::Namespaced)),
            ("", "Node", Some(Scope::Cluster)),
            ("apps", "Deployment", Some(Scope::Namespaced)),
            ("rbac.authorization.k8s.io", "Role", Some(Scope::Namespaced)),
            ("rbac.authorization.k8s.io", "ClusterRoleBinding", Some(Scope::Cluster)),
            ("storage.k8s.io", "CSIStorageCapacity", Some(Scope::Namespaced)),
            ("gateway.networking.k8s.io", "Gateway", None),
        ] {
            assert_eq!(scopes.of(group, kind), scope, "{group}/{kind}");
        }
    }

    #[test]
    fn a_definition_without_a_scope_is_namespaced_and_a_wrong_one_says_nothing() {
        let learn = |scope: Value| {
            let mut scopes = Scopes::new();
            let spec = podsmith_object::json!({"group": "g", "scope": scope, "names": {"kind": "K"}});
            let body = podsmith_object::json!({
                "apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition", "spec": spec,
            });
            scopes.learn(&Object::from_value(body).unwrap());
            scopes.of("g", "K")
        };
        assert_eq!(learn(Value::Null), Some(Scope::Namespaced));
        assert_eq!(learn(Value::from("Cluster")), Some(Scope::Cluster));
        assert_eq!(learn(Value::from("cluster")), None);
    }
}
