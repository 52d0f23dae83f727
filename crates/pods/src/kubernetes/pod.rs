//! The Deployment or Job.

use podsmith_object::{Value, json};

use super::{Crossing, is_init, metadata, name, part_name};
use crate::spec::{Check, Container, Network, PodSpec, Probe, Restart, Signal, StartupCheck, VolumeKind};

/// Adds the workload: a Job if nothing in the pod is to go on, else a Deployment.
pub(super) fn workload(pod: &PodSpec, crossing: &mut Crossing) {
    let ends =
        |c: &Container| matches!(c.restart, Restart::Never | Restart::OnFailure) && c.expose.is_empty();
    let job = pod.containers.iter().all(ends);
    let (mut first, mut lasting) = (Vec::new(), Vec::new());
    for container in &pod.containers {
        tell_differences(container, job, crossing);
        if is_init(container) && !(job && lasting.is_empty() && is_last(pod, container)) {
            if !lasting.is_empty() {
                crossing.note(format!(
                    "container `{}` now runs before all others, not in its place",
                    container.name
                ));
            }
            first.push(container_value(pod, container, true));
        } else {
            lasting.push(container_value(pod, container, false));
        }
    }
    if lasting.is_empty() {
        lasting.extend(first.pop());
    }
    let mut spec = json!({});
    if job {
        let failing = pod.containers.iter().any(|c| c.restart == Restart::OnFailure);
        spec["restartPolicy"] = json!(if failing { "OnFailure" } else { "Never" });
    }
    if pod.containers.iter().any(|c| c.network == Network::Host) {
        spec["hostNetwork"] = json!(true);
        crossing.note("a container uses the host's network: on Kubernetes the whole pod does");
    }
    if !first.is_empty() {
        spec["initContainers"] = Value::Array(first);
    }
    spec["containers"] = Value::Array(lasting);
    let volumes: Vec<Value> = pod.volumes.iter().map(|volume| volume_value(pod, volume)).collect();
    if !volumes.is_empty() {
        spec["volumes"] = Value::Array(volumes);
    }
    let full = metadata(pod, &name(&pod.name));
    let labels = json!({"labels": full["labels"]});
    let template = json!({"metadata": labels, "spec": spec});
    if job {
        crossing.add(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": full, "spec": {"template": template}}));
        return;
    }
    let selector = json!({"matchLabels": {"app.kubernetes.io/name": name(&pod.name)}});
    let mut deployment = json!({"replicas": 1, "selector": selector});
    if pod.volumes.iter().any(|v| matches!(v.kind, VolumeKind::Volume { .. } | VolumeKind::Host { .. })) {
        // Two versions at a time would write to one volume.
        deployment["strategy"] = json!({"type": "Recreate"});
    }
    deployment["template"] = template;
    crossing
        .add(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": full, "spec": deployment}));
}

fn is_last(pod: &PodSpec, container: &Container) -> bool {
    pod.containers.last().is_some_and(|last| last.name == container.name)
}

fn tell_differences(container: &Container, job: bool, crossing: &mut Crossing) {
    let who = &container.name;
    match container.restart {
        Restart::OnInterval(seconds) => crossing
            .note(format!("container `{who}`: restart on-interval:{seconds} has no counterpart, it restarts at once; use a CronJob")),
        Restart::OnConfig => {
            crossing.note(format!("container `{who}`: restart on-config has no counterpart, it restarts whenever it ends"));
        }
        Restart::Never | Restart::OnFailure if !job && !is_init(container) => {
            crossing.note(format!("container `{who}`: restart {} has no counterpart in a Deployment, it always restarts", container.restart));
        }
        _ => {}
    }
    match &container.signal {
        Some(Signal::Sig(signal)) => {
            crossing
                .note(format!("container `{who}`: signal {signal} on changed configs has no counterpart"));
        }
        Some(Signal::Cmd(_)) => {
            crossing.note(format!("container `{who}`: a command on changed configs has no counterpart"));
        }
        None => {}
    }
    if container.startup.as_ref().is_some_and(|startup| !startup.signal.is_empty()) {
        crossing.note(format!(
            "container `{who}`: signals to other containers after its start have no counterpart"
        ));
    }
}

fn container_value(pod: &PodSpec, container: &Container, init: bool) -> Value {
    let mut value = json!({"name": name(&container.name), "image": container.image});
    let mut set = |key: &str, found: Value| value[key] = found;
    // Kubernetes expands `$(NAME)`; here values are literal.
    let escape = |text: &String| text.replace("$(", "$$(");
    for (key, words) in [("command", &container.command), ("args", &container.args)] {
        if !words.is_empty() {
            set(key, json!(words.iter().map(escape).collect::<Vec<_>>()));
        }
    }
    if let Some(directory) = &container.working_dir {
        set("workingDir", json!(directory));
    }
    if !container.env.is_empty() {
        let env = container.env.iter().map(|(name, value)| json!({"name": name, "value": escape(value)}));
        set("env", Value::Array(env.collect()));
    }
    let ports: Vec<Value> =
        container.expose.iter().filter_map(|e| Some(json!({"containerPort": e.target_port?}))).collect();
    if !ports.is_empty() {
        set("ports", Value::Array(ports));
    }
    let mut limits = json!({});
    if let Some(millis) = container.cpu_millis {
        limits["cpu"] = json!(format!("{millis}m"));
    }
    if let Some(bytes) = container.memory_bytes {
        limits["memory"] = json!(bytes.to_string());
    }
    if limits.as_object().is_some_and(|map| !map.is_empty()) {
        set("resources", json!({"limits": limits}));
    }
    let mounts: Vec<Value> = container
        .mounts
        .iter()
        .map(|mount| {
            let mut value = json!({"name": name(&mount.volume), "mountPath": mount.dest});
            if pod.volume(&mount.volume).is_some_and(|v| matches!(v.kind, VolumeKind::Config { .. })) {
                value["readOnly"] = json!(true);
            }
            value
        })
        .collect();
    if !mounts.is_empty() {
        set("volumeMounts", Value::Array(mounts));
    }
    if !init {
        probes(container, &mut set);
    }
    value
}

fn probes(container: &Container, set: &mut impl FnMut(&str, Value)) {
    if let Some(startup) = &container.startup
        && let StartupCheck::Check(check) = &startup.until
    {
        let mut value = check_value(check);
        value["periodSeconds"] = json!(1);
        value["failureThreshold"] = json!(startup.timeout);
        set("startupProbe", value);
    }
    for (key, probe) in [("readinessProbe", &container.readiness), ("livenessProbe", &container.liveness)] {
        if let Some(probe) = probe {
            set(key, lasting_value(probe, key == "readinessProbe"));
        }
    }
}

fn lasting_value(probe: &Probe, readiness: bool) -> Value {
    let mut value = check_value(&probe.check);
    value["timeoutSeconds"] = json!(probe.timeout);
    value["periodSeconds"] = json!(probe.period);
    value["failureThreshold"] = json!(probe.failures);
    if readiness {
        value["successThreshold"] = json!(probe.successes);
    }
    value
}

fn check_value(check: &Check) -> Value {
    match check {
        Check::Cmd(command) => json!({"exec": {"command": command}}),
        Check::Http { port, path } => json!({"httpGet": {"port": port, "path": path}}),
        Check::Tcp { port } => json!({"tcpSocket": {"port": port}}),
    }
}

fn volume_value(pod: &PodSpec, volume: &crate::spec::Volume) -> Value {
    let mut value = json!({"name": name(&volume.name)});
    let (key, source) = match &volume.kind {
        VolumeKind::Ramdisk { megabytes } => {
            ("emptyDir", json!({"medium": "Memory", "sizeLimit": format!("{megabytes}Mi")}))
        }
        VolumeKind::Config { encrypted: false } => {
            ("configMap", json!({"name": part_name(pod, &volume.name)}))
        }
        VolumeKind::Config { encrypted: true } => {
            ("secret", json!({"secretName": part_name(pod, &volume.name), "defaultMode": 0o400}))
        }
        VolumeKind::Volume { .. } => {
            ("persistentVolumeClaim", json!({"claimName": part_name(pod, &volume.name)}))
        }
        VolumeKind::Host { bind } => ("hostPath", json!({"path": bind})),
    };
    value[key] = source;
    value
}
