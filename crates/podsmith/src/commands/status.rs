//! `podsmith status`

use std::io::Write;

use clap::Args;

use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{Format, print_value};
use crate::target::Target;
use crate::{planning, runtime};

/// Show the packages applied here, their objects, health and drift.
#[derive(Args, Clone, Debug)]
pub struct StatusArgs {
    /// Only this package.
    #[arg(value_name = "PACKAGE")]
    pub package: Option<String>,
}

/// Reads and prints.
///
/// # Errors
///
/// When there is no such package, or the cluster cannot be asked.
pub fn run(args: &StatusArgs, global: &Global) -> Outcome {
    let format =
        Format::choose(global.output.as_deref(), &planning::FORMATS, Format::Text).map_err(Failure::usage)?;
    runtime::one_thread()?.block_on(async {
        let target = Target::open(global).await?;
        let name = args.package.as_deref();
        let status = podsmith_apply::status(&target.client, name, global.namespace.as_deref()).await;
        let (client_name, status) = (target.name.clone(), status.map_err(|error| planning::told(&error)));
        target.close().await;
        let status = status?;
        match format {
            Format::Text => std::io::stdout().lock().write_all(status.to_text().as_bytes())?,
            _ => print_value(&status.to_json(&client_name), format)?,
        }
        Ok(exit::DONE)
    })
}
