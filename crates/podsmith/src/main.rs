//! The `podsmith` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(podsmith::run(std::env::args_os()))
}
