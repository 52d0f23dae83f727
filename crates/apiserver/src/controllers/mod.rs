//! Controllers: each a task of its own, switchable by name.
//!
//! A controller gets a [`Context`]: a client for those that work like any other client, and the feed of everything
//! that happens for those that must see every kind.

mod definitions;
mod feed;
mod garbage;
mod namespaces;
mod owners;
mod quotas;

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::server::Server;

/// The names of the controllers.
pub const NAMES: [&str; 5] =
    ["custom-resources", "garbage-collector", "namespace", "namespace-objects", "resource-quota"];

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

/// What a controller works with.
#[derive(Clone)]
pub struct Context {
    /// The server, for those that must see every kind.
    pub server: Arc<Server>,
    /// A client with the rights of the administrator.
    pub client: kube::Client,
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
pub fn start(server: &Arc<Server>, client: &kube::Client, chosen: &Controllers) -> Running {
    let mut tasks = JoinSet::new();
    let context = Context { server: server.clone(), client: client.clone() };
    if chosen.includes("namespace-objects") {
        tasks.spawn(namespaces::supply(context.clone()));
    }
    if chosen.includes("namespace") {
        tasks.spawn(namespaces::empty(context.clone()));
    }
    if chosen.includes("garbage-collector") {
        tasks.spawn(garbage::collect(context.clone()));
    }
    if chosen.includes("resource-quota") {
        tasks.spawn(quotas::count(context.clone()));
    }
    if chosen.includes("custom-resources") {
        tasks.spawn(definitions::clean_up(context));
    }
    Running { tasks }
}
