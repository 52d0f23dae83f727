//! A cluster project: which pods run on which hosts, as directories that can be kept in git.
//!
//! ```text
//! PROJECT/ cluster-id.txt  cluster-vars.env  _config/POD/CONFIG/  _pods/POD/pod.yaml
//!   HOST/ host.env  host.state  pods/POD/release/VERSION/   what the host shall have, copied there by `sync`
//! ```

mod hosts;
mod pods;
mod ports;
mod sync;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use podsmith_object::Diagnostics;
use thiserror::Error;

pub use hosts::{HostSettings, HostState};
pub use pods::{Compilation, PodRef};
pub use sync::{Force, Synced};

/// Why something cannot be done with a project.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// A file cannot be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// What we did.
        verb: &'static str,
        /// With what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A pod does not compile.
    #[error("{0}")]
    Compile(Diagnostics),
    /// The user must do something else.
    #[error("{0}")]
    Refused(String),
}

impl ProjectError {
    fn file(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { verb, path, source }
    }

    fn refused<T>(message: impl Into<String>) -> Result<T, Self> {
        Err(Self::Refused(message.into()))
    }
}

/// An open project.
#[derive(Clone, Debug)]
pub struct Project {
    dir: PathBuf,
}

impl Project {
    /// Makes a project called `name` in `dir`.
    ///
    /// # Errors
    ///
    /// The directory exists, or cannot be made.
    pub fn create(dir: &Path, name: &str) -> Result<Self, ProjectError> {
        if !podsmith_pods::read::valid_name(name) {
            return ProjectError::refused(format!("`{name}` cannot be the name of a cluster"));
        }
        if dir.join("cluster-id.txt").exists() {
            return ProjectError::refused(format!("{} is a project already", dir.display()));
        }
        fs::create_dir_all(dir).map_err(ProjectError::file("make", dir))?;
        let random: String = random_word();
        let project = Self { dir: dir.to_owned() };
        project.write("cluster-id.txt", &format!("{name}-{random}\n"))?;
        project.write("cluster-vars.env", "")?;
        Ok(project)
    }

    /// Opens the project in `dir`.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn open(dir: &Path) -> Result<Self, ProjectError> {
        if !dir.join("cluster-id.txt").is_file() {
            return ProjectError::refused(format!(
                "{} is no cluster project: cluster-id.txt is missing",
                dir.display()
            ));
        }
        Ok(Self { dir: dir.to_owned() })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// `name-RANDOM`.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn id(&self) -> Result<String, ProjectError> {
        let path = self.dir.join("cluster-id.txt");
        Ok(fs::read_to_string(&path).map_err(ProjectError::file("read", &path))?.trim().to_owned())
    }

    fn write(&self, name: &str, content: &str) -> Result<(), ProjectError> {
        let path = self.dir.join(name);
        crate::layout::write_if_changed(&path, content.as_bytes())
            .map(drop)
            .map_err(ProjectError::file("write", &path))
    }
}

fn random_word() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Copies a directory with everything in it.
fn copy_tree(from: &Path, to: &Path) -> Result<(), ProjectError> {
    fs::create_dir_all(to).map_err(ProjectError::file("make", to))?;
    let entries = fs::read_dir(from).map_err(ProjectError::file("read", from))?;
    for entry in entries {
        let path = entry.map_err(ProjectError::file("read", from))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(ProjectError::file("copy", &path))?;
        }
    }
    Ok(())
}
