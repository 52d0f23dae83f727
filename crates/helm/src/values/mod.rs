//! Values: reading and merging what the user gives, and coalescing it with what charts provide.

pub(crate) mod coalesce;
mod merge;
mod set;
pub(crate) mod tables;

pub use crate::reading::with_float_numbers;
pub use merge::{UserValues, ValuesError, read_values};
pub use set::{SetError, SetMode, set};
