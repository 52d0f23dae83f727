//! A Kubernetes-compatible API server in this process.
