//! The namespace tree, templates and propagation.
//!
//! Namespaces form trees by a `parent` or a `template` label. Labels, annotations and annotated resources flow down.
//! What must exist is a pure function of everything that is known, [`desired()`]; the rest of the crate finds the
//! differences and removes them one preconditioned write at a time.
//!
//! | module | idea |
//! |---|---|
//! | [`config`], [`keys`], [`glob`] | what is set |
//! | [`model`], [`claim`], [`resource`], [`world`] | what is known of a cluster |
//! | [`desired`](mod@desired), [`mod@write`] | what must be, and the writes that are missing |
//! | [`reconciler`] | the controller without its I/O |
//! | [`cluster`], [`executor`], [`controller`], [`lease`], [`metrics`], [`manifests`] | the controller over a `kube::Client` |
//! | [`admission`], [`convert`] | the webhooks as pure functions |
//! | [`change`], [`simulate`], [`tree`], [`ops`] | the command line: changes, plans, pictures |

pub mod admission;
pub mod change;
pub mod claim;
pub mod cluster;
pub mod config;
pub mod controller;
pub mod convert;
pub mod desired;
pub mod executor;
pub mod glob;
pub mod keys;
pub mod lease;
pub mod manifests;
pub mod metrics;
pub mod model;
pub mod ops;
mod queue;
pub mod reconciler;
pub mod resource;
pub mod simulate;
pub mod tree;
pub mod world;
pub mod write;

pub use config::{Config, OnConflict};
pub use desired::{Desired, desired, desired_of};
pub use keys::Keys;
pub use reconciler::Reconciler;
pub use world::World;
