//! A Kubernetes-compatible API server in this process.
//!
//! [`Cluster::open`] opens a cluster in memory or in a data directory; [`Cluster::client`] is a `kube::Client` on it
//! without a socket; [`Cluster::serve`] puts the same service behind TLS for kubectl, helm and controllers. It is
//! Kubernetes 1.36 in every answer.
//!
//! ```
//! use k8s_openapi::api::core::v1::Namespace;
//! use podsmith_apiserver::{Cluster, ClusterOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = Cluster::open(ClusterOptions::memory()).await?;
//! let namespaces: kube::Api<Namespace> = kube::Api::all(cluster.client());
//! assert!(namespaces.get_opt("default").await?.is_some());
//! cluster.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`store`] | objects, revisions, history, the file behind them |
//! | [`registry`] | which resources are served |
//! | [`request`] | path, query, form, body |
//! | `handlers`, `rules`, `strategy` | one set of handlers for every kind, and what depends on the kind |
//! | [`admission`] | the server's own rules, policies, webhooks, limits, quotas |
//! | [`auth`] | who asks, and what they may do |
//! | [`controllers`] | tasks that keep things true, switchable by name |
//! | `output`, `openapi`, `convert` | answers in the form and version asked for |

pub mod admission;
pub mod auth;
pub mod clock;
mod cluster;
pub mod controllers;
mod convert;
pub mod fields;
mod handlers;
mod openapi;
mod output;
pub mod registry;
pub mod reply;
pub mod request;
mod rules;
mod select;
pub mod server;
pub mod service;
pub mod status;
pub mod store;
mod strategy;

pub use cluster::{
    Cluster, ClusterOptions, Issued, OpenError, Pki, PkiError, Running, ServeError, ServeOptions, Served,
    Storage, running,
};
pub use service::ApiService;

/// The version we are.
pub const VERSION: &str = "v1.36.3+podsmith";
