//! Actions that only look: help, version, info, status, ps, readiness, liveness. None of them asks podman.

use serde_json::json;

use super::args::Output;
use super::context::Context;
use super::create::blank_status;
use super::status::{State, Status};
use crate::spec::{Dialect, Network};

const USAGE: &str = "\
Usage: POD ACTION [ARGUMENTS]

  help                             this text
  version                          versions of the API, the runtime and the pod
  info                             how the pod is set up
  status                           non-existent, created, downloading, not-ready, running, stopped or broken
  ps                               the same in detail, for each container
  readiness, liveness              exit code 0: yes, 1: no
  download [-f]                    fetch the images that are missing, or all
  create [--host-interface=IP]     make the pod and its volumes
  start                            start a created or stopped pod
  run [--host-interface=IP] [--wait SECONDS]
                                   create and start what is missing; does nothing when all is well
  stop, kill                       end the containers, politely or at once
  rm [-k]                          stop (or kill) and remove the pod; volumes stay
  rerun [-k] [--host-interface=IP] remove and run
  rerun CONTAINER...               make single containers anew
  signal [CONTAINER...]            signal containers, or all
  reload-configs CONFIG...         tell the containers that mount these configs
  create-volumes                   make the volumes
  ramdisk-config                   the ramdisks as NAME:SIZE, in one line
  create-ramdisks [-l] [-d]        mount the ramdisks (root); list them; unmount them
  logs [CONTAINER...] [-p] [-t TIME] [-l COUNT] [-s STREAMS] [-d DETAILS]
                                   -p with the supervisor, -t since (negative: age), -l first (negative: last) lines,
                                   -s stdout,stderr, -d ts,name,stream,age,none
  shell [-c CONTAINER] [-b] [-- COMMAND]
  exec CONTAINER COMMAND...        run a command in a container
  attach [CONTAINER]               attach to the output of a container
  purge [--host-shared]            remove the volumes of a removed pod

  -o json                          with info, status, ps and logs: JSON
";

pub(super) fn help(context: &Context) -> u8 {
    context.console.data(&format!("Pod {}\n{USAGE}", context.pod()));
    0
}

pub(super) fn version(context: &Context) -> u8 {
    let spec = &context.spec;
    let text = match spec.dialect {
        Dialect::Head => format!("api {}\nruntime podman 1.0.0\npodVersion {}\n", spec.api, spec.version),
        Dialect::Seed => format!("podRuntime: podman 0.1\npodVersion: {}\n", spec.version),
    };
    context.console.data(&text);
    0
}

pub(super) fn info(context: &Context, output: Output) -> u8 {
    let spec = &context.spec;
    let containers: Vec<_> = spec
        .containers
        .iter()
        .zip(blank_status(context).containers)
        .map(|(container, status)| {
            json!({
                "name": container.name,
                "container": status.container,
                "image": container.image,
                "configs": spec.configs_of(container).collect::<Vec<_>>(),
                "restart": status.restart,
                "mounts": status.mounts,
                "ports": status.ports,
                "network": if container.network == Network::Host { "host" } else { "pod" },
            })
        })
        .collect();
    let labels: serde_json::Map<String, serde_json::Value> =
        spec.labels.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let value = json!({
        "pod": spec.full_name(),
        "podVersion": spec.version,
        "hostPorts": spec.host_ports(),
        "labels": labels,
        "volumes": spec.podman_volumes().into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "ramdisks": spec.ramdisks().iter().map(|(name, size)| format!("{name}:{size}M")).collect::<Vec<_>>(),
        "secrets": spec.secrets().collect::<Vec<_>>(),
        "containers": containers,
    });
    let text = match output {
        Output::Json => format!("{value:#}\n"),
        Output::Text => podsmith_object::yaml::to_string(&value),
    };
    context.console.data(&text);
    0
}

fn current(context: &Context) -> Status {
    Status::current(&context.dir).unwrap_or_else(|| blank_status(context))
}

pub(super) fn status(context: &Context, output: Output) -> u8 {
    let status = current(context);
    let word = status.status.contract(status.readiness);
    if output == Output::Json {
        let mut value = serde_json::to_value(&status).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.insert("status".into(), json!(word));
        }
        context.console.data(&format!("{value:#}\n"));
    } else {
        let text = format!("{word}\nreadiness: {}\nliveness: {}\n", status.readiness, status.liveness);
        context.console.data(&text);
    }
    0
}

pub(super) fn ps(context: &Context, output: Output) -> u8 {
    let status = current(context);
    let text = match (output, status.status) {
        (Output::Json, _) => format!("{:#}\n", serde_json::to_value(&status).unwrap_or_default()),
        (_, State::NonExisting) => format!("pod: {}\nstatus: non-existing\n", status.pod),
        _ => status.to_text(),
    };
    context.console.data(&text);
    0
}

pub(super) fn readiness(context: &Context) -> u8 {
    let status = current(context);
    u8::from(!(status.status == State::Running && status.readiness))
}

/// Alive: supervised, and no container was stopped by its liveness probe and is not back.
pub(super) fn liveness(context: &Context) -> u8 {
    let status = current(context);
    u8::from(!(status.status.is_supervised() && status.liveness))
}
