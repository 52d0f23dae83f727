//! What `podsmith host status` shows.

use std::path::Path;

use podsmith_pods::runtime::status::Status;
use serde::Serialize;

use super::DaemonError;
use super::portmap;
use crate::layout::homes;

/// All pods of a host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostStatus {
    /// Releases, sorted by home, pod and version.
    pub pods: Vec<PodReport>,
}

/// One release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PodReport {
    /// Home directory.
    pub home: String,
    /// Pod name.
    pub pod: String,
    /// Version.
    pub version: String,
    /// What it should be.
    pub wanted: String,
    /// What it is, in the words of the Pod API; `unknown` for pods that write no status.
    pub status: String,
    /// It is in the port map.
    pub ready: bool,
    /// Containers that can receive traffic, and all containers.
    pub containers: (usize, usize),
}

/// Looks at all pods below `dir`. Starts no process.
///
/// # Errors
///
/// There is no home.
pub fn status(dir: &Path) -> Result<HostStatus, DaemonError> {
    let homes = homes(dir);
    if homes.is_empty() {
        return Err(DaemonError::NoHome { dir: dir.to_owned() });
    }
    let mut pods = Vec::new();
    for home in homes {
        for release in home.releases() {
            let current = Status::current(&release.dir);
            let word = current.as_ref().map(|status| status.status.contract(status.readiness));
            let containers = current.as_ref().map_or(&[][..], |status| &status.containers);
            pods.push(PodReport {
                home: home.path().display().to_string(),
                pod: release.pod.clone(),
                version: release.version.clone(),
                wanted: release.wanted().map_or_else(String::new, |wanted| wanted.as_str().to_owned()),
                status: word.unwrap_or("unknown").to_owned(),
                ready: portmap::readiness(&release.dir).unwrap_or(false),
                containers: (containers.iter().filter(|c| c.ready).count(), containers.len()),
            });
        }
    }
    Ok(HostStatus { pods })
}
