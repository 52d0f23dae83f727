//! Noticing that the content of a config has changed.
//!
//! A look at names, sizes and times is cheap and happens often; the content is hashed only when that look differs, or
//! when a file is so young that its times cannot be trusted yet: two writes within one tick of the kernel's clock have
//! the same time.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

/// Times younger than this are not trusted.
const YOUNG: Duration = Duration::from_secs(2);

type Hash = [u8; 32];

/// One watched directory.
#[derive(Debug)]
pub(super) struct ConfigWatch {
    pub name: String,
    path: PathBuf,
    seen: Option<Seen>,
}

#[derive(Debug)]
struct Seen {
    look: Hash,
    content: Hash,
    trusted: bool,
}

impl ConfigWatch {
    /// Watches `path`. What is there now counts as known.
    pub fn new(name: &str, path: PathBuf) -> Self {
        let mut watch = Self { name: name.to_owned(), path, seen: None };
        let _ = watch.changed();
        watch
    }

    /// True if the content differs from the last call. A directory that cannot be read has not changed.
    pub fn changed(&mut self) -> io::Result<bool> {
        let now = SystemTime::now();
        let (look, newest) = look(&self.path)?;
        if let Some(seen) = &self.seen
            && seen.trusted
            && seen.look == look
        {
            return Ok(false);
        }
        let content = content(&self.path)?;
        let trusted = now.duration_since(newest).is_ok_and(|age| age > YOUNG);
        let changed = self.seen.as_ref().is_some_and(|seen| seen.content != content);
        self.seen = Some(Seen { look, content, trusted });
        Ok(changed)
    }
}

/// All entries below `root`, sorted by path.
fn entries(root: &Path) -> io::Result<Vec<(PathBuf, std::fs::Metadata)>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory)? {
            let path = entry?.path();
            // Followed, so that a link to a changed file is seen; a dangling link is seen as itself.
            let metadata = std::fs::metadata(&path).or_else(|_| std::fs::symlink_metadata(&path))?;
            if metadata.is_dir() && !path.is_symlink() {
                open.push(path.clone());
            }
            found.push((path, metadata));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn look(root: &Path) -> io::Result<(Hash, SystemTime)> {
    let mut hasher = Sha256::new();
    let mut newest = UNIX_EPOCH;
    for (path, metadata) in entries(root)? {
        hasher.update(path.as_os_str().as_encoded_bytes());
        for number in [metadata.size(), metadata.ino(), u64::from(metadata.mode())] {
            hasher.update(number.to_le_bytes());
        }
        for number in [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()] {
            hasher.update(number.to_le_bytes());
        }
        let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
        newest = newest.max(UNIX_EPOCH + Duration::from_secs(seconds));
    }
    Ok((hasher.finalize().into(), newest))
}

fn content(root: &Path) -> io::Result<Hash> {
    let mut hasher = Sha256::new();
    for (path, metadata) in entries(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        if metadata.is_file() {
            let bytes = std::fs::read(&path)?;
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(&bytes);
        }
    }
    Ok(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_of_the_same_size_is_seen_at_once_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sub/a");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "one").unwrap();
        let mut watch = ConfigWatch::new("c", dir.path().to_owned());
        assert!(!watch.changed().unwrap());
        for text in ["two", "six", "ten"] {
            std::fs::write(&file, text).unwrap();
            assert!(watch.changed().unwrap(), "{text}");
            assert!(!watch.changed().unwrap(), "{text}");
        }
        std::fs::write(&file, "ten").unwrap();
        assert!(!watch.changed().unwrap(), "a new time alone is no change");
        std::fs::rename(&file, dir.path().join("b")).unwrap();
        assert!(watch.changed().unwrap());
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert!(watch.changed().is_err());
    }
}
