//! Programs that run beside a test and never outlive it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

/// A running program. It is killed when this is dropped, and also when the test process dies.
pub struct Background {
    child: Child,
    log: PathBuf,
    /// Dropping it lets the thread that started the program end.
    _keep: mpsc::Sender<()>,
}

impl Background {
    /// Starts `program`; its output goes to `log`.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn start(program: &Path, args: &[OsString], log: &Path) -> io::Result<Self> {
        let file = File::create(log)?;
        let mut command = bound_to_parent(program);
        command.args(args).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        // The kernel ends the program when the thread that started it ends, so that thread must live on.
        let (keep, wait) = mpsc::channel::<()>();
        let (answer, started) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = answer.send(command.spawn());
            let _ = wait.recv();
        });
        let child = started.recv().map_err(io::Error::other)??;
        Ok(Self { child, log: log.to_owned(), _keep: keep })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// True while it runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it printed so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// The program, started through `setpriv` where that exists, so that the kernel ends it with its parent.
fn bound_to_parent(program: &Path) -> Command {
    let setpriv = Path::new("/usr/bin/setpriv");
    if !setpriv.exists() {
        return Command::new(program);
    }
    let mut command = Command::new(setpriv);
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
