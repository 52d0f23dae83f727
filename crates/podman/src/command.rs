//! One podman process with a deadline.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use thiserror::Error;

use crate::watch;

/// Why a podman call failed.
#[derive(Debug, Error)]
pub enum Error {
    /// podman is not there or cannot be started.
    #[error("cannot start `{program}`: is podman installed?")]
    Start {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// podman said no.
    #[error("`{call}` failed with code {code}: {message}")]
    Failed {
        /// The call, shortened.
        call: String,
        /// podman's exit code.
        code: i32,
        /// The last lines of its standard error.
        message: String,
    },
    /// podman did not answer in time and was killed.
    #[error("`{call}` did not end within {seconds} s")]
    Deadline {
        /// The call, shortened.
        call: String,
        /// The limit.
        seconds: u64,
    },
    /// podman answered something that we cannot read.
    #[error("`{call}` answered something unexpected")]
    Answer {
        /// The call, shortened.
        call: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// How a process inside a container ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// It was killed at the deadline.
    Deadline,
}

/// The podman program.
#[derive(Debug)]
pub struct Podman {
    program: OsString,
    deadline: Duration,
    calls: AtomicUsize,
}

impl Default for Podman {
    fn default() -> Self {
        Self::new("podman")
    }
}

impl Podman {
    /// podman under the given name or path.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), deadline: Duration::from_secs(120), calls: AtomicUsize::new(0) }
    }

    /// `$PODSMITH_PODMAN`, or `podman` from the path.
    pub fn from_environment() -> Self {
        Self::new(std::env::var_os("PODSMITH_PODMAN").unwrap_or_else(|| "podman".into()))
    }

    /// How many podman processes were started through this value.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// A command to be run by the caller, for example with the terminal attached.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut command = Command::new(&self.program);
        command.args(args);
        command
    }

    /// Runs podman and returns its standard output.
    ///
    /// # Errors
    ///
    /// podman is missing, fails or hangs.
    pub fn call<A: AsRef<OsStr>>(&self, args: &[A]) -> Result<String, Error> {
        self.call_within(args, self.deadline)
    }

    /// As [`call`](Self::call), with a limit of its own.
    ///
    /// # Errors
    ///
    /// podman is missing, fails or hangs.
    pub fn call_within<A: AsRef<OsStr>>(&self, args: &[A], limit: Duration) -> Result<String, Error> {
        let call = || {
            let words = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned());
            let text = format!("podman {}", words.collect::<Vec<_>>().join(" "));
            if text.chars().count() > 120 { text.chars().take(119).collect::<String>() + "…" } else { text }
        };
        let Some((status, out, err)) = self.collect(self.command(args), limit)? else {
            return Err(Error::Deadline { call: call(), seconds: limit.as_secs() });
        };
        if status.success() {
            return Ok(out);
        }
        Err(Error::Failed { call: call(), code: status.code().unwrap_or(-1), message: essence(&err) })
    }

    /// Runs a command in a container and waits for its end, at most `limit`.
    ///
    /// # Errors
    ///
    /// podman is missing.
    pub fn exec(&self, container: &str, argv: &[String], limit: Duration) -> Result<Exit, Error> {
        let mut args: Vec<&str> = vec!["exec", container];
        args.extend(argv.iter().map(String::as_str));
        Ok(match self.collect(self.command(args), limit)? {
            Some((status, _, _)) => Exit::Code(status.code().unwrap_or(-1)),
            None => Exit::Deadline,
        })
    }

    /// Runs to the end or the deadline, whichever is first; `None` is the deadline.
    fn collect(
        &self,
        mut command: Command,
        limit: Duration,
    ) -> Result<Option<(ExitStatus, String, String)>, Error> {
        let start = |source| Error::Start { program: self.program.to_string_lossy().into_owned(), source };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(start)?;
        let out = child.stdout.take().map(read_aside);
        let err = child.stderr.take().map(read_aside);
        let status = wait_within(&mut child, limit).map_err(start)?;
        let text = |reader: Option<std::thread::JoinHandle<String>>| {
            reader.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        Ok(status.map(|status| (status, text(out), text(err))))
    }
}

/// What podman says is wrong: its `Error:` lines, or else its last lines. Its own log lines tell little more.
fn essence(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let errors: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("Error: ")).collect();
    if errors.is_empty() {
        lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join("; ")
    } else {
        errors.join("; ")
    }
}

fn read_aside(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for a child; at the deadline it is killed and `None` comes back.
fn wait_within(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    if watch::ended_within(child.id(), limit)? {
        return child.wait().map(Some);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_without_the_log_around_them() {
        assert_eq!(essence("time=1 level=warning msg=x\nError: no such pod\n"), "no such pod");
        assert_eq!(essence("a\nb\n\nc\nd\n"), "b; c; d");
        assert_eq!(essence(""), "");
    }

    #[test]
    fn a_call_fails_with_its_code_or_at_its_deadline() {
        let shell = Podman::new("sh");
        let failed = shell.call(&["-c", "echo 'Error: why' >&2; exit 3"]).unwrap_err();
        assert_eq!(failed.to_string(), "`podman -c echo 'Error: why' >&2; exit 3` failed with code 3: why");
        let late = shell.call_within(&["-c", "exec sleep 60"], Duration::from_millis(50)).unwrap_err();
        assert!(matches!(late, Error::Deadline { .. }));
        assert!(matches!(Podman::new("/nowhere/podman").call(&["ps"]), Err(Error::Start { .. })));
        assert_eq!(shell.calls(), 2);
    }
}
