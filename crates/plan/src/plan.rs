//! The whole plan.

use std::collections::HashMap;

use podsmith_object::{Diagnostic, Severity};

use crate::change::{Action, Change};
use crate::inventory::{Entry, Inventory};
use crate::kinds::Kinds;
use crate::order;

/// Everything that must happen to make the cluster match a package.
///
/// Complete: applying it needs no other input than the cluster. A plan with errors cannot be applied.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cluster, as the user named it.
    pub target: String,
    /// The package.
    pub package: String,
    /// The package's default namespace.
    pub namespace: String,
    /// The changes, in the order they are made; deletes last, in reverse order.
    pub changes: Vec<Change>,
    /// Why the plan cannot be applied.
    pub errors: Vec<Diagnostic>,
    /// What is worth knowing.
    pub warnings: Vec<Diagnostic>,
    /// What the package owned when the plan was made; `None` when it was not applied before.
    pub inventory: Option<Inventory>,
    /// What the package owns and no longer declares, but is not to be deleted.
    pub retained: Vec<Entry>,
    /// The kinds that the cluster served when the plan was made; `None` for a plan read from a file.
    pub kinds: Option<Kinds>,
}

/// How many objects change.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Summary {
    /// Made.
    pub create: usize,
    /// Changed in place.
    pub update: usize,
    /// Deleted and made again.
    pub replace: usize,
    /// Deleted.
    pub delete: usize,
    /// Left alone.
    pub noop: usize,
}

impl Summary {
    /// Counts one more.
    pub fn add(&mut self, action: Action) {
        match action {
            Action::Create => self.create += 1,
            Action::Update => self.update += 1,
            Action::Replace => self.replace += 1,
            Action::Delete => self.delete += 1,
            Action::Noop => self.noop += 1,
        }
    }

    /// How many objects are written.
    pub fn changes(self) -> usize {
        self.create + self.update + self.replace + self.delete
    }
}

impl Plan {
    /// A plan without changes.
    pub fn new(target: &str, package: &str, namespace: &str) -> Self {
        Self {
            target: target.to_owned(),
            package: package.to_owned(),
            namespace: namespace.to_owned(),
            changes: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            inventory: None,
            retained: Vec::new(),
            kinds: None,
        }
    }

    /// Counts the changes by what happens.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        self.changes.iter().for_each(|change| summary.add(change.action));
        summary
    }

    /// Counts resources: what was declared as one thing, such as a pod with its services, counts once.
    ///
    /// A resource is left alone only when all of its objects are.
    pub fn resource_summary(&self) -> Summary {
        let mut summary = Summary::default();
        for group in self.groups() {
            summary.add(group_action(&group.changes));
        }
        summary
    }

    /// The changes grouped by resource, in the order of the first change of each.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut known: HashMap<(&str, &str), usize> = HashMap::new();
        for change in &self.changes {
            let Some(resource) = change.resource.as_deref() else {
                groups.push(Group { name: None, changes: vec![change] });
                continue;
            };
            let slot = *known.entry((resource, &*change.id.namespace)).or_insert(groups.len());
            match groups.get_mut(slot) {
                Some(group) => group.changes.push(change),
                None => groups.push(Group { name: Some(resource), changes: vec![change] }),
            }
        }
        groups
    }

    /// True when applying would write something.
    pub fn has_changes(&self) -> bool {
        self.changes.iter().any(Change::writes)
    }

    /// True when an object must be replaced, which needs consent.
    pub fn needs_replace(&self) -> bool {
        self.changes.iter().any(|change| change.action == Action::Replace)
    }

    /// Adds errors and warnings to where they belong.
    pub fn report(&mut self, problems: impl IntoIterator<Item = Diagnostic>) {
        for problem in problems {
            match problem.severity {
                Severity::Error => self.errors.push(problem),
                Severity::Warning => self.warnings.push(problem),
            }
        }
    }

    /// Puts the changes into the order they are made: by step, deletes after everything else and in reverse.
    pub fn sort(&mut self) {
        self.changes.sort_by(|a, b| {
            let deletes = |change: &Change| change.action == Action::Delete;
            match (deletes(a), deletes(b)) {
                (false, true) => std::cmp::Ordering::Less,
                (true, false) => std::cmp::Ordering::Greater,
                (false, false) => a.step.cmp(&b.step).then_with(|| order::within_step(&a.id, &b.id)),
                (true, true) => b.step.cmp(&a.step).then_with(|| order::within_step(&b.id, &a.id)),
            }
        });
    }
}

/// The changes of one resource.
#[derive(Clone, Debug)]
pub struct Group<'p> {
    /// `pod web`; `None` for an object that stands alone.
    pub name: Option<&'p str>,
    /// Its changes.
    pub changes: Vec<&'p Change>,
}

/// What happens to a resource: nothing only if nothing happens to any of its objects.
pub fn group_action(changes: &[&Change]) -> Action {
    let all = |action: Action| changes.iter().all(|change| change.action == action);
    for action in [Action::Noop, Action::Create, Action::Delete, Action::Replace] {
        if all(action) {
            return action;
        }
    }
    Action::Update
}
