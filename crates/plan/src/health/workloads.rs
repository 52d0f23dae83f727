//! Deployments, StatefulSets, DaemonSets, ReplicaSets.

use podsmith_object::{Object, Value};

use super::{Health, condition, number, outdated, pods};

/// How many pods are wanted; one when the field is left out.
fn wanted(object: &Object) -> i64 {
    object.get(&["spec", "replicas"]).and_then(Value::as_i64).unwrap_or(1)
}

/// The sentence about what is missing, with the reason of the worst pod.
fn behind(done: i64, wanted: i64, what: &str, pods: &[Object]) -> Health {
    let sentence = format!("{done} of {wanted} pods {what}");
    match pods::worst(pods) {
        Some(worst) if worst.fatal => Health::failed(format!("{sentence}: {}", worst.message)),
        Some(worst) => Health::waiting(format!("{sentence}: {}", worst.message)),
        None => Health::waiting(sentence),
    }
}

pub(super) fn deployment(object: &Object, pods: &[Object]) -> Health {
    if outdated(object) || object.get(&["status", "observedGeneration"]).is_none() {
        return Health::waiting("the deployment controller has not seen the change yet");
    }
    if let Some(progress) = condition(object, "Progressing")
        && progress.status == "False"
    {
        let why = pods::worst(pods).map_or_else(|| progress.message.to_owned(), |worst| worst.message);
        return Health::failed(format!("the rollout does not get on: {why}"));
    }
    if let Some(failure) = condition(object, "ReplicaFailure")
        && failure.status == "True"
    {
        return Health::failed(format!("pods cannot be made: {}", failure.message));
    }
    let wanted = wanted(object);
    let updated = number(object, &["status", "updatedReplicas"]);
    let total = number(object, &["status", "replicas"]);
    let available = number(object, &["status", "availableReplicas"]);
    if updated < wanted {
        return behind(updated, wanted, "are up to date", pods);
    }
    if total > updated {
        return Health::waiting(format!("{} old pods are still stopping", total - updated));
    }
    if available < wanted {
        return behind(available, wanted, "are available", pods);
    }
    Health::ready()
}

pub(super) fn stateful_set(object: &Object, pods: &[Object]) -> Health {
    if outdated(object) || object.get(&["status", "observedGeneration"]).is_none() {
        return Health::waiting("the statefulset controller has not seen the change yet");
    }
    let wanted = wanted(object);
    let ready = number(object, &["status", "readyReplicas"]);
    if ready < wanted {
        return behind(ready, wanted, "are ready", pods);
    }
    let on_delete =
        object.get(&["spec", "updateStrategy", "type"]).and_then(Value::as_str) == Some("OnDelete");
    let revision = |key: &str| object.get(&["status", key]).and_then(Value::as_str);
    let partition = number(object, &["spec", "updateStrategy", "rollingUpdate", "partition"]);
    let updated = number(object, &["status", "updatedReplicas"]);
    if !on_delete && revision("updateRevision") != revision("currentRevision") && updated < wanted - partition
    {
        return behind(updated, wanted - partition, "are up to date", pods);
    }
    Health::ready()
}

pub(super) fn daemon_set(object: &Object, pods: &[Object]) -> Health {
    if outdated(object) || object.get(&["status", "observedGeneration"]).is_none() {
        return Health::waiting("the daemonset controller has not seen the change yet");
    }
    let wanted = number(object, &["status", "desiredNumberScheduled"]);
    let updated = number(object, &["status", "updatedNumberScheduled"]);
    let available = number(object, &["status", "numberAvailable"]);
    let on_delete =
        object.get(&["spec", "updateStrategy", "type"]).and_then(Value::as_str) == Some("OnDelete");
    if !on_delete && updated < wanted {
        return behind(updated, wanted, "are up to date", pods);
    }
    if available < wanted {
        return behind(available, wanted, "are available", pods);
    }
    Health::ready()
}

pub(super) fn replica_set(object: &Object, pods: &[Object]) -> Health {
    if outdated(object) {
        return Health::waiting("the controller has not seen the change yet");
    }
    let (wanted, ready) = (wanted(object), number(object, &["status", "readyReplicas"]));
    if ready < wanted { behind(ready, wanted, "are ready", pods) } else { Health::ready() }
}
