//! Pods, volumes and networks.

use crate::{Error, Podman};

/// A pod to be created.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodCreate {
    name: String,
    options: Vec<String>,
}

impl PodCreate {
    /// A pod called `name`.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), options: Vec::new() }
    }

    /// Adds one option, written `--name=value`.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.push(format!("--{name}={value}"));
        self
    }

    /// Sets a label. podman hands it on to the pod's infra container.
    #[must_use]
    pub fn label(self, key: &str, value: &str) -> Self {
        self.option("label", &format!("{key}={value}"))
    }

    /// Publishes `[address:]hostPort:containerPort`.
    #[must_use]
    pub fn publish(self, ports: &str) -> Self {
        self.option("publish", ports)
    }

    /// Adds a line to the hosts file of all containers.
    #[must_use]
    pub fn host(self, name: &str, address: &str) -> Self {
        self.option("add-host", &format!("{name}:{address}"))
    }

    /// The argument vector after `podman`.
    pub fn arguments(&self) -> Vec<String> {
        let mut argv = vec!["pod".to_owned(), "create".into(), format!("--name={}", self.name)];
        argv.extend(self.options.iter().cloned());
        argv
    }
}

impl Podman {
    /// Creates a pod and returns its id.
    ///
    /// # Errors
    ///
    /// podman refuses, for example because the name is taken.
    pub fn create_pod(&self, pod: &PodCreate) -> Result<String, Error> {
        Ok(self.call(&pod.arguments())?.trim().to_owned())
    }

    /// Starts a pod: its infra container, which holds the network, and the containers that exist.
    ///
    /// # Errors
    ///
    /// podman refuses, for example because a port is taken.
    pub fn start_pod(&self, name: &str) -> Result<(), Error> {
        self.call(&["pod", "start", name]).map(drop)
    }

    /// Removes a pod with all its containers, by force. An unknown one is ignored.
    ///
    /// # Errors
    ///
    /// podman refuses.
    pub fn remove_pod(&self, name: &str) -> Result<(), Error> {
        self.call(&["pod", "rm", "--force", "--ignore", "--time=0", name]).map(drop)
    }

    /// Creates volumes that do not exist yet.
    ///
    /// # Errors
    ///
    /// podman refuses.
    pub fn create_volumes(&self, names: &[&str]) -> Result<(), Error> {
        if names.is_empty() {
            return Ok(());
        }
        let known = self.call(&["volume", "ls", "--format", "{{.Name}}"])?;
        for name in names.iter().filter(|name| !known.lines().any(|line| line == **name)) {
            match self.call(&["volume", "create", name]) {
                Err(Error::Failed { message, .. }) if message.contains("already exists") => {}
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// Removes volumes. Unknown ones are ignored.
    ///
    /// # Errors
    ///
    /// A volume is in use.
    pub fn remove_volumes(&self, names: &[&str]) -> Result<(), Error> {
        for name in names {
            match self.call(&["volume", "rm", name]) {
                Err(Error::Failed { code: 1, .. }) => {}
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// Creates a network that does not exist yet.
    ///
    /// # Errors
    ///
    /// podman refuses.
    pub fn create_network(&self, name: &str) -> Result<(), Error> {
        match self.call(&["network", "exists", name]) {
            Ok(_) => Ok(()),
            Err(Error::Failed { code: 1, .. }) => self.call(&["network", "create", name]).map(drop),
            Err(error) => Err(error),
        }
    }
}
