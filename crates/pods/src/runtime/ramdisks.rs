//! Ramdisks: real ones need root, plain directories stand in for them.

use super::Failure;
use super::args::Ramdisks;
use super::context::Context;
use crate::ramdisk::{directory, is_mounted, mount, unmount};
use crate::spec::secret_ramdisk;

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
        let done = match what {
            Ramdisks::Mount => mount(&context.dir, &name, size),
            _ => unmount(&context.dir, &name),
        };
        done.map_err(Failure::file("mount or unmount", &directory(&context.dir, &name)))?;
    }
    Ok(0)
}

/// Makes plain directories where ramdisks are missing. Secrets never go there: they find a place of their own.
pub(super) fn fall_back(context: &Context) -> Result<(), Failure> {
    let secrets: Vec<String> = context.spec.secrets().map(secret_ramdisk).collect();
    for (name, _) in context.spec.ramdisks() {
        let path = directory(&context.dir, &name);
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
        let path = directory(&context.dir, &name);
        if path.is_dir() && !is_mounted(&path) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}
