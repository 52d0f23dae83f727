//! Decrypting a config into a directory that lives in memory.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::age::{self, AgeError, Identity};
use crate::spec::secret_ramdisk;

/// A directory for plaintext, known to be in memory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Store(PathBuf);

impl Store {
    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Why a secret is not there.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No place in memory.
    #[error(
        "there is no memory-backed directory for the config `{config}`: plaintext is never written to a disk"
    )]
    NoMemory {
        /// The config.
        config: String,
    },
    /// A file cannot be read or written.
    #[error("cannot decrypt to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file cannot be opened with our keys.
    #[error("cannot decrypt {}", path.display())]
    Decrypt {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: AgeError,
    },
}

/// tmpfs and ramfs, by the numbers the kernel gives them.
fn in_memory(path: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6;
    rustix::fs::statfs(path).is_ok_and(|found| {
        #[allow(clippy::unnecessary_cast)]
        let kind = found.f_type as i64;
        kind == TMPFS || kind == RAMFS
    })
}

/// Where the plaintext of `config` goes: the pod's ramdisk if it is a real one, else the user's runtime directory,
/// else shared memory. Never a disk.
///
/// # Errors
///
/// None of them is in memory.
pub fn store_for(pod_dir: &Path, pod: &str, config: &str) -> Result<Store, StoreError> {
    let ramdisk = pod_dir.join("ramdisk").join(secret_ramdisk(config));
    if in_memory(&ramdisk) {
        return Ok(Store(ramdisk));
    }
    for base in bases() {
        let path = base.join(pod).join(config);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        if made.is_ok() && in_memory(&path) && owned(&base) {
            return Ok(Store(path));
        }
    }
    Err(StoreError::NoMemory { config: config.to_owned() })
}

fn bases() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|base| PathBuf::from(base).join("podsmith"));
    let shared = PathBuf::from(format!("/dev/shm/podsmith-{user}"));
    runtime.into_iter().chain([shared]).collect()
}

/// Nobody else may have made the directory before us.
fn owned(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0)
}

/// Removes the plaintext of a pod outside of its ramdisks.
pub fn remove_store(pod: &str) {
    for base in bases() {
        let _ = fs::remove_dir_all(base.join(pod));
    }
}

/// The regular files of a config, sorted, hidden ones left out.
fn files(config: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(config)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !hidden {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The files of an encrypted config that are not encrypted.
pub fn plain_files(config: &Path) -> Vec<PathBuf> {
    let plain = |path: &PathBuf| {
        use io::Read;
        let mut head = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(256).read_to_end(&mut head));
        read.is_ok() && !age::is_age(&head)
    };
    files(config).unwrap_or_default().into_iter().filter(plain).collect()
}

/// Decrypts every file of `config` into `store`; files that are gone from the config are removed from it.
///
/// # Errors
///
/// A file cannot be decrypted or written. Files before it are in place.
pub fn decrypt_config(config: &Path, store: &Store, identities: &[Identity]) -> Result<(), StoreError> {
    let broken = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Write { path, source }
    };
    let mut kept = Vec::new();
    for source in files(config).map_err(broken(config))? {
        let sealed = fs::read(&source).map_err(broken(&source))?;
        let plain = age::decrypt(&sealed, identities)
            .map_err(|error| StoreError::Decrypt { path: source.clone(), source: error })?;
        let name = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.strip_suffix(".age").unwrap_or(&name).to_owned();
        let target = store.0.join(&name);
        let temporary = store.0.join(format!(".{name}.tmp"));
        write_private(&temporary, &plain).map_err(broken(&temporary))?;
        fs::rename(&temporary, &target).map_err(broken(&target))?;
        kept.push(target);
    }
    for old in files(&store.0).map_err(broken(&store.0))? {
        if !kept.contains(&old) {
            fs::remove_file(&old).map_err(broken(&old))?;
        }
    }
    Ok(())
}

fn write_private(path: &Path, plain: &[u8]) -> io::Result<()> {
    use io::Write;
    let _ = fs::remove_file(path);
    let mut file = fs::File::options().write(true).create_new(true).mode(0o400).open(path)?;
    file.write_all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_decrypted_kept_private_and_removed_with_their_source() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (config, out) = (dir.path().join("config"), dir.path().join("out"));
        fs::create_dir_all(&config).unwrap();
        fs::create_dir_all(&out).unwrap();
        let key = Identity::generate().unwrap();
        for name in ["a.age", "b"] {
            fs::write(config.join(name), age::encrypt(name.as_bytes(), &[key.recipient()]).unwrap()).unwrap();
        }
        let store = Store(out.clone());
        decrypt_config(&config, &store, std::slice::from_ref(&key)).unwrap();
        assert_eq!(fs::read(out.join("a")).unwrap(), b"a.age");
        assert_eq!(fs::metadata(out.join("b")).unwrap().permissions().mode() & 0o777, 0o400);
        fs::remove_file(config.join("b")).unwrap();
        decrypt_config(&config, &store, &[key]).unwrap();
        assert!(!out.join("b").exists());
        fs::write(config.join("plain"), "text").unwrap();
        assert_eq!(plain_files(&config), [config.join("plain")]);
    }

    #[test]
    fn plaintext_never_goes_to_a_disk() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("ramdisk/s-unencrypted")).unwrap();
        if in_memory(dir.path()) {
            return;
        }
        match store_for(dir.path(), "some-pod-for-the-test", "s") {
            Ok(store) => assert!(in_memory(store.path()) && !store.path().starts_with(dir.path())),
            Err(error) => assert!(matches!(error, StoreError::NoMemory { .. })),
        }
        remove_store("some-pod-for-the-test");
    }
}
