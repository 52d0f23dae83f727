//! A Kubernetes-compatible API server in this process.

pub mod store;
