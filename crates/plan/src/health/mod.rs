//! Is an object ready, and if not, what is it waiting for? One file for each family of kinds.

mod api;
mod batch;
mod custom;
mod network;
mod pods;
mod storage;
mod workloads;

use podsmith_object::{Object, ObjectId, Value};

/// The state of an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It does what it is for.
    Ready,
    /// It will, with time.
    Progressing,
    /// It will not, unless something changes.
    Failed,
    /// It does not exist.
    Missing,
}

impl State {
    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Progressing => "progressing",
            Self::Failed => "failed",
            Self::Missing => "missing",
        }
    }
}

/// A state and a sentence about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Health {
    /// The state.
    pub state: State,
    /// What it waits for or why it failed; `None` when there is nothing to say.
    pub message: Option<String>,
}

impl Health {
    /// Ready.
    pub fn ready() -> Self {
        Self { state: State::Ready, message: None }
    }

    /// Not there.
    pub fn missing() -> Self {
        Self { state: State::Missing, message: Some("it does not exist".into()) }
    }

    /// Under way.
    pub fn waiting(message: impl Into<String>) -> Self {
        Self { state: State::Progressing, message: Some(message.into()) }
    }

    /// Failed for good.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { state: State::Failed, message: Some(message.into()) }
    }

    /// True when ready.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }
}

/// The health of `object`; `pods` are the pods that belong to it, where they are known.
pub fn of(object: &Object, pods: &[Object]) -> Health {
    if object.get(&["metadata", "deletionTimestamp"]).is_some() {
        return Health::waiting(match finalizers(object) {
            Some(list) => format!("it is being deleted and waits for {list}"),
            None => "it is being deleted".into(),
        });
    }
    match (&*object.gvk().group, object.kind()) {
        ("apps", "Deployment") => workloads::deployment(object, pods),
        ("apps", "StatefulSet") => workloads::stateful_set(object, pods),
        ("apps", "DaemonSet") => workloads::daemon_set(object, pods),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => workloads::replica_set(object, pods),
        ("", "Pod") => pods::pod(object),
        ("batch", "Job") => batch::job(object, pods),
        ("batch", "CronJob") => Health::ready(),
        ("", "PersistentVolumeClaim") => storage::claim(object),
        ("", "PersistentVolume") => storage::volume(object),
        ("", "Service") => network::service(object),
        ("", "Namespace") => api::namespace(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => api::definition(object),
        ("apiregistration.k8s.io", "APIService") => api::api_service(object),
        (group, _) if built_in(group) => Health::ready(),
        _ => custom::resource(object),
    }
}

/// False for kinds that are ready as soon as they exist, so that there is nothing to wait for.
pub fn has_rule(id: &ObjectId) -> bool {
    match (&*id.gvk.group, &*id.gvk.kind) {
        (
            "",
            "Pod"
            | "ReplicationController"
            | "PersistentVolumeClaim"
            | "PersistentVolume"
            | "Service"
            | "Namespace",
        )
        | ("apps", _)
        | ("batch", "Job")
        | ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => true,
        (group, _) => !built_in(group),
    }
}

/// True for kinds whose readiness needs pods to run.
pub fn needs_pods(object: &Object) -> bool {
    matches!(
        (&*object.gvk().group, object.kind()),
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
            | ("", "Pod" | "ReplicationController" | "PersistentVolumeClaim")
            | ("batch", "Job")
            | ("apiregistration.k8s.io", "APIService")
    )
}

/// The labels that select the pods of a workload.
pub fn pod_selector(object: &Object) -> Option<Vec<(String, String)>> {
    let labels = match object.kind() {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            object.get(&["spec", "selector", "matchLabels"])
        }
        "ReplicationController" => object.get(&["spec", "selector"]),
        "Job" => object.get(&["spec", "selector", "matchLabels"]),
        _ => None,
    }?;
    let labels = labels.as_object()?.iter();
    let pairs: Vec<(String, String)> =
        labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    (!pairs.is_empty()).then_some(pairs)
}

fn built_in(group: &str) -> bool {
    matches!(group, "" | "apps" | "batch" | "policy" | "autoscaling" | "extensions")
        || group.ends_with(".k8s.io") && !group.ends_with("x-k8s.io") && group != "gateway.networking.k8s.io"
}

fn finalizers(object: &Object) -> Option<String> {
    let list = object.get(&["metadata", "finalizers"])?.as_array()?;
    let names: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A whole number of the object; 0 when it is missing.
fn number(object: &Object, path: &[&str]) -> i64 {
    object.get(path).and_then(Value::as_i64).unwrap_or(0)
}

/// One condition: status, reason and message.
struct Condition<'o> {
    status: &'o str,
    reason: &'o str,
    message: &'o str,
}

fn condition<'o>(object: &'o Object, kind: &str) -> Option<Condition<'o>> {
    let list = object.get(&["status", "conditions"])?.as_array()?;
    let found = list.iter().find(|condition| condition.get("type").and_then(Value::as_str) == Some(kind))?;
    let word = |key: &str| found.get(key).and_then(Value::as_str).unwrap_or("");
    Some(Condition { status: word("status"), reason: word("reason"), message: word("message") })
}

/// True when the controller has not yet looked at the latest change.
fn outdated(object: &Object) -> bool {
    let seen = object.get(&["status", "observedGeneration"]).and_then(Value::as_i64);
    let generation = object.get(&["metadata", "generation"]).and_then(Value::as_i64);
    matches!((seen, generation), (Some(seen), Some(generation)) if seen < generation)
}
