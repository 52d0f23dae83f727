//! A whole cluster: open it, use it in this process, serve it, close it.

mod bootstrap;
mod delete;
mod directory;
mod kubeconfig;
mod pki;
mod policy;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::auth::Identity;
use crate::controllers::{self, Controllers};
use crate::server::Server;
use crate::service::ApiService;
use crate::store::{DEFAULT_HISTORY, LogError, Store};
pub(crate) use bootstrap::{ensure, namespace_objects};
use directory::{Directory, Taken};
pub use directory::{Running, running};
pub use pki::{Issued, Pki, PkiError};
pub use serve::{ServeError, ServeOptions, Served};

/// Where objects are kept.
#[derive(Clone, Debug, Default)]
pub enum Storage {
    /// In memory: gone with the process.
    #[default]
    Memory,
    /// In a data directory: every acknowledged write survives.
    Dir(PathBuf),
}

/// How a cluster is opened.
#[derive(Clone, Debug)]
#[must_use]
pub struct ClusterOptions {
    /// Where objects are kept.
    pub storage: Storage,
    /// How many events watches can go back.
    pub history: usize,
    /// Which controllers run.
    pub controllers: Controllers,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self { storage: Storage::Memory, history: DEFAULT_HISTORY, controllers: Controllers::default() }
    }
}

impl ClusterOptions {
    /// In memory, with everything else as usual.
    pub fn memory() -> Self {
        Self::default()
    }

    /// In a data directory, with everything else as usual.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self { storage: Storage::Dir(path.into()), ..Self::default() }
    }
}

/// Why a cluster could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another process has the data directory.
    #[error("the data directory {} is in use by {}", .path.display(), describe(.running.as_ref()))]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The server that has it, if it serves; connect to that one.
        running: Option<Running>,
    },
    /// The data directory cannot be made or read.
    #[error("the data directory {} cannot be used: {source}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The database in it cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The keys in it cannot be used.
    #[error(transparent)]
    Keys(#[from] PkiError),
    /// The objects every cluster has could not be made.
    #[error("the cluster's first objects could not be made: {0}")]
    Bootstrap(String),
}

fn describe(running: Option<&Running>) -> String {
    match running {
        Some(running) => format!("the server at {} (process {})", running.server, running.pid),
        None => "another process; wait for it to end or choose another directory".to_owned(),
    }
}

/// A cluster in this process. Dropping it ends its controllers; [`Cluster::shutdown`] also waits for the disk.
pub struct Cluster {
    server: Arc<Server>,
    directory: Option<Arc<Directory>>,
    controllers: controllers::Running,
}

impl Cluster {
    /// Opens a cluster. Must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the data directory is in use or damaged.
    pub async fn open(options: ClusterOptions) -> Result<Self, OpenError> {
        let (directory, store, pki) = match &options.storage {
            Storage::Memory => (None, Store::in_memory(options.history), Pki::generate()?),
            Storage::Dir(path) => {
                let directory = take(path)?;
                let pki = Pki::open(&directory.file("pki"))?;
                let store = Store::open(&directory.file("cluster.db"), options.history)?;
                (Some(Arc::new(directory)), store, pki)
            }
        };
        let server = Arc::new(Server::new(store, pki));
        bootstrap::run(&server).await.map_err(OpenError::Bootstrap)?;
        let client = ApiService::for_identity(server.clone(), Identity::admin()).into_client();
        let controllers = controllers::start(&server, &client, &options.controllers);
        Ok(Self { server, directory, controllers })
    }

    /// A client in this process, with the rights of the administrator: no socket, no TLS.
    pub fn client(&self) -> kube::Client {
        self.client_as(Identity::admin())
    }

    /// A client in this process for another identity.
    pub fn client_as(&self, identity: Identity) -> kube::Client {
        self.service(identity).into_client()
    }

    /// The API as a service, for an identity.
    pub fn service(&self, identity: Identity) -> ApiService {
        ApiService::for_identity(self.server.clone(), identity)
    }

    /// The API as a service that asks for credentials.
    pub fn authenticating_service(&self) -> ApiService {
        ApiService::authenticating(self.server.clone())
    }

    /// What answers the requests.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Serves the API over HTTPS until [`Served::stop`].
    ///
    /// # Errors
    ///
    /// When the address cannot be used.
    pub async fn serve(&self, options: ServeOptions) -> Result<Served, ServeError> {
        serve::serve(&self.server, self.directory.clone(), options).await
    }

    /// Ends the controllers and waits until everything is on disk.
    pub async fn shutdown(self) {
        self.controllers.stop().await;
        let revision = self.server.store.revision();
        let _ = self.server.store.settled(revision).await;
    }
}

fn take(path: &Path) -> Result<Directory, OpenError> {
    Directory::take(path).map_err(|taken| match taken {
        Taken::InUse => OpenError::InUse { path: path.to_owned(), running: running(path) },
        Taken::Io(source) => OpenError::Directory { path: path.to_owned(), source },
    })
}
