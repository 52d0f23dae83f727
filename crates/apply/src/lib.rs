//! Runs a plan against a Kubernetes API.
