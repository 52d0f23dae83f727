//! Compares the proxy with HAProxy in TCP mode on this machine: throughput, latency, memory.
//!
//! `cargo run --release -p podsmith-host --example bench_proxy`

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

const CONNECTIONS: usize = 32;
const REQUESTS: usize = 2_000;
const BULK: usize = 1 << 30;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let done = match words.get(1).map(String::as_str) {
        Some("proxy") => podsmith_host::proxy::run(std::path::Path::new(&words[2])).map_err(Failure::from),
        _ => compare(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Answers 64 bytes with 64 bytes; a first byte of `b` asks for bulk data instead.
fn backend() -> Result<u16, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || {
                let mut buffer = vec![0_u8; 256 * 1024];
                while let Ok(count) = stream.read(&mut buffer[..64]) {
                    if count == 0 {
                        return;
                    }
                    if buffer[0] == b'b' {
                        let mut left = BULK;
                        while left > 0 && stream.write_all(&buffer).is_ok() {
                            left = left.saturating_sub(buffer.len());
                        }
                        return;
                    }
                    let _ = stream.write_all(&buffer[..count]);
                }
            });
        }
    });
    Ok(port)
}

fn compare() -> Result<(), Failure> {
    let dir = std::env::temp_dir().join(format!("bench-proxy-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let pod = backend()?;
    report("direct", pod, None)?;

    let cluster = 41_000;
    std::fs::write(dir.join("hosts.conf"), format!("127.0.0.1:{}\n", free_port()?))?;
    std::fs::write(dir.join("portmappings.conf"), format!("{cluster}:{pod}:4096:false\n"))?;
    let config = dir.join("proxy.conf");
    std::fs::write(
        &config,
        format!("HOST 127.0.0.1\nPORT {}\nCLUSTERPORTS {cluster}-{}\nDRAIN 0\n", free_port()?, cluster + 999),
    )?;
    let mut ours = Command::new(std::env::current_exe()?).arg("proxy").arg(&config).spawn()?;
    report("podsmith, 1000 cluster ports", cluster, Some(&mut ours))?;

    let port = free_port()?;
    let text = format!(
        "global\n    maxconn 4096\ndefaults\n    mode tcp\n    timeout connect 5s\n    timeout client 60s\n    timeout server 60s\n    option splice-auto\n\
         listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{pod}\n"
    );
    std::fs::write(dir.join("haproxy.cfg"), text)?;
    let haproxy =
        Command::new("haproxy").arg("-f").arg(dir.join("haproxy.cfg")).stderr(Stdio::null()).spawn();
    if let Ok(mut haproxy) = haproxy {
        report("haproxy", port, Some(&mut haproxy))?;
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}

fn report(name: &str, port: u16, child: Option<&mut Child>) -> Result<(), Failure> {
    let end = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > end {
            return Err(format!("{name} does not listen").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let idle = child.as_ref().map_or(0, |child| memory(child.id()));
    let (rate, p50, p99) = latency(port)?;
    let gigabits = throughput(port)?;
    let busy = child.as_ref().map_or(0, |child| memory(child.id()));
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{name}: {rate:.0} requests/s, p50 {p50:.0} µs, p99 {p99:.0} µs, {gigabits:.1} Gbit/s, memory {} kB idle, {} kB after",
        idle, busy
    )?;
    if let Some(child) = child {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}

fn memory(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn latency(port: u16) -> Result<(f64, f64, f64), Failure> {
    let start = Instant::now();
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            std::thread::spawn(move || -> std::io::Result<Vec<f64>> {
                let mut stream = TcpStream::connect(("127.0.0.1", port))?;
                stream.set_nodelay(true)?;
                let mut buffer = [b'a'; 64];
                let mut times = Vec::with_capacity(REQUESTS);
                for _ in 0..REQUESTS {
                    let begin = Instant::now();
                    stream.write_all(&buffer)?;
                    stream.read_exact(&mut buffer)?;
                    times.push(begin.elapsed().as_secs_f64() * 1e6);
                }
                Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for thread in threads {
        times.extend(thread.join().map_err(|_| "a client panicked")??);
    }
    let seconds = start.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or(0.0);
    Ok((times.len() as f64 / seconds, at(0.5), at(0.99)))
}

fn throughput(port: u16) -> Result<f64, Failure> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(&[b'b'; 64])?;
    let mut buffer = vec![0_u8; 256 * 1024];
    let start = Instant::now();
    let mut total = 0_usize;
    loop {
        match stream.read(&mut buffer)? {
            0 => break,
            count => total += count,
        }
    }
    Ok(total as f64 * 8.0 / start.elapsed().as_secs_f64() / 1e9)
}
