//! Compiles 200 pods and prints how long it took: `cargo run --release --example bench_compile -- RUNTIME`.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use podsmith_pods::image::Runtime;
use podsmith_pods::{Request, compile_all};

const PODS: usize = 200;

fn pod(number: usize) -> String {
    format!(
        "api: 1.0.0-beta2\npodVersion: 1.0.{number}\nvolumes:\n- {{name: data, type: volume}}\ncontainers:\n\
         - name: init\n  image: localhost/app:${{TAG}}\n  restart: on-failure\n  startupProbe: {{exit: true}}\n\
         - name: web\n  image: localhost/app:${{TAG}}\n  restart: always\n  mounts: [{{volume: data, dest: /data}}]\n\
         \x20 expose:\n  - targetPort: 80\n    hostPort: {}\n    clusterPort: {}\n    ingress:\n    - {{protocol: https, domain: a.test, pathBeg: /}}\n",
        20_000 + number,
        2_000 + number,
    )
}

fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            let _ = writeln!(std::io::stdout(), "{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let runtime = match std::env::args().nth(1) {
        Some(path) => Runtime::File(path.into()),
        None => Runtime::locate().map_err(|error| error.to_string())?,
    };
    let base = std::env::temp_dir().join(format!("bench-compile-{}", std::process::id()));
    for number in 0..PODS {
        let dir = base.join(number.to_string());
        std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
        std::fs::write(dir.join("pod.yaml"), pod(number)).map_err(|error| error.to_string())?;
        std::fs::write(dir.join("pod.env"), "TAG=1\n").map_err(|error| error.to_string())?;
    }
    let mut times = Vec::new();
    for _ in 0..5 {
        let requests: Vec<Request> = (0..PODS)
            .map(|number| {
                let input = base.join(number.to_string()).join("pod.yaml");
                Request { name: Some("bench".into()), ..Request::new(input, runtime.clone()) }
            })
            .collect();
        let start = Instant::now();
        for result in compile_all(&requests) {
            result.map_err(|problems| problems.to_string())?;
        }
        times.push(start.elapsed());
    }
    let _ = std::fs::remove_dir_all(&base);
    let first = times.first().copied().unwrap_or_default();
    let again = times.get(1..).and_then(|rest| rest.iter().min()).copied().unwrap_or_default();
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    Ok(format!("{PODS} pods compiled in {:.1} ms, again in {:.1} ms", millis(first), millis(again)))
}
