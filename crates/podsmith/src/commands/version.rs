//! `podsmith version`

use std::io::Write;

use crate::failure::{Outcome, exit};

/// Prints the version.
///
/// # Errors
///
/// When stdout cannot be written.
pub fn run() -> Outcome {
    writeln!(std::io::stdout().lock(), "podsmith {}", env!("CARGO_PKG_VERSION"))?;
    Ok(exit::DONE)
}
