//! Pods and nodes.

use podsmith_object::Value;

use super::super::age;
use super::{containers, labels, number, or_none, ratio};
use crate::fields;

/// The cells of a pod template.
pub fn template(object: &Value) -> Vec<Value> {
    let body = fields::at(object, &["template"]).cloned().unwrap_or(Value::Null);
    let (names, images) = containers(&body);
    vec![fields::name(object).into(), names, images, labels(fields::at(&body, &["metadata", "labels"]))]
}

/// The cells of a pod.
pub fn pod(object: &Value) -> Vec<Value> {
    let whole = fields::list(object, &["spec", "containers"]).len();
    let statuses = fields::list(object, &["status", "containerStatuses"]);
    let is_true = |value: &Value, key: &str| value.get(key) == Some(&Value::Bool(true));
    let ready = statuses.iter().filter(|one| is_true(one, "ready")).count();
    let restarts: i64 = statuses.iter().map(|one| number(one, &["restartCount"])).sum();
    let last_restart = statuses
        .iter()
        .map(|one| fields::text(one, &["lastState", "terminated", "finishedAt"]))
        .filter(|time| !time.is_empty())
        .max();
    let restarts = match last_restart {
        Some(time) if restarts > 0 => format!("{restarts} ({} ago)", age::since(time)),
        _ => restarts.to_string(),
    };
    let gates = fields::list(object, &["spec", "readinessGates"]);
    let passed = gates
        .iter()
        .filter(|gate| {
            fields::list(object, &["status", "conditions"]).iter().any(|one| {
                fields::text(one, &["type"]) == fields::text(gate, &["conditionType"])
                    && fields::text(one, &["status"]) == "True"
            })
        })
        .count();
    let gates = if gates.is_empty() { "<none>".to_owned() } else { format!("{passed}/{}", gates.len()) };
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    vec![
        fields::name(object).into(),
        ratio(count(ready), count(whole)),
        pod_state(object).into(),
        restarts.into(),
        age::of(object),
        or_none(object, &["status", "podIP"]),
        or_none(object, &["spec", "nodeName"]),
        or_none(object, &["status", "nominatedNodeName"]),
        gates.into(),
    ]
}

/// The word for the state of a pod: the most telling of phase, reasons and container states.
fn pod_state(object: &Value) -> String {
    let phase = fields::text(object, &["status", "phase"]);
    let reason = fields::text(object, &["status", "reason"]);
    let mut state = if reason.is_empty() { phase.to_owned() } else { reason.to_owned() };
    let gated = fields::list(object, &["status", "conditions"]).iter().any(|one| {
        fields::text(one, &["type"]) == "PodScheduled" && fields::text(one, &["reason"]) == "SchedulingGated"
    });
    if gated {
        state = "SchedulingGated".to_owned();
    }
    for (index, container) in fields::list(object, &["status", "initContainerStatuses"]).iter().enumerate() {
        let terminated = fields::at(container, &["state", "terminated"]);
        if terminated.is_some_and(|one| number(one, &["exitCode"]) == 0) {
            continue;
        }
        let waiting = fields::text(container, &["state", "waiting", "reason"]);
        state = if let Some(ended) = terminated {
            let reason = fields::text(ended, &["reason"]);
            if reason.is_empty() {
                format!("Init:ExitCode:{}", number(ended, &["exitCode"]))
            } else {
                format!("Init:{reason}")
            }
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{index}/{}", fields::list(object, &["spec", "initContainers"]).len())
        };
        return deleting_state(object, state);
    }
    let mut running = false;
    for container in fields::list(object, &["status", "containerStatuses"]).iter().rev() {
        let waiting = fields::text(container, &["state", "waiting", "reason"]);
        let terminated = fields::at(container, &["state", "terminated"]);
        if !waiting.is_empty() {
            state = waiting.to_owned();
        } else if let Some(ended) = terminated {
            let reason = fields::text(ended, &["reason"]);
            state = if reason.is_empty() {
                format!("ExitCode:{}", number(ended, &["exitCode"]))
            } else {
                reason.to_owned()
            };
        } else if fields::at(container, &["state", "running"]).is_some() {
            running = true;
        }
    }
    if state == "Completed" && running {
        state = "Running".to_owned();
    }
    deleting_state(object, state)
}

fn deleting_state(object: &Value, state: String) -> String {
    if !fields::is_deleting(object) {
        return state;
    }
    if fields::text(object, &["status", "reason"]) == "NodeLost" {
        "Unknown".to_owned()
    } else {
        "Terminating".to_owned()
    }
}

/// The cells of a node.
pub fn node(object: &Value) -> Vec<Value> {
    let ready = fields::list(object, &["status", "conditions"])
        .iter()
        .find(|one| fields::text(one, &["type"]) == "Ready")
        .map(|one| fields::text(one, &["status"]));
    let mut state = match ready {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if fields::at(object, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
        state += ",SchedulingDisabled";
    }
    let mut roles: Vec<&str> = fields::at(object, &["metadata", "labels"])
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| match key.as_str() {
            "kubernetes.io/role" => value.as_str(),
            key => key.strip_prefix("node-role.kubernetes.io/"),
        })
        .collect();
    roles.sort_unstable();
    let roles = if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") };
    let address = |sort: &str| -> Value {
        fields::list(object, &["status", "addresses"])
            .iter()
            .find(|one| fields::text(one, &["type"]) == sort)
            .map_or("<none>", |one| fields::text(one, &["address"]))
            .into()
    };
    let info = |key: &str| -> Value {
        let text = fields::text(object, &["status", "nodeInfo", key]);
        if text.is_empty() { "<unknown>".into() } else { text.into() }
    };
    vec![
        fields::name(object).into(),
        state.into(),
        roles.into(),
        age::of(object),
        fields::text(object, &["status", "nodeInfo", "kubeletVersion"]).into(),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        info("kernelVersion"),
        info("containerRuntimeVersion"),
    ]
}
