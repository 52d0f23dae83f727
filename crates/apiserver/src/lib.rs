//! A Kubernetes-compatible API server in this process.

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
