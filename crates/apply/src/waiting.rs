//! Waits: for objects to become ready, and for deleted ones to go.

use std::collections::HashMap;
use std::time::Duration;

use podsmith_object::{Object, ObjectId, Value};
use podsmith_plan::health::{self, Health, State};
use podsmith_plan::kinds::{Kinds, Resource};
use podsmith_plan::package::versionless;
use tokio::time::Instant;

use crate::error::ApplyError;
use crate::event::{Cancel, Event, Sink};
use crate::executor::ApplyOptions;
use crate::live;
use crate::rest::Rest;

/// The first pause between two looks; it grows up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(1);

/// How a wait ended.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What is not ready, with the last reason.
    pub not_ready: Vec<(ObjectId, String)>,
    /// True when pods were not waited for.
    pub no_nodes: bool,
}

/// Waits until all of `ids` are ready, one has failed for long enough, or time is up.
pub(crate) async fn wait(
    rest: &Rest,
    kinds: &Kinds,
    ids: Vec<ObjectId>,
    options: &ApplyOptions,
    cancel: &Cancel,
    sink: &dyn Sink,
) -> Result<Outcome, ApplyError> {
    let deadline = Instant::now() + options.timeout;
    let mut outcome = Outcome::default();
    let mut open = ids;
    let mut said: HashMap<ObjectId, String> = HashMap::new();
    let mut failing: HashMap<ObjectId, Instant> = HashMap::new();
    let mut pause = SHORTEST;
    let mut nodes = None;
    while !open.is_empty() {
        let found = live::fetch(rest, kinds, open.iter().cloned()).await?;
        let needs_pods = found.values().any(health::needs_pods);
        if needs_pods && nodes.is_none() {
            let some = has_nodes(rest).await;
            nodes = Some(some);
            if !some {
                outcome.no_nodes = true;
                sink.event(Event::NoNodes);
            }
        }
        let mut still = Vec::new();
        for id in open {
            let object = found.get(&versionless(&id));
            if nodes == Some(false) && object.is_some_and(health::needs_pods) {
                continue;
            }
            let health = match object {
                Some(object) => look(rest, object).await,
                None => Health::missing(),
            };
            if health.is_ready() {
                if said.remove(&id).is_some() {
                    sink.event(Event::Ready { id });
                }
                continue;
            }
            let message = health.message.unwrap_or_else(|| "it is not ready".into());
            if said.get(&id) != Some(&message) {
                sink.event(Event::Waiting { id: id.clone(), message: message.clone() });
                said.insert(id.clone(), message.clone());
            }
            let now = Instant::now();
            let hopeless = if matches!(health.state, State::Failed | State::Missing) {
                now.duration_since(*failing.entry(id.clone()).or_insert(now)) >= options.patience
            } else {
                failing.remove(&id);
                false
            };
            if hopeless {
                let words = match object {
                    Some(object) => last_words(rest, object).await.unwrap_or_default(),
                    None => String::new(),
                };
                outcome.not_ready.push((id, format!("{message}{words}")));
            } else {
                still.push((id, message));
            }
        }
        let given_up = !outcome.not_ready.is_empty() || cancel.is_cancelled() || Instant::now() >= deadline;
        if given_up && !still.is_empty() {
            let late = Instant::now() >= deadline;
            let note = if late { format!("after {}s: ", options.timeout.as_secs()) } else { String::new() };
            outcome.not_ready.extend(still.into_iter().map(|(id, message)| (id, format!("{note}{message}"))));
            break;
        }
        open = still.into_iter().map(|(id, _)| id).collect();
        if open.is_empty() {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(pause.min(deadline.saturating_duration_since(Instant::now()))) => {}
            () = cancel.cancelled() => {}
        }
        pause = (pause * 2).min(LONGEST);
    }
    Ok(outcome)
}

/// The health of an object, with a look at its pods when it is not ready.
pub(crate) async fn look(rest: &Rest, object: &Object) -> Health {
    let first = health::of(object, &[]);
    if first.is_ready() {
        return first;
    }
    let Some(selector) = health::pod_selector(object) else { return first };
    let labels: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    match rest.list(&live::pods(), object.namespace(), &labels.join(",")).await {
        Ok(pods) => health::of(object, &pods),
        Err(_) => first,
    }
}

/// The last lines that a crashing container of the workload wrote.
async fn last_words(rest: &Rest, object: &Object) -> Option<String> {
    let selector = health::pod_selector(object)?;
    let labels: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let pods = rest.list(&live::pods(), object.namespace(), &labels.join(",")).await.ok()?;
    for pod in &pods {
        for status in
            pod.get(&["status", "containerStatuses"]).and_then(Value::as_array).into_iter().flatten()
        {
            let crashed =
                status.pointer("/lastState/terminated").or_else(|| status.pointer("/state/terminated"));
            let (Some(_), Some(container)) = (crashed, status.get("name").and_then(Value::as_str)) else {
                continue;
            };
            let path = live::pods().object_path(pod.namespace(), pod.name());
            let previous = status.pointer("/lastState/terminated").is_some();
            let query = format!("container={container}&tailLines=5&previous={previous}");
            let log = rest.text(&format!("{path}/log?{query}")).await.ok()?;
            let lines: Vec<String> = log.lines().map(|line| format!("\n    | {line}")).collect();
            return (!lines.is_empty()).then(|| format!("; the last lines of its log:{}", lines.concat()));
        }
    }
    None
}

/// True unless the cluster says that it has no node.
pub(crate) async fn has_nodes(rest: &Rest) -> bool {
    match rest.get("/api/v1/nodes?limit=1").await {
        Ok(list) => list.get("items").and_then(Value::as_array).is_none_or(|items| !items.is_empty()),
        // Without the permission to look we take it that there are some.
        Err(_) => true,
    }
}

/// Waits until the object with this uid is gone.
pub(crate) async fn gone(
    rest: &Rest,
    resource: &Resource,
    id: &ObjectId,
    uid: &str,
    options: &ApplyOptions,
    cancel: &Cancel,
    sink: &dyn Sink,
) -> Result<(), String> {
    let deadline = Instant::now() + options.timeout;
    let mut pause = Duration::from_millis(20);
    let mut said = String::new();
    loop {
        let found = match rest.object(resource, &id.namespace, &id.name).await {
            Ok(found) => found,
            Err(error) if error.is_transient() => {
                tokio::time::sleep(options.retry_delay).await;
                rest.object(resource, &id.namespace, &id.name).await.map_err(|error| error.to_string())?
            }
            Err(error) => return Err(error.to_string()),
        };
        let Some(found) = found else { return Ok(()) };
        let same = found.get(&["metadata", "uid"]).and_then(Value::as_str) == Some(uid);
        if !same && !uid.is_empty() {
            return Ok(());
        }
        let message = health::of(&found, &[]).message.unwrap_or_else(|| "it is being deleted".into());
        if cancel.is_cancelled() {
            return Err(format!("stopped while {message}"));
        }
        if Instant::now() >= deadline {
            return Err(format!("after {}s {message}", options.timeout.as_secs()));
        }
        if pause > Duration::from_millis(200) && said != message {
            sink.event(Event::Waiting { id: id.clone(), message: message.clone() });
            said = message;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = cancel.cancelled() => {}
        }
        pause = (pause * 2).min(LONGEST);
    }
}
