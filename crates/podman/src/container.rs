//! Containers: starting, stopping, signalling.

use std::path::Path;
use std::time::Duration;

use crate::{Error, Podman};

/// A container to be started, as a builder of an argument vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerRun {
    options: Vec<String>,
    image: String,
    args: Vec<String>,
}

impl ContainerRun {
    /// A container called `name` from `image`. A container of that name is replaced.
    pub fn new(name: &str, image: &str) -> Self {
        let options = vec![format!("--name={name}"), "--replace".into(), "--restart=no".into()];
        Self { options, image: image.to_owned(), args: Vec::new() }
    }

    /// Adds one option, written `--name=value`.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.push(format!("--{name}={value}"));
        self
    }

    /// Joins a pod, and with it the pod's network.
    #[must_use]
    pub fn pod(self, pod: &str) -> Self {
        self.option("pod", pod)
    }

    /// Sets a label.
    #[must_use]
    pub fn label(self, key: &str, value: &str) -> Self {
        self.option("label", &format!("{key}={value}"))
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(self, name: &str, value: &str) -> Self {
        self.option("env", &format!("{name}={value}"))
    }

    /// Mounts `source` (a volume or an absolute path) at `dest`.
    #[must_use]
    pub fn mount(self, source: &str, dest: &str, options: &str) -> Self {
        self.option("volume", &format!("{source}:{dest}:{options}"))
    }

    /// Replaces the image's entrypoint. An empty command keeps it.
    #[must_use]
    pub fn entrypoint(self, command: &[String]) -> Self {
        if command.is_empty() {
            return self;
        }
        let json = serde_json::Value::from(command.to_vec()).to_string();
        self.option("entrypoint", &json)
    }

    /// Sets the arguments after the entrypoint.
    #[must_use]
    pub fn args(mut self, args: &[String]) -> Self {
        self.args = args.to_vec();
        self
    }

    /// Lets conmon write the output to `path`. `largest` bounds the file while nobody rotates it.
    #[must_use]
    pub fn log_file(self, path: &Path, largest: u64) -> Self {
        self.option("log-driver", "k8s-file")
            .option("log-opt", &format!("path={}", path.display()))
            .option("log-opt", &format!("max-size={largest}b"))
    }

    /// The argument vector after `podman`.
    pub fn arguments(&self) -> Vec<String> {
        let mut argv = vec!["run".to_owned(), "--detach".into()];
        argv.extend(self.options.iter().cloned());
        argv.push(self.image.clone());
        argv.extend(self.args.iter().cloned());
        argv
    }
}

/// A started container.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// podman's id.
    pub id: String,
}

impl Podman {
    /// Starts a container in the background.
    ///
    /// # Errors
    ///
    /// podman refuses.
    pub fn run_detached(&self, run: &ContainerRun) -> Result<Started, Error> {
        let out = self.call(&run.arguments())?;
        Ok(Started { id: out.lines().last().unwrap_or_default().trim().to_owned() })
    }

    /// Waits for the end of a container and returns its exit code.
    ///
    /// # Errors
    ///
    /// There is no such container, or it goes on longer than `limit`.
    pub fn wait(&self, container: &str, limit: Duration) -> Result<i32, Error> {
        let out = self.call_within(&["wait", container], limit)?;
        Ok(out.trim().parse().unwrap_or(-1))
    }

    /// Stops containers: first politely, after `grace` seconds by force. Unknown ones are ignored.
    ///
    /// # Errors
    ///
    /// podman refuses.
    pub fn stop(&self, containers: &[&str], grace: u64) -> Result<(), Error> {
        if containers.is_empty() {
            return Ok(());
        }
        let time = format!("--time={grace}");
        let mut args = vec!["stop", "--ignore", &time];
        args.extend(containers);
        self.call_within(&args, Duration::from_secs(grace.saturating_add(60))).map(drop)
    }

    /// Removes containers, running or not. Unknown ones are ignored.
    ///
    /// # Errors
    ///
    /// podman refuses.
    pub fn remove(&self, containers: &[&str]) -> Result<(), Error> {
        if containers.is_empty() {
            return Ok(());
        }
        let mut args = vec!["rm", "--force", "--ignore", "--time=0"];
        args.extend(containers);
        self.call(&args).map(drop)
    }

    /// Sends a signal to the main process of a container.
    ///
    /// # Errors
    ///
    /// The container does not run.
    pub fn kill(&self, container: &str, signal: &str) -> Result<(), Error> {
        self.call(&["kill", "--signal", signal, container]).map(drop)
    }

    /// True if the image is in the local store.
    ///
    /// # Errors
    ///
    /// podman is missing.
    pub fn image_exists(&self, image: &str) -> Result<bool, Error> {
        match self.call(&["image", "exists", image]) {
            Ok(_) => Ok(true),
            Err(Error::Failed { code: 1, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Fetches an image.
    ///
    /// # Errors
    ///
    /// No registry has it, or none is reached.
    pub fn pull(&self, image: &str) -> Result<(), Error> {
        self.call_within(&["pull", "--quiet", image], Duration::from_secs(3600)).map(drop)
    }
}
