//! Deployments, ReplicaSets, StatefulSets, DaemonSets, ReplicationControllers, Jobs and CronJobs.

use podsmith_object::Value;

use super::node::{At, Faults};
use super::{claims, names, pods, schedule, selector};
use crate::fault::Fault;

const MISMATCH: &str = "`selector` does not match template `labels`";

/// Checks the spec of a workload of the apps group.
pub(super) fn apps(kind: &str, object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    match kind {
        "Deployment" => {
            faults.not_negative(&spec.child("replicas"));
            selected(&spec, "deployment", "ReplicaSet", faults);
            deployment_strategy(&spec.child("strategy"), faults);
            faults.not_negative(&spec.child("minReadySeconds"));
            faults.not_negative(&spec.child("revisionHistoryLimit"));
            let deadline = spec.child("progressDeadlineSeconds");
            faults.not_negative(&deadline);
            if deadline.is_set() && deadline.int() <= spec.child("minReadySeconds").int() {
                faults.invalid(&deadline, "must be greater than minReadySeconds");
            }
        }
        "ReplicaSet" => {
            faults.not_negative(&spec.child("replicas"));
            faults.not_negative(&spec.child("minReadySeconds"));
            selected(&spec, "deployment", "ReplicaSet", faults);
        }
        "DaemonSet" => {
            selected(&spec, "daemonset", "DaemonSet", faults);
            faults.not_negative(&spec.child("minReadySeconds"));
            daemon_strategy(&spec.child("updateStrategy"), faults);
            faults.not_negative(&spec.child("revisionHistoryLimit"));
        }
        "StatefulSet" => stateful_set(&spec, old.is_none(), faults),
        _ => {}
    }
    let Some(old) = old.map(|old| old.child("spec")) else { return };
    if kind == "StatefulSet" {
        if frozen_stateful_set(spec.value, old.value) != *old.value {
            faults.forbidden(
                &spec,
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            );
        }
    } else {
        faults.immutable(&spec.child("selector"), &old.child("selector"));
    }
}

/// Selector and template: they must fit, and the pods must run for ever.
fn selected(spec: &At<'_>, name: &str, owner: &str, faults: &mut Faults) {
    let wanted = spec.child("selector");
    if wanted.is_set() {
        selector::check(&wanted, faults);
        if selector::is_empty(&wanted) {
            faults.invalid(&wanted, format!("empty selector is invalid for {name}"));
        }
    } else if owner != "DaemonSet" {
        faults.required(&wanted, "");
    }
    let template = spec.child("template");
    let labels = template.at(&["metadata", "labels"]);
    // An empty selector matches all; an absent one matches nothing.
    if !selector::matches(&wanted, labels.value) {
        faults.invalid(&labels, MISMATCH);
    }
    pods::template(&template, faults);
    runs_always(&template, owner, faults);
}

fn runs_always(template: &At<'_>, owner: &str, faults: &mut Faults) {
    let policy = template.at(&["spec", "restartPolicy"]);
    if policy.text() != "Always" {
        faults.not_supported(&policy, &["Always"]);
    }
    let deadline = template.at(&["spec", "activeDeadlineSeconds"]);
    if deadline.is_set() {
        faults.forbidden(&deadline, format!("activeDeadlineSeconds in {owner} is not Supported"));
    }
}

/// A count or a share.
pub(super) fn count_or_percent(at: &At<'_>, faults: &mut Faults) {
    match at.value.as_str() {
        Some(text) => faults.each(at, names::percent(text)),
        None => faults.not_negative(at),
    }
}

fn amount(at: &At<'_>) -> i64 {
    match at.value.as_str() {
        Some(text) => text.trim_end_matches('%').parse().unwrap_or(0),
        None => at.int(),
    }
}

fn at_most_all(at: &At<'_>, faults: &mut Faults) {
    if at.value.is_string() && names::percent(at.text()).is_empty() && amount(at) > 100 {
        faults.invalid(at, "must not be greater than 100%");
    }
}

fn deployment_strategy(strategy: &At<'_>, faults: &mut Faults) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "Recreate" => {
            if update.is_set() {
                faults.forbidden(&update, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (update.child("maxUnavailable"), update.child("maxSurge"));
            count_or_percent(&unavailable, faults);
            count_or_percent(&surge, faults);
            if amount(&unavailable) == 0 && amount(&surge) == 0 {
                faults.invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(&unavailable, faults);
        }
        _ => unknown_strategy(strategy, &["Recreate", "RollingUpdate"], faults),
    }
}

/// The server prints the strategy as its own code names the fields.
fn unknown_strategy(strategy: &At<'_>, allowed: &[&str], faults: &mut Faults) {
    let shown = podsmith_object::json!({
        "Type": strategy.child("type").value, "RollingUpdate": strategy.child("rollingUpdate").value
    });
    faults.push(Fault::not_supported(strategy.path.as_str(), shown, allowed));
}

fn daemon_strategy(strategy: &At<'_>, faults: &mut Faults) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (update.child("maxUnavailable"), update.child("maxSurge"));
            for at in [&unavailable, &surge] {
                count_or_percent(at, faults);
                at_most_all(at, faults);
            }
            let (has_unavailable, has_surge) = (amount(&unavailable) != 0, amount(&surge) != 0);
            match (has_unavailable, has_surge) {
                (true, true) => faults.invalid(&surge, "may not be set when maxUnavailable is non-zero"),
                (false, false) => faults.required(&unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => unknown_strategy(strategy, &["RollingUpdate", "OnDelete"], faults),
    }
}

fn stateful_set(spec: &At<'_>, new: bool, faults: &mut Faults) {
    let policy = spec.child("podManagementPolicy");
    if policy.is_empty() {
        faults.required(&policy, "");
    } else if !matches!(policy.text(), "OrderedReady" | "Parallel") {
        faults.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    let strategy = spec.child("updateStrategy");
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "" => faults.required(&strategy, ""),
        "OnDelete" => {
            if update.is_set() {
                faults.invalid(&update, "only allowed for updateStrategy 'RollingUpdate'");
            }
        }
        "RollingUpdate" => faults.not_negative(&update.child("partition")),
        _ => faults.invalid(&strategy, "must be 'RollingUpdate' or 'OnDelete'"),
    }
    let retention = spec.child("persistentVolumeClaimRetentionPolicy");
    for key in ["whenDeleted", "whenScaled"] {
        let at = retention.child(key);
        if retention.is_set() && !matches!(at.text(), "Retain" | "Delete") {
            faults.not_supported(&at, &["Retain", "Delete"]);
        }
    }
    if new {
        for template in spec.child("volumeClaimTemplates").items() {
            claims::spec(&template.child("spec"), faults);
        }
    }
    faults.not_negative(&spec.child("replicas"));
    faults.not_negative(&spec.child("minReadySeconds"));
    let start = spec.at(&["ordinals", "start"]);
    faults.not_negative(&start);
    let service = spec.child("serviceName");
    if new && !service.is_empty() {
        faults.each(&service, names::dns_label(service.text()));
    }
    let wanted = spec.child("selector");
    if wanted.is_set() {
        selector::check(&wanted, faults);
        if selector::is_empty(&wanted) {
            faults.invalid(&wanted, "empty selector is invalid for statefulset");
        }
    } else {
        faults.required(&wanted, "");
    }
    let labels = spec.at(&["template", "metadata", "labels"]);
    if !selector::matches(&wanted, labels.value) {
        faults.invalid(&labels, MISMATCH);
    }
    let with_claims = template_with_claims(spec);
    pods::template(&At { value: &with_claims, path: spec.child("template").path }, faults);
    runs_always(&spec.child("template"), "StatefulSet", faults);
}

/// The template as its pods will be: with the claims as volumes.
fn template_with_claims(spec: &At<'_>) -> Value {
    let mut template = spec.child("template").value.clone();
    let claims: Vec<Value> = spec
        .child("volumeClaimTemplates")
        .items()
        .iter()
        .map(|claim| {
            let name = claim.at(&["metadata", "name"]).text();
            podsmith_object::json!({"name": name, "persistentVolumeClaim": {"claimName": name}})
        })
        .collect();
    if let Some(Value::Object(pod)) = template.get_mut("spec") {
        pod.shift_remove("subdomain");
        pod.shift_remove("hostname");
        if !claims.is_empty() {
            let own = pod.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
            let named = |volume: &Value| claims.iter().any(|claim| claim.get("name") == volume.get("name"));
            let rest: Vec<Value> = own.into_iter().filter(|volume| !named(volume)).collect();
            pod.insert("volumes".to_owned(), Value::Array(claims.iter().cloned().chain(rest).collect()));
        }
    }
    template
}

fn frozen_stateful_set(new: &Value, old: &Value) -> Value {
    let mut new = new.clone();
    if let Value::Object(map) = &mut new {
        for key in [
            "replicas",
            "template",
            "updateStrategy",
            "minReadySeconds",
            "ordinals",
            "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy",
        ] {
            match old.get(key) {
                Some(value) => map.insert(key.to_owned(), value.clone()),
                None => map.shift_remove(key),
            };
        }
    }
    new
}

/// Checks a ReplicationController.
pub(super) fn replication_controller(object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    faults.not_negative(&spec.child("minReadySeconds"));
    let wanted = spec.child("selector");
    if wanted.is_empty() {
        faults.required(&wanted, "");
    }
    let replicas = spec.child("replicas");
    if !replicas.is_set() {
        faults.required(&replicas, "");
    }
    faults.not_negative(&replicas);
    let template = spec.child("template");
    if !template.is_set() {
        return faults.required(&template, "");
    }
    let labels = template.at(&["metadata", "labels"]);
    if wanted.entries().iter().any(|(key, value)| labels.child(key).text() != value.text()) {
        faults.invalid(&labels, MISMATCH);
    }
    pods::template(&template, faults);
    runs_always(&template, "ReplicationController", faults);
}

/// Checks a Job, and what a change may touch.
pub(super) fn job(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    generated_selector(&spec, faults);
    if old.is_some() {
        // The server checks a changed job as a new one first, and then as a changed one.
        selected_job(&spec, faults);
    }
    selected_job(&spec, faults);
    if let Some(old) = old {
        kept_job(&spec, &old.child("spec"), faults);
    }
}

/// A selector the server made selects the pods the server labels.
fn generated_selector(spec: &At<'_>, faults: &mut Faults) {
    let wanted = spec.child("selector");
    if spec.child("manualSelector").flag() || !wanted.is_set() {
        return;
    }
    let labels = spec.at(&["template", "metadata", "labels"]);
    let own =
        ["controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"];
    let entries = labels.entries().into_iter().filter(|(key, _)| own.contains(key));
    let expected: Value = entries.map(|(key, at)| (key.to_owned(), at.value.clone())).collect();
    if !selector::matches(&wanted, &expected) {
        faults.invalid(&wanted, "`selector` not auto-generated");
    }
}

fn selected_job(spec: &At<'_>, faults: &mut Faults) {
    job_spec(spec, faults);
    let wanted = spec.child("selector");
    if wanted.is_set() {
        selector::check(&wanted, faults);
    } else {
        faults.required(&wanted, "");
    }
    let labels = spec.at(&["template", "metadata", "labels"]);
    if !selector::matches(&wanted, labels.value) {
        faults.invalid(&labels, MISMATCH);
    }
}

/// What of a job may change.
fn kept_job(spec: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    if spec.child("completionMode").text() != "Indexed" {
        faults.immutable(&spec.child("completions"), &old.child("completions"));
    } else {
        let completions = spec.child("completions");
        if completions.value != old.child("completions").value
            && completions.is_set()
            && completions.value != spec.child("parallelism").value
        {
            faults.invalid(&completions, "can only be modified in tandem with spec.parallelism");
        }
    }
    faults.immutable(&spec.child("selector"), &old.child("selector"));
    let template = spec.child("template");
    let before = mutable_template(old, template.value);
    if *template.value != before {
        faults.invalid(&template, "field is immutable");
    }
    for key in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        faults.immutable(&spec.child(key), &old.child(key));
    }
}

/// The old template with what a suspended job may change taken from the new one.
fn mutable_template(old: &At<'_>, new: &Value) -> Value {
    let mut before = old.child("template").value.clone();
    if !old.child("suspend").flag() {
        return before;
    }
    for (section, keys) in [
        ("spec", &["nodeSelector", "tolerations", "schedulingGates", "affinity"][..]),
        ("metadata", &["labels", "annotations"][..]),
    ] {
        let Some(Value::Object(map)) = before.get_mut(section) else { continue };
        for key in keys {
            match new.get(section).and_then(|section| section.get(*key)) {
                Some(value) => map.insert((*key).to_owned(), value.clone()),
                None => map.shift_remove(*key),
            };
        }
    }
    before
}

fn job_spec(spec: &At<'_>, faults: &mut Faults) {
    for key in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        faults.not_negative(&spec.child(key));
    }
    if spec.child("maxFailedIndexes").is_set() && !spec.child("backoffLimitPerIndex").is_set() {
        faults.required(&spec.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    let mode = spec.child("completionMode");
    if mode.is_set() && !matches!(mode.text(), "NonIndexed" | "Indexed") {
        faults.not_supported(&mode, &["NonIndexed", "Indexed"]);
    }
    if mode.text() == "Indexed" {
        if !spec.child("completions").is_set() {
            faults.required(&spec.child("completions"), "when completion mode is Indexed");
        }
        if spec.child("parallelism").int() > 100_000 {
            faults.invalid(
                &spec.child("parallelism"),
                "must be less than or equal to 100000 when completion mode is Indexed",
            );
        }
    } else {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"] {
            if spec.child(key).is_set() {
                faults.invalid(&spec.child(key), "requires indexed completion mode");
            }
        }
    }
    let replacement = spec.child("podReplacementPolicy");
    if replacement.is_set() {
        if spec.child("podFailurePolicy").is_set() {
            if replacement.text() != "Failed" {
                faults.not_supported(&replacement, &["Failed"]);
            }
        } else if !matches!(replacement.text(), "Failed" | "TerminatingOrFailed") {
            faults.not_supported(&replacement, &["Failed", "TerminatingOrFailed"]);
        }
    }
    let template = spec.child("template");
    pods::template(&template, faults);
    let policy = template.at(&["spec", "restartPolicy"]);
    match policy.text() {
        "" | "Always" => faults.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.child("podFailurePolicy").is_set() => {
            faults.invalid(&policy, "only \"Never\" is supported when podFailurePolicy is specified");
        }
        "OnFailure" | "Never" => {}
        _ => faults.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

/// Checks a CronJob.
pub(super) fn cron_job(object: &At<'_>, faults: &mut Faults) {
    let name = object.at(&["metadata", "name"]);
    if name.text().len() > 52 {
        faults.invalid(&name, "must be no more than 52 characters");
    }
    let spec = object.child("spec");
    let when = spec.child("schedule");
    if when.is_empty() {
        faults.required(&when, "");
    } else {
        if let Err(text) = schedule::check(when.text()) {
            faults.invalid(&when, text);
        }
        if when.text().contains("TZ") {
            faults.invalid(&when, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        }
    }
    faults.not_negative(&spec.child("startingDeadlineSeconds"));
    time_zone(&spec.child("timeZone"), faults);
    faults.one_of(&spec.child("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    let template = spec.child("jobTemplate");
    job_spec(&template.child("spec"), faults);
    if template.at(&["spec", "manualSelector"]).flag() {
        let at = template.at(&["spec", "manualSelector"]);
        faults.push(Fault::not_supported(at.path.as_str(), true, &["nil", "false"]));
    }
    faults.not_negative(&spec.child("successfulJobsHistoryLimit"));
    faults.not_negative(&spec.child("failedJobsHistoryLimit"));
}

fn time_zone(zone: &At<'_>, faults: &mut Faults) {
    if !zone.is_set() {
        return;
    }
    let name = zone.text();
    if name.is_empty() {
        faults.invalid(zone, "timeZone must be nil or non-empty string");
    } else if name.eq_ignore_ascii_case("local") {
        faults.invalid(
            zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    } else if jiff::tz::TimeZone::get(name).is_err() {
        faults.invalid(zone, format!("unknown time zone {name}"));
    }
}
