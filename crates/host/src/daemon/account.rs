//! The user who owns a home: pods run as this user.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// A user, and whether we must become them.
#[derive(Clone, Debug)]
pub(super) struct Account {
    uid: u32,
    gid: u32,
    name: String,
    home: PathBuf,
    /// We are root and the user is not.
    pub drops: bool,
}

impl Account {
    /// The owner of `path`.
    pub fn owning(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        let (uid, gid) = (metadata.uid(), metadata.gid());
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let entry = passwd.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            (fields.get(2)?.parse::<u32>().ok()? == uid).then(|| Some((*fields.first()?, *fields.get(5)?)))?
        });
        let (name, home) = entry.unwrap_or(("", "/"));
        let drops = rustix::process::geteuid().is_root() && uid != 0;
        let account = Self { uid, gid, name: name.to_owned(), home: PathBuf::from(home), drops };
        if drops {
            account.make_runtime_directory()?;
        }
        Ok(account)
    }

    fn runtime_directory(&self) -> PathBuf {
        PathBuf::from(format!("/run/user/{}", self.uid))
    }

    /// podman without root needs it, and without a login session nobody has made it.
    fn make_runtime_directory(&self) -> io::Result<()> {
        let path = self.runtime_directory();
        if path.is_dir() {
            return Ok(());
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        chown(&path, Some(self.uid), Some(self.gid))
    }

    /// Makes `command` run as this user, without any group or variable of ours that could matter.
    pub fn apply(&self, command: &mut Command) {
        if self.drops {
            command.uid(self.uid).gid(self.gid);
            command.env("HOME", &self.home).env("USER", &self.name).env("LOGNAME", &self.name);
            command.env("XDG_RUNTIME_DIR", self.runtime_directory());
            command.env_remove("CREDENTIALS_DIRECTORY");
        }
    }
}
