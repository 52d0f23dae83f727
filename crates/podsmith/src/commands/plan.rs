//! `podsmith plan`

use std::path::PathBuf;

use clap::Args;
use podsmith_apply::{PlanOptions, Silent};
use podsmith_plan::{Plan, planfile};

use super::render::ShapingArgs;
use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{self, Format};
use crate::target::Target;
use crate::{planning, runtime};

/// How the plan is made. Shared by plan and apply.
#[derive(Args, Clone, Debug)]
pub struct PlanningArgs {
    /// The package's name; default: from the pipeline file or Podfile, else named after the first source.
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,
    /// Keep objects that the package owns and no longer declares.
    #[arg(long)]
    pub no_prune: bool,
    /// Take over objects that exist and belong to no package.
    #[arg(long)]
    pub adopt: bool,
    /// Take over fields that another tool manages.
    #[arg(long)]
    pub force_conflicts: bool,
    /// Do not restart workloads when configuration they use changes.
    #[arg(long)]
    pub no_restart: bool,
}

impl PlanningArgs {
    fn options(&self, target: &Target) -> PlanOptions {
        PlanOptions {
            target: target.name.clone(),
            prune: !self.no_prune,
            adopt: self.adopt,
            force_conflicts: self.force_conflicts,
            restart_on_config_change: !self.no_restart,
            ..PlanOptions::default()
        }
    }

    /// Renders the sources and compares them with the cluster.
    ///
    /// # Errors
    ///
    /// When the sources are wrong or the cluster cannot be asked.
    pub async fn make(
        &self,
        shaping: &ShapingArgs,
        global: &Global,
        target: &Target,
    ) -> Result<Plan, Failure> {
        let (package, warnings) = planning::package(shaping, self.package.as_deref(), global, target)?;
        let mut plan = podsmith_apply::plan(&target.client, package, &self.options(target), &Silent)
            .await
            .map_err(|error| planning::told(&error))?;
        plan.warnings.splice(0..0, warnings);
        Ok(plan)
    }
}

/// Show what would change in the cluster. Nothing is written.
#[derive(Args, Clone, Debug)]
pub struct PlanArgs {
    /// What to render.
    #[command(flatten)]
    pub shaping: ShapingArgs,
    /// How the plan is made.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Save the plan, to be applied exactly with `podsmith apply FILE`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Exit with 2 when there are changes.
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// Plans and prints.
///
/// # Errors
///
/// When the sources are wrong or the cluster cannot be asked.
pub fn run(args: &PlanArgs, global: &Global) -> Outcome {
    let format =
        Format::choose(global.output.as_deref(), &planning::FORMATS, Format::Text).map_err(Failure::usage)?;
    runtime::one_thread()?.block_on(async {
        let target = Target::open(global).await?;
        let plan = args.planning.make(&args.shaping, global, &target).await;
        target.close().await;
        let plan = plan?;
        planning::show(&plan, global, format)?;
        if !plan.errors.is_empty() {
            return Err(Failure::Reported(exit::FAILED));
        }
        if let Some(file) = &args.out {
            let key = planning::plan_key(global)?;
            let bytes = planfile::save(&plan, &key).map_err(|error| Failure::message(error.to_string()))?;
            output::write_private(file, &bytes).map_err(|error| {
                Failure::message(format!("could not save the plan to {}: {error}", file.display()))
            })?;
        }
        let changes = args.detailed_exitcode && plan.has_changes();
        Ok(if changes { exit::CHANGES } else { exit::DONE })
    })
}
