//! The namespace tree, templates and propagation.

pub mod admission;
pub mod change;
pub mod claim;
pub mod cluster;
pub mod config;
pub mod controller;
pub mod desired;
pub mod executor;
pub mod glob;
pub mod keys;
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
