//! The small runtime that compiled pods start with: nothing but the Pod API.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match podsmith_pods::image::embedded() {
        Ok(Some(spec)) => podsmith_pods::runtime::main(spec, std::env::args_os().skip(1)),
        Ok(None) => fail("this is the runtime of compiled pods; make one with `podsmith pod compile`"),
        Err(error) => fail(&format!("the compiled pod cannot be read: {error}")),
    }
}

fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {message}");
    ExitCode::from(1)
}
