//! Which kinds certainly live outside namespaces. Unknown kinds count as namespaced.

/// True for a built-in kind without a namespace, in a version this tool knows.
pub(crate) fn is_cluster_scoped(api_version: &str, kind: &str) -> bool {
    let versions: &[&str] = match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            &["admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"]
        }
        "CustomResourceDefinition" => &["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"],
        "APIService" => &["apiregistration.k8s.io/v1", "apiregistration.k8s.io/v1beta1"],
        "CertificateSigningRequest" => &["certificates.k8s.io/v1", "certificates.k8s.io/v1beta1"],
        "FlowSchema" | "PriorityLevelConfiguration" => &["flowcontrol.apiserver.k8s.io/v1beta1"],
        "IngressClass" => &["networking.k8s.io/v1", "networking.k8s.io/v1beta1"],
        "RuntimeClass" => &["node.k8s.io/v1", "node.k8s.io/v1beta1"],
        "PodSecurityPolicy" => &["policy/v1beta1"],
        "ClusterRole" | "ClusterRoleBinding" => {
            &["rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1"]
        }
        "PriorityClass" => &["scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1"],
        "CSIDriver" | "CSINode" | "StorageClass" | "VolumeAttachment" => {
            &["storage.k8s.io/v1", "storage.k8s.io/v1beta1"]
        }
        "ComponentStatus" | "Namespace" | "Node" | "NodeProxyOptions" | "PersistentVolume" => &["v1"],
        _ => return false,
    };
    versions.contains(&api_version)
}
