//! What exists.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Error, Podman};

/// The state of a container, in podman's words.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerState {
    /// Made, not started.
    Created,
    /// Running.
    Running,
    /// Frozen.
    Paused,
    /// Ended.
    #[serde(alias = "stopped")]
    Exited,
    /// Anything else.
    #[default]
    #[serde(other)]
    Unknown,
}

/// One container as podman lists it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Listed {
    /// podman's id.
    pub id: String,
    /// Its names; the first is the one it was given.
    pub names: Vec<String>,
    /// Labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// State.
    pub state: ContainerState,
    /// Exit code, if it has ended.
    pub exit_code: i32,
    /// Main process, if it runs.
    pub pid: u32,
    /// True for the container that holds a pod's network.
    pub is_infra: bool,
    /// Id of its pod.
    pub pod: String,
    /// Unix time of its last start.
    pub started_at: i64,
    /// Unix time of its end.
    pub exited_at: i64,
}

impl Listed {
    /// The name it was given.
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.as_ref()?.get(key).map(String::as_str)
    }
}

impl Podman {
    /// All containers with a label, running or not, in one call. Infra containers carry the labels of their pod.
    ///
    /// # Errors
    ///
    /// podman fails or answers something unexpected.
    pub fn list(&self, key: &str, value: Option<&str>) -> Result<Vec<Listed>, Error> {
        let label = value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}"));
        let filter = format!("label={label}");
        let out = self.call(&["ps", "--all", "--filter", &filter, "--format", "json"])?;
        let text = if out.trim().is_empty() { "[]" } else { out.as_str() };
        serde_json::from_str::<Option<Vec<Listed>>>(text)
            .map(Option::unwrap_or_default)
            .map_err(|source| Error::Answer { call: "podman ps".into(), source })
    }

    /// The address of a container in its network, if it has one of its own.
    ///
    /// # Errors
    ///
    /// There is no such container.
    pub fn address(&self, container: &str) -> Result<Option<std::net::IpAddr>, Error> {
        const FORMAT: &str =
            "{{.NetworkSettings.IPAddress}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
        let out = self.call(&["container", "inspect", "--format", FORMAT, container])?;
        Ok(out.split_whitespace().find_map(|word| word.parse().ok()))
    }

    /// The directory where conmon keeps the control pipe of a container.
    ///
    /// # Errors
    ///
    /// There is no such container.
    pub fn conmon_directory(&self, container: &str) -> Result<std::path::PathBuf, Error> {
        let out = self.call(&["container", "inspect", "--format", "{{.OCIConfigPath}}", container])?;
        let config = std::path::PathBuf::from(out.trim());
        Ok(config.parent().map(std::path::Path::to_owned).unwrap_or_default())
    }
}
