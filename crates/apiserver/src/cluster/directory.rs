//! A data directory: one process at a time, and a note where its server is.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::pki::write_private;

/// The server that has a data directory.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// Its address: `https://127.0.0.1:40123`.
    pub server: String,
    /// The file with the administrator's kubeconfig.
    pub kubeconfig: PathBuf,
}

/// A directory we have to ourselves as long as this lives.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    _lock: fs::File,
}

/// Why a directory is not ours.
#[derive(Debug)]
pub enum Taken {
    /// Another process has it.
    InUse,
    /// The file system says no.
    Io(std::io::Error),
}

impl Directory {
    /// Takes a directory, making it if it is not there.
    ///
    /// # Errors
    ///
    /// When another process has it, or it cannot be made.
    pub fn take(path: &Path) -> Result<Self, Taken> {
        fs::create_dir_all(path).map_err(Taken::Io)?;
        let lock = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join("lock"))
            .map_err(Taken::Io)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(Taken::InUse),
            Err(error) => return Err(Taken::Io(error.into())),
        }
        // A note left by a process that ended without warning.
        let _ = fs::remove_file(path.join("server.json"));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// A file in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Notes where the server is.
    ///
    /// # Errors
    ///
    /// When the note cannot be written.
    pub fn announce(&self, running: &Running) -> std::io::Result<()> {
        write_private(&self.file("server.json"), &serde_json::to_string(running)?)
    }

    /// Takes the note away.
    pub fn retract(&self) {
        let _ = fs::remove_file(self.file("server.json"));
    }
}

/// The server that has a data directory now, if there is one. Nothing when the directory is free, whatever notes an
/// earlier process left.
pub fn running(path: &Path) -> Option<Running> {
    let lock = fs::OpenOptions::new().write(true).open(path.join("lock")).ok()?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
        return None;
    }
    serde_json::from_slice(&fs::read(path.join("server.json")).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_a_directory_and_others_learn_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let taken = Directory::take(dir.path()).unwrap();
        assert!(matches!(Directory::take(dir.path()), Err(Taken::InUse)));
        assert_eq!(running(dir.path()), None);
        let note = Running { pid: 1, server: "https://127.0.0.1:1".into(), kubeconfig: "k".into() };
        taken.announce(&note).unwrap();
        assert_eq!(running(dir.path()), Some(note));
        drop(taken);
        assert_eq!(running(dir.path()), None, "a note without its process means nothing");
    }
}
