//! `podsmith operator`

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use podsmith_namespaces::{controller, manifests, metrics::Metrics};
use podsmith_object::{Diagnostic, yaml};
use tokio::sync::watch;

use super::ns;
use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::runtime;
use crate::target::Target;

/// The controllers that keep a cluster true.
#[derive(Args, Debug)]
pub struct OperatorArgs {
    /// The configuration of the namespace controller.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub action: OperatorAction,
}

/// What to do with the operator.
#[derive(Debug, Subcommand)]
pub enum OperatorAction {
    /// Run controllers until Ctrl-C.
    Run {
        /// The namespace controller: trees, templates, propagation.
        #[arg(long)]
        namespaces: bool,
    },
    /// Print what a cluster needs for the operator: kinds and roles.
    Manifests,
    /// Make the operator's kinds known to the cluster.
    Install,
}

/// Runs the command.
///
/// # Errors
///
/// When the configuration is wrong, a permission is missing, or the cluster cannot be reached.
pub fn run(args: &OperatorArgs, global: &Global) -> Outcome {
    let config = ns::read_config(args.config.as_deref(), global)?;
    match &args.action {
        OperatorAction::Manifests => {
            let mut text = yaml::to_string(&manifests::definition(&config.keys));
            for role in manifests::roles(&config) {
                text.push_str("---\n");
                text.push_str(&yaml::to_string(&role));
            }
            std::io::stdout().lock().write_all(text.as_bytes())?;
            Ok(exit::DONE)
        }
        OperatorAction::Install => runtime::one_thread()?.block_on(async {
            let target = Target::open(global).await?;
            let done = ns::install(&target, &config).await;
            target.close().await;
            done.map(|()| exit::DONE)
        }),
        OperatorAction::Run { namespaces: false } => {
            Err(Failure::usage("name the controllers to run: --namespaces"))
        }
        OperatorAction::Run { namespaces: true } => runtime::many_threads()?.block_on(async {
            let target = Target::open(global).await?;
            let done = serve(&target, config).await;
            target.close().await;
            done
        }),
    }
}

async fn serve(target: &Target, config: podsmith_namespaces::Config) -> Outcome {
    let missing = podsmith_namespaces::cluster::missing_permissions(&target.client, &config).await;
    let missing = missing.map_err(|error| Failure::message(error.to_string()))?;
    if !missing.is_empty() {
        let problem = Diagnostic::error(format!("permissions are missing: {}", missing.join(", ")));
        return Err(problem.with_hint("`podsmith operator manifests` prints roles that grant them").into());
    }
    ns::install(target, &config).await?;
    let (_configs, current) = watch::channel(Arc::new(config));
    let (stop, stopped) = watch::channel(false);
    let (progress, _seen) = watch::channel(controller::Progress::default());
    let signal = async move {
        let ended = runtime::ended().await;
        let _ = stop.send(true);
        ended
    };
    let running = controller::run(
        target.client.clone(),
        current,
        stopped,
        controller::Options::default(),
        Arc::new(Metrics::default()),
        progress,
    );
    writeln!(std::io::stderr(), "keeping namespaces true in {} (Ctrl-C ends it)", target.name)?;
    let (ran, ended) = tokio::join!(running, signal);
    ran.map_err(|error| Failure::message(error.to_string()))?;
    ended?;
    Ok(exit::DONE)
}
