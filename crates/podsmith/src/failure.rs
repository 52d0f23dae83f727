//! How a command ends badly: what to print and which exit code.

use podsmith_object::{Diagnostic, Diagnostics};

/// The exit codes of the command line contract.
pub mod exit {
    /// Done, or nothing to do.
    pub const DONE: u8 = 0;
    /// Something failed.
    pub const FAILED: u8 = 1;
    /// The plan has changes (only with `--detailed-exitcode`).
    pub const CHANGES: u8 = 2;
    /// Wrong usage.
    pub const USAGE: u8 = 64;
    /// Interrupted.
    pub const INTERRUPTED: u8 = 130;
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The input or the cluster said no.
    Failed(Diagnostics),
    /// The command line itself is wrong.
    Usage(Diagnostics),
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The reader of our output went away, which is no error.
    BrokenPipe,
    /// Everything was said already, for example as part of a JSON result.
    Reported(u8),
}

impl Failure {
    /// A usage error with one message.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(Diagnostic::error(message).into())
    }

    /// A failure with one message.
    pub fn message(message: impl Into<String>) -> Self {
        Self::Failed(Diagnostic::error(message).into())
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => exit::FAILED,
            Self::Usage(_) => exit::USAGE,
            Self::Interrupted => exit::INTERRUPTED,
            Self::BrokenPipe => exit::DONE,
            Self::Reported(code) => *code,
        }
    }

    /// What to print, if anything.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Failed(found) | Self::Usage(found) => &found.0,
            Self::Interrupted | Self::BrokenPipe | Self::Reported(_) => &[],
        }
    }
}

impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Self {
        Self::Failed(found)
    }
}

impl From<Diagnostic> for Failure {
    fn from(found: Diagnostic) -> Self {
        Self::Failed(found.into())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::message(error.to_string())
        }
    }
}

/// The result of a command: its exit code.
pub type Outcome = Result<u8, Failure>;
