//! Daemon, proxy and ingress for compiled pods.
