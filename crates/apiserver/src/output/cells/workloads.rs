//! Controllers of pods.

use podsmith_object::{Value, json};

use super::super::age;
use super::{containers, number, ratio, selector, shown, text};
use crate::clock;
use crate::fields;
use crate::registry::Resource;

/// The cells of a workload.
pub fn cells(resource: &Resource, object: &Value) -> Option<Vec<Value>> {
    let name = Value::from(fields::name(object));
    let template = fields::at(object, &["spec", "template"]).cloned().unwrap_or(Value::Null);
    let (names, images) = containers(&template);
    let own_selector = || selector(fields::at(object, &["spec", "selector"]));
    let status = |key: &str| number(object, &["status", key]);
    let wanted = number(object, &["spec", "replicas"]);
    Some(match resource.plural.as_str() {
        "deployments" => vec![
            name,
            ratio(status("readyReplicas"), wanted),
            status("updatedReplicas").to_string().into(),
            status("availableReplicas").to_string().into(),
            age::of(object),
            names,
            images,
            own_selector(),
        ],
        "replicasets" => vec![
            name,
            wanted.into(),
            status("replicas").into(),
            status("readyReplicas").into(),
            age::of(object),
            names,
            images,
            own_selector(),
        ],
        "replicationcontrollers" => vec![
            name,
            wanted.into(),
            status("replicas").into(),
            status("readyReplicas").into(),
            age::of(object),
            names,
            images,
            super::labels(fields::at(object, &["spec", "selector"])),
        ],
        "statefulsets" => vec![name, ratio(status("readyReplicas"), wanted), age::of(object), names, images],
        "daemonsets" => vec![
            name,
            status("desiredNumberScheduled").into(),
            status("currentNumberScheduled").into(),
            status("numberReady").into(),
            status("updatedNumberScheduled").into(),
            status("numberAvailable").into(),
            super::labels(fields::at(&template, &["spec", "nodeSelector"])),
            age::of(object),
            names,
            images,
            own_selector(),
        ],
        "controllerrevisions" => {
            let owner = fields::list(object, &["metadata", "ownerReferences"]).first();
            let owner = owner.map_or("<none>".to_owned(), |owner| {
                format!(
                    "{}/{}",
                    fields::text(owner, &["kind"]).to_lowercase(),
                    fields::text(owner, &["name"])
                )
            });
            vec![name, owner.into(), number(object, &["revision"]).into(), age::of(object)]
        }
        "jobs" => job(object),
        "cronjobs" => cron_job(object),
        _ => return None,
    })
}

fn job(object: &Value) -> Vec<Value> {
    let template = fields::at(object, &["spec", "template"]).cloned().unwrap_or(Value::Null);
    let (names, images) = containers(&template);
    let condition = |name: &str| {
        fields::list(object, &["status", "conditions"])
            .iter()
            .any(|one| fields::text(one, &["type"]) == name && fields::text(one, &["status"]) == "True")
    };
    let state = if condition("Complete") {
        "Complete"
    } else if condition("Failed") {
        "Failed"
    } else if fields::is_deleting(object) {
        "Terminating"
    } else if condition("Suspended") {
        "Suspended"
    } else if condition("FailureTarget") {
        "FailureTarget"
    } else if condition("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    let done = number(object, &["status", "succeeded"]);
    let completions = match fields::at(object, &["spec", "completions"]).and_then(Value::as_i64) {
        Some(wanted) => format!("{done}/{wanted}"),
        None => match number(object, &["spec", "parallelism"]) {
            parallel if parallel > 1 => format!("{done}/1 of {parallel}"),
            _ => format!("{done}/1"),
        },
    };
    let start = fields::text(object, &["status", "startTime"]);
    let end = fields::text(object, &["status", "completionTime"]);
    let duration = if start.is_empty() {
        String::new()
    } else if end.is_empty() {
        age::since(start)
    } else {
        age::human(clock::seconds_since(start) - clock::seconds_since(end))
    };
    vec![
        fields::name(object).into(),
        state.into(),
        completions.into(),
        duration.into(),
        age::of(object),
        names,
        images,
        selector(fields::at(object, &["spec", "selector"])),
    ]
}

fn cron_job(object: &Value) -> Vec<Value> {
    let template =
        fields::at(object, &["spec", "jobTemplate", "spec", "template"]).cloned().unwrap_or(Value::Null);
    let (names, images) = containers(&template);
    let last = fields::text(object, &["status", "lastScheduleTime"]);
    let last = if last.is_empty() { "<none>".to_owned() } else { age::since(last) };
    vec![
        fields::name(object).into(),
        text(object, &["spec", "schedule"]),
        shown(object, &["spec", "timeZone"], "<none>").into(),
        json!(fields::at(object, &["spec", "suspend"]) == Some(&Value::Bool(true))),
        fields::list(object, &["status", "active"]).len().into(),
        last.into(),
        age::of(object),
        names,
        images,
        selector(fields::at(object, &["spec", "jobTemplate", "spec", "selector"])),
    ]
}
