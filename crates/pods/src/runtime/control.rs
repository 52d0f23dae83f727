//! Requests about single containers and configs.

use super::channel::{self, Request};
use super::context::Context;
use super::{Failure, lock};

fn need_running(context: &Context) -> Result<(), Failure> {
    if lock::supervised(context) {
        return Ok(());
    }
    Err(Failure::refused(format!("pod {} is not running", context.pod())))
}

fn check_names(context: &Context, names: &[String]) -> Result<(), Failure> {
    names.iter().try_for_each(|name| context.known_container(name).map(drop))
}

pub(super) fn rerun(context: &Context, containers: Vec<String>) -> Result<u8, Failure> {
    check_names(context, &containers)?;
    need_running(context)?;
    let _guard = lock::command(context)?;
    channel::ask(&Request::Rerun { containers })?;
    Ok(0)
}

/// Signals containers, all if none is named. A stopped pod has nobody to signal, which is no failure.
pub(super) fn signal(context: &Context, containers: Vec<String>) -> Result<u8, Failure> {
    check_names(context, &containers)?;
    if !lock::supervised(context) {
        context.console.info(&format!("Pod {} is not running, nothing is signalled", context.pod()));
        return Ok(0);
    }
    channel::ask(&Request::Signal { containers })?;
    Ok(0)
}

pub(super) fn reload(context: &Context, configs: Vec<String>) -> Result<u8, Failure> {
    if configs.is_empty() {
        return Err(Failure::refused("reload-configs needs the name of at least one config"));
    }
    need_running(context)?;
    for config in &configs {
        let used =
            context.spec.containers.iter().any(|c| context.spec.configs_of(c).any(|name| name == config));
        if !used {
            context.console.warn(&format!("No container mounts a config `{config}`"));
        }
    }
    channel::ask(&Request::Reload { configs })?;
    Ok(0)
}
