//! Controllers: each a task on a client, switchable by name.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::server::Server;

/// Which controllers run.
#[derive(Clone, Debug, Default)]
pub enum Controllers {
    /// All of them.
    #[default]
    All,
    /// None.
    None,
    /// All but these.
    Without(Vec<String>),
}

impl Controllers {
    /// True if this one runs.
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Without(names) => !names.iter().any(|known| known == name),
        }
    }
}

/// Controllers that run until they are stopped or dropped.
pub struct Running {
    tasks: JoinSet<()>,
}

impl Running {
    /// Ends them and waits for that.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Starts the chosen controllers.
pub fn start(_server: &Arc<Server>, _client: &kube::Client, _chosen: &Controllers) -> Running {
    Running { tasks: JoinSet::new() }
}
