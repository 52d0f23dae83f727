//! The controller without its I/O: events in, one preconditioned write at a time out.
//!
//! Whoever drives it (the controller over a real API, or the model test over one in memory) reports lists, changes and
//! the outcome of each write, and asks for the next one. Time is a number of milliseconds that the driver passes in.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::claim::Claim;
use crate::config::Config;
use crate::desired::{self, Want, WantClaim, WantNamespace};
use crate::model::{Key, KindIndex, Name, Namespace, Slot};
use crate::queue::{Queue, Urgency};
use crate::resource::Resource;
use crate::world::{Frozen, World};
use crate::write::{self, Write};

pub use crate::queue::Task;

/// One of the streams of changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Stream {
    /// Namespaces.
    Namespaces,
    /// SubNamespaces.
    Claims,
    /// One watched kind.
    Kind(KindIndex),
}

/// How a write went.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Done; this is the object now.
    Namespace(Namespace),
    /// Done; this is the SubNamespace now.
    Claim(Claim),
    /// Done; this is the object now.
    Object(Resource),
    /// Done; the object is gone.
    Gone,
    /// The object is not what we took it for. The stream will tell.
    Stale,
    /// The server said no.
    Refused(String),
}

/// Something to tell people about a namespace.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Notice {
    /// The namespace.
    pub namespace: Name,
    /// `Conflict`, `Frozen`, `Refused`, `Contested` or `DeletesHeld`.
    pub reason: &'static str,
    /// One sentence.
    pub message: String,
}

#[derive(Clone, Debug, Default)]
struct Patience {
    /// How often in a row it went wrong, or had to be done again.
    count: u32,
    until: u64,
    print: u128,
}

const MINUTE: u64 = 60_000;
const LONGEST: u64 = 5 * MINUTE;
/// So often in ten minutes a copy is repaired at once; then somebody else is fighting us.
const REPAIRS: u32 = 5;

/// Makes a cluster equal to [`desired::desired_of`] it.
pub struct Reconciler {
    config: Arc<Config>,
    world: World,
    queue: Queue,
    complete: BTreeSet<Stream>,
    known: BTreeSet<Stream>,
    conflicts: BTreeMap<Name, BTreeSet<Slot>>,
    frozen: BTreeMap<Name, Frozen>,
    patience: HashMap<Task, Patience>,
    deleted: HashMap<Name, VecDeque<u64>>,
    held: BTreeMap<Name, BTreeSet<Task>>,
    notices: BTreeSet<Notice>,
    now: u64,
}

impl Reconciler {
    /// A reconciler that knows nothing yet.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            world: World::new(),
            queue: Queue::default(),
            complete: BTreeSet::new(),
            known: BTreeSet::new(),
            conflicts: BTreeMap::new(),
            frozen: BTreeMap::new(),
            patience: HashMap::new(),
            deleted: HashMap::new(),
            held: BTreeMap::new(),
            notices: BTreeSet::new(),
            now: 0,
        }
    }

    /// What is known of the cluster.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The configuration.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// True once namespaces and SubNamespaces are known.
    pub fn is_ready(&self) -> bool {
        self.known.contains(&Stream::Namespaces) && self.known.contains(&Stream::Claims)
    }

    fn knows_all_kinds(&self) -> bool {
        (0..self.config.watches.len())
            .filter_map(|at| u16::try_from(at).ok())
            .all(|at| self.known.contains(&Stream::Kind(KindIndex(at))))
    }

    /// True when this stream was listed in full.
    pub fn has_listed(&self, stream: Stream) -> bool {
        self.known.contains(&stream)
    }

    /// Namespaces in which nothing is written, and why.
    pub fn frozen(&self) -> &BTreeMap<Name, Frozen> {
        &self.frozen
    }

    /// Deletes that wait for their turn or for a confirmation, by the top of the tree.
    pub fn held(&self) -> impl Iterator<Item = (&Name, usize)> {
        self.held.iter().map(|(tree, tasks)| (tree, tasks.len()))
    }

    /// Targets in the queue and the time of the oldest one.
    pub fn backlog(&self) -> (usize, Option<u64>) {
        (self.queue.len(), self.queue.oldest())
    }

    /// When there is something to do again, if nothing happens before.
    pub fn next_due(&self) -> Option<u64> {
        self.queue.next_due()
    }

    /// What there is to tell, once.
    pub fn take_notices(&mut self) -> BTreeSet<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// A list of this stream begins. Until it is complete, nothing of that kind is deleted.
    pub fn begin_list(&mut self, stream: Stream) {
        self.complete.remove(&stream);
    }

    /// The full list of namespaces.
    pub fn list_namespaces(&mut self, all: Vec<Namespace>, now: u64) {
        self.now = now;
        let names: BTreeSet<Name> = all.iter().map(|namespace| namespace.name.clone()).collect();
        let gone: Vec<(Name, Name)> = self
            .world
            .namespaces()
            .values()
            .filter(|namespace| !names.contains(&namespace.name))
            .map(|namespace| (namespace.name.clone(), namespace.uid.clone()))
            .collect();
        for (name, uid) in gone {
            self.namespace_gone(&name, &uid, now);
        }
        for namespace in all {
            self.namespace(namespace, now);
        }
        self.listed(Stream::Namespaces);
    }

    /// The full list of SubNamespaces.
    pub fn list_claims(&mut self, all: Vec<Claim>, now: u64) {
        self.now = now;
        let keys: BTreeSet<(Name, Name)> =
            all.iter().map(|c| (c.namespace.clone(), c.name.clone())).collect();
        let gone: Vec<Claim> = self
            .world
            .claims()
            .filter(|claim| !keys.contains(&(claim.namespace.clone(), claim.name.clone())))
            .cloned()
            .collect();
        for claim in gone {
            self.claim_gone(&claim.namespace, &claim.name, &claim.uid, now);
        }
        for claim in all {
            self.claim(claim, now);
        }
        self.listed(Stream::Claims);
    }

    /// The full list of one kind.
    pub fn list_objects(&mut self, kind: KindIndex, all: Vec<(Key, Resource)>, now: u64) {
        self.now = now;
        let keys: BTreeSet<&Key> = all.iter().map(|(key, _)| key).collect();
        let gone: Vec<(Key, Name)> = self
            .world
            .objects()
            .filter(|(_, slot, _)| slot.kind == kind)
            .map(|(ns, slot, object)| (Key { namespace: ns.clone(), slot: slot.clone() }, object.uid.clone()))
            .filter(|(key, _)| !keys.contains(key))
            .collect();
        for (key, uid) in gone {
            self.object_gone(&key, &uid, now);
        }
        for (key, resource) in all {
            self.object(&key, resource, now);
        }
        self.listed(Stream::Kind(kind));
    }

    /// A first list marks everything; one that replaces what is known has marked the differences already.
    fn listed(&mut self, stream: Stream) {
        self.complete.insert(stream);
        if !self.known.insert(stream) || !self.is_ready() {
            return;
        }
        let kind = if let Stream::Kind(kind) = stream { Some(kind) } else { None };
        let names: Vec<Name> = self.world.namespaces().keys().cloned().collect();
        for name in &names {
            self.mark_slots(name, kind, Urgency::Audit);
            if kind.is_none() {
                self.mark(Task::Namespace(name.clone()), name, Urgency::Audit);
            }
        }
        if kind.is_none() {
            self.find_frozen(&names);
        }
        let claims: Vec<(Name, Name)> =
            self.world.claims().map(|claim| (claim.namespace.clone(), claim.name.clone())).collect();
        for (namespace, name) in claims {
            self.mark(Task::Namespace(name.clone()), &namespace, Urgency::Audit);
            self.mark(Task::Claim(namespace.clone(), name), &namespace, Urgency::Audit);
        }
    }

    /// A namespace is new or has changed.
    pub fn namespace(&mut self, namespace: Namespace, now: u64) {
        self.now = now;
        let name = namespace.name.clone();
        if let Some(known) = self.world.namespace(&name) {
            if known.uid == namespace.uid && older(&namespace.version, &known.version) {
                return;
            }
            if *known == namespace {
                return;
            }
        }
        let place = |n: &Namespace| (n.upstream().cloned(), n.deleting);
        let after = place(&namespace);
        let before = self.world.put_namespace(namespace);
        self.namespace_marked(&name, before.as_ref().map(place) != Some(after));
        // A confirmation lets go at once what was held back.
        for task in self.held.remove(&name).into_iter().flatten() {
            self.queue.push(task, &name, Urgency::First, now);
        }
    }

    /// A namespace is gone.
    pub fn namespace_gone(&mut self, name: &Name, uid: &str, now: u64) {
        self.now = now;
        if self.world.namespace(name).is_none_or(|known| *known.uid != *uid) {
            return;
        }
        self.world.take_namespace(name);
        self.namespace_marked(name, true);
    }

    fn namespace_marked(&mut self, name: &Name, moved: bool) {
        if !self.is_ready() {
            return;
        }
        let subtree = self.world.subtree(name);
        if moved {
            self.find_frozen(&subtree);
        }
        for below in &subtree {
            self.mark(Task::Namespace(below.clone()), below, Urgency::Change);
            self.mark_claims(below);
            if moved {
                self.mark_slots(below, None, Urgency::First);
                // Claims in a namespace wait for it to come to life.
                let inside: Vec<Name> = self.world.claimed_in(below).cloned().collect();
                for claimed in inside {
                    self.mark(Task::Namespace(claimed.clone()), below, Urgency::First);
                    self.mark(Task::Claim(below.clone(), claimed), below, Urgency::First);
                }
            }
        }
    }

    fn find_frozen(&mut self, names: &[Name]) {
        for name in names {
            let reason = self.world.namespace(name).and_then(|_| self.world.chain(name).err());
            match reason {
                // Going away is no trouble, unless something hangs below.
                Some(reason) if reason != Frozen::Deleting(name.clone()) => {
                    self.notices.insert(Notice {
                        namespace: name.clone(),
                        reason: "Frozen",
                        message: format!("nothing is propagated to `{name}`: {reason}"),
                    });
                    self.frozen.insert(name.clone(), reason);
                }
                _ => {
                    self.frozen.remove(name);
                }
            }
        }
    }

    /// A SubNamespace is new or has changed.
    pub fn claim(&mut self, claim: Claim, now: u64) {
        self.now = now;
        let (namespace, name) = (claim.namespace.clone(), claim.name.clone());
        if let Some(known) = self.world.claim(&namespace, &name)
            && (known.uid == claim.uid && older(&claim.version, &known.version) || *known == claim)
        {
            return;
        }
        self.world.put_claim(claim);
        self.claim_marked(&namespace, &name);
    }

    /// A SubNamespace is gone.
    pub fn claim_gone(&mut self, namespace: &Name, name: &Name, uid: &str, now: u64) {
        self.now = now;
        if self.world.claim(namespace, name).is_some_and(|known| *known.uid == *uid) {
            self.world.take_claim(namespace, name);
            self.claim_marked(namespace, name);
        }
    }

    fn claim_marked(&mut self, namespace: &Name, name: &Name) {
        if !self.is_ready() {
            return;
        }
        self.mark(Task::Claim(namespace.clone(), name.clone()), namespace, Urgency::First);
        self.mark_claims(name);
        for below in self.world.subtree(name) {
            self.mark(Task::Namespace(below), namespace, Urgency::First);
        }
    }

    fn mark_claims(&mut self, name: &Name) {
        let claims: Vec<Name> = self.world.claims_to(name).map(|claim| claim.namespace.clone()).collect();
        for namespace in claims {
            self.mark(Task::Claim(namespace.clone(), name.clone()), &namespace, Urgency::Change);
        }
    }

    /// An object of a watched kind is new or has changed.
    pub fn object(&mut self, key: &Key, resource: Resource, now: u64) {
        self.now = now;
        if let Some(known) = self.world.object(key)
            && (known.uid == resource.uid && older(&resource.version, &known.version) || *known == resource)
        {
            return;
        }
        let generates = resource.generates;
        let uid = resource.uid.clone();
        let after = passes_through(Some(&resource));
        let before = self.world.put_object(key, resource);
        let before_generates = before.as_ref().and_then(|before| before.generates);
        self.object_marked(key, passes_through(before.as_ref()) && after);
        if before_generates != generates {
            self.mark_owned(&uid);
        }
    }

    /// An object is gone.
    pub fn object_gone(&mut self, key: &Key, uid: &str, now: u64) {
        self.now = now;
        if self.world.object(key).is_none_or(|known| *known.uid != *uid) {
            return;
        }
        let before = self.world.take_object(key);
        self.object_marked(key, passes_through(before.as_ref()));
    }

    fn object_marked(&mut self, key: &Key, alone: bool) {
        if !self.is_ready() || !self.known.contains(&Stream::Kind(key.slot.kind)) {
            return;
        }
        let touched = if alone { vec![key.namespace.clone()] } else { self.world.subtree(&key.namespace) };
        for namespace in touched {
            let target = Key { namespace: namespace.clone(), slot: key.slot.clone() };
            self.mark(Task::Object(target), &namespace, Urgency::Change);
        }
    }

    /// An owner of an unwatched kind asks for another mode.
    pub fn generator(&mut self, uid: &Name, mode: Option<crate::model::Mode>, now: u64) {
        self.now = now;
        self.world.set_generator(uid.clone(), mode);
        self.mark_owned(uid);
    }

    fn mark_owned(&mut self, uid: &Name) {
        if !self.config.propagate_generated {
            return;
        }
        let owned: Vec<Key> = self
            .world
            .objects()
            .filter(|(_, _, object)| object.owner.as_ref() == Some(uid))
            .map(|(ns, slot, _)| Key { namespace: ns.clone(), slot: slot.clone() })
            .collect();
        for key in owned {
            self.object_marked(&key, false);
        }
    }

    /// Marks everything that stands in a namespace or could come to it from above.
    fn mark_slots(&mut self, name: &Name, kind: Option<KindIndex>, urgency: Urgency) {
        let mut slots: BTreeSet<Slot> = self.world.objects_in(name).map(|(slot, _)| slot.clone()).collect();
        let above = self.world.chain(name).unwrap_or_default();
        for namespace in above.iter().skip(1) {
            let offered = self.world.objects_in(&namespace.name);
            let offered = offered.filter(|(_, object)| {
                !object.is_update_copy() && (object.mode.is_some() || self.world.generated(object).is_some())
            });
            slots.extend(offered.map(|(slot, _)| slot.clone()));
        }
        for slot in slots {
            if kind.is_none_or(|kind| kind == slot.kind) && self.known.contains(&Stream::Kind(slot.kind)) {
                self.mark(Task::Object(Key { namespace: name.clone(), slot }), name, urgency);
            }
        }
    }

    fn mark(&mut self, task: Task, near: &Name, urgency: Urgency) {
        let tree = self.tree(near);
        self.queue.push(task, &tree, urgency, self.now);
    }

    /// The top of the tree a namespace is in.
    fn tree(&self, name: &Name) -> Name {
        match self.world.chain(name) {
            Ok(chain) => chain.last().map_or_else(|| name.clone(), |top| top.name.clone()),
            Err(_) => name.clone(),
        }
    }

    /// The next write, if there is one that may be done now.
    pub fn next(&mut self, now: u64) -> Option<(Task, Write)> {
        self.now = now;
        if !self.is_ready() {
            return None;
        }
        while let Some(task) = self.queue.pop(now) {
            if let Some(until) = self.patience.get(&task).map(|p| p.until).filter(|until| *until > now) {
                let tree = self.tree(place(&task));
                self.queue.done(&task, now);
                self.queue.push_later(task, &tree, until);
                continue;
            }
            match self.decide(&task) {
                Some(write) if self.may(&task, &write) => return Some((task, write)),
                Some(_) => self.queue.done(&task, now),
                None => {
                    self.release(&task);
                    self.queue.done(&task, now);
                }
            }
        }
        None
    }

    fn decide(&mut self, task: &Task) -> Option<Write> {
        match task {
            Task::Namespace(name) => {
                let want: WantNamespace = desired::want_namespace(&self.world, &self.config, name)?;
                write::for_namespace(&self.world, name, &want)
            }
            Task::Claim(namespace, name) => {
                let claim = self.world.claim(namespace, name)?;
                let found = desired::conflicts_in(&self.world, &self.config, name);
                let mut want = desired::want_claim(&self.world, &self.config, claim, &found);
                if let Some(WantClaim::Status(status)) = &mut want
                    && !self.knows_all_kinds()
                {
                    // A conflict that was told stays told until it can be seen that it is over.
                    let told = claim.status.conditions.iter().find(|c| c.kind == "PropagationConflict");
                    if let Some(told) = told.filter(|_| found.is_empty()) {
                        status.conditions.push(told.clone());
                        status.conditions.sort();
                    }
                }
                write::for_claim(&self.world, &self.config, (namespace, name), want.as_ref())
            }
            Task::Object(key) => {
                let want = desired::want_object(&self.world, &self.config, key);
                self.note_conflict(key, &want);
                write::for_object(&self.world, key, &want)
            }
        }
    }

    fn note_conflict(&mut self, key: &Key, want: &Want) {
        let changed = if let Want::Conflict(from) = want {
            let new = self.conflicts.entry(key.namespace.clone()).or_default().insert(key.slot.clone());
            if new {
                let what = key.describe(&self.config);
                let message =
                    format!("{what} stands where a copy from `{from}` belongs; it is left as it is");
                self.notices.insert(Notice { namespace: key.namespace.clone(), reason: "Conflict", message });
            }
            new
        } else {
            let found = self.conflicts.get_mut(&key.namespace);
            let gone = found.is_some_and(|slots| slots.remove(&key.slot));
            if self.conflicts.get(&key.namespace).is_some_and(BTreeSet::is_empty) {
                self.conflicts.remove(&key.namespace);
            }
            gone
        };
        if changed {
            self.mark_claims(&key.namespace);
        }
    }

    /// The rules for deletes: never from an incomplete view, and only so many in a minute.
    fn may(&mut self, task: &Task, write: &Write) -> bool {
        if !write.is_delete() {
            return true;
        }
        let needed = match task {
            Task::Object(key) => Stream::Kind(key.slot.kind),
            _ => Stream::Claims,
        };
        let tree = self.tree(place(task));
        let complete = |stream| self.complete.contains(&stream);
        if !complete(Stream::Namespaces) || !complete(Stream::Claims) || !complete(needed) {
            self.queue.done(task, self.now);
            self.queue.push_later(task.clone(), &tree, self.now + 1000);
            return false;
        }
        let limit = self.config.max_deletes_per_minute as usize;
        let confirmed = self
            .world
            .namespace(&tree)
            .and_then(|top| top.annotations.get(&self.config.keys.confirm_deletes))
            .is_some_and(|value| value == "true");
        if limit == 0 || confirmed {
            self.release(task);
            return true;
        }
        let recent = self.deleted.entry(tree.clone()).or_default();
        while recent.front().is_some_and(|at| at + MINUTE <= self.now) {
            recent.pop_front();
        }
        if recent.len() < limit {
            recent.push_back(self.now);
            self.release(task);
            return true;
        }
        let due = recent.front().map_or(self.now, |at| at + MINUTE);
        let waiting = self.held.entry(tree.clone()).or_default();
        waiting.insert(task.clone());
        let message = format!(
            "more than {limit} objects are to be deleted within a minute in the tree under `{tree}`; the rest is \
             held back, annotate it with `{}=true` if this is meant",
            self.config.keys.confirm_deletes
        );
        self.notices.insert(Notice { namespace: tree.clone(), reason: "DeletesHeld", message });
        self.queue.done(task, self.now);
        self.queue.push_later(task.clone(), &tree, due);
        false
    }

    fn release(&mut self, task: &Task) {
        self.held.retain(|_, tasks| {
            tasks.remove(task);
            !tasks.is_empty()
        });
    }

    /// Reports how a write went. The result counts at once, so the same write is not decided again before the stream
    /// has caught up.
    pub fn finish(&mut self, task: &Task, write: &Write, outcome: Outcome, now: u64) {
        self.now = now;
        match outcome {
            Outcome::Stale => self.wait(task, write, None),
            Outcome::Refused(message) => self.wait(task, write, Some(message)),
            outcome => {
                self.patience_after(task, write);
                match (outcome, task) {
                    (Outcome::Namespace(namespace), _) => self.namespace(namespace, now),
                    (Outcome::Claim(claim), _) => self.claim(claim, now),
                    (Outcome::Object(resource), Task::Object(key)) => self.object(key, resource, now),
                    (_, Task::Object(key)) => {
                        if let Write::Delete(_, seen) = write {
                            self.object_gone(key, &seen.uid, now);
                        }
                    }
                    (_, Task::Claim(namespace, name)) => match write {
                        Write::DeleteNamespace(_, _, seen) => self.namespace_gone(name, &seen.uid, now),
                        Write::ReleaseClaim(_, _, seen) => self.claim_gone(namespace, name, &seen.uid, now),
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        self.queue.done(task, now);
    }

    /// A repair that is needed over and over means that somebody else writes too; then we slow down and say so.
    fn patience_after(&mut self, task: &Task, write: &Write) {
        let Write::Update(key, _, copy, _) = write else {
            self.patience.remove(task);
            return;
        };
        let patience = self.patience.entry(task.clone()).or_default();
        if patience.print != copy.content.print || patience.until + 2 * LONGEST < self.now {
            *patience = Patience { count: 0, until: self.now, print: copy.content.print };
        }
        patience.count += 1;
        if patience.count > REPAIRS {
            patience.until = self.now + delay(patience.count - REPAIRS);
            let what = key.describe(&self.config);
            let message =
                format!("{what} is changed by somebody else again and again; it is repaired less often");
            self.notices.insert(Notice { namespace: key.namespace.clone(), reason: "Contested", message });
        }
    }

    fn wait(&mut self, task: &Task, write: &Write, refusal: Option<String>) {
        let tree = self.tree(place(task));
        let patience = self.patience.entry(task.clone()).or_default();
        patience.count = patience.count.saturating_add(1);
        let due = self.now + delay(patience.count);
        if let Some(message) = refusal {
            patience.until = due;
            let what = match write {
                Write::Create(key, _)
                | Write::Update(key, ..)
                | Write::Annotate(key, ..)
                | Write::Delete(key, _) => key.describe(&self.config),
                _ => format!("namespace `{}`", place(task)),
            };
            self.notices.insert(Notice {
                namespace: place(task).clone(),
                reason: "Refused",
                message: format!("cannot {} {what}: {message}", write.verb()),
            });
        }
        self.queue.done(task, self.now);
        self.queue.push_later(task.clone(), &tree, due);
    }
}

/// What stands in a place, if it is nothing or a copy that is kept equal, makes no difference to the places below.
fn passes_through(resource: Option<&Resource>) -> bool {
    resource.is_none_or(|resource| resource.is_update_copy() && resource.generates.is_none())
}

/// The namespace a target is about.
fn place(task: &Task) -> &Name {
    match task {
        Task::Namespace(name) => name,
        Task::Claim(namespace, _) => namespace,
        Task::Object(key) => &key.namespace,
    }
}

/// Twice as long each time, from a quarter of a second to five minutes.
fn delay(count: u32) -> u64 {
    (125_u64 << count.min(12)).min(LONGEST)
}

/// True when a version is known to be before another. Versions that are no numbers are never older.
fn older(version: &str, known: &str) -> bool {
    match (version.parse::<u64>(), known.parse::<u64>()) {
        (Ok(version), Ok(known)) => version < known,
        _ => false,
    }
}
