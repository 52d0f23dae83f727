//! A real control plane on loopback: etcd, kube-apiserver and, if asked for, kube-controller-manager.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};

use crate::{Background, oracle};

/// How much of a control plane.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parts {
    /// etcd and kube-apiserver.
    Server,
    /// Also kube-controller-manager (without node life cycle) and one node object that says it is ready.
    ServerAndControllers,
}

/// A running control plane. Everything ends when it is dropped.
pub struct ControlPlane {
    // Dropped in this order: controllers, server, store, files.
    _programs: Vec<Background>,
    directory: tempfile::TempDir,
    port: u16,
}

/// The administrator's token.
const TOKEN: &str = "admintoken";

impl ControlPlane {
    /// Starts one on free ports, or answers `None` where the programs are missing.
    ///
    /// # Errors
    ///
    /// When a program does not start, with its last log lines.
    pub fn start(parts: Parts) -> io::Result<Option<Self>> {
        let (Some(etcd), Some(server)) = (oracle("etcd"), oracle("kube-apiserver")) else { return Ok(None) };
        let manager = match parts {
            Parts::Server => None,
            Parts::ServerAndControllers => match oracle("kube-controller-manager") {
                Some(program) => Some(program),
                None => return Ok(None),
            },
        };
        // Several providers may be compiled in; the first one installed wins and the others are no error.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let directory = tempfile::tempdir()?;
        let [client, peer, port, metrics] = free_ports()?;
        write_keys(directory.path()).map_err(io::Error::other)?;
        write_kubeconfig(directory.path(), port)?;
        let mut plane = Self { _programs: Vec::new(), directory, port };
        plane.launch(&etcd, "etcd", &etcd_args(plane.path(), client, peer))?;
        plane.launch(&server, "kube-apiserver", &server_args(plane.path(), client, port))?;
        plane.wait_until_ready()?;
        if let Some(manager) = manager {
            plane.launch(&manager, "kube-controller-manager", &manager_args(plane.path(), metrics))?;
            plane.add_node()?;
        }
        Ok(Some(plane))
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn launch(&mut self, program: &Path, name: &str, args: &[String]) -> io::Result<()> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let started = Background::start(program, &args, &self.path().join(format!("{name}.log")))?;
        self._programs.insert(0, started);
        Ok(())
    }

    /// The server's address.
    pub fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The server's port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The administrator's bearer token.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// A kubeconfig for the administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.path().join("kubeconfig")
    }

    /// A client for the administrator. Call it inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the kubeconfig cannot be used.
    pub async fn client(&self) -> Result<kube::Client, kube::Error> {
        let file =
            Kubeconfig::read_from(self.kubeconfig()).map_err(|error| kube::Error::Service(error.into()))?;
        let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
            .await
            .map_err(|error| kube::Error::Service(error.into()))?;
        kube::Client::try_from(config)
    }

    /// Asks with kubectl or, where that is missing, gives up: the server alone is enough for most tests.
    fn kubectl(&self, args: &[&str]) -> io::Result<bool> {
        let Some(kubectl) = oracle("kubectl") else { return Err(io::Error::other("kubectl is missing")) };
        let output = std::process::Command::new(kubectl)
            .arg("--kubeconfig")
            .arg(self.kubeconfig())
            .args(args)
            .env("HOME", self.path())
            .output()?;
        Ok(output.status.success())
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(90);
        while Instant::now() < deadline {
            if self.kubectl(&["get", "--raw", "/readyz"])? {
                return Ok(());
            }
            if let Some(dead) =
                self._programs.iter_mut().find_map(|program| (!program.is_running()).then(|| program.log()))
            {
                return Err(io::Error::other(format!("the control plane ended: {}", tail(&dead))));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let log = self._programs.first().map(Background::log).unwrap_or_default();
        Err(io::Error::other(format!("the control plane was not ready in time: {}", tail(&log))))
    }

    fn add_node(&self) -> io::Result<()> {
        let node = self.path().join("node.json");
        std::fs::write(
            &node,
            r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"fake","labels":{"kubernetes.io/hostname":"fake","kubernetes.io/os":"linux"}}}"#,
        )?;
        let status = r#"{"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"200"},"allocatable":{"cpu":"8","memory":"16Gi","pods":"200"},"conditions":[{"type":"Ready","status":"True","reason":"Test","message":"test"}],"addresses":[{"type":"InternalIP","address":"127.0.0.1"}]}}"#;
        self.kubectl(&["create", "-f", &node.display().to_string()])?;
        self.kubectl(&["patch", "node", "fake", "--subresource=status", "--type=merge", "-p", status])?;
        self.kubectl(&[
            "patch",
            "node",
            "fake",
            "--type=json",
            "-p",
            r#"[{"op":"remove","path":"/spec/taints"}]"#,
        ])?;
        Ok(())
    }
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// Ports that are free now. Another process could take one before we use it; the start then fails with a message.
fn free_ports() -> io::Result<[u16; 4]> {
    let listeners = [listen()?, listen()?, listen()?, listen()?];
    let mut ports = [0; 4];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

fn listen() -> io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0")
}

fn write_keys(directory: &Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let write = |name: &str, text: String| std::fs::write(directory.join(name), text);
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority_certificate = authority.self_signed(&authority_key)?;
    write("ca.crt", authority_certificate.pem())?;
    let issuer = Issuer::new(authority, authority_key);
    let server_key = KeyPair::generate()?;
    let mut server =
        CertificateParams::new(vec!["localhost".to_owned(), "kubernetes.default.svc".to_owned()])?;
    server.subject_alt_names.push(SanType::IpAddress(std::net::IpAddr::from([127, 0, 0, 1])));
    write("server.crt", server.signed_by(&server_key, &issuer)?.pem())?;
    write("server.key", server_key.serialize_pem())?;
    let tokens = KeyPair::generate()?;
    write("tokens.key", tokens.serialize_pem())?;
    write("tokens.pub", tokens.public_key_pem())?;
    write("tokens.csv", format!("{TOKEN},admin,admin-uid,\"system:masters\"\nalicetoken,alice,alice-uid\n"))?;
    Ok(())
}

fn write_kubeconfig(directory: &Path, port: u16) -> io::Result<()> {
    let authority = directory.join("ca.crt");
    let config = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "real",
        "clusters": [{"name": "real", "cluster": {"server": format!("https://127.0.0.1:{port}"), "certificate-authority": authority}}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
    });
    std::fs::write(directory.join("kubeconfig"), config.to_string())
}

fn etcd_args(directory: &Path, client: u16, peer: u16) -> Vec<String> {
    let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    vec![
        format!("--data-dir={}", directory.join("etcd").display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--unsafe-no-fsync".to_owned(),
    ]
}

fn server_args(directory: &Path, store: u16, port: u16) -> Vec<String> {
    let file = |name: &str| directory.join(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{store}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        format!("--tls-cert-file={}", file("server.crt")),
        format!("--tls-private-key-file={}", file("server.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        format!("--token-auth-file={}", file("tokens.csv")),
        "--authorization-mode=RBAC".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", file("tokens.pub")),
        format!("--service-account-signing-key-file={}", file("tokens.key")),
    ]
}

fn manager_args(directory: &Path, metrics: u16) -> Vec<String> {
    let file = |name: &str| directory.join(name).display().to_string();
    vec![
        format!("--kubeconfig={}", file("kubeconfig")),
        format!("--service-account-private-key-file={}", file("tokens.key")),
        format!("--root-ca-file={}", file("ca.crt")),
        "--leader-elect=false".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={metrics}"),
        "--use-service-account-credentials=true".to_owned(),
        "--controllers=*,-node-lifecycle-controller".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_server_starts_answers_and_ends() {
        let Some(plane) = ControlPlane::start(Parts::Server).unwrap() else {
            return crate::skip("a_real_server_starts_answers_and_ends", "run scripts/oracles.sh first");
        };
        assert!(plane.kubectl(&["get", "namespace", "default"]).unwrap());
    }
}
