//! The port map of a host: the cluster ports of the pods that can receive traffic.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use podsmith_pods::runtime::status::{State, Status};

use crate::layout::{Home, Release, write_if_changed};

/// A status older than this says nothing.
const FRESH: Duration = Duration::from_secs(600);

/// The lines of all ready pods, sorted.
pub(super) fn lines<'a>(ready: impl Iterator<Item = &'a Release>) -> BTreeSet<String> {
    ready.flat_map(Release::port_map).collect()
}

/// Writes `portmappings.conf` if it changed.
pub(super) fn write(home: &Home, lines: &BTreeSet<String>) -> io::Result<bool> {
    let text = lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n") + "\n";
    write_if_changed(&home.path().join("portmappings.conf"), text.as_bytes())
}

/// Whether the pod in `dir` says that it is ready; `None` if it says nothing.
pub(super) fn readiness(dir: &Path) -> Option<bool> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let fresh = |updated: u64| now.saturating_sub(Duration::from_secs(updated)) <= FRESH;
    if let Some(status) = Status::current(dir) {
        return Some(status.status == State::Running && status.readiness && fresh(status.updated));
    }
    // Pods of other makes write only the text.
    let text = std::fs::read_to_string(dir.join(".pod.status")).ok()?;
    let field = |key: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found.map_or("", str::trim)
    };
    let updated = field("updated").parse().unwrap_or(0);
    Some(field("status") == "running" && field("readiness") == "1" && fresh(updated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_running_ready_and_fresh_pods_count() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(readiness(dir.path()), None);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        for (status, ready, updated, expected) in [
            ("running", 1, now, true),
            ("running", 0, now, false),
            ("exited", 1, now, false),
            ("running", 1, now - 700, false),
        ] {
            let text = format!("pod: x\nupdated: {updated}\nstatus: {status}\nreadiness: {ready}\n");
            std::fs::write(dir.path().join(".pod.status"), text).unwrap();
            assert_eq!(readiness(dir.path()), Some(expected), "{status} {ready}");
        }
        // Ours says running, but its supervisor is gone.
        let status = Status { status: State::Running, readiness: true, updated: now, ..Status::default() };
        status.write(dir.path()).unwrap();
        assert_eq!(readiness(dir.path()), Some(false));
    }
}
