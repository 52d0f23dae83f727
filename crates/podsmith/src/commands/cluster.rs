//! `podsmith cluster`

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use podsmith_apiserver::{Cluster, ClusterOptions, Running, ServeOptions, VERSION, running};
use podsmith_object::{Diagnostic, Place, json};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{Format, print_value};
use crate::target::{data_directory, open_failure};
use crate::{ask, runtime};

/// The embedded cluster: a Kubernetes-compatible API server in this binary.
#[derive(Args, Debug)]
pub struct ClusterArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: ClusterAction,
}

/// What to do with the embedded cluster.
#[derive(Debug, Subcommand)]
pub enum ClusterAction {
    /// Serve it over HTTPS for kubectl, helm and other clients; returns when it is ready.
    Start(StartArgs),
    /// End the server.
    Stop,
    /// Say whether it runs, and where.
    Status,
    /// Print a kubeconfig for it.
    Kubeconfig,
    /// Delete everything in it.
    Reset(ResetArgs),
}

/// Serve the embedded cluster.
#[derive(Args, Debug)]
pub struct StartArgs {
    /// Stay in the foreground until Ctrl-C.
    #[arg(long)]
    pub foreground: bool,
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
}

/// Delete everything in the embedded cluster.
#[derive(Args, Debug)]
pub struct ResetArgs {
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// How long a server may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the command.
///
/// # Errors
///
/// When the data directory is in use or the server does not start.
pub fn run(args: &ClusterArgs, global: &Global) -> Outcome {
    let directory = data_directory(global)?;
    match &args.action {
        ClusterAction::Start(args) if args.foreground => {
            runtime::many_threads()?.block_on(serve(args, &directory))
        }
        ClusterAction::Start(args) => start(args, &directory, global),
        ClusterAction::Stop => stop(&directory, global),
        ClusterAction::Status => status(&directory, global),
        ClusterAction::Kubeconfig => kubeconfig(&directory),
        ClusterAction::Reset(args) => reset(args, &directory, global),
    }
}

async fn serve(args: &StartArgs, directory: &Path) -> Outcome {
    let cluster =
        Cluster::open(ClusterOptions::directory(directory)).await.map_err(|error| open_failure(&error))?;
    let options = ServeOptions { address: args.listen, ..ServeOptions::default() };
    let served = cluster.serve(options).await.map_err(|error| {
        Failure::from(Diagnostic::error("could not serve the embedded cluster").because_of(&error))
    })?;
    writeln!(std::io::stderr(), "serving {} (Ctrl-C ends it)", served.url)?;
    runtime::ended().await?;
    served.stop().await;
    cluster.shutdown().await;
    Ok(exit::DONE)
}

fn start(args: &StartArgs, directory: &Path, global: &Global) -> Outcome {
    if let Some(server) = running(directory) {
        say(global, &format!("already serving {} (process {})", server.server, server.pid))?;
        return Ok(exit::DONE);
    }
    std::fs::create_dir_all(directory)?;
    let log = directory.join("server.log");
    let file = File::create(&log)?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--data-dir")
        .arg(directory)
        .args(["cluster", "start", "--foreground", "--listen", &args.listen.to_string()])
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        // A group of its own, so that Ctrl-C in this terminal does not end it.
        .process_group(0)
        .spawn()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(server) = running(directory) {
            say(global, &format!("serving {} (process {})", server.server, server.pid))?;
            return Ok(exit::DONE);
        }
        if child.try_wait()?.is_some() || Instant::now() > deadline {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            let problem = Diagnostic::error("the embedded cluster did not start")
                .at(Place::file(log.display().to_string()));
            return Err(problem.because(said.trim().trim_start_matches("error: ").to_owned()).into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn process(server: &Running) -> Option<Pid> {
    Pid::from_raw(i32::try_from(server.pid).ok()?)
}

fn stop(directory: &Path, global: &Global) -> Outcome {
    let Some(server) = running(directory) else {
        say(global, "not running")?;
        return Ok(exit::DONE);
    };
    end(&server, directory)?;
    say(global, &format!("stopped {}", server.server))?;
    Ok(exit::DONE)
}

/// Asks the server to end and waits until it has let go of its directory.
fn end(server: &Running, directory: &Path) -> Result<(), Failure> {
    let Some(pid) = process(server) else { return Ok(()) };
    kill_process(pid, Signal::TERM)
        .map_err(|error| Failure::message(format!("could not end process {}: {error}", server.pid)))?;
    let deadline = Instant::now() + PATIENCE;
    while running(directory).is_some() || test_kill_process(pid).is_ok() {
        if Instant::now() > deadline {
            return Err(Failure::message(format!(
                "process {} has not ended after {} s",
                server.pid,
                PATIENCE.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn status(directory: &Path, global: &Global) -> Outcome {
    let formats = [Format::Text, Format::Json, Format::Yaml];
    let format = Format::choose(global.output.as_deref(), &formats, Format::Text).map_err(Failure::usage)?;
    let found = running(directory);
    let data = directory.display().to_string();
    if format != Format::Text {
        let value = match &found {
            Some(server) => {
                json!({"running": true, "pid": server.pid, "server": server.server, "dataDir": data, "version": VERSION})
            }
            None => json!({"running": false, "dataDir": data, "version": VERSION}),
        };
        print_value(&value, format)?;
        return Ok(exit::DONE);
    }
    let mut out = std::io::stdout().lock();
    match found {
        Some(server) => writeln!(
            out,
            "serving {} (process {}, Kubernetes {VERSION}), data in {data}",
            server.server, server.pid
        )?,
        None => writeln!(out, "not running (commands use it in their own process), data in {data}")?,
    }
    Ok(exit::DONE)
}

fn kubeconfig(directory: &Path) -> Outcome {
    let Some(server) = running(directory) else {
        let problem = Diagnostic::error(
            "the embedded cluster is not being served, so there is no address to connect to",
        );
        return Err(problem.with_hint("run `podsmith cluster start` first").into());
    };
    let text = std::fs::read(&server.kubeconfig).map_err(|error| {
        Failure::message(format!("could not read {}: {error}", server.kubeconfig.display()))
    })?;
    std::io::stdout().lock().write_all(&text)?;
    Ok(exit::DONE)
}

fn reset(args: &ResetArgs, directory: &Path, global: &Global) -> Outcome {
    let asks = !args.yes && (global.non_interactive || std::io::stdin().is_terminal());
    if asks
        && !ask::confirm(
            &format!("Delete everything in the embedded cluster at {}?", directory.display()),
            global,
        )?
    {
        say(global, "nothing was deleted")?;
        return Ok(exit::FAILED);
    }
    if let Some(server) = running(directory) {
        end(&server, directory)?;
    }
    Cluster::delete(directory).map_err(|error| open_failure(&error))?;
    say(global, "the embedded cluster is empty")?;
    Ok(exit::DONE)
}

fn say(global: &Global, text: &str) -> std::io::Result<()> {
    if global.quiet { Ok(()) } else { writeln!(std::io::stderr(), "{text}") }
}
