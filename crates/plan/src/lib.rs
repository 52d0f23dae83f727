//! Plans: what must happen to make a cluster match a package, and how to show it.
//!
//! Pure: this crate decides, sorts, compares and prints; it never talks to anything. `podsmith-apply` asks the cluster
//! and carries out what is decided here.
//!
//! | module | idea |
//! |---|---|
//! | [`package`] | objects with namespace and identity, duplicates refused |
//! | [`kinds`] | which kinds a cluster serves |
//! | [`definition`] | custom resources checked against a definition of the same package |
//! | [`order`] | what is written before what |
//! | [`checksum`], [`digest`] | restarts on configuration changes; telling unchanged objects without a request |
//! | [`inventory`] | the record of what a package owns |
//! | [`managed`], [`answer`] | reading managed fields and refusals of the server |
//! | [`decide`], [`change`], [`mod@plan`] | create, update, replace, delete or nothing |
//! | [`diff`], [`mask`] | exact differences without noise and without secrets |
//! | [`text`], [`mod@json`], [`planfile`] | the plan for people, for machines, as a file |
//! | [`health`] | is an object ready, and if not, why |

pub mod answer;
pub mod change;
pub mod checksum;
pub mod decide;
pub mod definition;
pub mod diff;
pub mod digest;
pub mod health;
pub mod inventory;
pub mod json;
pub mod kinds;
pub mod managed;
pub mod mask;
pub mod names;
pub mod order;
pub mod package;
pub mod plan;
pub mod planfile;
pub mod text;

pub use change::{Action, Change};
pub use inventory::Inventory;
pub use package::{Package, PrepareOptions, Prepared, prepare};
pub use plan::{Plan, Summary};
