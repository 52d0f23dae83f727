//! What tests share: where the real programs and the shared data are, and a real control plane to compare with.
//!
//! Only tests depend on this crate. Everything here answers `None` when the machine lacks something; the test then
//! calls [`skip`] and returns, so that a missing program is reported by name and never silently passed over.

mod control_plane;
mod process;

use std::path::{Path, PathBuf};

pub use control_plane::{ControlPlane, Parts};
pub use process::Background;

/// Reports that a test did not run, and why.
#[expect(clippy::print_stdout, reason = "a skipped test must be visible in the run's output")]
pub fn skip(test: &str, why: &str) {
    println!("skipped: {test}: {why}");
}

/// The directory with the real Kubernetes programs, made by `scripts/oracles.sh`.
pub fn oracles() -> PathBuf {
    match std::env::var_os("PODSMITH_ORACLES") {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cache/podsmith-oracles"),
    }
}

/// One of the real programs: `kubectl`, `helm`, `kube-apiserver`, `kube-controller-manager`, `etcd`, `gojq`.
pub fn oracle(name: &str) -> Option<PathBuf> {
    Some(oracles().join(name)).filter(|path| path.exists())
}

/// A folder of the shared data beside the checkout, such as `apiserver` or `charts`.
pub fn shared_data(folder: &str) -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    data.canonicalize().ok()
}

/// The root of the project.
pub fn project() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}
