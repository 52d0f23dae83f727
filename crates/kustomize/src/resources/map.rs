//! The resources of a build in their order, found by identity without a scan.

use std::collections::{HashMap, HashSet};

use podsmith_object::{Diagnostic, Diagnostics, Value};

use super::id::IdKey;
use super::resource::{Behavior, Resource, mapping_at};
use super::scalar::text_of;

/// An ordered set of resources with unique current identities.
///
/// The two indexes are built when first asked for and dropped whenever an identity may have changed, so a build pays
/// for them once a stage, not once a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResourceMap {
    list: Vec<Resource>,
    by_id: Option<HashMap<IdKey, Vec<usize>>>,
    by_name: Option<HashMap<String, Vec<usize>>>,
    current: Option<HashSet<IdKey>>,
}

impl ResourceMap {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.list.iter()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Resource> {
        self.list.get(index)
    }

    /// One resource, to change anything but its identity.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Resource> {
        self.list.get_mut(index)
    }

    /// All resources, to change anything but their identities.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Resource> {
        self.list.iter_mut()
    }

    /// All resources, to change anything at all.
    pub(crate) fn all_mut(&mut self) -> &mut Vec<Resource> {
        self.forget();
        &mut self.list
    }

    /// Drops the indexes because identities changed.
    pub(crate) fn forget(&mut self) {
        self.by_id = None;
        self.by_name = None;
        self.current = None;
    }

    pub(crate) fn into_vec(self) -> Vec<Resource> {
        self.list
    }

    /// Adds a resource, unless one with its identity is there.
    pub(crate) fn append(&mut self, resource: Resource) -> Result<(), Diagnostics> {
        let list = &self.list;
        let current = self.current.get_or_insert_with(|| list.iter().map(Resource::key).collect());
        if !current.insert(resource.key()) {
            return Err(repeated(&self.list, &resource));
        }
        let index = self.list.len();
        if let Some(by_id) = &mut self.by_id {
            for key in resource.all_keys() {
                note(by_id.entry(key).or_default(), index);
            }
        }
        if let Some(by_name) = &mut self.by_name {
            for name in names(&resource) {
                note(by_name.entry(name).or_default(), index);
            }
        }
        self.list.push(resource);
        Ok(())
    }

    pub(crate) fn append_all(&mut self, other: Self) -> Result<(), Diagnostics> {
        if self.list.is_empty() {
            *self = other;
            return Ok(());
        }
        other.list.into_iter().try_for_each(|resource| self.append(resource))
    }

    /// Reports the first two resources that share an identity.
    pub(crate) fn check_unique(&self, what: &str) -> Result<(), Diagnostics> {
        let mut seen = HashMap::with_capacity(self.list.len());
        for (index, resource) in self.list.iter().enumerate() {
            if let Some(first) = seen.insert(resource.key(), index) {
                let other = self.list.get(first).and_then(|other| other.origin.as_ref());
                let mut diagnostic = Diagnostic::error(format!("{what} gives two objects the same identity"))
                    .on(resource.id())
                    .or_at(resource.origin.as_ref().map(|origin| origin.place()));
                if let Some(other) = other {
                    diagnostic = diagnostic.because(format!("the other one comes from {}", other.place()));
                }
                return Err(diagnostic.into());
            }
        }
        Ok(())
    }

    /// Where resources stand that have, or once had, this identity.
    pub(crate) fn find_by_id(&mut self, key: &IdKey) -> Vec<usize> {
        let list = &self.list;
        let by_id = self.by_id.get_or_insert_with(|| {
            let mut index = HashMap::with_capacity(list.len());
            for (position, resource) in list.iter().enumerate() {
                for key in resource.all_keys() {
                    note(index.entry(key).or_default(), position);
                }
            }
            index
        });
        let found = by_id.get(key).cloned().unwrap_or_default();
        found.into_iter().filter(|index| self.list.get(*index).is_some_and(|r| !r.body.is_empty())).collect()
    }

    /// Where resources stand that have, or once had, this name.
    pub(crate) fn find_by_name(&mut self, name: &str) -> Vec<usize> {
        let list = &self.list;
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut index: HashMap<String, Vec<usize>> = HashMap::with_capacity(list.len());
            for (position, resource) in list.iter().enumerate() {
                for name in names(resource) {
                    note(index.entry(name).or_default(), position);
                }
            }
            index
        });
        by_name.get(name).cloned().unwrap_or_default()
    }

    /// Drops resources that a patch emptied.
    pub(crate) fn drop_empty(&mut self) {
        if self.list.iter().any(|resource| resource.body.is_empty()) {
            self.list.retain(|resource| !resource.body.is_empty());
            self.forget();
        }
    }

    /// Adds a generated resource, or merges it into the one it names, as its behaviour says.
    pub(crate) fn absorb(&mut self, mut resource: Resource) -> Result<(), Diagnostics> {
        let matches = self.find_by_id(&resource.key());
        let &[index] = matches.as_slice() else {
            if matches.is_empty() {
                return match resource.behavior {
                    Behavior::Merge | Behavior::Replace => {
                        Err(Diagnostic::error("there is nothing to merge with or to replace")
                            .on(resource.id())
                            .with_hint(
                                "name an object of a base, or leave `behavior` out to create a new one",
                            )
                            .into())
                    }
                    _ => self.append(resource),
                };
            }
            return Err(Diagnostic::error("more than one object could be merged with")
                .on(resource.id())
                .into());
        };
        let Some(old) = self.list.get_mut(index) else { return Ok(()) };
        match resource.behavior {
            Behavior::Replace => copy_metadata(&mut resource, old),
            Behavior::Merge => {
                copy_metadata(&mut resource, old);
                for field in ["data", "binaryData"] {
                    merge_texts(&mut resource, old, field);
                }
                if old.provenance.is_some() {
                    resource.provenance.clone_from(&old.provenance);
                }
            }
            _ => {
                return Err(Diagnostic::error("an object with this name exists already")
                    .on(resource.id())
                    .or_at(old.origin.as_ref().map(|origin| origin.place()))
                    .with_hint("set `behavior: merge` or `behavior: replace`")
                    .into());
            }
        }
        resource.origin = resource.origin.take().or_else(|| old.origin.clone());
        *old = resource;
        self.forget();
        Ok(())
    }
}

fn note(positions: &mut Vec<usize>, position: usize) {
    if positions.last() != Some(&position) {
        positions.push(position);
    }
}

fn names(resource: &Resource) -> Vec<String> {
    let mut names: Vec<String> = resource.previous.iter().map(|id| id.name.to_string()).collect();
    names.push(resource.name().into_owned());
    names
}

fn repeated(list: &[Resource], resource: &Resource) -> Diagnostics {
    let key = resource.key();
    let other = list.iter().find(|other| other.key() == key).and_then(|other| other.origin.as_ref());
    let mut diagnostic = Diagnostic::error("this object is there already")
        .on(resource.id())
        .or_at(resource.origin.as_ref().map(|origin| origin.place()))
        .with_hint("remove one of them, or change it with a patch instead");
    if let Some(other) = other {
        diagnostic = diagnostic.because(format!("it also comes from {}", other.place()));
    }
    diagnostic.into()
}

/// Labels and annotations of both, name, namespace and history of the old one.
fn copy_metadata(new: &mut Resource, old: &Resource) {
    for field in ["labels", "annotations"] {
        let entries = |resource: &Resource| -> Vec<(String, Value)> {
            match resource.body.get("metadata").and_then(|metadata| metadata.get(field)) {
                Some(Value::Object(map)) => {
                    map.iter().map(|(key, value)| (key.clone(), Value::from(&*text_of(value)))).collect()
                }
                _ => Vec::new(),
            }
        };
        let (before, after) = (entries(old), entries(new));
        let metadata = new.metadata_mut();
        metadata.shift_remove(field);
        if !before.is_empty() || !after.is_empty() {
            mapping_at(metadata, field).extend(before.into_iter().chain(after));
        }
    }
    new.set_name(&old.name());
    new.set_namespace(&old.namespace());
    new.previous.clone_from(&old.previous);
    new.prefixes.clone_from(&old.prefixes);
    new.suffixes.clone_from(&old.suffixes);
    new.variables.clone_from(&old.variables);
    new.behavior = old.behavior;
    new.needs_hash &= old.needs_hash;
}

fn merge_texts(new: &mut Resource, old: &Resource, field: &str) {
    let entries = |body: &serde_json::Map<String, Value>| -> Vec<(String, Value)> {
        match body.get(field) {
            Some(Value::Object(map)) => {
                map.iter().map(|(key, value)| (key.clone(), Value::from(&*text_of(value)))).collect()
            }
            _ => Vec::new(),
        }
    };
    let (before, after) = (entries(&old.body), entries(&new.body));
    new.body.shift_remove(field);
    if !before.is_empty() || !after.is_empty() {
        mapping_at(&mut new.body, field).extend(before.into_iter().chain(after));
    }
}
