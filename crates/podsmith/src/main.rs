//! The `podsmith` binary.

use std::process::ExitCode;

/// Rendering is mostly allocation of small maps and strings, at which the system's allocator is two times slower.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A compiled pod is this program with a pod behind it.
    if let Ok(Some(pod)) = podsmith_pods::image::embedded() {
        return podsmith_pods::runtime::main(pod, std::env::args_os().skip(1));
    }
    ExitCode::from(podsmith::run(std::env::args_os()))
}
