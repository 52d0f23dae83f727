//! One kustomization: gathers its resources, then transforms them in the fixed order.

mod accumulate;
mod plugins;
mod transformers;

pub(crate) use accumulate::{Accumulator, Build};
