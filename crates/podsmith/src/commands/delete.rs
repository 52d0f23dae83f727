//! `podsmith delete`

use clap::Args;
use podsmith_apply::{ApplyOptions, PlanOptions};

use super::apply::{CarryOutArgs, carry_out};
use super::render::ShapingArgs;
use crate::cli::Global;
use crate::failure::{Failure, Outcome};
use crate::output::Format;
use crate::sources::ChartFlags;
use crate::target::Target;
use crate::{planning, runtime};

/// Delete what a package owns, and nothing else.
///
/// Volumes with data are kept unless --delete-data is given.
#[derive(Args, Clone, Debug)]
pub struct DeleteArgs {
    /// The sources that declare the package.
    #[arg(value_name = "SOURCE", required_unless_present = "package", conflicts_with = "package")]
    pub sources: Vec<String>,
    /// The package's name.
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,
    /// How it is carried out.
    #[command(flatten)]
    pub carry_out: CarryOutArgs,
    /// Also delete volumes with data.
    #[arg(long)]
    pub delete_data: bool,
}

/// Plans the removal, asks, deletes.
///
/// # Errors
///
/// When there is no such package, or a delete fails.
pub fn run(args: &DeleteArgs, global: &Global) -> Outcome {
    let format =
        Format::choose(global.output.as_deref(), &planning::FORMATS, Format::Text).map_err(Failure::usage)?;
    let (name, namespace) = match &args.package {
        Some(name) => (name.clone(), global.namespace.clone()),
        None => planning::identity(&shaping(&args.sources), global)?,
    };
    runtime::one_thread()?.block_on(async {
        let target = Target::open(global).await?;
        let done = delete(args, &name, namespace.as_deref(), global, format, &target).await;
        target.close().await;
        done
    })
}

/// The sources alone: a package's identity needs no values and no shaping.
fn shaping(sources: &[String]) -> ShapingArgs {
    ShapingArgs {
        sources: sources.to_vec(),
        values: Vec::new(),
        set: Vec::new(),
        set_string: Vec::new(),
        filter: Vec::new(),
        transform: Vec::new(),
        chart: ChartFlags::default(),
    }
}

async fn delete(
    args: &DeleteArgs,
    name: &str,
    namespace: Option<&str>,
    global: &Global,
    format: Format,
    target: &Target,
) -> Outcome {
    let options =
        PlanOptions { target: target.name.clone(), delete_data: args.delete_data, ..PlanOptions::default() };
    let plan = podsmith_apply::plan_delete(&target.client, name, namespace, &options)
        .await
        .map_err(|error| planning::told(&error))?;
    let options = ApplyOptions {
        wait: !args.carry_out.no_wait,
        timeout: args.carry_out.timeout,
        ..ApplyOptions::default()
    };
    carry_out(&plan, &options, &args.carry_out, global, format, target).await
}
