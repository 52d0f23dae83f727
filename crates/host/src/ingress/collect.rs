//! Finding the ingress files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use podsmith_object::{Diagnostic, Diagnostics};

use super::rules::{Action, Rule, parse};
use crate::layout::{Home, Wanted};

/// Reads the rules of all running pods below `dirs`: homes, cluster projects with a directory per host, or directories
/// that hold `*.ingress.conf` themselves. Each version of a pod counts once.
///
/// # Errors
///
/// Everything that is wrong with the files.
pub fn collect(dirs: &[PathBuf], excluded: &[u16]) -> Result<Vec<Rule>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut rules = Vec::new();
    let mut seen = BTreeSet::new();
    for dir in dirs {
        let files = files(dir);
        if !dir.is_dir() {
            problems.push(Diagnostic::error(format!("{} is not a directory", dir.display())));
        }
        for (id, path) in files {
            if !seen.insert(id) {
                continue;
            }
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) => {
                    let message = format!("cannot read {}", path.display());
                    problems.push(Diagnostic::error(message).because(error.to_string()));
                    continue;
                }
            };
            match parse(&path.display().to_string(), &text) {
                Ok(found) => rules.extend(found),
                Err(found) => problems.extend(found),
            }
        }
    }
    rules.retain(|rule: &Rule| !matches!(rule.action, Action::ClusterPort(port) if excluded.contains(&port)));
    problems.into_result(rules)
}

/// The ingress files below `dir` with what identifies each, sorted.
fn files(dir: &Path) -> Vec<(String, PathBuf)> {
    if dir.join("pods").is_dir() {
        return of_home(dir);
    }
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut children: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    children.sort();
    let hosts = children.iter().filter(|child| child.join("pods").is_dir() && is_active(child));
    let mut found: Vec<(String, PathBuf)> = hosts.flat_map(|host| of_home(host)).collect();
    let plain = children.iter().filter(|child| child.to_string_lossy().ends_with(".ingress.conf"));
    found.extend(plain.map(|path| (path.display().to_string(), path.clone())));
    found
}

fn is_active(host: &Path) -> bool {
    fs::read_to_string(host.join("host.state")).is_ok_and(|state| state.trim() == "active")
}

fn of_home(dir: &Path) -> Vec<(String, PathBuf)> {
    let releases = Home::at(dir).releases().into_iter();
    releases
        .filter(|release| release.pod != "ingress" && release.wanted() == Some(Wanted::Running))
        .map(|release| (release.id(), release.dir.join("pod.ingress.conf")))
        .filter(|(_, path)| path.is_file())
        .collect()
}
