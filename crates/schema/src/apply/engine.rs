//! Who owns what after a write: the bookkeeping behind apply and update.

use std::collections::BTreeMap;

use podsmith_object::Value;

use super::Versions;
use super::collect::field_set;
use super::compare::{Comparison, compare};
use super::conflict::{Conflict, Conflicts};
use super::managed::{Entry, Managed};
use super::merge::merge;
use super::path::same;
use super::reconcile::reconcile;
use super::remove::remove;
use super::set::FieldSet;
use crate::types::Type;

/// An object in one version, with its type.
#[derive(Clone)]
pub(super) struct Typed {
    pub(super) value: Value,
    pub(super) ty: Type,
    pub(super) version: String,
}

pub(super) struct Engine<'a> {
    pub(super) versions: &'a dyn Versions,
    pub(super) version: &'a str,
    pub(super) ty: &'a Type,
}

impl Engine<'_> {
    fn typed(&self, value: Value) -> Typed {
        Typed { value, ty: self.ty.clone(), version: self.version.to_owned() }
    }

    fn convert(&self, object: &Typed, version: &str) -> Option<Typed> {
        if object.version == version {
            return Some(object.clone());
        }
        let ty = self.versions.type_at(version)?;
        let value = self.versions.convert(&object.value, version)?;
        Some(Typed { value, ty, version: version.to_owned() })
    }

    /// Takes from every other manager what changed; without force, what they own is a conflict instead.
    fn take(
        &self,
        old: &Typed,
        new: &Typed,
        managers: &mut Managed,
        workflow: &str,
        force: bool,
    ) -> Result<Comparison, Conflicts> {
        let mut versions: BTreeMap<String, Comparison> = BTreeMap::new();
        let reset = |version: &str| self.versions.reset_fields(version);
        let own = compare(&old.ty, &old.value, &new.value).without(&reset(self.version));
        versions.insert(self.version.to_owned(), own.clone());
        let mut conflicts: Vec<(String, FieldSet)> = Vec::new();
        let mut lost: Vec<(String, FieldSet)> = Vec::new();
        let mut obsolete = Vec::new();
        for (identity, entry) in managers.iter().filter(|(identity, _)| *identity != workflow) {
            if !versions.contains_key(&entry.api_version) {
                let converted =
                    self.convert(old, &entry.api_version).zip(self.convert(new, &entry.api_version));
                let Some((old, new)) = converted else {
                    obsolete.push(identity.clone());
                    continue;
                };
                let changes = compare(&old.ty, &old.value, &new.value).without(&reset(&entry.api_version));
                versions.insert(entry.api_version.clone(), changes);
            }
            let Some(changes) = versions.get(&entry.api_version) else { continue };
            // No field is both modified and added, so the two parts cannot overlap.
            let modified = entry.set.intersection(&changes.modified);
            let contested = modified.union(&entry.set.intersection(&changes.added));
            if !contested.is_empty() {
                conflicts.push((identity.clone(), contested));
            }
            if !changes.removed.is_empty() {
                lost.push((identity.clone(), changes.removed.clone()));
            }
        }
        if !force && !conflicts.is_empty() {
            return Err(list_conflicts(&conflicts, managers));
        }
        obsolete.iter().for_each(|identity| drop(managers.remove(identity)));
        for (identity, set) in conflicts.iter().chain(&lost) {
            if let Some(entry) = managers.get_mut(identity) {
                entry.set = entry.set.difference(set);
            }
        }
        managers.retain(|_, entry| !entry.set.is_empty());
        Ok(own)
    }

    /// Records an ordinary write under `workflow`; the entry is a template whose set is replaced.
    pub(super) fn update(
        &self,
        old: Value,
        new: &Value,
        managers: &mut Managed,
        workflow: &str,
        template: Entry,
    ) {
        self.reconcile(managers);
        let (old, new) = (self.typed(old), self.typed(new.clone()));
        let Ok(changes) = self.take(&old, &new, managers, workflow, true) else { return };
        let previous = managers.remove(workflow).map(|entry| entry.set).unwrap_or_default();
        let set = previous.difference(&changes.removed).union(&changes.modified).union(&changes.added);
        let set = set.recursive_difference(&self.versions.reset_fields(self.version));
        if !set.is_empty() {
            managers.insert(workflow.to_owned(), Entry { set, ..template });
        }
    }

    /// Merges a configuration and records its manager. `None` when the object stays as it is.
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        managers: &mut Managed,
        template: Entry,
        force: bool,
    ) -> Result<Option<Value>, Conflicts> {
        self.reconcile(managers);
        let identity = template.identity();
        let merged = merge(self.ty, Some(live), Some(config)).unwrap_or(Value::Null);
        let last = managers.get(&identity).map(|entry| (entry.api_version.clone(), entry.set.clone()));
        let time = managers.get(&identity).and_then(|entry| entry.time.clone());
        let set = field_set(self.ty, config).recursive_difference(&self.versions.reset_fields(self.version));
        // Whoever applies all it applied before removes nothing, and most applies are like that.
        let drops = last.as_ref().is_some_and(|(version, last)| {
            !last.is_empty() && (version != self.version || !last.difference(&set).is_empty())
        });
        managers.insert(identity.clone(), Entry { set, time, ..template });
        let merged = self.typed(merged);
        let pruned = match last {
            Some((version, last)) if drops => self.prune(merged, managers, &version, &last),
            _ => merged,
        };
        let live = self.typed(live.clone());
        self.take(&live, &pruned, managers, &identity, force)?;
        Ok((!same(&live.value, &pruned.value)).then_some(pruned.value))
    }

    fn reconcile(&self, managers: &mut Managed) {
        for entry in managers.values_mut() {
            let other;
            let ty = if entry.api_version == self.version {
                self.ty
            } else {
                let Some(found) = self.versions.type_at(&entry.api_version) else { continue };
                other = found;
                &other
            };
            entry.set = reconcile(ty, &entry.set);
        }
    }

    /// Removes what this manager applied last time, does not apply now, and nobody else owns.
    fn prune(&self, merged: Typed, managers: &Managed, version: &str, last: &FieldSet) -> Typed {
        let Some(merged_then) = self.convert(&merged, version) else { return merged };
        let named = |set: &FieldSet, ty: &Type| set.with_named_fields(Some(ty));
        let without = |object: &Typed, set: &FieldSet| Typed {
            value: remove(&object.ty, &object.value, set),
            ty: object.ty.clone(),
            version: object.version.clone(),
        };
        let pruned = without(&merged_then, &named(last, &merged_then.ty));
        let pruned = self.add_back_owned(&merged_then, pruned, managers, version);
        // Only what this manager owned may go: unowned fields and those of updaters come back here.
        let Some(pruned) = self.convert(&pruned, version) else { return merged };
        let ty = &merged_then.ty;
        let kept = named(&field_set(ty, &pruned.value), ty);
        let all = named(&field_set(ty, &merged_then.value), ty);
        let gone = all.difference(&kept).intersection(&named(last, ty));
        let result = without(&merged_then, &gone);
        self.convert(&result, self.version).unwrap_or(merged)
    }

    fn add_back_owned(&self, merged: &Typed, pruned: Typed, managers: &Managed, version: &str) -> Typed {
        let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
        for entry in managers.values() {
            let set = owned.entry(&entry.api_version).or_default();
            *set = set.union(&entry.set);
        }
        let mut pruned = pruned;
        let first = owned.remove_entry(version);
        for (version, set) in first.into_iter().chain(owned) {
            let converted = self.convert(merged, version).zip(self.convert(&pruned, version));
            let Some((merged, then)) = converted else { continue };
            let ty = &merged.ty;
            let named = |set: &FieldSet| set.with_named_fields(Some(ty));
            let keep = named(&field_set(ty, &then.value)).union(&named(&set));
            let gone = named(&field_set(ty, &merged.value)).difference(&keep);
            pruned = Typed {
                value: remove(ty, &merged.value, &gone),
                ty: ty.clone(),
                version: version.to_owned(),
            };
        }
        pruned
    }
}

fn list_conflicts(conflicts: &[(String, FieldSet)], managers: &Managed) -> Conflicts {
    let mut list = Vec::new();
    for (identity, set) in conflicts {
        let manager = managers.get(identity).map(Entry::describe).unwrap_or_default();
        for path in set.paths() {
            list.push(Conflict { identity: identity.clone(), manager: manager.clone(), path });
        }
    }
    Conflicts { list }
}
