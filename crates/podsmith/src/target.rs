//! Which Kubernetes API a command talks to, and a client for it.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use podsmith_apiserver::{Cluster, ClusterOptions, OpenError, running};
use podsmith_object::{Diagnostic, Place, suggest};

use crate::cli::Global;
use crate::failure::Failure;

/// The API that a command talks to.
pub struct Target {
    /// `embedded`, `context:NAME` or `in-cluster`.
    pub name: String,
    /// The client.
    pub client: Client,
    /// The namespace of the kubeconfig's context, `default` elsewhere.
    pub default_namespace: String,
    /// The embedded cluster, where it runs in this process.
    cluster: Option<Cluster>,
}

impl Target {
    /// Opens the target that the flags and the environment name. Must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the kubeconfig or the embedded cluster cannot be used.
    pub async fn open(global: &Global) -> Result<Self, Failure> {
        // Several providers may be compiled in; the first one installed wins and the others are no error.
        let _ = rustls::crypto::ring::default_provider().install_default();
        match choose(global)? {
            Choice::Embedded => Self::embedded(&data_directory(global)?).await,
            Choice::Kubeconfig { file, context } => Self::kubeconfig(file.as_deref(), context).await,
            Choice::InCluster => {
                let config = Config::incluster().map_err(|error| Failure::message(error.to_string()))?;
                Self::with_config("in-cluster".to_owned(), config)
            }
        }
    }

    async fn embedded(directory: &Path) -> Result<Self, Failure> {
        if let Some(server) = running(directory) {
            let mut target = Self::kubeconfig(Some(&server.kubeconfig), None).await?;
            target.name = "embedded".to_owned();
            return Ok(target);
        }
        match Cluster::open(ClusterOptions::directory(directory)).await {
            Ok(cluster) => Ok(Self {
                name: "embedded".to_owned(),
                client: cluster.client(),
                default_namespace: "default".to_owned(),
                cluster: Some(cluster),
            }),
            Err(error) => Err(open_failure(&error)),
        }
    }

    async fn kubeconfig(file: Option<&Path>, context: Option<String>) -> Result<Self, Failure> {
        let read = match file {
            Some(file) => Kubeconfig::read_from(file),
            None => Kubeconfig::read(),
        };
        let place =
            Place::file(file.map_or_else(|| "kubeconfig".to_owned(), |file| file.display().to_string()));
        let fail = |message: &str, error: &(dyn std::error::Error + 'static)| {
            Failure::from(Diagnostic::error(message).at(place.clone()).because_of(error))
        };
        let config = read.map_err(|error| fail("could not read the kubeconfig", &error))?;
        let name = context.clone().or_else(|| config.current_context.clone()).unwrap_or_default();
        let known: Vec<&str> = config.contexts.iter().map(|context| context.name.as_str()).collect();
        if !name.is_empty() && !known.contains(&name.as_str()) {
            let problem =
                Diagnostic::error(format!("there is no context `{name}` in the kubeconfig")).at(place);
            return Err(problem.with_hint_if(suggest::hint(&name, known)).into());
        }
        let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(config, &options)
            .await
            .map_err(|error| fail("could not use the kubeconfig", &error))?;
        Self::with_config(format!("context:{name}"), config)
    }

    fn with_config(name: String, config: Config) -> Result<Self, Failure> {
        let default_namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(|error| {
            Failure::from(Diagnostic::error("could not make a client").because_of(&error))
        })?;
        Ok(Self { name, client, default_namespace, cluster: None })
    }

    /// Waits until everything is on disk. Call it last.
    pub async fn close(self) {
        if let Some(cluster) = self.cluster {
            cluster.shutdown().await;
        }
    }
}

/// Says what is wrong with the embedded cluster's directory.
pub fn open_failure(error: &OpenError) -> Failure {
    let problem = Diagnostic::error(format!("could not open the embedded cluster: {error}"));
    Failure::from(match error {
        OpenError::InUse { .. } => {
            problem.with_hint("try again when the other command has ended, or use another --data-dir")
        }
        _ => problem,
    })
}

enum Choice {
    Embedded,
    Kubeconfig { file: Option<PathBuf>, context: Option<String> },
    InCluster,
}

fn choose(global: &Global) -> Result<Choice, Failure> {
    let context = global.context.clone();
    match global.target.as_deref() {
        Some("embedded") => return Ok(Choice::Embedded),
        Some(target) => {
            let Some(name) = target.strip_prefix("context:").filter(|name| !name.is_empty()) else {
                return Err(Failure::usage(format!(
                    "--target `{target}` is unknown; write `embedded` or `context:NAME`"
                )));
            };
            return Ok(Choice::Kubeconfig {
                file: global.kubeconfig.clone(),
                context: Some(name.to_owned()),
            });
        }
        None => {}
    }
    if global.kubeconfig.is_some() || context.is_some() {
        return Ok(Choice::Kubeconfig { file: global.kubeconfig.clone(), context });
    }
    let from_environment = std::env::var_os("KUBECONFIG").is_some_and(|value| !value.is_empty());
    let at_home = std::env::home_dir().is_some_and(|home| home.join(".kube/config").is_file());
    if from_environment || at_home {
        return Ok(Choice::Kubeconfig { file: None, context: None });
    }
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Ok(Choice::InCluster);
    }
    Ok(Choice::Embedded)
}

/// The embedded cluster's home: `--data-dir`, `$PODSMITH_HOME`, or the user's data directory.
///
/// # Errors
///
/// When the user has no home directory.
pub fn data_directory(global: &Global) -> Result<PathBuf, Failure> {
    if let Some(directory) = &global.data_dir {
        return Ok(std::path::absolute(directory)?);
    }
    if let Some(data) = std::env::var_os("XDG_DATA_HOME").filter(|value| !value.is_empty()) {
        return Ok(Path::new(&data).join("podsmith"));
    }
    match std::env::home_dir() {
        Some(home) => Ok(home.join(".local/share/podsmith")),
        None => {
            Err(Failure::usage("there is no home directory to keep the embedded cluster in; use --data-dir"))
        }
    }
}
