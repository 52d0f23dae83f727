//! A pod as declared: the data between the reader and everything that uses it.
//!
//! The same types are serialised into the compiled pod, so a field that is added must have a serde default.

use serde::{Deserialize, Serialize};

/// Which spelling of pod.yaml a file uses. The dialect also decides file names and two details of restarting.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `apiVersion`, `podRuntime`, `importance`.
    Seed,
    /// `api`, `runtime`, `weight`.
    Head,
}

/// A pod of either runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Pod {
    /// Containers under podman.
    Containers(PodSpec),
    /// One executable that speaks the Pod API itself.
    Executable(ExecutablePod),
}

impl Pod {
    /// The dialect of the file it came from.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Containers(pod) => pod.dialect,
            Self::Executable(pod) => pod.dialect,
        }
    }

    /// Every exposed port, in order of appearance.
    pub fn exposed(&self) -> Vec<&Expose> {
        match self {
            Self::Containers(pod) => pod.containers.iter().flat_map(|c| &c.expose).collect(),
            Self::Executable(pod) => pod.expose.iter().collect(),
        }
    }
}

/// A pod that is an executable.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutablePod {
    /// Spelling of the source.
    pub dialect: Dialect,
    /// Pod name.
    pub name: String,
    /// Pod version.
    pub version: String,
    /// The executable, relative to the source directory.
    pub file: String,
    /// Ports that the executable binds by itself.
    pub expose: Vec<Expose>,
}

/// A pod of containers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSpec {
    /// Spelling of the source.
    pub dialect: Dialect,
    /// The API version that the source declared.
    pub api: String,
    /// Pod name.
    pub name: String,
    /// Pod version.
    pub version: String,
    /// Labels put on the podman pod.
    #[serde(default)]
    pub labels: Vec<(String, String)>,
    /// Volumes in order of declaration.
    #[serde(default)]
    pub volumes: Vec<Volume>,
    /// Containers in order of declaration, which is the start order.
    pub containers: Vec<Container>,
}

impl PodSpec {
    /// The name podman knows the pod by: `NAME-VERSION`.
    pub fn full_name(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// The name podman knows a container by: `CONTAINER-NAME-VERSION`.
    pub fn container_name(&self, container: &Container) -> String {
        format!("{}-{}-{}", container.name, self.name, self.version)
    }

    /// The volume called `name`.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.name == name)
    }

    /// The podman volumes that the pod uses, with how widely each is shared.
    pub fn podman_volumes(&self) -> Vec<(String, Sharing)> {
        self.volumes
            .iter()
            .filter_map(|volume| match &volume.kind {
                VolumeKind::Volume { shared } => {
                    Some((self.podman_volume_name(&volume.name, *shared), *shared))
                }
                _ => None,
            })
            .collect()
    }

    /// How podman knows a volume: with the pod's version, with its name only, or shared by the whole host.
    pub fn podman_volume_name(&self, volume: &str, shared: Sharing) -> String {
        match shared {
            Sharing::No => format!("{volume}-{}-{}", self.name, self.version),
            Sharing::Pod => format!("{volume}-{}", self.name),
            Sharing::Host => volume.to_owned(),
        }
    }

    /// The ramdisks as `(name, megabytes)`: first one for each encrypted config, then the declared ones.
    pub fn ramdisks(&self) -> Vec<(String, u64)> {
        let secrets = self.secrets().map(|name| (secret_ramdisk(name), 1));
        let declared = self.volumes.iter().filter_map(|volume| match volume.kind {
            VolumeKind::Ramdisk { megabytes } => Some((volume.name.clone(), megabytes)),
            _ => None,
        });
        secrets.chain(declared).collect()
    }

    /// The names of the encrypted configs.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.volumes
            .iter()
            .filter(|volume| matches!(volume.kind, VolumeKind::Config { encrypted: true }))
            .map(|volume| volume.name.as_str())
    }

    /// The names of all configs that a container mounts, encrypted ones included.
    pub fn configs_of<'a>(&'a self, container: &'a Container) -> impl Iterator<Item = &'a str> {
        container.mounts.iter().filter_map(|mount| {
            matches!(self.volume(&mount.volume)?.kind, VolumeKind::Config { .. })
                .then_some(mount.volume.as_str())
        })
    }

    /// The host ports in order of appearance.
    pub fn host_ports(&self) -> Vec<u16> {
        self.containers.iter().flat_map(|c| &c.expose).filter_map(|e| e.host_port).collect()
    }
}

/// The directory below `ramdisk/` that holds the plaintext of an encrypted config.
pub fn secret_ramdisk(config: &str) -> String {
    format!("{config}-unencrypted")
}

/// One volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Volume {
    /// Name within the pod.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: VolumeKind,
}

/// The four types of volumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum VolumeKind {
    /// Memory, lost with the pod.
    Ramdisk {
        /// Size in megabytes.
        megabytes: u64,
    },
    /// A directory below `config/` that travels with the pod.
    Config {
        /// The files in it are age files.
        encrypted: bool,
    },
    /// A volume kept by podman.
    Volume {
        /// Who shares it.
        shared: Sharing,
    },
    /// A directory or device of the host.
    Host {
        /// Absolute path.
        bind: String,
    },
}

/// Who shares a podman volume.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// Only this version of this pod.
    No,
    /// All versions of this pod.
    Pod,
    /// All pods of the host.
    Host,
}

/// One container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Container {
    /// Name within the pod.
    pub name: String,
    /// Image reference.
    pub image: String,
    /// Entrypoint; empty means the image's.
    #[serde(default)]
    pub command: Vec<String>,
    /// Arguments after the entrypoint.
    #[serde(default)]
    pub args: Vec<String>,
    /// Working directory in the container.
    #[serde(default)]
    pub working_dir: Option<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// What to do when it ends.
    pub restart: Restart,
    /// Which network it uses.
    pub network: Network,
    /// How it is told about changes.
    #[serde(default)]
    pub signal: Option<Signal>,
    /// Where volumes appear in it.
    #[serde(default)]
    pub mounts: Vec<Mount>,
    /// When it counts as started.
    #[serde(default)]
    pub startup: Option<StartupProbe>,
    /// When it may receive traffic.
    #[serde(default)]
    pub readiness: Option<Probe>,
    /// When it must be stopped.
    #[serde(default)]
    pub liveness: Option<Probe>,
    /// Its ports.
    #[serde(default)]
    pub expose: Vec<Expose>,
    /// Limit in thousandths of a processor.
    #[serde(default)]
    pub cpu_millis: Option<u64>,
    /// Limit in bytes.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
}

/// Restart policy.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Never.
    Never,
    /// Whatever the exit code.
    Always,
    /// After a failure.
    OnFailure,
    /// After a failure, and when a mounted config changes.
    OnConfig,
    /// So many seconds after it ended.
    OnInterval(u64),
}

impl std::fmt::Display for Restart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Always => f.write_str("always"),
            Self::OnFailure => f.write_str("on-failure"),
            Self::OnConfig => f.write_str("on-config"),
            Self::OnInterval(seconds) => write!(f, "on-interval:{seconds}"),
        }
    }
}

/// Network of a container.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// The pod's own, shared by its containers.
    Pod,
    /// The host's.
    Host,
}

/// How a container is told that something changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// A signal to its main process.
    Sig(String),
    /// A command inside it.
    Cmd(Vec<String>),
}

/// A volume inside a container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mount {
    /// Absolute path in the container.
    pub dest: String,
    /// Name of the volume.
    pub volume: String,
}

/// What a probe does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// A command in the container; exit code 0 is success.
    Cmd(Vec<String>),
    /// An HTTP GET; a status from 200 to 399 is success.
    Http {
        /// Port in the container.
        port: u16,
        /// Path with query.
        path: String,
    },
    /// A TCP connection.
    Tcp {
        /// Port in the container.
        port: u16,
    },
}

/// When a container counts as started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartupProbe {
    /// Seconds until the start has failed.
    pub timeout: u64,
    /// What must happen before that.
    pub until: StartupCheck,
    /// Containers to signal afterwards.
    #[serde(default)]
    pub signal: Vec<String>,
}

/// What a startup probe waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StartupCheck {
    /// Nothing: a started process is enough.
    Started,
    /// The container ends with code 0.
    Exit,
    /// The check succeeds.
    Check(Check),
}

/// A probe that runs for the whole life of a container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// What to do.
    pub check: Check,
    /// Seconds for one run.
    pub timeout: u64,
    /// Seconds between runs.
    pub period: u64,
    /// Failures in a row that count.
    pub failures: u32,
    /// Successes in a row that count.
    pub successes: u32,
}

/// One exposed port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expose {
    /// Port in the container.
    pub target_port: Option<u16>,
    /// Port on the host.
    pub host_port: Option<u16>,
    /// Address on the host.
    pub host_interface: Option<std::net::IpAddr>,
    /// Port in the cluster.
    pub cluster_port: Option<u16>,
    /// Connections that the proxy may open.
    pub max_conn: u32,
    /// The proxy starts with a PROXY header.
    pub send_proxy: bool,
    /// Rules of the ingress.
    #[serde(default)]
    pub ingress: Vec<IngressRule>,
}

/// Protocol of an ingress rule.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Plain HTTP.
    Http,
    /// HTTP with TLS ended at the ingress.
    Https,
    /// A stream, chosen by SNI.
    Tcp,
}

impl Protocol {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Tcp => "tcp",
        }
    }
}

/// One rule of the ingress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IngressRule {
    /// Protocol.
    pub protocol: Protocol,
    /// Port that the ingress listens on.
    pub bind: u16,
    /// Host names; `*.x` is any host below x.
    pub domains: Vec<String>,
    /// Higher is tried earlier.
    pub weight: i64,
    /// Whole paths.
    pub path: Vec<String>,
    /// Path beginnings.
    pub path_beg: Vec<String>,
    /// Path endings.
    pub path_end: Vec<String>,
    /// What happens with a match.
    pub action: IngressAction,
}

/// What an ingress rule does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IngressAction {
    /// Sends the traffic to the cluster port.
    Backend,
    /// Redirects to the same address with https.
    RedirectToHttps,
    /// Redirects to one address.
    RedirectLocation(String),
    /// Redirects to a prefix, keeping path and query.
    RedirectPrefix(String),
    /// Answers with a file.
    Errorfile {
        /// HTTP status.
        code: u16,
        /// Path of the file where HAProxy runs.
        file: String,
    },
}
