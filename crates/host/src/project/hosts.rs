//! The hosts of a project.

use std::fs;
use std::path::PathBuf;

use podsmith_pods::preprocess::EnvFile;

use super::{Project, ProjectError};
use crate::layout::Home;

/// Whether a host takes part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HostState {
    /// It does.
    Active,
    /// Its pods are removed at the next sync.
    Inactive,
    /// It is left alone.
    Disabled,
}

impl HostState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Disabled => "disabled",
        }
    }
}

/// What is known about a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostSettings {
    /// Its home, as a directory that can be reached from here.
    pub home: PathBuf,
    /// The address of its proxy, `IP:32767`, if others reach it.
    pub router: Option<String>,
}

impl Project {
    /// Adds a host.
    ///
    /// # Errors
    ///
    /// The name is taken or cannot be one.
    pub fn register_host(&self, name: &str, settings: &HostSettings) -> Result<(), ProjectError> {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if name.is_empty() || !plain || name.starts_with('_') || matches!(name, "pods" | "keys") {
            return ProjectError::refused(format!("`{name}` cannot be the name of a host"));
        }
        let dir = self.path().join(name);
        if dir.exists() {
            return ProjectError::refused(format!("host `{name}` is registered already"));
        }
        let pods = dir.join("pods");
        fs::create_dir_all(&pods).map_err(ProjectError::file("make", &pods))?;
        let router = settings.router.as_deref().unwrap_or_default();
        let text = format!("HOST=local\nHOSTHOME={}\nROUTERADDRESS={router}\n", settings.home.display());
        self.write(&format!("{name}/host.env"), &text)?;
        self.set_host_state(name, HostState::Active)
    }

    /// Changes whether a host takes part.
    ///
    /// # Errors
    ///
    /// There is no such host.
    pub fn set_host_state(&self, name: &str, state: HostState) -> Result<(), ProjectError> {
        self.host(name)?;
        self.write(&format!("{name}/host.state"), &format!("{}\n", state.as_str()))
    }

    /// Whether a host takes part.
    pub fn host_state(&self, name: &str) -> HostState {
        match fs::read_to_string(self.path().join(name).join("host.state")).unwrap_or_default().trim() {
            "active" => HostState::Active,
            "inactive" => HostState::Inactive,
            _ => HostState::Disabled,
        }
    }

    /// The names of all hosts, sorted.
    pub fn hosts(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| entry.path().join("host.env").is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// What the host shall have.
    pub(super) fn host(&self, name: &str) -> Result<Home, ProjectError> {
        let dir = self.path().join(name);
        if !dir.join("host.env").is_file() {
            return ProjectError::refused(format!(
                "there is no host `{name}`, the project has {}",
                self.hosts().join(", ")
            ));
        }
        Ok(Home::at(dir))
    }

    /// The settings of a host.
    ///
    /// # Errors
    ///
    /// There is no such host.
    pub fn host_settings(&self, name: &str) -> Result<HostSettings, ProjectError> {
        let path = self.host(name)?.path().join("host.env");
        let text = fs::read_to_string(&path).map_err(ProjectError::file("read", &path))?;
        let file = EnvFile::parse(&text);
        let home = self.path().join(file.get("HOSTHOME").unwrap_or_default());
        let router = file.get("ROUTERADDRESS").filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(HostSettings { home, router })
    }

    /// `hosts.conf` of a host: the proxies of all active hosts, one a line, its own first.
    pub(super) fn hosts_conf(&self, own: &str) -> String {
        let mut names = self.hosts();
        names.retain(|name| self.host_state(name) == HostState::Active);
        names.sort_by_key(|name| name != own);
        let routers = names.iter().filter_map(|name| self.host_settings(name).ok()?.router);
        routers.map(|router| router + "\n").collect()
    }
}
