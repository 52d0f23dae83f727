//! Calls of the Pod API on behalf of a home.

use std::net::IpAddr;
use std::path::Path;
use std::process::Stdio;

use podsmith_pods::ramdisk;
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::account::Account;
use crate::layout::{Release, Wanted};

/// A request in `pod.action`: make the pod, or some of its containers, anew.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rerun {
    /// Containers; none means the whole pod.
    pub containers: Vec<String>,
}

impl Rerun {
    /// Reads the content of the file: `rerun` and names.
    ///
    /// # Errors
    ///
    /// The text, if it is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let plain =
            |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let known = words.next() == Some("rerun");
        let containers: Vec<&str> = words.collect();
        if known && containers.iter().all(plain) {
            return Ok(Self { containers: containers.into_iter().map(str::to_owned).collect() });
        }
        Err(text.trim().to_owned())
    }

    /// Takes the request out of a release: it is deleted when read.
    pub(super) fn take(dir: &Path) -> Option<Result<Self, String>> {
        let path = dir.join("pod.action");
        let text = std::fs::read_to_string(&path).ok()?;
        let _ = std::fs::remove_file(&path);
        Some(Self::parse(&text))
    }
}

/// One call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Call {
    Ramdisks,
    Run,
    Readiness,
    Rerun(Rerun),
    Stop,
    Remove,
    Unmount,
}

/// What makes a wanted state true.
pub(super) fn for_state(wanted: &Wanted) -> Vec<Call> {
    match wanted {
        Wanted::Running => vec![Call::Ramdisks, Call::Run],
        Wanted::Stopped => vec![Call::Stop, Call::Unmount],
        Wanted::Removed => vec![Call::Remove, Call::Unmount],
        Wanted::Unknown(_) => Vec::new(),
    }
}

/// What became of some calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub success: bool,
    /// The pod was asked and is ready.
    pub ready: bool,
}

/// Makes calls one after the other, in the background; the first failure ends them.
pub(super) fn start(
    account: &Account,
    release: &Release,
    calls: Vec<Call>,
    interface: Option<IpAddr>,
) -> JoinHandle<Outcome> {
    let (account, release) = (account.clone(), release.clone());
    tokio::spawn(async move {
        let mut ready = false;
        for call in calls {
            let success = make(&account, &release, &call, interface).await;
            if call == Call::Readiness {
                // A pod that is not ready has not failed.
                ready = success;
            } else if !success {
                return Outcome::default();
            }
        }
        Outcome { success: true, ready }
    })
}

async fn make(account: &Account, release: &Release, call: &Call, interface: Option<IpAddr>) -> bool {
    let mut args: Vec<String> = match call {
        Call::Ramdisks => return mount_ramdisks(account, release).await,
        Call::Unmount => return unmount(release),
        Call::Readiness => vec!["readiness".into()],
        Call::Run => vec!["run".into()],
        Call::Stop => vec!["stop".into()],
        Call::Remove => vec!["rm".into()],
        Call::Rerun(rerun) => [vec!["rerun".to_owned()], rerun.containers.clone()].concat(),
    };
    let whole =
        matches!(call, Call::Run) || matches!(call, Call::Rerun(rerun) if rerun.containers.is_empty());
    if let Some(address) = interface.filter(|_| whole) {
        args.push(format!("--host-interface={address}"));
    }
    execute(account, release, &args).await.is_some_and(|output| {
        let quiet = matches!(call, Call::Readiness);
        if !output.status.success() && !quiet {
            let text = String::from_utf8_lossy(&output.stderr);
            let reason = text.lines().last().unwrap_or_default();
            tracing::error!(pod = %release.id(), action = %args.join(" "), %reason, "The action failed");
        }
        output.status.success()
    })
}

async fn execute(account: &Account, release: &Release, args: &[String]) -> Option<std::process::Output> {
    let mut command = Command::new(release.executable());
    command.args(args).current_dir(&release.dir).stdin(Stdio::null());
    account.apply(&mut command);
    match command.output().await {
        Ok(output) => Some(output),
        Err(error) => {
            tracing::error!(pod = %release.id(), %error, "The pod cannot be started");
            None
        }
    }
}

/// As root: asks the pod, as its owner, which ramdisks it wants, and mounts them.
async fn mount_ramdisks(account: &Account, release: &Release) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let mut text = String::new();
    for args in [vec!["create-ramdisks".to_owned(), "-l".into()], vec!["ramdisk-config".into()]] {
        if let Some(output) = execute(account, release, &args).await.filter(|output| output.status.success())
        {
            text = String::from_utf8_lossy(&output.stdout).into_owned();
            break;
        }
    }
    for (name, size) in text.split_whitespace().filter_map(ramdisk::parse) {
        if let Err(error) = ramdisk::mount(&release.dir, name, size) {
            // The pod goes on with a plain directory.
            tracing::warn!(pod = %release.id(), ramdisk = %name, %error, "Cannot mount a ramdisk");
        }
    }
    true
}

fn unmount(release: &Release) -> bool {
    if rustix::process::geteuid().is_root()
        && let Err(error) = ramdisk::unmount_all(&release.dir)
    {
        tracing::warn!(pod = %release.id(), %error, "Cannot unmount the ramdisks");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reruns_are_actions() {
        assert_eq!(Rerun::parse("rerun\n").unwrap().containers, Vec::<String>::new());
        assert_eq!(Rerun::parse("rerun a b_2").unwrap().containers, ["a", "b_2"]);
        for text in ["", "stop", "rerun -k", "rerun ../x", "rerun A", "rm rerun"] {
            assert!(Rerun::parse(text).is_err(), "{text}");
        }
    }
}
