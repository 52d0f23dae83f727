//! The words Podsmith writes into a cluster, in one place.

/// Who manages an object; the value is [`MANAGER`].
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The package an object belongs to.
pub const PART_OF: &str = "app.kubernetes.io/part-of";
/// Our name as a field manager and as the value of [`MANAGED_BY`].
pub const MANAGER: &str = "podsmith";
/// Digest of what was declared when the object was last written; tells an unchanged object without asking the server.
pub const DIGEST: &str = "podsmith.dev/digest";
/// Checksum of the configuration a pod template uses; a change restarts the pods.
pub const CHECKSUM: &str = "podsmith.dev/config-checksum";
/// `"false"` on a workload switches [`CHECKSUM`] off.
pub const RESTART: &str = "podsmith.dev/restart-on-config-change";
/// Objects that must be ready first: `Kind/name`, `group/Kind/name` or with the namespace before the name.
pub const DEPENDS_ON: &str = "podsmith.dev/depends-on";
/// `"true"` keeps an object when it is removed from the package.
pub const KEEP: &str = "podsmith.dev/keep";
/// How to tell that a custom resource is ready: `status.phase=Running`.
pub const READY_WHEN: &str = "podsmith.dev/ready-when";
/// Names of environment variables whose values are masked.
pub const SENSITIVE: &str = "podsmith.dev/sensitive";
/// On an Ingress: use the cluster's default certificate issuer.
pub const DEFAULT_ISSUER: &str = "podsmith.dev/default-issuer";
/// On the inventory object: the package's name.
pub const INVENTORY: &str = "podsmith.dev/inventory";
/// What kubectl leaves behind; it repeats the whole object, secrets included.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What stands for a masked value in every output.
pub const MASK: &str = "(sensitive)";

/// A name as a label value: at most 63 characters, only those that are allowed.
pub fn label_value(name: &str) -> String {
    let allowed: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(63)
        .collect();
    allowed.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}
