//! The command line: what may be typed. The doc comments are the help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands;

/// Turns what you declare into running pods, on one machine or on any Kubernetes cluster.
#[derive(Debug, Parser)]
#[command(
    name = "podsmith",
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub struct Cli {
    /// Flags that every command understands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Flags that every command understands.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Which cluster: `embedded`, or `context:NAME` of the kubeconfig.
    ///
    /// Without it: --kubeconfig or --context, $KUBECONFIG, ~/.kube/config, the cluster this runs in; where none of them
    /// exists, the embedded cluster.
    #[arg(long, global = true, value_name = "TARGET", help_heading = "Global flags")]
    pub target: Option<String>,
    /// The kubeconfig file.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global flags")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global flags")]
    pub context: Option<String>,
    /// The namespace: the release namespace of a chart, the default namespace of a package.
    #[arg(short, long, global = true, value_name = "NS", help_heading = "Global flags")]
    pub namespace: Option<String>,
    /// The embedded cluster's home.
    #[arg(long, global = true, value_name = "DIR", env = "PODSMITH_HOME", help_heading = "Global flags")]
    pub data_dir: Option<PathBuf>,
    /// How to print the result: text, json or yaml (render: yaml, json or ndjson).
    #[arg(short, long, global = true, value_name = "FORMAT", help_heading = "Global flags")]
    pub output: Option<String>,
    /// When to use colours (NO_COLOR is honoured).
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global flags")]
    pub color: Color,
    /// Say less.
    #[arg(short, long, global = true, help_heading = "Global flags")]
    pub quiet: bool,
    /// Say more; twice for even more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global flags")]
    pub verbose: u8,
    /// Never ask; a question becomes an error.
    #[arg(long, global = true, help_heading = "Global flags")]
    pub non_interactive: bool,
}

/// The commands. Each is one file under `commands/`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the objects that sources describe.
    #[command(visible_alias = "export")]
    Render(commands::render::RenderArgs),
    /// Show what would change in the cluster.
    Plan(commands::plan::PlanArgs),
    /// Make the cluster match what the sources declare.
    Apply(commands::apply::ApplyArgs),
    /// Delete what a package owns.
    Delete(commands::delete::DeleteArgs),
    /// Show packages, health and drift.
    Status(commands::status::StatusArgs),
    /// Format Podfiles.
    Fmt(commands::fmt::FmtArgs),
    /// Pods on a plain host: compile a pod.yaml.
    Pod(commands::pod::PodArgs),
    /// Daemon, proxy and ingress for compiled pods.
    Host(commands::host::HostArgs),
    /// Namespaces: the tree, templates and what flows down.
    Ns(commands::ns::NsArgs),
    /// Controllers that keep a cluster true.
    Operator(commands::operator::OperatorArgs),
    /// The embedded cluster: start, stop, status, kubeconfig, reset.
    Cluster(commands::cluster::ClusterArgs),
    /// Print a shell completion script.
    Completion(commands::completion::CompletionArgs),
    /// Print the version.
    Version,
}
