//! Kernel locks on files: they vanish with their holder, whatever kills it.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Failure;
use super::context::Context;

/// The supervisor's lock: held for its whole life.
pub(super) const SUPERVISOR: &str = ".pod.lock";
/// The lock of actions that change something: one at a time.
const COMMAND: &str = ".pod.command.lock";

/// A held lock. Dropping it lets go.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

fn open(path: &Path) -> Result<File, Failure> {
    File::options().write(true).create(true).truncate(false).open(path).map_err(Failure::file("open", path))
}

/// Takes the supervisor's lock, or `None` when somebody holds it.
pub(super) fn supervise(context: &Context) -> Result<Option<Lock>, Failure> {
    let path = context.path(SUPERVISOR);
    let file = open(&path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(Failure::file("lock", &path)(error.into())),
    }
}

/// True if a supervisor lives. Asks with a shared lock, so that two askers do not see each other.
pub(super) fn supervised(context: &Context) -> bool {
    is_supervised(&context.dir)
}

/// True if a supervisor lives for the pod in `dir`.
pub(super) fn is_supervised(dir: &Path) -> bool {
    let Ok(file) = File::open(dir.join(SUPERVISOR)) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

/// Waits for other actions to end.
pub(super) fn command(context: &Context) -> Result<Lock, Failure> {
    let path = context.path(COMMAND);
    let file = open(&path)?;
    flock(&file, FlockOperation::LockExclusive)
        .map_err(|error| Failure::file("lock", &path)(error.into()))?;
    Ok(Lock { _file: file })
}
