//! Ramdisks: real ones need root, plain directories stand in for them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use super::Failure;
use super::args::Ramdisks;
use super::context::Context;
use crate::spec::secret_ramdisk;

fn directory(context: &Context, name: &str) -> PathBuf {
    context.dir.join("ramdisk").join(name)
}

/// True if something is mounted at `path`: it lies on another device than its parent.
pub(super) fn is_mounted(path: &Path) -> bool {
    let parent = path.parent().unwrap_or(path);
    match (std::fs::metadata(path), std::fs::metadata(parent)) {
        (Ok(own), Ok(above)) => own.dev() != above.dev(),
        _ => false,
    }
}

/// `ramdisk-config`: one line.
pub(super) fn config(context: &Context) -> u8 {
    let words: Vec<String> =
        context.spec.ramdisks().iter().map(|(name, size)| format!("{name}:{size}M")).collect();
    context.console.data(&(words.join(" ") + "\n"));
    0
}

/// `create-ramdisks`.
pub(super) fn create(context: &Context, what: Ramdisks) -> Result<u8, Failure> {
    if what == Ramdisks::List {
        for (name, size) in context.spec.ramdisks() {
            context.console.data(&format!("{name}:{size}M\n"));
        }
        return Ok(0);
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::refused("only root can make ramdisks"));
    }
    for (name, size) in context.spec.ramdisks() {
        let path = directory(context, &name);
        if what == Ramdisks::Mount {
            mount_at(&path, size, &context.dir)?;
        } else if is_mounted(&path) {
            unmount(&path, UnmountFlags::DETACH)
                .map_err(|error| Failure::file("unmount", &path)(error.into()))?;
        }
    }
    Ok(0)
}

/// Mounts a tmpfs of `megabytes` at `path`, mode 0700, for the owner of `owner`. One that is there is kept.
fn mount_at(path: &Path, megabytes: u64, owner: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(Failure::file("make", path))?;
    if is_mounted(path) {
        return Ok(());
    }
    let owner = std::fs::metadata(owner).map_err(Failure::file("read", owner))?;
    let options = format!("size={megabytes}m,mode=0700,uid={},gid={}", owner.uid(), owner.gid());
    let options = std::ffi::CString::new(options).unwrap_or_default();
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(|error| Failure::file("mount a ramdisk at", path)(error.into()))
}

/// Makes plain directories where ramdisks are missing. Secrets never go there: they find a place of their own.
pub(super) fn fall_back(context: &Context) -> Result<(), Failure> {
    let secrets: Vec<String> = context.spec.secrets().map(secret_ramdisk).collect();
    for (name, _) in context.spec.ramdisks() {
        let path = directory(context, &name);
        if secrets.contains(&name) || is_mounted(&path) {
            continue;
        }
        if path.is_dir() {
            context.console.warn(&format!("Ramdisk {name} is a plain directory, not a ramdisk"));
            continue;
        }
        context.console.warn(&format!("Ramdisk {name} does not exist, a plain directory is used instead"));
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
        builder.create(&path).map_err(Failure::file("make", &path))?;
    }
    Ok(())
}

/// Removes the plain directories. A real ramdisk is left to its owner.
pub(super) fn remove_fakes(context: &Context) {
    for (name, _) in context.spec.ramdisks() {
        let path = directory(context, &name);
        if path.is_dir() && !is_mounted(&path) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}
