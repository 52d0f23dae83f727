//! Makes a plan: reads the live state, asks the server about what may have changed, decides.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures::stream::{self, StreamExt as _};
use kube::Client;
use podsmith_object::{Diagnostic, GroupVersionKind, Object, ObjectId, Value, json};
use podsmith_plan::change::{Action, Change, Checked, Seen};
use podsmith_plan::decide::{self, Answer};
use podsmith_plan::inventory::{Entry, Inventory};
use podsmith_plan::kinds::{Kinds, Resource};
use podsmith_plan::mask::Secrets;
use podsmith_plan::package::{Key, versionless};
use podsmith_plan::{Package, Plan, PrepareOptions, Prepared, managed, names, order, prepare};

use crate::defaults;
use crate::discovery;
use crate::error::ApplyError;
use crate::event::{Event, Sink};
use crate::live::{self, Live};
use crate::rest::{CallError, Mode, Ownership, Rest};

/// How many dry runs run at once. Reads are cheap for the server, and each costs a round trip.
const DRY_RUNS: usize = 128;

/// How to plan.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The cluster as the user named it, for the plan's output.
    pub target: String,
    /// Delete what the package owns and no longer declares.
    pub prune: bool,
    /// Take over objects that exist and belong to nobody.
    pub adopt: bool,
    /// Take over fields that other managers own.
    pub force_conflicts: bool,
    /// Restart workloads when configuration they use changes.
    pub restart_on_config_change: bool,
    /// Also delete volumes with data.
    pub delete_data: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            target: "cluster".into(),
            prune: true,
            adopt: false,
            force_conflicts: false,
            restart_on_config_change: true,
            delete_data: false,
        }
    }
}

/// Plans how to make the cluster match `package`.
///
/// Nothing is written. Every mistake is collected in the plan's errors.
///
/// # Errors
///
/// When the cluster cannot be asked.
///
/// # Cost
///
/// Three requests, one for each kind and namespace, and one dry run for each object that may have changed.
pub async fn plan(
    client: &Client,
    package: Package,
    options: &PlanOptions,
    sink: &dyn Sink,
) -> Result<Plan, ApplyError> {
    let rest = Rest::new(client.clone());
    let (kinds, inventories) =
        futures::try_join!(kinds(&rest), live::inventories(&rest, &package.namespace))?;
    let mut kinds = kinds;
    let prepare_options = PrepareOptions { restart_on_config_change: options.restart_on_config_change };
    let mut plan = Plan::new(&options.target, &package.name, &package.namespace);
    let package = defaults::resolve(&rest, &kinds, package, &mut plan).await?;
    let (prepared, problems) = prepare(package, &mut kinds, prepare_options);
    plan.report(problems);
    plan.report(crate::rules::check(&prepared));
    plan.inventory =
        inventories.iter().find(|i| i.package == plan.package && i.namespace == plan.namespace).cloned();
    let planner = Planner { rest, kinds, options, sink, inventories };
    planner.fill(plan, prepared).await
}

pub(crate) async fn kinds(rest: &Rest) -> Result<Kinds, ApplyError> {
    discovery::discover(rest).await.map_err(ApplyError::call("ask the cluster which kinds it serves"))
}

struct Planner<'o> {
    rest: Rest,
    kinds: Kinds,
    options: &'o PlanOptions,
    sink: &'o dyn Sink,
    inventories: Vec<Inventory>,
}

/// What must be asked about one object.
enum Question {
    /// Nothing: it is what we wrote last.
    Unchanged,
    /// A dry run of applying it.
    Apply(Ownership),
    /// A dry run of creating it in another namespace, because its own does not exist.
    Elsewhere,
    /// Nothing: its kind does not exist yet.
    Later,
}

impl Planner<'_> {
    async fn fill(&self, mut plan: Plan, prepared: Prepared) -> Result<Plan, ApplyError> {
        let steps = match order::steps(&prepared.objects) {
            Ok(steps) => steps,
            Err(problems) => {
                plan.report(problems);
                vec![0; prepared.objects.len()]
            }
        };
        let deferred: HashSet<&GroupVersionKind> = prepared.deferred_kinds.iter().collect();
        let mut gone = no_longer_declared(&plan, &prepared);
        if !self.options.prune {
            plan.retained = std::mem::take(&mut gone);
        }
        let gone: Vec<ObjectId> = gone.into_iter().map(|entry| entry.id).collect();
        let ids = prepared.objects.iter().map(Object::id).filter(|id| !deferred.contains(&id.gvk));
        let live = live::fetch(&self.rest, &self.kinds, ids.chain(gone.iter().cloned())).await?;
        let missing = self.missing_namespaces(&prepared, &live).await?;

        let secrets = Secrets::of(prepared.objects.iter().chain(live.values()));
        let questions = self.questions(&mut plan, &prepared, &live, &deferred, &missing);
        let asked = questions
            .iter()
            .filter(|q| matches!(q, Some((Question::Apply(_) | Question::Elsewhere, _))))
            .count();
        if asked > 0 {
            self.sink.event(Event::Phase(format!("checking {asked} objects")));
        }
        let answers: Vec<Option<Asked>> = stream::iter(prepared.objects.iter().zip(&questions))
            .map(|(object, question)| self.ask(object, question.as_ref().map(|(q, _)| q), &live, &prepared))
            .buffered(DRY_RUNS)
            .collect::<Vec<Result<Option<Asked>, ApplyError>>>()
            .await
            .into_iter()
            .collect::<Result<_, _>>()?;

        let mut decided: Vec<(usize, Change)> = Vec::new();
        let mut refused: Vec<(usize, Vec<Diagnostic>)> = Vec::new();
        for (index, (((object, question), answer), step)) in
            prepared.objects.iter().zip(&questions).zip(answers).zip(&steps).enumerate()
        {
            let (Some((_, note)), Some(asked)) = (question, answer) else { continue };
            let left = asked.instead.is_some();
            let declared = asked.instead.as_ref().unwrap_or(object);
            let decision = match live.get(&versionless(&object.id())) {
                Some(found) => decide::present(declared, found, asked.answer, &secrets),
                None => decide::absent(declared, asked.answer, &secrets),
            };
            match decision {
                Ok(mut change) => {
                    change.step = *step;
                    note.apply(&mut change);
                    if left {
                        change.notes.push("replicas are left to the autoscaler".into());
                    }
                    decided.push((index, change));
                }
                Err(problems) => refused.push((index, problems)),
            }
        }
        self.second_chance(&prepared, &live, &steps, &mut decided, &mut refused);
        plan.report(refused.into_iter().flat_map(|(_, problems)| problems));
        plan.changes.extend(decided.into_iter().map(|(_, change)| change));
        let declared: HashSet<&str> =
            prepared.objects.iter().filter(|o| o.kind() == "Namespace").map(Object::name).collect();
        for namespace in missing.iter().filter(|namespace| !declared.contains(namespace.as_str())) {
            plan.changes.push(made_namespace(namespace));
        }
        self.prune(&mut plan, &gone, &live).await?;
        defaults::check_classes(&self.rest, &self.kinds, &mut plan).await?;
        plan.kinds = Some(self.kinds.clone());
        plan.sort();
        Ok(plan)
    }

    /// Namespaces that objects need and that do not exist. A namespace in which an object was found exists; only the
    /// others are asked for.
    async fn missing_namespaces(
        &self,
        prepared: &Prepared,
        live: &Live,
    ) -> Result<BTreeSet<String>, ApplyError> {
        let seen: HashSet<&str> = live.values().map(Object::namespace).collect();
        let mut wanted: BTreeSet<String> = prepared.namespaces.clone();
        if !prepared.objects.is_empty() {
            wanted.insert(prepared.namespace.clone());
        }
        wanted.retain(|namespace| !seen.contains(namespace.as_str()) && !namespace.is_empty());
        let resource = live::namespaces();
        let found: Vec<Result<Option<String>, ApplyError>> = stream::iter(wanted)
            .map(|namespace| {
                let resource = &resource;
                async move {
                    let found = self.rest.object(resource, "", &namespace).await;
                    // Without the permission to look, the namespace is taken to exist; the server will tell otherwise.
                    let found = match found {
                        Err(error) if error.code() == 403 => return Ok(None),
                        other => other.map_err(ApplyError::call(format!("read namespace {namespace}")))?,
                    };
                    Ok(found.is_none().then_some(namespace))
                }
            })
            .buffered(live::READS)
            .collect()
            .await;
        let mut missing = BTreeSet::new();
        for namespace in found {
            missing.extend(namespace?);
        }
        Ok(missing)
    }

    /// What to ask about each object; `None` where an error was found already.
    fn questions(
        &self,
        plan: &mut Plan,
        prepared: &Prepared,
        live: &Live,
        deferred: &HashSet<&GroupVersionKind>,
        missing: &BTreeSet<String>,
    ) -> Vec<Option<(Question, Note)>> {
        let ours: HashMap<Key, Entry> = plan
            .inventory
            .iter()
            .flat_map(|inventory| inventory.entries.iter())
            .map(|entry| (versionless(&entry.id), entry.clone()))
            .collect();
        let mut others: HashMap<Key, &Inventory> = HashMap::new();
        for inventory in &self.inventories {
            if inventory.package != plan.package || inventory.namespace != plan.namespace {
                others.extend(inventory.entries.iter().map(|entry| (versionless(&entry.id), inventory)));
            }
        }
        let mut out = Vec::with_capacity(prepared.objects.len());
        for object in &prepared.objects {
            let id = object.id();
            let key = versionless(&id);
            let mut note = Note::default();
            if let Some(owner) = others.get(&key) {
                plan.errors.push(self.owned_by_other(object, owner, &plan.package));
                out.push(None);
                continue;
            }
            if deferred.contains(&id.gvk) {
                out.push(Some((Question::Later, note)));
                continue;
            }
            let Some(found) = live.get(&key) else {
                let elsewhere = missing.contains(object.namespace());
                out.push(Some((
                    if elsewhere { Question::Elsewhere } else { Question::Apply(self.ownership()) },
                    note,
                )));
                continue;
            };
            let mut ownership = self.ownership();
            if !ours.contains_key(&key) {
                if self.options.adopt {
                    note.adopted = true;
                    ownership = Ownership::Force;
                } else if &*id.gvk.kind == "Namespace" {
                    // People make namespaces by hand all the time. We keep such a one up to date but do not own it,
                    // unless it is the package's own and carries our mark: then we made it and were stopped before we
                    // could record that.
                    let made_by_us = managed::our_fields(found).is_some() && *id.name == *plan.namespace;
                    note.unowned = !made_by_us;
                } else {
                    plan.errors.push(self.exists_already(object, found));
                    out.push(None);
                    continue;
                }
            }
            let unchanged = decide::unchanged(object, found, ours.get(&key))
                || note.unowned && self.same_mark(object, found);
            out.push(Some((if unchanged { Question::Unchanged } else { Question::Apply(ownership) }, note)));
        }
        out
    }

    fn same_mark(&self, object: &Object, found: &Object) -> bool {
        object.annotation(names::DIGEST).is_some()
            && object.annotation(names::DIGEST) == found.annotation(names::DIGEST)
    }

    fn ownership(&self) -> Ownership {
        if self.options.force_conflicts { Ownership::Force } else { Ownership::Respect }
    }

    fn owned_by_other(&self, object: &Object, owner: &Inventory, package: &str) -> Diagnostic {
        let message = format!(
            "it belongs to package `{}` in {}, so package `{package}` cannot have it",
            owner.package, owner.namespace
        );
        problem(object, message).with_hint(format!(
            "remove it from one of the two packages, or delete it with package `{}`",
            owner.package
        ))
    }

    fn exists_already(&self, object: &Object, found: &Object) -> Diagnostic {
        let by = managed::last_writer(found)
            .map(|writer| format!(", last written by {writer}"))
            .unwrap_or_default();
        problem(object, format!("it exists already and belongs to no package{by}"))
            .with_hint("use --adopt to take it over, or choose another name")
    }

    async fn ask(
        &self,
        object: &Object,
        question: Option<&Question>,
        live: &Live,
        prepared: &Prepared,
    ) -> Result<Option<Asked>, ApplyError> {
        let id = object.id();
        let Some(resource) = self.kinds.get(&id.gvk) else { return Ok(None) };
        Ok(Some(match question {
            None => return Ok(None),
            Some(Question::Unchanged) => Answer::NotAsked(Checked::ByDigest).into(),
            Some(Question::Later) => Answer::NotAsked(Checked::AgainstDefinition).into(),
            Some(Question::Elsewhere) => self.ask_elsewhere(resource, object).await?.into(),
            Some(Question::Apply(ownership)) => {
                self.ask_apply(resource, object, *ownership, live, prepared).await?
            }
        }))
    }

    async fn ask_apply(
        &self,
        resource: &Resource,
        object: &Object,
        ownership: Ownership,
        live: &Live,
        prepared: &Prepared,
    ) -> Result<Asked, ApplyError> {
        match self.dry_run(resource, object, ownership).await? {
            Answer::Refused(refusal)
                if refusal.conflicts().iter().any(|conflict| conflict.field == "spec.replicas")
                    && self.is_autoscaled(object, live, prepared).await? =>
            {
                let mut left = object.clone();
                leave_replicas(&mut left);
                let answer = self.dry_run(resource, &left, ownership).await?;
                Ok(Asked { answer, instead: Some(left) })
            }
            Answer::Refused(refusal) if refusal.immutable().is_some() => {
                // A replaced object must be acceptable as a new one; the server says so in a dry run of creating it,
                // where "exists already" comes only after validation.
                match self.rest.check_create(resource, object, object.namespace()).await {
                    Err(CallError::Refused(other)) if matches!(other.code, 400 | 422) => {
                        Ok(Answer::Refused(other).into())
                    }
                    _ => Ok(Answer::Refused(refusal).into()),
                }
            }
            other => Ok(other.into()),
        }
    }

    async fn dry_run(
        &self,
        resource: &Resource,
        object: &Object,
        ownership: Ownership,
    ) -> Result<Answer, ApplyError> {
        let mut tries = 0;
        loop {
            match self.rest.apply(resource, object, Mode::DryRun, ownership).await {
                Ok(result) => return Ok(Answer::Accepted(result)),
                Err(error) if error.is_transient() && tries < 2 => tries += 1,
                Err(CallError::Refused(refusal)) => return Ok(Answer::Refused(refusal)),
                Err(error) => return Err(ApplyError::call(format!("check {}", object.id()))(error)),
            }
        }
    }

    /// Asks about a copy in the `default` namespace, which always exists. What depends on the namespace itself (quotas,
    /// policies, accounts) is not an answer about the object.
    async fn ask_elsewhere(&self, resource: &Resource, object: &Object) -> Result<Answer, ApplyError> {
        let mut copy = object.clone();
        copy.set_namespace("default");
        match self.rest.check_create(resource, &copy, "default").await {
            Ok(_) => Ok(Answer::AcceptedElsewhere),
            Err(CallError::Refused(refusal)) => Ok(match refusal.code {
                400 | 422 => Answer::Refused(refusal),
                409 => Answer::AcceptedElsewhere,
                _ => Answer::NotAsked(Checked::Not(format!(
                    "its namespace does not exist yet ({})",
                    refusal.message
                ))),
            }),
            Err(error) => Err(ApplyError::call(format!("check {}", object.id()))(error)),
        }
    }

    /// True when an autoscaler, declared or live, decides about the object's replicas.
    async fn is_autoscaled(
        &self,
        object: &Object,
        live: &Live,
        prepared: &Prepared,
    ) -> Result<bool, ApplyError> {
        let targets = |scaler: &Object| {
            let word = |key: &str| {
                scaler.get(&["spec", "scaleTargetRef", key]).and_then(Value::as_str).unwrap_or("")
            };
            scaler.namespace() == object.namespace()
                && word("kind") == object.kind()
                && word("name") == object.name()
        };
        let declared =
            prepared.objects.iter().filter(|other| other.kind() == "HorizontalPodAutoscaler").any(targets);
        if declared || live.values().filter(|other| other.kind() == "HorizontalPodAutoscaler").any(targets) {
            return Ok(true);
        }
        let Some(resource) = self.kinds.preferred("autoscaling", "HorizontalPodAutoscaler") else {
            return Ok(false);
        };
        let listed = self.rest.list(resource, object.namespace(), "").await;
        Ok(listed.map_err(ApplyError::call("list autoscalers"))?.iter().any(targets))
    }

    /// A custom resource that the server refuses may fit the new version of its definition, which this plan brings.
    fn second_chance(
        &self,
        prepared: &Prepared,
        live: &Live,
        steps: &[usize],
        decided: &mut Vec<(usize, Change)>,
        refused: &mut Vec<(usize, Vec<Diagnostic>)>,
    ) {
        let changing: HashSet<(String, String)> = decided
            .iter()
            .filter(|(_, change)| change.writes() && &*change.id.gvk.kind == "CustomResourceDefinition")
            .filter_map(|(_, change)| {
                let desired = change.desired.as_ref()?;
                let word = |path: &[&str]| desired.get(path).and_then(Value::as_str).map(str::to_owned);
                Some((word(&["spec", "group"])?, word(&["spec", "names", "kind"])?))
            })
            .collect();
        if changing.is_empty() {
            return;
        }
        let taken = std::mem::take(refused);
        for (index, problems) in taken {
            let Some(object) = prepared.objects.get(index) else { continue };
            let gvk = object.gvk();
            if !changing.contains(&(gvk.group.to_string(), gvk.kind.to_string())) {
                refused.push((index, problems));
                continue;
            }
            let answer = Answer::NotAsked(Checked::AgainstDefinition);
            let decision = match live.get(&versionless(&object.id())) {
                Some(found) => decide::present(object, found, answer, &Secrets::default()),
                None => decide::absent(object, answer, &Secrets::default()),
            };
            if let Ok(mut change) = decision {
                change.step = steps.get(index).copied().unwrap_or(0);
                change.checked = Checked::AgainstDefinition;
                decided.push((index, change));
            }
        }
    }

    async fn prune(&self, plan: &mut Plan, gone: &[ObjectId], live: &Live) -> Result<(), ApplyError> {
        for id in gone {
            let Some(found) = live.get(&versionless(id)) else { continue };
            let change = self.removal(found).await?;
            plan.changes.push(change);
        }
        Ok(())
    }

    async fn removal(&self, found: &Object) -> Result<Change, ApplyError> {
        removal(&self.rest, found, self.options.delete_data).await
    }
}

/// Objects the package owns but does not declare any more.
fn no_longer_declared(plan: &Plan, prepared: &Prepared) -> Vec<Entry> {
    let declared: HashSet<Key> = prepared.objects.iter().map(|object| versionless(&object.id())).collect();
    let entries = plan.inventory.iter().flat_map(|inventory| &inventory.entries);
    entries.filter(|entry| !declared.contains(&versionless(&entry.id))).cloned().collect()
}

/// An answer, and the object it is about where that is not the declared one.
struct Asked {
    answer: Answer,
    instead: Option<Object>,
}

impl From<Answer> for Asked {
    fn from(answer: Answer) -> Self {
        Self { answer, instead: None }
    }
}

/// What else is known about an object's ownership.
#[derive(Default)]
struct Note {
    adopted: bool,
    unowned: bool,
}

impl Note {
    fn apply(&self, change: &mut Change) {
        change.unowned = self.unowned;
        change.adopted = self.adopted;
        if self.adopted {
            change.notes.push("adopted: it existed before and belonged to no package".into());
        }
    }
}

/// The change that removes an object, or keeps it and says why.
pub(crate) async fn removal(rest: &Rest, found: &Object, delete_data: bool) -> Result<Change, ApplyError> {
    let mut change = Change::new(found, Action::Delete);
    change.seen = Some(Seen::of(found));
    change.step = order::rank(&change.id) * 1000;
    let keep = |reason: &'static str, owned: bool| Some((reason, owned));
    let marked = |key: &str| found.annotation(key).is_some_and(|value| matches!(value, "true" | "keep"));
    let reason = if marked(names::KEEP) || marked("helm.sh/resource-policy") {
        keep("kept: it is marked to be kept", false)
    } else if found.label(names::MANAGED_BY) != Some(names::MANAGER) && managed::our_fields(found).is_none() {
        keep("kept: somebody else has taken it over", false)
    } else if !delete_data && matches!(found.kind(), "PersistentVolumeClaim" | "PersistentVolume") {
        keep("kept: it holds data", true)
    } else if !delete_data && found.kind() == "Namespace" && holds_data(rest, found.name()).await? {
        keep("kept: it holds volumes with data", true)
    } else if found.kind() == "CustomResourceDefinition" && has_foreign_resources(rest, found).await? {
        keep("kept: objects of its kind that are not in this package would be deleted with it", true)
    } else {
        None
    };
    if let Some((reason, owned)) = reason {
        change.action = Action::Noop;
        change.reason = Some(reason.to_owned());
        change.unowned = !owned;
        change.fields_digest = managed::our_digest(found);
    }
    Ok(change)
}

/// True when there are custom resources of this definition that do not belong to the definition's own package.
async fn has_foreign_resources(rest: &Rest, definition: &Object) -> Result<bool, ApplyError> {
    let mut kinds = Kinds::new();
    let Some(gvk) = kinds.insert_definition(definition).into_iter().next() else { return Ok(false) };
    let Some(resource) = kinds.get(&gvk) else { return Ok(false) };
    let listed = match rest.list(resource, "", "").await {
        Err(error) if error.is_not_found() => return Ok(false),
        other => other.map_err(ApplyError::call(format!("list {}", resource.plural)))?,
    };
    let package = definition.label(names::PART_OF);
    Ok(listed.iter().any(|object| {
        object.label(names::MANAGED_BY) != Some(names::MANAGER) || object.label(names::PART_OF) != package
    }))
}

async fn holds_data(rest: &Rest, namespace: &str) -> Result<bool, ApplyError> {
    let claims = Resource {
        gvk: GroupVersionKind::new("", "v1", "PersistentVolumeClaim"),
        plural: "persistentvolumeclaims".into(),
        namespaced: true,
    };
    let listed = rest.list(&claims, namespace, "").await;
    Ok(!listed.map_err(ApplyError::call(format!("list volume claims in {namespace}")))?.is_empty())
}

fn made_namespace(name: &str) -> Change {
    let body = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let object = match body {
        Value::Object(map) => Object::new(map),
        _ => Object::new(podsmith_object::Map::new()),
    };
    let mut change = Change::new(&object, Action::Create);
    change.unowned = true;
    change.notes.push("objects of the package need it; it is kept when the package is deleted".into());
    change
}

fn problem(object: &Object, message: String) -> Diagnostic {
    Diagnostic::error(message).on(object.id()).or_at(object.origin().map(podsmith_object::Origin::place))
}

/// Removes `spec.replicas`, so that an autoscaler keeps it.
pub(crate) fn leave_replicas(object: &mut Object) {
    if let Some(Value::Object(spec)) = object.body_mut().get_mut("spec") {
        spec.shift_remove("replicas");
    }
}
