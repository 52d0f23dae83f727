//! HTTPS: HTTP/1.1 and HTTP/2 on a loopback address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::directory::{Directory, Running};
use super::kubeconfig;
use super::pki::{Issued, Pki, PkiError, write_private};
use crate::auth::identity_of_certificate;
use crate::server::Server;
use crate::service::ApiService;
use crate::strategy::services::FIRST_ADDRESS;

/// Where and how to serve.
#[derive(Clone, Debug)]
#[must_use]
pub struct ServeOptions {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// The kubeconfig is written here as well, mode 0600. A cluster in a data directory always writes it there.
    pub kubeconfig: Option<PathBuf>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), kubeconfig: None }
    }
}

/// Why a cluster cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error("the address {address} cannot be used: {source}; choose another with --listen")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The certificates cannot be made.
    #[error(transparent)]
    Keys(#[from] PkiError),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Served {
    /// The address it listens on.
    pub local_addr: SocketAddr,
    /// `https://…`.
    pub url: String,
    /// The administrator's kubeconfig.
    pub kubeconfig: String,
    /// Where the kubeconfig was written.
    pub kubeconfig_path: Option<PathBuf>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    directory: Option<Arc<Directory>>,
}

impl Served {
    /// Takes no new connections, ends the present ones after their running request, and waits for that.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let _ = (&mut self.task).await;
        if let Some(directory) = &self.directory {
            directory.retract();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

pub(super) async fn serve(
    server: &Arc<Server>,
    directory: Option<Arc<Directory>>,
    options: ServeOptions,
) -> Result<Served, ServeError> {
    let unusable = |source| ServeError::Address { address: options.address, source };
    let listener = TcpListener::bind(options.address).await.map_err(unusable)?;
    let local_addr = listener.local_addr().map_err(unusable)?;
    let mut addresses: Vec<IpAddr> = vec![Ipv4Addr::LOCALHOST.into(), std::net::Ipv6Addr::LOCALHOST.into()];
    addresses.push(FIRST_ADDRESS.into());
    if !addresses.contains(&local_addr.ip()) {
        addresses.push(local_addr.ip());
    }
    let names = [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ];
    let own = server.pki.server(&addresses, &names)?;
    let acceptor = TlsAcceptor::from(Arc::new(tls(&server.pki, &own)?));
    let admin = server.pki.client("kubernetes-admin", "system:masters")?;
    let host = if local_addr.ip().is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { local_addr.ip() };
    let url = format!("https://{}", SocketAddr::new(host, local_addr.port()));
    let text = kubeconfig::write(&url, &server.pki, &admin);
    let path = options.kubeconfig.clone().or_else(|| directory.as_ref().map(|d| d.file("kubeconfig")));
    if let Some(path) = &path {
        write_private(path, &text).map_err(|source| ServeError::File { path: path.clone(), source })?;
    }
    if let Some(directory) = &directory {
        let running = Running {
            pid: std::process::id(),
            server: url.clone(),
            kubeconfig: path.clone().unwrap_or_default(),
        };
        let note = directory.file("server.json");
        directory.announce(&running).map_err(|source| ServeError::File { path: note, source })?;
    }
    let (stop, stopped) = watch::channel(false);
    let service = ApiService::authenticating(server.clone());
    let task = tokio::spawn(accept(listener, acceptor, service, stopped));
    Ok(Served { local_addr, url, kubeconfig: text, kubeconfig_path: path, stop, task, directory })
}

fn tls(pki: &Pki, own: &Issued) -> Result<rustls::ServerConfig, ServeError> {
    let failed = |error: &dyn std::fmt::Display| ServeError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(pki.ca_pem.as_bytes()).map_err(|error| failed(&error))?;
    roots.add(authority).map_err(|error| failed(&error))?;
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .allow_unauthenticated()
        .build()
        .map_err(|error| failed(&error))?;
    let chain =
        vec![CertificateDer::from_pem_slice(own.certificate.as_bytes()).map_err(|error| failed(&error))?];
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).map_err(|error| failed(&error))?;
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|error| failed(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    service: ApiService,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            () = until(&mut stopped) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, acceptor.clone(), service.clone(), stopped.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    // Watches never end on their own; a short while is enough for everything else.
    let grace = tokio::time::sleep(std::time::Duration::from_secs(1));
    tokio::pin!(grace);
    loop {
        tokio::select! {
            next = connections.join_next() => if next.is_none() { break },
            () = &mut grace => break,
        }
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    service: ApiService,
    mut stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let handshake = tokio::time::timeout(std::time::Duration::from_secs(10), acceptor.accept(stream));
    let stream = match handshake.await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a TLS handshake failed");
            return;
        }
        Err(_) => return,
    };
    let peer = stream
        .get_ref()
        .1
        .peer_certificates()
        .and_then(|chain| chain.first())
        .and_then(|certificate| identity_of_certificate(certificate));
    let service = TowerToHyperService::new(service.with_peer(peer));
    let builder = auto::Builder::new(TokioExecutor::new());
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        result = connection.as_mut() => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection ended early");
            }
        }
        () = until(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn until(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
