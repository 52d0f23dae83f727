//! Compiles one pod: `cargo run --example compile -- NAME pod.yaml [RUNTIME]`.

use std::io::Write;
use std::process::ExitCode;

use podsmith_pods::image::Runtime;
use podsmith_pods::{Request, compile};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(name), Some(input)) = (words.next(), words.next()) else { return ExitCode::from(64) };
    let runtime = match words.next() {
        Some(path) => Runtime::File(path.into()),
        None => match Runtime::locate() {
            Ok(runtime) => runtime,
            Err(_) => return ExitCode::FAILURE,
        },
    };
    match compile(&Request { name: Some(name), ..Request::new(input, runtime) }) {
        Ok(done) => {
            for path in done.written {
                let _ = writeln!(std::io::stdout(), "{}", path.display());
            }
            let _ = writeln!(std::io::stderr(), "{}", done.warnings);
            ExitCode::SUCCESS
        }
        Err(problems) => {
            let _ = writeln!(std::io::stderr(), "{problems}");
            ExitCode::FAILURE
        }
    }
}
