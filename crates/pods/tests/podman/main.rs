//! Compiled pods on the real podman.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod changes;
mod host;
mod life;
mod recovery;
