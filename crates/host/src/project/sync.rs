//! Bringing a host to what the project says.
//!
//! Only differences are copied, and each step leaves the host in a state from which the next sync goes on: a new
//! release appears under its name when it is complete, and a changed config is refilled in its directory, because
//! containers hold that very directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::pods::checksum;
use super::{HostState, Project, ProjectError, copy_tree, random_word};
use crate::layout::{Home, Release, Wanted, write_if_changed};

/// Whether the host may be set back to an earlier or another line of commits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Force {
    /// No.
    No,
    /// Yes.
    Yes,
}

/// What a sync changed, as `pod:version` or `pod:version:config`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Synced {
    /// Copied releases.
    pub added: Vec<String>,
    /// Releases with a new state.
    pub states: Vec<String>,
    /// Refilled configs.
    pub configs: Vec<String>,
}

/// A lock that was not renewed for so long belongs to nobody.
const STALE: Duration = Duration::from_secs(10);

/// The lock of one sync on a host.
struct Token {
    path: PathBuf,
    word: String,
}

impl Token {
    fn take(home: &Path) -> Result<Self, ProjectError> {
        use std::io::Write;
        let path = home.join("lock-token.txt");
        let age = fs::metadata(&path)
            .and_then(|found| found.modified())
            .ok()
            .and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > STALE) {
            let _ = fs::remove_file(&path);
        }
        let word = random_word();
        let made = fs::File::options().write(true).create_new(true).open(&path);
        match made.and_then(|mut file| file.write_all(word.as_bytes())) {
            Ok(()) => Ok(Self { path, word }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                ProjectError::refused(format!("another sync works on {}", home.display()))
            }
            Err(error) => Err(ProjectError::file("write", &path)(error)),
        }
    }

    /// Shows that we are alive, and notices when somebody took the lock away.
    fn renew(&self) -> Result<(), ProjectError> {
        let found = fs::read_to_string(&self.path).unwrap_or_default();
        if found != self.word {
            return ProjectError::refused("another sync took the lock, this one was too slow");
        }
        fs::write(&self.path, &self.word).map_err(ProjectError::file("write", &self.path))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|found| found == self.word) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Project {
    /// Makes the home of a host.
    ///
    /// # Errors
    ///
    /// It belongs to another cluster.
    pub fn init_host(&self, host: &str) -> Result<(), ProjectError> {
        let home = self.host_settings(host)?.home;
        let path = home.join("cluster-id.txt");
        let id = self.id()?;
        if fs::read_to_string(&path).is_ok_and(|found| found.trim() != id) {
            return ProjectError::refused(format!("{} belongs to another cluster", home.display()));
        }
        let pods = home.join("pods");
        fs::create_dir_all(&pods).map_err(ProjectError::file("make", &pods))?;
        fs::write(&path, id + "\n").map_err(ProjectError::file("write", &path))
    }

    /// Brings a host to what the project says. Can be repeated at any time, also after it was cut off.
    ///
    /// # Errors
    ///
    /// Ports clash, another sync is at work, or the host is ahead of this project.
    pub fn sync(&self, host: &str, force: Force) -> Result<Synced, ProjectError> {
        let state = self.host_state(host);
        if state == HostState::Disabled {
            return Ok(Synced::default());
        }
        self.check_ports(host)?;
        let home = self.host_settings(host)?.home;
        let id = fs::read_to_string(home.join("cluster-id.txt")).unwrap_or_default();
        if id.trim() != self.id()? {
            return ProjectError::refused(format!(
                "{} is not a home of this cluster, init the host first",
                home.display()
            ));
        }
        let token = Token::take(&home)?;
        self.check_chain(&home, force)?;
        let wanted = match state {
            HostState::Active => self.host(host)?.releases(),
            _ => Vec::new(),
        };
        let mut synced = Synced::default();
        retire(&Home::at(&home), &wanted, &mut synced)?;
        for release in &wanted {
            token.renew()?;
            bring(release, &home, &mut synced)?;
        }
        let path = home.join("hosts.conf");
        write_if_changed(&path, self.hosts_conf(host).as_bytes())
            .map_err(ProjectError::file("write", &path))?;
        Ok(synced)
    }

    /// The commits of the project, oldest first; none if it is not in git.
    fn chain(&self) -> Vec<String> {
        let output =
            Command::new("git").arg("-C").arg(self.path()).args(["rev-list", "--reverse", "HEAD"]).output();
        let own_repository = self.path().join(".git").exists();
        match output {
            Ok(output) if output.status.success() && own_repository => {
                String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The commits that the host knows must be the beginning of ours.
    fn check_chain(&self, home: &Path, force: Force) -> Result<(), ProjectError> {
        let ours = self.chain();
        if ours.is_empty() {
            return Ok(());
        }
        let path = home.join("commit-chain.txt");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let theirs: Vec<&str> = text.lines().collect();
        let known = theirs.len() <= ours.len() && theirs.iter().zip(&ours).all(|(a, b)| a == b);
        if !known && force == Force::No {
            return ProjectError::refused(
                "the host has commits that this project has not: pull them, or force to set the host back",
            );
        }
        write_if_changed(&path, (ours.join("\n") + "\n").as_bytes())
            .map(drop)
            .map_err(ProjectError::file("write", &path))
    }
}

/// Releases that the project does not have are removed by the daemon.
fn retire(home: &Home, wanted: &[Release], synced: &mut Synced) -> Result<(), ProjectError> {
    for release in home.releases() {
        let kept = wanted.iter().any(|other| other.id() == release.id());
        if !kept && release.wanted() != Some(Wanted::Removed) {
            let path = release.dir.join("pod.state");
            write_if_changed(&path, b"removed\n").map_err(ProjectError::file("write", &path))?;
            synced.states.push(release.id());
        }
    }
    Ok(())
}

fn bring(release: &Release, home: &Path, synced: &mut Synced) -> Result<(), ProjectError> {
    let parent = home.join("pods").join(&release.pod).join("release");
    let target = parent.join(&release.version);
    if !target.is_dir() {
        if release.wanted() == Some(Wanted::Removed) {
            return Ok(());
        }
        fs::create_dir_all(&parent).map_err(ProjectError::file("make", &parent))?;
        let part = parent.join(format!(".{}.part", release.version));
        let _ = fs::remove_dir_all(&part);
        copy_tree(&release.dir, &part)?;
        fs::rename(&part, &target).map_err(ProjectError::file("rename", &part))?;
        synced.added.push(release.id());
        return Ok(());
    }
    bring_configs(release, &target, synced)?;
    let state = fs::read(release.dir.join("pod.state")).unwrap_or_default();
    let path = target.join("pod.state");
    if write_if_changed(&path, &state).map_err(ProjectError::file("write", &path))? {
        synced.states.push(release.id());
    }
    Ok(())
}

/// Refills configs whose content differs, in their own directories. The checksum is written last.
fn bring_configs(release: &Release, target: &Path, synced: &mut Synced) -> Result<(), ProjectError> {
    let entries = fs::read_dir(release.dir.join("config")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let (from, to) = (release.dir.join("config").join(&name), target.join("config").join(&name));
        let wanted = checksum(&from).map_err(ProjectError::file("read", &from))?;
        if to.is_dir() && checksum(&to).is_ok_and(|found| found == wanted) {
            continue;
        }
        empty(&to)?;
        copy_tree(&from, &to)?;
        let path = target.join("config").join(format!("{name}.txt"));
        write_if_changed(&path, (wanted + "\n").as_bytes()).map_err(ProjectError::file("write", &path))?;
        synced.configs.push(format!("{}:{name}", release.id()));
    }
    Ok(())
}

/// Removes what is in a directory, but not the directory: containers have it mounted.
fn empty(dir: &Path) -> Result<(), ProjectError> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(ProjectError::file("remove", &path))?;
    }
    Ok(())
}
