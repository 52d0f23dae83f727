//! `podsmith host`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use podsmith_host::{daemon, ingress, proxy};

use super::pod::told;
use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{self, Format, print_value};
use crate::planning::FORMATS;

/// A machine whose compiled pods our daemon keeps running.
#[derive(Args, Debug)]
pub struct HostArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: HostAction,
}

/// What to do on a host.
#[derive(Debug, Subcommand)]
pub enum HostAction {
    /// Keep the pods below a directory in their wanted states.
    Daemon(DirectoryArgs),
    /// Show the pods below a directory.
    Status(DirectoryArgs),
    /// Lead cluster ports to pods on this and other hosts.
    Proxy(ProxyArgs),
    /// Write haproxy.cfg from the ingress rules of pods, after HAProxy has checked it.
    Ingress(IngressArgs),
}

/// A directory with the home of a host, or with several below.
#[derive(Args, Debug)]
pub struct DirectoryArgs {
    /// The directory.
    pub directory: PathBuf,
}

/// Lead cluster ports to pods.
#[derive(Args, Debug)]
pub struct ProxyArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
}

/// Write haproxy.cfg.
#[derive(Args, Debug)]
pub struct IngressArgs {
    /// Homes of hosts, or directories with `*.ingress.conf` files.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// The configuration to write.
    #[arg(id = "output", short = 'o', long = "out", value_name = "FILE", required = true)]
    pub out: String,
    /// A cluster port to leave out; may be given several times.
    #[arg(long, value_name = "PORT")]
    pub exclude: Vec<u16>,
    /// A file with the process id of the HAProxy master, to reload it after a change.
    #[arg(long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// When the host's directories or files are wrong.
pub fn run(args: &HostArgs, global: &Global) -> Outcome {
    match &args.action {
        HostAction::Daemon(args) => daemon::run(&daemon::Options::new(&args.directory))
            .map_err(|error| told("the daemon cannot work", &error))?,
        HostAction::Status(args) => return status(args, global),
        HostAction::Proxy(args) => {
            proxy::run(&args.config).map_err(|error| told("the proxy cannot work", &error))?;
        }
        HostAction::Ingress(args) => {
            let mut options = ingress::Options::new(args.directories.clone(), &args.out);
            options.excluded.clone_from(&args.exclude);
            options.pid_file.clone_from(&args.pid_file);
            let outcome = ingress::write(&options)?;
            output::report(&outcome.warnings.0, Some(global));
            if !global.quiet {
                let state = if outcome.changed { "wrote" } else { "unchanged" };
                writeln!(std::io::stderr(), "{state} {} ({} rules)", args.out, outcome.rules)?;
            }
        }
    }
    Ok(exit::DONE)
}

fn status(args: &DirectoryArgs, global: &Global) -> Outcome {
    let format = Format::choose(global.output.as_deref(), &FORMATS, Format::Text).map_err(Failure::usage)?;
    let status =
        daemon::status(&args.directory).map_err(|error| told("could not look at the host", &error))?;
    if format != Format::Text {
        let value = serde_json::to_value(&status).map_err(|error| Failure::message(error.to_string()))?;
        print_value(&value, format)?;
        return Ok(exit::DONE);
    }
    let mut out = std::io::stdout().lock();
    for pod in &status.pods {
        let (ready, all) = pod.containers;
        let mapped = if pod.ready { "in the port map" } else { "not in the port map" };
        writeln!(
            out,
            "{} {}: wanted {}, is {}, {ready}/{all} containers ready, {mapped}",
            pod.pod, pod.version, pod.wanted, pod.status
        )?;
    }
    Ok(exit::DONE)
}
