//! The Pod API: what a compiled pod does when it is called.
//!
//! ```text
//! ./pod ACTION  ──────── reads the status files, asks podman, or talks to …
//!     └─ ./pod supervise   one process per pod, holder of the lock; starts, watches, probes, restarts
//! ```
//!
//! The lock is a kernel lock on a file: it vanishes with its holder, so a killed supervisor or a reboot leaves nothing
//! stale behind, and two supervisors of one pod cannot exist.

mod args;
mod channel;
mod context;
mod control;
mod create;
mod enter;
mod inspect;
mod lifecycle;
mod lock;
mod logs;
mod ramdisks;
pub mod status;
mod supervisor;

use std::ffi::OsString;
use std::process::ExitCode;

use thiserror::Error;

pub use crate::image::embedded as embedded_spec;
use crate::spec::PodSpec;
use args::Action;
use context::Context;

/// Why an action failed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// podman failed.
    #[error(transparent)]
    Podman(#[from] podsmith_podman::Error),
    /// A file could not be read or written.
    #[error("cannot {verb} {path}")]
    File {
        verb: &'static str,
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// A secret could not be decrypted.
    #[error("cannot prepare the encrypted config `{config}`")]
    Secret {
        config: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something that the user did or must do.
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    fn file(verb: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { verb, path, source }
    }

    fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    /// The message with its reasons.
    fn tell(&self) -> String {
        let mut text = self.to_string();
        let mut next = std::error::Error::source(self);
        while let Some(error) = next {
            text.push_str(": ");
            text.push_str(&error.to_string());
            next = error.source();
        }
        text
    }
}

/// Runs one action of the compiled pod `spec`. `args` are the arguments after the program's name.
pub fn main(spec: PodSpec, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = args.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (action, output) = match args::parse(&words) {
        Ok(parsed) => parsed,
        Err(message) => {
            context::Console.error(&message);
            return ExitCode::from(1);
        }
    };
    let context = match Context::new(spec) {
        Ok(context) => context,
        Err(failure) => {
            context::Console.error(&failure.tell());
            return ExitCode::from(1);
        }
    };
    match run(&context, action, output) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            context.console.error(&failure.tell());
            ExitCode::from(1)
        }
    }
}

fn run(context: &Context, action: Action, output: args::Output) -> Result<u8, Failure> {
    match action {
        Action::Help => Ok(inspect::help(context)),
        Action::Version => Ok(inspect::version(context)),
        Action::Info => Ok(inspect::info(context, output)),
        Action::Status => Ok(inspect::status(context, output)),
        Action::Ps => Ok(inspect::ps(context, output)),
        Action::Readiness => Ok(inspect::readiness(context)),
        Action::Liveness => Ok(inspect::liveness(context)),
        Action::Download { force } => lifecycle::download(context, force),
        Action::Create { interface } => lifecycle::create(context, interface),
        Action::Start => lifecycle::start(context),
        Action::Run { interface, wait } => lifecycle::run(context, interface, wait),
        Action::Stop => lifecycle::stop(context, lifecycle::Manner::Graceful),
        Action::Kill => lifecycle::stop(context, lifecycle::Manner::Forced),
        Action::Remove { manner } => lifecycle::remove(context, manner),
        Action::Rerun { interface, manner } => lifecycle::rerun(context, interface, manner),
        Action::RerunContainers { names } => control::rerun(context, names),
        Action::Signal { names } => control::signal(context, names),
        Action::ReloadConfigs { names } => control::reload(context, names),
        Action::CreateVolumes => lifecycle::create_volumes(context),
        Action::RamdiskConfig => Ok(ramdisks::config(context)),
        Action::CreateRamdisks(what) => ramdisks::create(context, what),
        Action::Logs(query) => logs::show(context, &query, output),
        Action::Shell { container, shell, command } => enter::shell(context, container, shell, command),
        Action::Exec { container, command } => enter::exec(context, &container, command),
        Action::Attach { container } => enter::attach(context, container),
        Action::Purge { shared } => lifecycle::purge(context, shared),
        Action::Supervise { interface } => supervisor::run(context, interface),
    }
}
