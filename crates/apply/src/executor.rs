//! Carries out a plan: step by step, many writes at once within a step, and a record of what happened.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use kube::Client;
use podsmith_object::{Object, ObjectId, Value, json};
use podsmith_plan::change::{Action, Change, Checked};
use podsmith_plan::inventory::{Entry, Inventory};
use podsmith_plan::kinds::{Kinds, Resource};
use podsmith_plan::mask::Secrets;
use podsmith_plan::package::{Key, versionless};
use podsmith_plan::{Plan, health, managed, order};

use crate::error::ApplyError;
use crate::event::{Cancel, Event, Sink};
use crate::live;
use crate::planner::{kinds, leave_replicas};
use crate::rest::{CallError, Dependents, Mode, Ownership, Rest};
use crate::waiting::{self, Outcome};

/// How to apply.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// Allow objects to be deleted and made again.
    pub replace: bool,
    /// Take over fields that other managers own.
    pub force_conflicts: bool,
    /// Wait until everything that was written is ready.
    pub wait: bool,
    /// How long to wait, for readiness and for deletion.
    pub timeout: Duration,
    /// How long a failure must last before the wait is given up.
    pub patience: Duration,
    /// How many writes run at once.
    pub concurrency: usize,
    /// How often a write is tried when the cluster does not answer or is busy.
    pub tries: usize,
    /// How long to wait before the second try; doubled each time.
    pub retry_delay: Duration,
    /// Refuse when the cluster moved since the plan was made. For saved plans.
    pub verify: bool,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self {
            replace: false,
            force_conflicts: false,
            wait: true,
            timeout: Duration::from_secs(300),
            patience: Duration::from_secs(10),
            concurrency: 32,
            tries: 4,
            retry_delay: Duration::from_millis(200),
            verify: false,
        }
    }
}

/// A write that failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    /// Which object.
    pub id: ObjectId,
    /// What was tried.
    pub action: Action,
    /// Why it failed, secrets masked.
    pub message: String,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Finished changes, in the order of the plan.
    pub done: Vec<(ObjectId, Action)>,
    /// Failed changes.
    pub failed: Vec<Failure>,
    /// Changes that were not tried, because an earlier one failed or the user stopped.
    pub skipped: Vec<(ObjectId, Action)>,
    /// Objects that are not ready, with the reason.
    pub not_ready: Vec<(ObjectId, String)>,
    /// True when the user stopped.
    pub interrupted: bool,
    /// True when pods were not waited for, because the cluster has no nodes.
    pub no_nodes: bool,
}

impl Report {
    /// The report for people: what failed and what is not ready, then one line of summary.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for failure in &self.failed {
            let _ = writeln!(
                out,
                "error: {}: could not {} it: {}",
                failure.id,
                failure.action.word(),
                failure.message
            );
        }
        for (id, message) in &self.not_ready {
            let _ = writeln!(out, "error: {id} is not ready: {message}");
        }
        let parts =
            [(self.done.len(), "done"), (self.failed.len(), "failed"), (self.skipped.len(), "skipped")];
        let shown: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let line = if shown.is_empty() { "nothing to do".to_owned() } else { shown.join(", ") };
        let _ = writeln!(out, "{line}{}", if self.interrupted { "; stopped" } else { "" });
        if !self.skipped.is_empty() || !self.failed.is_empty() || self.interrupted {
            out.push_str("hint: run the same command again to complete it\n");
        }
        out
    }

    /// The report for machines.
    pub fn to_json(&self) -> Value {
        let change =
            |(id, action): &(ObjectId, Action)| json!({ "object": id.to_json(), "action": action.word() });
        json!({
            "done": self.done.iter().map(change).collect::<Vec<_>>(),
            "failed": self.failed.iter().map(|failure| {
                json!({ "object": failure.id.to_json(), "action": failure.action.word(), "message": failure.message })
            }).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(change).collect::<Vec<_>>(),
            "notReady": self.not_ready.iter().map(|(id, message)| {
                json!({ "object": id.to_json(), "message": message })
            }).collect::<Vec<_>>(),
            "interrupted": self.interrupted,
            "noNodes": self.no_nodes,
        })
    }

    /// True when everything was done and is ready.
    pub fn is_success(&self) -> bool {
        self.failed.is_empty() && self.skipped.is_empty() && self.not_ready.is_empty() && !self.interrupted
    }
}

/// Carries out `plan`.
///
/// The inventory is written before the first object it names, so that nothing is ever made without being recorded;
/// running again after any interruption completes the work.
///
/// # Errors
///
/// When nothing was done at all: the plan has errors, needs consent, is stale, or the cluster cannot be asked. Failed
/// writes are in the report instead.
pub async fn apply(
    client: &Client,
    plan: &Plan,
    options: &ApplyOptions,
    cancel: &Cancel,
    sink: &dyn Sink,
) -> Result<Report, ApplyError> {
    if !plan.errors.is_empty() {
        return Err(ApplyError::PlanHasErrors(plan.errors.clone()));
    }
    if plan.needs_replace() && !options.replace {
        let ids = plan.changes.iter().filter(|change| change.action == Action::Replace);
        return Err(ApplyError::NeedsReplace(ids.map(|change| change.id.to_string()).collect()));
    }
    let rest = Rest::new(client.clone());
    if options.verify {
        crate::stale::verify(&rest, plan).await?;
    }
    let recorded = recorded_after(plan);
    if !plan.has_changes() {
        if let Some(inventory) = changed_inventory(plan, &recorded) {
            write_inventory(&rest, &inventory, options).await?;
        }
        return Ok(Report::default());
    }
    let mut kinds = match &plan.kinds {
        Some(known) => known.clone(),
        None => kinds(&rest).await?,
    };
    for change in plan.changes.iter().filter(|change| &*change.id.gvk.kind == "CustomResourceDefinition") {
        if let Some(definition) = &change.desired {
            kinds.insert_definition(definition);
        }
    }
    let executor = Executor {
        rest,
        kinds,
        plan,
        options,
        cancel,
        sink,
        secrets: Secrets::of(plan.changes.iter().filter_map(|change| change.desired.as_ref())),
        total: plan.changes.iter().filter(|change| change.writes()).count(),
    };
    executor.run(recorded).await
}

/// What the package owns once the plan is carried out.
fn recorded_after(plan: &Plan) -> Vec<Entry> {
    let known: HashMap<Key, &Entry> = plan
        .inventory
        .iter()
        .flat_map(|inventory| &inventory.entries)
        .map(|e| (versionless(&e.id), e))
        .collect();
    plan.changes
        .iter()
        .filter(|change| change.action != Action::Delete && !change.unowned)
        .map(|change| {
            let before = known.get(&versionless(&change.id)).and_then(|entry| entry.fields.clone());
            Entry { id: change.id.clone(), fields: change.fields_digest.clone().or(before) }
        })
        .collect()
}

/// The inventory with these entries, if that is not what is recorded already.
fn changed_inventory(plan: &Plan, entries: &[Entry]) -> Option<Inventory> {
    let all = plan.retained.iter().chain(entries).cloned();
    let after = Inventory::new(&plan.package, &plan.namespace).with_entries(all);
    match &plan.inventory {
        Some(before) => (before.entries != after.entries).then_some(after),
        None => (!after.entries.is_empty()).then_some(after),
    }
}

async fn write_inventory(
    rest: &Rest,
    inventory: &Inventory,
    options: &ApplyOptions,
) -> Result<(), ApplyError> {
    let object = inventory.to_object();
    let resource = live::config_maps();
    let doing = format!("write the inventory {}/{}", inventory.namespace, object.name());
    if inventory.entries.is_empty() {
        let found = rest.object(&resource, object.namespace(), object.name()).await;
        if let Some(found) = found.map_err(ApplyError::call(doing.clone()))? {
            let uid = found.get(&["metadata", "uid"]).and_then(Value::as_str).unwrap_or("").to_owned();
            let gone = retrying(options, || {
                rest.delete(&resource, object.namespace(), object.name(), &uid, Dependents::Delete)
            });
            gone.await.map_err(ApplyError::call(doing))?;
        }
        return Ok(());
    }
    let written = retrying(options, || rest.apply(&resource, &object, Mode::Real, Ownership::Force)).await;
    written.map(|_| ()).map_err(ApplyError::call(doing))
}

/// Runs a request again while the failure may pass.
pub(crate) async fn retrying<T, F, R>(options: &ApplyOptions, mut run: F) -> Result<T, CallError>
where
    F: FnMut() -> R,
    R: Future<Output = Result<T, CallError>>,
{
    let mut delay = options.retry_delay;
    let mut tries = 1;
    loop {
        match run().await {
            Err(error) if error.is_transient() && tries < options.tries => {
                tokio::time::sleep(delay).await;
                delay = delay.saturating_mul(2);
                tries += 1;
            }
            other => return other,
        }
    }
}

struct Executor<'e> {
    rest: Rest,
    kinds: Kinds,
    plan: &'e Plan,
    options: &'e ApplyOptions,
    cancel: &'e Cancel,
    sink: &'e dyn Sink,
    secrets: Secrets,
    total: usize,
}

/// What became of one write: the stored object, if there is one now.
type Written = Result<Option<Object>, String>;

impl Executor<'_> {
    async fn run(&self, recorded: Vec<Entry>) -> Result<Report, ApplyError> {
        let mut report = Report::default();
        let mut actual: HashMap<Key, Option<String>> = HashMap::new();
        let mut rounds = self.rounds();

        // The inventory lives in the package's namespace; when the plan makes that, it comes before the inventory.
        let own =
            |change: &Change| &*change.id.gvk.kind == "Namespace" && *change.id.name == *self.plan.namespace;
        let home: Vec<&Change> = rounds
            .iter_mut()
            .flat_map(|round| round.extract_if(.., |c| own(c) && c.action == Action::Create))
            .collect();
        rounds.retain(|round| !round.is_empty());
        self.round(&home, &mut report, &mut actual).await;

        let before = self.plan.inventory.iter().flat_map(|inventory| inventory.entries.iter().cloned());
        let union: Vec<Entry> = before.chain(recorded.iter().cloned()).collect();
        let prewritten = changed_inventory(self.plan, &union);
        if report.failed.is_empty()
            && let Some(inventory) = &prewritten
        {
            write_inventory(&self.rest, inventory, self.options).await?;
        }
        for round in &rounds {
            if !report.failed.is_empty() || self.cancel.is_cancelled() {
                report.skipped.extend(round.iter().map(|change| (change.id.clone(), change.action)));
                continue;
            }
            self.round(round, &mut report, &mut actual).await;
        }
        if self.cancel.is_cancelled() {
            report.interrupted = true;
            self.sink.event(Event::Interrupted);
        }
        if report.failed.is_empty() && report.skipped.is_empty() {
            self.settle_inventory(recorded, &actual, prewritten).await?;
            self.wait(&mut report).await?;
        }
        Ok(report)
    }

    /// The changes that run together: by step, deletes after everything else.
    fn rounds(&self) -> Vec<Vec<&Change>> {
        let mut rounds: Vec<Vec<&Change>> = Vec::new();
        for change in self.plan.changes.iter().filter(|change| change.writes()) {
            let same = |last: &&Change| {
                last.step == change.step
                    && (last.action == Action::Delete) == (change.action == Action::Delete)
            };
            match rounds.last_mut() {
                Some(round) if round.last().is_some_and(same) => round.push(change),
                _ => rounds.push(vec![change]),
            }
        }
        rounds
    }

    async fn round(&self, round: &[&Change], report: &mut Report, actual: &mut HashMap<Key, Option<String>>) {
        self.wait_for_dependencies(round, report).await;
        if !report.failed.is_empty() {
            report.skipped.extend(round.iter().map(|change| (change.id.clone(), change.action)));
            return;
        }
        // `buffered` runs many and gives results in order, so the output is the same on every run.
        let mut results = stream::iter(round.iter().copied())
            .map(|change| async move {
                if self.cancel.is_cancelled() {
                    return (change, None);
                }
                (change, Some(self.write(change).await))
            })
            .buffered(self.options.concurrency.max(1));
        let mut definitions = Vec::new();
        while let Some((change, result)) = results.next().await {
            match result {
                None => report.skipped.push((change.id.clone(), change.action)),
                Some(Ok(stored)) => {
                    actual.insert(versionless(&change.id), stored.as_ref().and_then(managed::our_digest));
                    report.done.push((change.id.clone(), change.action));
                    self.sink.event(Event::Done {
                        id: change.id.clone(),
                        action: change.action,
                        finished: report.done.len(),
                        total: self.total,
                    });
                    if &*change.id.gvk.kind == "CustomResourceDefinition" && change.action != Action::Delete {
                        definitions.push(change.id.clone());
                    }
                }
                Some(Err(message)) => {
                    let message = self.secrets.scrub(&message);
                    self.sink.event(Event::Failed {
                        id: change.id.clone(),
                        action: change.action,
                        message: message.clone(),
                    });
                    report.failed.push(Failure { id: change.id.clone(), action: change.action, message });
                }
            }
        }
        drop(results);
        if !definitions.is_empty() && report.failed.is_empty() {
            self.require(definitions, report).await;
        }
    }

    /// Waits for objects that later ones cannot do without, whether or not the user wants to wait.
    async fn require(&self, ids: Vec<ObjectId>, report: &mut Report) {
        let outcome = waiting::wait(&self.rest, &self.kinds, ids, self.options, self.cancel, self.sink).await;
        match outcome {
            Ok(outcome) => {
                for (id, message) in outcome.not_ready {
                    report.failed.push(Failure { id, action: Action::Noop, message });
                }
            }
            Err(error) => {
                let id = ObjectId::default();
                report.failed.push(Failure { id, action: Action::Noop, message: error.to_string() });
            }
        }
    }

    async fn wait_for_dependencies(&self, round: &[&Change], report: &mut Report) {
        let mut needed: Vec<ObjectId> = Vec::new();
        for change in round.iter().filter(|change| change.action != Action::Delete) {
            let Some(object) = &change.desired else { continue };
            for dependency in order::dependencies(object).unwrap_or_default() {
                let found = self
                    .plan
                    .changes
                    .iter()
                    .find(|other| dependency.matches(&other.id, &change.id.namespace));
                needed.extend(found.map(|found| found.id.clone()).filter(|id| !needed.contains(id)));
            }
        }
        if !needed.is_empty() {
            self.require(needed, report).await;
        }
    }

    async fn write(&self, change: &Change) -> Written {
        let resource = self.kinds.get(&change.id.gvk);
        let resource = resource.or_else(|| self.kinds.preferred(&change.id.gvk.group, &change.id.gvk.kind));
        let Some(resource) = resource else {
            return Err(format!("the cluster does not serve {} any more", change.id.gvk));
        };
        match (change.action, &change.desired) {
            (Action::Noop, _) => Ok(None),
            (Action::Create | Action::Update, Some(object)) => {
                self.put(resource, change, object).await.map(Some)
            }
            (Action::Replace, Some(object)) => {
                self.remove(resource, change, self.dependents(change, object).await).await?;
                self.put(resource, change, object).await.map(Some)
            }
            (Action::Delete, _) => self.remove(resource, change, Dependents::Delete).await.map(|()| None),
            (_, None) => Err("the plan does not say what to write".into()),
        }
    }

    async fn put(&self, resource: &Resource, change: &Change, object: &Object) -> Result<Object, String> {
        let force = self.options.force_conflicts || change.adopted || change.unowned;
        let ownership = if force { Ownership::Force } else { Ownership::Respect };
        let mut left = if change.checked == Checked::AgainstDefinition { 50 } else { 0 };
        loop {
            match retrying(self.options, || self.rest.apply(resource, object, Mode::Real, ownership)).await {
                Ok(stored) => return Ok(stored),
                // A definition is established a moment before every server serves it.
                Err(error) if error.is_not_found() && left > 0 => {
                    left -= 1;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Err(CallError::Refused(refusal))
                    if ownership == Ownership::Respect
                        && refusal.conflicts().iter().all(|conflict| conflict.field == "spec.replicas")
                        && !refusal.conflicts().is_empty()
                        && change.notes.iter().any(|note| note.contains("autoscaler")) =>
                {
                    let mut copy = object.clone();
                    leave_replicas(&mut copy);
                    let written = self.rest.apply(resource, &copy, Mode::Real, ownership).await;
                    return written.map_err(|error| error.to_string());
                }
                Err(error) => return Err(sentence(&error)),
            }
        }
    }

    /// Deletes the object that the plan saw, and waits until it is gone.
    async fn remove(
        &self,
        resource: &Resource,
        change: &Change,
        dependents: Dependents,
    ) -> Result<(), String> {
        let uid = change.seen.as_ref().map_or("", |seen| seen.uid.as_str());
        let (namespace, name) = (&*change.id.namespace, &*change.id.name);
        let deleted =
            retrying(self.options, || self.rest.delete(resource, namespace, name, uid, dependents)).await;
        match deleted {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) if error.code() == 409 => {
                return Err("another object has this name now; it is not ours to delete".into());
            }
            Err(error) => return Err(sentence(&error)),
        }
        if !self.options.wait && change.action == Action::Delete {
            return Ok(());
        }
        waiting::gone(&self.rest, resource, &change.id, uid, self.options, self.cancel, self.sink).await
    }

    /// A StatefulSet leaves its pods to the one that follows it, unless the follower would not recognise them.
    async fn dependents(&self, change: &Change, desired: &Object) -> Dependents {
        if &*change.id.gvk.kind != "StatefulSet" {
            return Dependents::Delete;
        }
        let selector = health::pod_selector(desired).unwrap_or_default();
        let labels: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let same = change.fields.iter().all(|field| !field.path.starts_with("spec.selector"));
        let pods =
            self.rest.list(&live::pods(), &change.id.namespace, &labels.join(",")).await.unwrap_or_default();
        if same && !pods.is_empty() { Dependents::Orphan } else { Dependents::Delete }
    }

    /// The final record, if it is not what was written before the first object.
    async fn settle_inventory(
        &self,
        recorded: Vec<Entry>,
        actual: &HashMap<Key, Option<String>>,
        prewritten: Option<Inventory>,
    ) -> Result<(), ApplyError> {
        let entries: Vec<Entry> = recorded
            .into_iter()
            .map(|entry| {
                let fields = actual.get(&versionless(&entry.id)).cloned().flatten();
                Entry { fields: fields.or(entry.fields), id: entry.id }
            })
            .collect();
        let all = self.plan.retained.iter().cloned().chain(entries);
        let last = Inventory::new(&self.plan.package, &self.plan.namespace).with_entries(all);
        let written = prewritten.or_else(|| self.plan.inventory.clone());
        if written.as_ref().map(|inventory| &inventory.entries) == Some(&last.entries)
            || written.is_none() && last.entries.is_empty()
        {
            return Ok(());
        }
        write_inventory(&self.rest, &last, self.options).await
    }

    async fn wait(&self, report: &mut Report) -> Result<(), ApplyError> {
        if !self.options.wait || report.interrupted {
            return Ok(());
        }
        let written =
            self.plan.changes.iter().filter(|change| change.writes() && change.action != Action::Delete);
        let ids: Vec<ObjectId> = written.map(|change| change.id.clone()).filter(health::has_rule).collect();
        let Outcome { not_ready, no_nodes } =
            waiting::wait(&self.rest, &self.kinds, ids, self.options, self.cancel, self.sink).await?;
        report.not_ready =
            not_ready.into_iter().map(|(id, message)| (id, self.secrets.scrub(&message))).collect();
        report.no_nodes = no_nodes;
        report.interrupted |= self.cancel.is_cancelled();
        Ok(())
    }
}

/// Why a write failed, in one sentence.
fn sentence(error: &CallError) -> String {
    match error {
        CallError::Refused(refusal) => {
            let conflicts = refusal.conflicts();
            if conflicts.is_empty() {
                return refusal.message.clone();
            }
            let fields: Vec<String> =
                conflicts.iter().map(|c| format!("{} belongs to {}", c.field, c.manager)).collect();
            format!("{}; plan again, or use --force-conflicts", fields.join(", "))
        }
        CallError::Lost(source) => {
            let mut text = error.to_string();
            let mut next: Option<&dyn std::error::Error> = Some(&**source);
            while let Some(cause) = next {
                text = format!("{text}: {cause}");
                next = cause.source();
            }
            text
        }
        CallError::Strange(_) => error.to_string(),
    }
}
