//! What was fetched before.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::digest::sha256;

/// Keeps bytes under keys. Keys are addresses or digests; any text is allowed.
pub trait Cache: Send + Sync {
    /// The bytes under `key`.
    ///
    /// # Errors
    ///
    /// When the medium fails; a key that is not there is `None`.
    fn get(&self, key: &str) -> io::Result<Option<Vec<u8>>>;

    /// Keeps `bytes` under `key`.
    ///
    /// # Errors
    ///
    /// When the medium fails.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()>;
}

/// A cache that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryCache(Mutex<BTreeMap<String, Vec<u8>>>);

impl Cache for MemoryCache {
    fn get(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.lock().map_err(|_| io::Error::other("the cache is broken"))?.get(key).cloned())
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let mut entries = self.0.lock().map_err(|_| io::Error::other("the cache is broken"))?;
        entries.insert(key.to_owned(), bytes.to_vec());
        Ok(())
    }
}

/// A cache in a directory: one file for each key, written whole or not at all.
#[derive(Debug)]
pub struct DiskCache {
    directory: PathBuf,
}

impl DiskCache {
    /// A cache below `directory`, which is made when it is first written to.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(sha256(key.as_bytes()))
    }
}

impl Cache for DiskCache {
    fn get(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        match std::fs::read(self.path(key)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        std::fs::create_dir_all(&self.directory)?;
        let path = self.path(key);
        // Another process may write the same key: each writes its own file, the last rename wins, all are whole.
        let unfinished = path.with_extension(format!("{}.part", std::process::id()));
        std::fs::write(&unfinished, bytes)?;
        std::fs::rename(&unfinished, &path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_gives_back_what_it_was_given() {
        let directory = tempfile::tempdir().unwrap();
        let disk = DiskCache::new(directory.path().join("new"));
        let memory = MemoryCache::default();
        for cache in [&disk as &dyn Cache, &memory] {
            assert!(cache.get("https://a/b").unwrap().is_none());
            cache.put("https://a/b", b"one").unwrap();
            cache.put("https://a/b", b"two").unwrap();
            assert_eq!(cache.get("https://a/b").unwrap().as_deref(), Some(b"two".as_slice()));
        }
    }
}
