//! jq expressions over objects.
//!
//! The interpreter is `jaq`; the value type, most of the library and the bounds are ours. See
//! `docs/design/engine.md` for what differs from it and why.

mod access;
mod arithmetic;
mod budget;
mod error;
mod natives;
mod paths;
mod program;
mod text;
mod value;

pub use budget::Limits;
pub use error::{Bound, InExpression, InvalidJq, JqError};
pub use program::{Program, ProgramBuilder};
