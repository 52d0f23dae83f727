//! The command line of Podsmith: arguments, output, exit codes. The work is done by the crates below it.
//!
//! | module | idea |
//! |---|---|
//! | [`cli`] | what may be typed |
//! | [`commands`] | one command, one file |
//! | [`sources`] | from a SOURCE argument to a renderer |
//! | [`shape`] | filters and transformers, as flags and in a pipeline file |
//! | [`pipeline`] | the pipeline file |
//! | [`values`] | `--values` and `--set` |
//! | [`target`] | which cluster |
//! | [`output`], [`failure`] | what is printed where, and the exit code |

pub mod ask;
pub mod cli;
pub mod commands;
pub mod failure;
pub mod output;
pub mod pipeline;
pub mod planning;
pub mod runtime;
pub mod shape;
pub mod sources;
pub mod target;
pub mod values;

use std::ffi::OsString;

use clap::Parser;

use cli::{Cli, Command};
use failure::{Outcome, exit};

/// Runs one command line and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not mistakes; clap prints each where it belongs.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::DONE };
        }
    };
    match dispatch(&cli) {
        Ok(code) => code,
        Err(failure) => {
            output::report(failure.diagnostics(), Some(&cli.global));
            failure.exit_code()
        }
    }
}

fn dispatch(cli: &Cli) -> Outcome {
    match &cli.command {
        Command::Render(args) => commands::render::run(args, &cli.global),
        Command::Plan(args) => commands::plan::run(args, &cli.global),
        Command::Apply(args) => commands::apply::run(args, &cli.global),
        Command::Delete(args) => commands::delete::run(args, &cli.global),
        Command::Status(args) => commands::status::run(args, &cli.global),
        Command::Fmt(args) => commands::fmt::run(args, &cli.global),
        Command::Pod(args) => commands::pod::run(args, &cli.global),
        Command::Host(args) => commands::host::run(args, &cli.global),
        Command::Ns(args) => commands::ns::run(args, &cli.global),
        Command::Operator(args) => commands::operator::run(args, &cli.global),
        Command::Cluster(args) => commands::cluster::run(args, &cli.global),
        Command::Completion(args) => commands::completion::run(args),
        Command::Version => commands::version::run(),
    }
}
