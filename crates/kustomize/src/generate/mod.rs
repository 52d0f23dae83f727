//! Objects made from files and literals, and the hashes in their names.

mod charts;
mod data;
mod hash;
mod policy;

pub(crate) use charts::inflate;
pub(crate) use data::{config_map, secret};
pub(crate) use hash::hash;
pub(crate) use policy::iam_policy;
