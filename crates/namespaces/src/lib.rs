//! The namespace tree, templates and propagation.

pub mod admission;
pub mod claim;
pub mod config;
pub mod desired;
pub mod glob;
pub mod keys;
pub mod model;
mod queue;
pub mod reconciler;
pub mod resource;
pub mod tree;
pub mod world;
pub mod write;

pub use config::{Config, OnConflict};
pub use desired::{Desired, desired, desired_of};
pub use keys::Keys;
pub use reconciler::Reconciler;
pub use world::World;
