//! Ways into a container: a shell, a command, its terminal. The exit code passes through.

use std::io::IsTerminal;

use super::Failure;
use super::context::Context;

fn execute(context: &Context, args: &[&str]) -> Result<u8, Failure> {
    let mut command = context.podman.command(args);
    let status = command.status().map_err(Failure::file("start", std::path::Path::new("podman")))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// `-i`, and `-t` when a person sits at the terminal.
fn terminal_options() -> Vec<&'static str> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        vec!["-i", "-t"]
    } else {
        vec!["-i"]
    }
}

/// The named container, or the last one.
fn target(context: &Context, name: Option<&str>) -> Result<String, Failure> {
    let container = match name {
        Some(name) => Some(context.known_container(name)?.1),
        None => context.spec.containers.last(),
    };
    let container = container.ok_or_else(|| Failure::refused("the pod has no containers"))?;
    Ok(context.spec.container_name(container))
}

pub(super) fn shell(
    context: &Context,
    container: Option<String>,
    shell: &str,
    command: Vec<String>,
) -> Result<u8, Failure> {
    let name = target(context, container.as_deref())?;
    let line = command.join(" ");
    let mut args = vec!["exec"];
    if command.is_empty() {
        args.extend(terminal_options());
        args.extend([name.as_str(), shell]);
    } else {
        args.extend(["-i", name.as_str(), shell, "-c", line.as_str()]);
    }
    execute(context, &args)
}

pub(super) fn exec(context: &Context, container: &str, command: Vec<String>) -> Result<u8, Failure> {
    let name = target(context, Some(container))?;
    let mut args = vec!["exec"];
    args.extend(terminal_options());
    args.push(&name);
    args.extend(command.iter().map(String::as_str));
    execute(context, &args)
}

pub(super) fn attach(context: &Context, container: Option<String>) -> Result<u8, Failure> {
    let name = target(context, container.as_deref())?;
    // Leaving must not end the container: signals stay with us.
    execute(context, &["attach", "--sig-proxy=false", &name])
}
