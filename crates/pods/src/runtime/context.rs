//! What every action needs: the pod, its directory, podman, and a way to speak.

use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use podsmith_podman::Podman;
use sha2::{Digest, Sha256};

use super::Failure;
use crate::spec::{Container, PodSpec};

/// The label that ties containers to their pod.
pub(super) const POD_LABEL: &str = "podsmith.pod";
/// The label with the directory of the pod.
pub(super) const DIRECTORY_LABEL: &str = "podsmith.directory";
/// The label with the hash of what a container or a pod was made from.
pub(super) const CONFIG_LABEL: &str = "podsmith.config";

/// Messages to the user: standard error, with a word in front that says how bad it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Console;

impl Console {
    fn line(self, word: &str, message: &str) {
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(std::io::stderr(), "{word}{message}");
    }

    pub fn info(self, message: &str) {
        self.line("[INFO]  ", message);
    }

    pub fn good(self, message: &str) {
        self.line("[OK]    ", message);
    }

    pub fn warn(self, message: &str) {
        self.line("[WARN]  ", message);
    }

    pub fn error(self, message: &str) {
        self.line("[ERROR] ", message);
    }

    /// Data, on standard output. A closed pipe ends nothing.
    pub fn data(self, text: &str) {
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

/// The surroundings of one call.
#[derive(Debug)]
pub(super) struct Context {
    pub spec: PodSpec,
    /// The directory of the pod's file; also the working directory.
    pub dir: PathBuf,
    pub podman: Podman,
    pub console: Console,
}

impl Context {
    /// Finds the pod's directory and makes it the working directory.
    pub fn new(spec: PodSpec) -> Result<Self, Failure> {
        let own = executable()?;
        let dir = own.parent().map(Path::to_owned).unwrap_or_else(|| PathBuf::from("/"));
        std::env::set_current_dir(&dir).map_err(Failure::file("enter", &dir))?;
        Ok(Self { spec, dir, podman: Podman::from_environment(), console: Console })
    }

    pub fn pod(&self) -> String {
        self.spec.full_name()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn log_file(&self, container: &str) -> PathBuf {
        self.dir.join("log").join(format!("{container}.log"))
    }

    /// The supervisor's own log.
    pub fn own_log_file(&self) -> PathBuf {
        self.log_file(&self.pod())
    }

    /// The container that a user calls `name`, and its place in the start order.
    pub fn container(&self, name: &str) -> Option<(usize, &Container)> {
        self.spec.containers.iter().enumerate().find(|(_, container)| container.name == name)
    }

    /// As [`container`](Self::container), or a message that names the valid ones.
    pub fn known_container(&self, name: &str) -> Result<(usize, &Container), Failure> {
        self.container(name).ok_or_else(|| {
            let names: Vec<&str> = self.spec.containers.iter().map(|c| c.name.as_str()).collect();
            Failure::refused(format!("there is no container `{name}`, the pod has {}", names.join(", ")))
        })
    }

    /// The hash of the whole pod.
    pub fn spec_hash(&self) -> String {
        hash(&serde_json::to_string(&self.spec).unwrap_or_default())
    }

    /// The hash of what the podman pod is made from: ports and addresses.
    pub fn pod_hash(&self, interface: Option<IpAddr>) -> String {
        let ports: Vec<String> = self.published(interface);
        hash(&format!("{ports:?} {interface:?} {:?}", self.spec.labels))
    }

    /// The ports to publish, as podman wants them.
    pub fn published(&self, interface: Option<IpAddr>) -> Vec<String> {
        let exposed = self.spec.containers.iter().flat_map(|container| &container.expose);
        exposed
            .filter_map(|expose| {
                let (host, target) = (expose.host_port?, expose.target_port?);
                Some(match expose.host_interface.or(interface) {
                    None => format!("{host}:{target}"),
                    Some(IpAddr::V4(address)) => format!("{address}:{host}:{target}"),
                    Some(IpAddr::V6(address)) => format!("[{address}]:{host}:{target}"),
                })
            })
            .collect()
    }
}

/// The path of this program. After the file was replaced the kernel adds a remark, which is no part of the path.
pub(super) fn executable() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(Failure::file("find", Path::new("the running program")))?;
    let text = own.to_string_lossy();
    Ok(text.strip_suffix(" (deleted)").map(PathBuf::from).unwrap_or_else(|| own.clone()))
}

pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unix_nanos() -> i128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}

pub(super) fn unix_seconds() -> u64 {
    u64::try_from(unix_nanos() / 1_000_000_000).unwrap_or(0)
}
