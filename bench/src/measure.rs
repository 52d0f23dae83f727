//! Runs a program and measures it from outside: wall time and peak memory.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What one run cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From start to exit.
    pub wall: Duration,
    /// The peak of resident memory, in bytes, sampled every millisecond.
    pub peak: u64,
}

/// Runs the program once with its output in `output`.
///
/// # Errors
///
/// When it cannot start or fails; the message carries its stderr.
pub fn run(command: &[String], output: &Path) -> io::Result<Cost> {
    let errors = output.with_extension("stderr");
    let started = Instant::now();
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(File::create(output)?)
        .stderr(File::create(&errors)?)
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("could not start {}: {error}", command[0])))?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        peak = peak.max(high_water(&status).unwrap_or(0));
        if let Some(exit) = child.try_wait()? {
            let wall = started.elapsed();
            if exit.success() {
                return Ok(Cost { wall, peak });
            }
            let said = std::fs::read_to_string(&errors).unwrap_or_default();
            return Err(io::Error::other(format!("{} failed: {}", command.join(" "), said.trim())));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn high_water(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The run in the middle by wall time, with the largest peak of all.
pub fn median(mut costs: Vec<Cost>) -> Option<Cost> {
    costs.sort_by_key(|cost| cost.wall);
    let peak = costs.iter().map(|cost| cost.peak).max()?;
    costs.get(costs.len() / 2).map(|middle| Cost { peak, ..*middle })
}
