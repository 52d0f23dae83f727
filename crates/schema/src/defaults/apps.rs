//! Workloads: the apps and batch groups.

use podsmith_object::{Value, json};

use super::{Object, inner, is_empty, set_if_empty, set_if_missing, text};

pub(super) fn fill(name: &str, map: &mut Object) {
    // The count of template changes is a field inside the server and an annotation outside, so it is always there.
    if name == "DaemonSet"
        && let Some(metadata) = inner(map, "metadata")
        && let Some(annotations) = inner(metadata, "annotations")
    {
        set_if_missing(annotations, "deprecated.daemonset.template.generation", || json!("0"));
    }
    let Some(spec) = matches!(name, "Deployment" | "DaemonSet" | "StatefulSet" | "ReplicaSet")
        .then(|| inner(map, "spec"))
        .flatten()
    else {
        return;
    };
    match name {
        "Deployment" => {
            set_if_missing(spec, "replicas", || json!(1));
            if let Some(strategy) = inner(spec, "strategy") {
                rolling_update(strategy, [("maxUnavailable", json!("25%")), ("maxSurge", json!("25%"))]);
            }
            set_if_missing(spec, "revisionHistoryLimit", || json!(10));
            set_if_missing(spec, "progressDeadlineSeconds", || json!(600));
        }
        "DaemonSet" => {
            if let Some(strategy) = inner(spec, "updateStrategy") {
                rolling_update(strategy, [("maxUnavailable", json!(1)), ("maxSurge", json!(0))]);
            }
            set_if_missing(spec, "revisionHistoryLimit", || json!(10));
        }
        "StatefulSet" => stateful_set(spec),
        _ => set_if_missing(spec, "replicas", || json!(1)),
    }
}

fn rolling_update(strategy: &mut Object, amounts: [(&str, Value); 2]) {
    set_if_empty(strategy, "type", || json!("RollingUpdate"));
    if text(strategy, "type") == "RollingUpdate"
        && let Some(update) = inner(strategy, "rollingUpdate")
    {
        for (key, amount) in amounts {
            set_if_missing(update, key, || amount);
        }
    }
}

fn stateful_set(spec: &mut Object) {
    set_if_empty(spec, "podManagementPolicy", || json!("OrderedReady"));
    if let Some(strategy) = inner(spec, "updateStrategy") {
        if is_empty(strategy.get("type")) {
            strategy.insert("type".to_owned(), json!("RollingUpdate"));
            set_if_missing(strategy, "rollingUpdate", || json!({}));
        }
        if text(strategy, "type") == "RollingUpdate"
            && let Some(update) = strategy.get_mut("rollingUpdate").and_then(Value::as_object_mut)
        {
            set_if_missing(update, "partition", || json!(0));
        }
    }
    if let Some(policy) = inner(spec, "persistentVolumeClaimRetentionPolicy") {
        set_if_empty(policy, "whenDeleted", || json!("Retain"));
        set_if_empty(policy, "whenScaled", || json!("Retain"));
    }
    set_if_missing(spec, "replicas", || json!(1));
    set_if_missing(spec, "revisionHistoryLimit", || json!(10));
    // A claim template is a whole object and says so.
    for template in super::each(spec, "volumeClaimTemplates") {
        set_if_empty(template, "kind", || json!("PersistentVolumeClaim"));
        set_if_empty(template, "apiVersion", || json!("v1"));
    }
}

pub(super) fn fill_batch(name: &str, map: &mut Object) {
    match name {
        "Job" => job(map),
        "CronJobSpec" => {
            set_if_empty(map, "concurrencyPolicy", || json!("Allow"));
            set_if_missing(map, "suspend", || json!(false));
            set_if_missing(map, "successfulJobsHistoryLimit", || json!(3));
            set_if_missing(map, "failedJobsHistoryLimit", || json!(1));
        }
        "PodFailurePolicyOnPodConditionsPattern" => set_if_empty(map, "status", || json!("True")),
        _ => {}
    }
}

fn job(map: &mut Object) {
    let Some(spec) = inner(map, "spec") else { return };
    let missing = |spec: &Object, key: &str| spec.get(key).is_none_or(Value::is_null);
    if missing(spec, "completions") && missing(spec, "parallelism") {
        spec.insert("completions".to_owned(), json!(1));
    }
    set_if_missing(spec, "parallelism", || json!(1));
    let limit = if missing(spec, "backoffLimitPerIndex") { 6 } else { i64::from(i32::MAX) };
    set_if_missing(spec, "backoffLimit", || json!(limit));
    set_if_missing(spec, "completionMode", || json!("NonIndexed"));
    set_if_missing(spec, "suspend", || json!(false));
    let policy = if missing(spec, "podFailurePolicy") { "TerminatingOrFailed" } else { "Failed" };
    set_if_missing(spec, "podReplacementPolicy", || json!(policy));
    set_if_missing(spec, "manualSelector", || json!(false));
    let labels = spec.get("template").and_then(|template| template.pointer("/metadata/labels")).cloned();
    if let Some(labels) = labels.filter(|labels| !labels.is_null())
        && let Some(metadata) = inner(map, "metadata")
    {
        set_if_empty(metadata, "labels", || labels);
    }
}
