//! Emptying a data directory.

use std::io;
use std::path::Path;

use super::{Cluster, OpenError, take};

impl Cluster {
    /// Deletes everything of a cluster: objects, keys and tokens. Other files in the directory stay.
    ///
    /// # Errors
    ///
    /// When a process uses the directory, or a file cannot be deleted.
    pub fn delete(path: &Path) -> Result<(), OpenError> {
        let directory = take(path)?;
        for name in
            ["cluster.db", "cluster.db-wal", "cluster.db-shm", "kubeconfig", "server.json", "server.log"]
        {
            absent(std::fs::remove_file(directory.file(name)), path)?;
        }
        absent(std::fs::remove_dir_all(directory.file("pki")), path)
    }
}

fn absent(result: io::Result<()>, path: &Path) -> Result<(), OpenError> {
    match result {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(OpenError::Directory { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
