//! Ramdisks below a pod's directory, made by root for a user who owns that directory.
//!
//! The directory belongs to somebody else, who may put a link where a directory is expected. So nothing here follows
//! a path twice: each step is opened without following links, and the mount goes to what was opened.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

/// True if something is mounted at `path`: it lies on another device than its parent.
pub fn is_mounted(path: &Path) -> bool {
    let parent = path.parent().unwrap_or(path);
    match (std::fs::symlink_metadata(path), std::fs::metadata(parent)) {
        (Ok(own), Ok(above)) => own.is_dir() && own.dev() != above.dev(),
        _ => false,
    }
}

/// Reads `name:sizeM`. The name is one step of a path.
pub fn parse(word: &str) -> Option<(&str, u64)> {
    let (name, size) = word.split_once(':')?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    let size = size.strip_suffix('M')?.parse().ok().filter(|size| *size > 0)?;
    (!name.is_empty() && name.bytes().all(plain)).then_some((name, size))
}

const STEP: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::PATH);

/// Opens a directory in `parent`, making it if it is missing.
fn step(parent: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(&parent, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => Ok(openat(parent, name, STEP, Mode::empty())?),
        Err(error) => Err(error.into()),
    }
}

/// Mounts a tmpfs at `ramdisk/NAME` of `pod_dir`, mode 0700, owned by the owner of `pod_dir`. One that is there is kept.
///
/// # Errors
///
/// We are not root, or something that is no directory is in the way.
pub fn mount(pod_dir: &Path, name: &str, megabytes: u64) -> io::Result<()> {
    if is_mounted(&directory(pod_dir, name)) {
        return Ok(());
    }
    let owner = std::fs::metadata(pod_dir)?;
    let root = open(pod_dir, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH, Mode::empty())?;
    let target = step(step(root, "ramdisk")?, name)?;
    let options = format!("size={megabytes}m,mode=0700,uid={},gid={}", owner.uid(), owner.gid());
    let options = std::ffi::CString::new(options)?;
    let opened = format!("/proc/self/fd/{}", target.as_raw_fd());
    rustix::mount::mount(
        "tmpfs",
        opened,
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV,
        options.as_c_str(),
    )?;
    Ok(())
}

/// Unmounts `ramdisk/NAME` of `pod_dir`, if something is mounted there.
///
/// # Errors
///
/// We are not root.
pub fn unmount(pod_dir: &Path, name: &str) -> io::Result<()> {
    let path = directory(pod_dir, name);
    if !is_mounted(&path) {
        return Ok(());
    }
    Ok(rustix::mount::unmount(path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?)
}

/// Unmounts everything below `ramdisk/` of `pod_dir`.
///
/// # Errors
///
/// We are not root.
pub fn unmount_all(pod_dir: &Path) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(pod_dir.join("ramdisk")) else { return Ok(()) };
    for entry in entries.flatten() {
        unmount(pod_dir, &entry.file_name().to_string_lossy())?;
    }
    Ok(())
}

/// Where a ramdisk lies.
pub fn directory(pod_dir: &Path, name: &str) -> PathBuf {
    pod_dir.join("ramdisk").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_and_megabytes_are_ramdisks() {
        assert_eq!(parse("a-unencrypted:1M"), Some(("a-unencrypted", 1)));
        for word in ["a", "a:", "a:1", "a:1G", "a:0M", ":1M", "../a:1M", "a/b:1M", "A:1M", "a:1M,uid=0"] {
            assert_eq!(parse(word), None, "{word}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join("ramdisk")).unwrap();
        assert!(mount(dir.path(), "ssl", 1).is_err());
        assert!(!is_mounted(Path::new("/etc/ssl")));
    }
}
