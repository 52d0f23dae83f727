//! Filters and transformers as a user writes them: as flags, and in a pipeline file.

mod file;
mod flags;

pub use file::{filters, transformers};
pub use flags::{parse_filter, parse_transform};
