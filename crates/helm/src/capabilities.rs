//! What the cluster can do, as far as templates may ask.

use thiserror::Error;

/// The Kubernetes version and the API versions that templates see as `.Capabilities`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Capabilities {
    /// The version of Kubernetes.
    pub kube_version: KubeVersion,
    /// `group/version`, and `group/version/Kind` where that is known.
    pub api_versions: Vec<String>,
}

/// A Kubernetes version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KubeVersion {
    /// `v1.36.3`
    pub version: String,
    /// `1`
    pub major: String,
    /// `36`
    pub minor: String,
}

/// A text that is no Kubernetes version.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("`{text}` is not a Kubernetes version such as 1.36 or v1.36.3")]
pub struct InvalidKubeVersion {
    /// The text.
    pub text: String,
}

impl KubeVersion {
    /// Parses `1.36`, `v1.36.3` or `v1.36.3-gke.1`; what follows the numbers is dropped.
    ///
    /// ```
    /// use podsmith_helm::KubeVersion;
    /// assert_eq!(KubeVersion::parse("1.29.3-eks").unwrap().version, "v1.29.3");
    /// ```
    ///
    /// # Errors
    ///
    /// When there are fewer than two numbers.
    pub fn parse(text: &str) -> Result<Self, InvalidKubeVersion> {
        let invalid = || InvalidKubeVersion { text: text.to_owned() };
        let body = text.trim_start();
        let body = body.strip_prefix('v').unwrap_or(body);
        let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
        let mut numbers = Vec::new();
        for number in body[..end].split('.') {
            // A dot that no digit follows belongs to what is dropped.
            if number.is_empty() {
                break;
            }
            if numbers.is_empty() && number.len() > 1 && number.starts_with('0') {
                return Err(invalid());
            }
            numbers.push(number.parse::<u64>().map_err(|_| invalid())?.to_string());
        }
        let [major, minor, ..] = numbers.as_slice() else { return Err(invalid()) };
        let (major, minor) = (major.clone(), minor.clone());
        Ok(Self { version: format!("v{}", numbers.join(".")), major, minor })
    }
}

/// The API versions that charts may rely on when no cluster is asked.
const DEFAULT_API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

impl Default for Capabilities {
    /// Kubernetes 1.36 with the API versions that Helm assumes.
    fn default() -> Self {
        Self {
            kube_version: KubeVersion {
                version: "v1.36.3".to_owned(),
                major: "1".to_owned(),
                minor: "36".to_owned(),
            },
            api_versions: DEFAULT_API_VERSIONS.iter().map(|text| (*text).to_owned()).collect(),
        }
    }
}

impl Capabilities {
    /// The same with another Kubernetes version.
    #[must_use]
    pub fn with_kube_version(mut self, version: KubeVersion) -> Self {
        self.kube_version = version;
        self
    }

    /// The same with more API versions.
    #[must_use]
    pub fn with_api_versions<S: Into<String>>(mut self, more: impl IntoIterator<Item = S>) -> Self {
        self.api_versions.extend(more.into_iter().map(Into::into));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_versions_are_read_loosely() {
        for (text, expected) in [
            ("1.36", Some("v1.36")),
            ("v1.36.3", Some("v1.36.3")),
            ("1.21.5+k3s1", Some("v1.21.5")),
            (" 1.21.0-rc.1", Some("v1.21.0")),
            ("1.2.3.4", Some("v1.2.3.4")),
            ("1.022", Some("v1.22")),
            ("1", None),
            ("01.2", None),
            ("x", None),
            ("", None),
        ] {
            let found = KubeVersion::parse(text).map(|v| v.version).ok();
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
