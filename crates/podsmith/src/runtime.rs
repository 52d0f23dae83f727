//! The asynchronous runtime of commands that talk to an API.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

/// A runtime on this thread: the quickest to start, enough for a command.
///
/// # Errors
///
/// When the system refuses.
pub fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A runtime with a thread for each processor, for a server.
///
/// # Errors
///
/// When the system refuses.
pub fn many_threads() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}

/// Returns when the user presses Ctrl-C or the system asks us to end.
///
/// # Errors
///
/// When signals cannot be received.
pub async fn ended() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
