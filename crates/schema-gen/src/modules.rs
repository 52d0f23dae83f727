//! Go modules on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use thiserror::Error;

/// What can go wrong while the table is made.
#[derive(Debug, Error)]
pub enum Failure {
    /// The `go` command did not give us a module.
    #[error("could not download {module}: {reason}; this tool needs the go command and a module proxy")]
    Module {
        /// Module and version.
        module: String,
        /// What `go` said.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("could not use {}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file does not say what we expect.
    #[error("{}: {reason}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// The checked-in table is not what the modules say.
    #[error("{} is out of date; run podsmith-schema-gen to write it anew", path.display())]
    Stale {
        /// Which file.
        path: PathBuf,
    },
}

/// The folder of a module, downloaded if it is not in the module cache yet.
pub fn download(module: &str, version: &str) -> Result<PathBuf, Failure> {
    let wanted = format!("{module}@{version}");
    let failed = |reason: String| Failure::Module { module: wanted.clone(), reason };
    let output = Command::new("go")
        .args(["mod", "download", "-json", &wanted])
        .current_dir(std::env::temp_dir())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))?;
    match answer.get("Dir").and_then(Value::as_str) {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => Err(failed(answer.get("Error").and_then(Value::as_str).unwrap_or("no folder").to_owned())),
    }
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|source| Failure::File { path: path.to_owned(), source })
}

/// A JSON file.
pub fn read_json(path: &Path) -> Result<Value, Failure> {
    serde_json::from_str(&read(path)?)
        .map_err(|error| Failure::Content { path: path.to_owned(), reason: error.to_string() })
}
