//! What is known about a running pod: written by the supervisor, read by everybody.
//!
//! Two files with one content: `.pod.status` for people, shell scripts and daemons, `.pod.status.json` for programs.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::image::beside;

/// The state of a pod.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing is there.
    #[default]
    NonExisting,
    /// Made, not started.
    Created,
    /// Images are fetched.
    Downloading,
    /// Not all containers have started.
    Starting,
    /// All containers have started.
    Running,
    /// Stopped or killed.
    Exited,
    /// Removed.
    Removed,
    /// It should run, but nobody supervises it.
    Unknown,
}

impl State {
    /// The word of `ps` and of the status file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NonExisting => "non-existing",
            Self::Created => "created",
            Self::Downloading => "downloading",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Removed => "removed",
            Self::Unknown => "unknown",
        }
    }

    /// The word of `status`, the contract of the Pod API.
    pub fn contract(self, ready: bool) -> &'static str {
        match self {
            Self::NonExisting | Self::Removed => "non-existent",
            Self::Created => "created",
            Self::Downloading => "downloading",
            Self::Starting => "not-ready",
            Self::Running if ready => "running",
            Self::Running => "not-ready",
            Self::Exited => "stopped",
            Self::Unknown => "broken",
        }
    }

    /// True while a supervisor must be alive.
    pub fn is_supervised(self) -> bool {
        matches!(self, Self::Downloading | Self::Starting | Self::Running)
    }
}

/// A pod at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `NAME-VERSION`.
    pub pod: String,
    /// Version.
    pub pod_version: String,
    /// Host ports.
    pub host_ports: Vec<u16>,
    /// Unix time.
    pub created: u64,
    /// Unix time.
    pub started: u64,
    /// Unix time of this status.
    pub updated: u64,
    /// State.
    pub status: State,
    /// The supervisor.
    pub pid: u32,
    /// All containers can receive traffic.
    pub readiness: bool,
    /// No liveness probe fails.
    pub liveness: bool,
    /// Hash of the compiled pod that runs.
    pub spec: String,
    /// The address given with `--host-interface`.
    pub host_interface: Option<String>,
    /// Containers in start order.
    pub containers: Vec<ContainerStatus>,
}

/// A container at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    /// Name in pod.yaml.
    pub name: String,
    /// podman's name.
    pub container: String,
    /// Image.
    pub image: String,
    /// The image is in the local store, as far as we know.
    pub image_exists: bool,
    /// Restart policy.
    pub restart: String,
    /// Mounts as `source:dest`.
    pub mounts: Vec<String>,
    /// Ports as `host:target`.
    pub ports: Vec<String>,
    /// `host` or empty.
    pub network: String,
    /// How often it was started.
    pub start_count: u32,
    /// running, exited, created or non-existent.
    pub status: String,
    /// Exit code of the last run, if it does not run.
    pub exit_code: Option<i32>,
    /// It passed its startup probe.
    pub started: bool,
    /// It can receive traffic.
    pub ready: bool,
    /// How often its liveness probe stopped it.
    pub liveness_failures: u32,
    /// What went wrong last.
    pub message: Option<String>,
}

impl Status {
    /// The text of `.pod.status`.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let list = |ports: &[u16]| ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
        let mut line = |indent: &str, key: &str, value: &str| {
            let space = if value.is_empty() { "" } else { " " };
            let _ = writeln!(out, "{indent}{key}:{space}{value}");
        };
        line("", "pod", &self.pod);
        line("", "podVersion", &self.pod_version);
        line("", "hostPorts", &list(&self.host_ports));
        line("", "created", &self.created.to_string());
        line("", "started", &self.started.to_string());
        line("", "updated", &self.updated.to_string());
        line("", "status", self.status.as_str());
        line("", "pid", &self.pid.to_string());
        line("", "readiness", if self.readiness { "1" } else { "0" });
        line("", "liveness", if self.liveness { "1" } else { "0" });
        line("", "containers", "");
        for container in &self.containers {
            let indent = "    ";
            line("  - ", "name", &container.name);
            line(indent, "container", &container.container);
            line(indent, "image", &container.image);
            line(indent, "imageExists", &container.image_exists.to_string());
            line(indent, "restart", &container.restart);
            line(indent, "mounts", &container.mounts.join(" "));
            line(indent, "ports", &container.ports.join(" "));
            line(indent, "network", &container.network);
            line(indent, "startCount", &container.start_count.to_string());
            line(indent, "status", &container.status);
            line(indent, "ready", if container.ready { "1" } else { "0" });
            if let Some(code) = container.exit_code {
                line(indent, "exitCode", &code.to_string());
            }
            if let Some(message) = &container.message {
                line(indent, "message", &serde_json::Value::from(message.as_str()).to_string());
            }
        }
        out
    }

    /// Writes both files in `dir`, each through a rename.
    ///
    /// # Errors
    ///
    /// The directory cannot be written.
    pub fn write(&self, dir: &Path) -> std::io::Result<()> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        for (name, content) in [(".pod.status.json", json), (".pod.status", self.to_text().into_bytes())] {
            let path = dir.join(name);
            let temporary = beside(&path);
            std::fs::write(&temporary, content)?;
            std::fs::rename(&temporary, &path)?;
        }
        Ok(())
    }

    /// The last written status, corrected by what is known without asking podman: whether the supervisor lives.
    pub fn current(dir: &Path) -> Option<Self> {
        let mut status = Self::read(dir)?;
        if status.status.is_supervised() && !super::lock::is_supervised(dir) {
            status.status = State::Unknown;
            status.readiness = false;
            status.liveness = false;
        }
        Some(status)
    }

    /// Reads the status of the pod in `dir`, if one was written.
    pub fn read(dir: &Path) -> Option<Self> {
        let bytes = std::fs::read(dir.join(".pod.status.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_separates_mounts_and_is_yaml() {
        let status = Status {
            pod: "web-1.0.0".into(),
            pod_version: "1.0.0".into(),
            host_ports: vec![80, 443],
            status: State::Running,
            readiness: true,
            liveness: true,
            containers: vec![ContainerStatus {
                name: "a".into(),
                container: "a-web-1.0.0".into(),
                mounts: vec!["x:/x".into(), "y:/y".into()],
                exit_code: Some(3),
                message: Some("said: \"no\"".into()),
                ..ContainerStatus::default()
            }],
            ..Status::default()
        };
        insta::assert_snapshot!(status.to_text(), @r#"
        pod: web-1.0.0
        podVersion: 1.0.0
        hostPorts: 80 443
        created: 0
        started: 0
        updated: 0
        status: running
        pid: 0
        readiness: 1
        liveness: 1
        containers:
          - name: a
            container: a-web-1.0.0
            image:
            imageExists: false
            restart:
            mounts: x:/x y:/y
            ports:
            network:
            startCount: 0
            status:
            ready: 0
            exitCode: 3
            message: "said: \"no\""
        "#);
        let value = podsmith_object::yaml::read_value(&status.to_text(), Default::default()).unwrap();
        assert_eq!(value["containers"][0]["message"], "said: \"no\"");
    }

    #[test]
    fn both_files_are_written_and_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Status::read(dir.path()), None);
        let status = Status { pod: "a-1.0.0".into(), status: State::Exited, ..Status::default() };
        status.write(dir.path()).unwrap();
        assert_eq!(Status::read(dir.path()), Some(status));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
