//! `podsmith apply`

use std::io::Write;
use std::time::Duration;

use clap::Args;
use podsmith_apply::{ApplyOptions, Cancel, Event, Report};
use podsmith_object::{Diagnostic, Diagnostics, Value, json};
use podsmith_plan::{Action, Plan, planfile};

use super::plan::PlanningArgs;
use super::render::ShapingArgs;
use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{Format, print_value};
use crate::target::Target;
use crate::{ask, planning, runtime};

/// How changes are carried out. Shared by apply and delete.
#[derive(Args, Clone, Debug)]
pub struct CarryOutArgs {
    /// Do not ask.
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Do not wait until everything is ready.
    #[arg(long)]
    pub no_wait: bool,
    /// How long to wait: 90s, 5m, 1h.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = planning::duration)]
    pub timeout: Duration,
}

/// Make the cluster match what the sources declare, after showing the plan.
///
/// Instead of sources, a plan saved with `podsmith plan --out` is applied exactly, or refused because the cluster moved.
#[derive(Args, Clone, Debug)]
pub struct ApplyArgs {
    /// What to render, or a saved plan.
    #[command(flatten)]
    pub shaping: ShapingArgs,
    /// How the plan is made.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// How it is carried out.
    #[command(flatten)]
    pub carry_out: CarryOutArgs,
    /// Allow objects to be deleted and made again where a change needs it.
    #[arg(long)]
    pub replace: bool,
}

/// Plans, asks, applies.
///
/// # Errors
///
/// When the plan has errors, or a write fails.
pub fn run(args: &ApplyArgs, global: &Global) -> Outcome {
    let format =
        Format::choose(global.output.as_deref(), &planning::FORMATS, Format::Text).map_err(Failure::usage)?;
    runtime::one_thread()?.block_on(async {
        let target = Target::open(global).await?;
        let done = apply(args, global, format, &target).await;
        target.close().await;
        done
    })
}

async fn apply(args: &ApplyArgs, global: &Global, format: Format, target: &Target) -> Outcome {
    let saved = saved_plan(&args.shaping.sources, global)?;
    let verify = saved.is_some();
    let plan = match saved {
        Some(plan) => plan,
        None => args.planning.make(&args.shaping, global, target).await?,
    };
    let options = ApplyOptions {
        replace: args.replace,
        force_conflicts: args.planning.force_conflicts,
        wait: !args.carry_out.no_wait,
        timeout: args.carry_out.timeout,
        verify,
        ..ApplyOptions::default()
    };
    carry_out(&plan, &options, &args.carry_out, global, format, target).await
}

/// The plan in the only source, if that is a saved plan.
fn saved_plan(sources: &[String], global: &Global) -> Result<Option<Plan>, Failure> {
    let [source] = sources else { return Ok(None) };
    let Ok(bytes) = std::fs::read(source) else { return Ok(None) };
    if !planfile::is_plan(&bytes) {
        return Ok(None);
    }
    let key = planning::plan_key(global)?;
    match planfile::load(&bytes, &key) {
        Ok(plan) => Ok(Some(plan)),
        Err(error) => {
            let place = podsmith_object::Place::file(source.as_str());
            Err(Diagnostic::error(error.to_string())
                .at(place)
                .with_hint("make a new plan with `podsmith plan --out`")
                .into())
        }
    }
}

/// Shows a plan, asks, carries it out and says what was done.
///
/// # Errors
///
/// When the plan has errors, is refused, or a write fails.
pub async fn carry_out(
    plan: &Plan,
    options: &ApplyOptions,
    args: &CarryOutArgs,
    global: &Global,
    format: Format,
    target: &Target,
) -> Outcome {
    if format == Format::Text || !plan.errors.is_empty() {
        planning::show(plan, global, format)?;
    }
    if !plan.errors.is_empty() {
        return Err(Failure::Reported(exit::FAILED));
    }
    if plan.has_changes() && !args.yes && !ask::confirm(&format!("Apply this to {}?", target.name), global)? {
        writeln!(std::io::stderr(), "nothing was changed")?;
        return Ok(exit::FAILED);
    }
    let cancel = Cancel::new();
    let on_signal = cancel.clone();
    let watch = tokio::spawn(async move {
        if runtime::ended().await.is_ok() {
            on_signal.cancel();
        }
    });
    let quiet = global.quiet || format != Format::Text;
    let sink = move |event: Event| {
        if !quiet {
            tell(&event);
        }
    };
    let report = podsmith_apply::apply(&target.client, plan, options, &cancel, &sink).await;
    watch.abort();
    let report = report.map_err(|error| planning::told(&error))?;
    finish(plan, &report, format)
}

fn past(action: Action) -> &'static str {
    match action {
        Action::Create => "created",
        Action::Update => "changed",
        Action::Replace => "replaced",
        Action::Delete => "deleted",
        Action::Noop => "unchanged",
    }
}

/// One line on stderr for each event.
fn tell(event: &Event) {
    let line = match event {
        Event::Phase(_) | Event::Failed { .. } => return,
        Event::Done { id, action, finished, total } => format!("[{finished}/{total}] {} {id}", past(*action)),
        Event::Waiting { id, message } => format!("waiting for {id}: {message}"),
        Event::Ready { id } => format!("ready {id}"),
        Event::NoNodes => "this cluster has no nodes, so pods are not waited for".to_owned(),
        Event::Interrupted => "stopping: writes under way are finished, no new one starts".to_owned(),
    };
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn finish(plan: &Plan, report: &Report, format: Format) -> Outcome {
    let mut problems = Diagnostics::new();
    for failure in &report.failed {
        let message = format!("could not be {}: {}", past(failure.action), failure.message);
        problems.push(Diagnostic::error(message).on(failure.id.clone()));
    }
    for (id, message) in &report.not_ready {
        problems.push(Diagnostic::error(format!("is not ready: {message}")).on(id.clone()));
    }
    if format != Format::Text {
        print_value(&result(plan, report, &problems), format)?;
    }
    if report.interrupted {
        let text = format!(
            "stopped: {} done, {} not started; run it again to complete it",
            report.done.len(),
            report.skipped.len()
        );
        writeln!(std::io::stderr(), "{text}")?;
        return Err(Failure::Interrupted);
    }
    if report.is_success() {
        return Ok(exit::DONE);
    }
    if !report.skipped.is_empty() {
        let text = format!(
            "{} done, {} failed, {} skipped",
            report.done.len(),
            report.failed.len(),
            report.skipped.len()
        );
        problems.push(
            Diagnostic::error(text).with_hint("mend the cause and run it again: it goes on where it stopped"),
        );
    }
    Err(if format == Format::Text { Failure::Failed(problems) } else { Failure::Reported(exit::FAILED) })
}

/// The plan, with what became of it.
fn result(plan: &Plan, report: &Report, problems: &Diagnostics) -> Value {
    let mut value = podsmith_plan::json::to_json(plan);
    let list = |changes: &[(podsmith_object::ObjectId, Action)]| -> Vec<Value> {
        changes.iter().map(|(id, action)| json!({"action": action.word(), "object": id.to_json()})).collect()
    };
    if let Value::Object(map) = &mut value {
        map.insert("done".into(), list(&report.done).into());
        map.insert("skipped".into(), list(&report.skipped).into());
        map.insert("interrupted".into(), report.interrupted.into());
        map.insert("errors".into(), problems.0.iter().map(Diagnostic::to_json).collect());
    }
    value
}
