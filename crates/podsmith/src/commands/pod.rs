//! `podsmith pod`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use podsmith_object::Diagnostic;
use podsmith_pods::compile::{Environment, Request, compile};
use podsmith_pods::image::Runtime;
use podsmith_pods::preprocess::Missing;

use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output;

/// Pods on a plain host: `pod.yaml` and compiled pods.
#[derive(Args, Debug)]
pub struct PodArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: PodAction,
}

/// What to do with a pod spec.
#[derive(Debug, Subcommand)]
pub enum PodAction {
    /// Compile a pod.yaml into one executable that speaks the Pod API, with its port map and ingress rules beside it.
    Compile(CompileArgs),
}

/// Compile a pod.yaml.
#[derive(Args, Debug)]
pub struct CompileArgs {
    /// The pod's name; default: the name of the directory that holds the file.
    pub name: Option<String>,
    /// The pod spec.
    #[arg(short, long, value_name = "FILE", default_value = "pod.yaml")]
    pub file: PathBuf,
    /// The compiled pod; default: the file without `.yaml`.
    #[arg(id = "output", short = 'o', long = "out", value_name = "OUT")]
    pub out: Option<String>,
    /// Where relative paths in the file start; default: its directory.
    #[arg(short = 'd', long, value_name = "SRCDIR")]
    pub source_dir: Option<PathBuf>,
    /// Take the file as it is, without variables and directives.
    #[arg(long)]
    pub no_preprocess: bool,
    /// Also take variables from the environment.
    #[arg(short = 'e', long)]
    pub environment: bool,
    /// A variable without a value is an error.
    #[arg(long)]
    pub strict: bool,
}

/// Runs the command.
///
/// # Errors
///
/// Everything that is wrong with the pod spec.
pub fn run(args: &PodArgs, global: &Global) -> Outcome {
    let PodAction::Compile(args) = &args.action;
    let runtime = Runtime::locate()
        .map_err(|error| Failure::message(format!("could not find the runtime of compiled pods: {error}")))?;
    let mut request = Request::new(&args.file, runtime);
    request.name.clone_from(&args.name);
    request.output = args.out.as_ref().map(PathBuf::from);
    request.source_dir.clone_from(&args.source_dir);
    request.preprocess = !args.no_preprocess;
    if args.environment {
        request.environment = Environment::Read;
    }
    if args.strict {
        request.missing = Missing::Refuse;
    }
    let compiled = compile(&request)?;
    output::report(&compiled.warnings.0, Some(global));
    if !global.quiet {
        let mut stderr = std::io::stderr().lock();
        for path in &compiled.written {
            writeln!(stderr, "wrote {}", path.display())?;
        }
    }
    Ok(exit::DONE)
}

/// The failure for an error of a part that runs for long.
pub fn told(what: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::from(Diagnostic::error(what).because_of(error))
}
