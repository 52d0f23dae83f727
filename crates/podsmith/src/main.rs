//! The `podsmith` binary.

use std::process::ExitCode;

/// Rendering is mostly allocation of small maps and strings, at which the system's allocator is two times slower.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(podsmith::run(std::env::args_os()))
}
