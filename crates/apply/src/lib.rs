//! Runs plans against a Kubernetes API.
//!
//! Everything goes through a [`kube::Client`], so the embedded cluster and any other one are served by the same code.
//! What is decided is decided in `podsmith-plan`; this crate asks, writes, waits and records.
//!
//! | function | does |
//! |---|---|
//! | [`plan()`] | compares a package with the cluster; writes nothing |
//! | [`apply()`] | carries out a plan |
//! | [`plan_delete`] | plans the removal of a package; [`apply()`] carries it out |
//! | [`status()`] | packages, health, drift |
//!
//! Progress goes to a [`Sink`]; a [`Cancel`] stops cleanly.

mod defaults;
mod delete;
pub mod discovery;
mod error;
mod event;
mod executor;
mod live;
mod planner;
pub mod rest;
mod rules;
mod stale;
mod status;
mod waiting;

pub use delete::plan_delete;
pub use error::ApplyError;
pub use event::{Cancel, Event, Silent, Sink};
pub use executor::{ApplyOptions, Failure, Report, apply};
pub use planner::{PlanOptions, plan};
pub use status::{ObjectStatus, PackageStatus, Status, status};
