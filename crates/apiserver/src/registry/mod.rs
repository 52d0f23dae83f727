//! Which resources are served: the built-in ones, and those that CustomResourceDefinitions add.

mod builtin;
mod custom;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use podsmith_object::{GroupVersionKind, Value};
use podsmith_schema::Type;

use crate::status::qualified;
pub use custom::{Column, Custom, ScalePaths, version_order};

/// One served version of one resource.
#[derive(Debug)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Name in paths.
    pub plural: String,
    /// Singular name.
    pub singular: String,
    /// Kind of the objects.
    pub kind: String,
    /// Kind of the lists.
    pub list_kind: String,
    /// The objects live in namespaces.
    pub namespaced: bool,
    /// What can be done.
    pub verbs: Vec<String>,
    /// Short names.
    pub short_names: Vec<String>,
    /// Groups of resources, such as `all`.
    pub categories: Vec<String>,
    /// The hash of the storage version, in legacy discovery.
    pub storage_hash: String,
    /// Parts with paths of their own.
    pub subresources: Vec<Subresource>,
    /// Name of the store's table.
    pub table: Arc<str>,
    /// The `apiVersion` objects are stored in.
    pub stored_as: String,
    /// Objects may be stored in another version than they are asked for.
    pub converts: bool,
    /// What objects look like.
    pub ty: Type,
    /// An update needs the revision it is based on.
    pub needs_revision: bool,
    /// A PUT to a name that is not there creates it.
    pub create_on_update: bool,
    /// What a CustomResourceDefinition says; nothing for built-in resources.
    pub custom: Option<Custom>,
}

/// A part of an object with a path of its own.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// Name in paths.
    pub name: String,
    /// Group of what it takes; empty when the same as the resource's.
    pub group: String,
    /// Version of what it takes.
    pub version: String,
    /// Kind of what it takes.
    pub kind: String,
    /// What can be done.
    pub verbs: Vec<String>,
}

impl Resource {
    /// Group, version and kind.
    pub fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::new(self.group.as_str(), self.version.as_str(), self.kind.as_str())
    }

    /// `apps/v1` or `v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `deployments.apps` or `configmaps`.
    pub fn qualified(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// The key of an object in the store.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }

    /// The prefix of the keys of a namespace; of everything when it is empty.
    pub fn prefix(&self, namespace: &str) -> String {
        if self.namespaced && !namespace.is_empty() { format!("{namespace}/") } else { String::new() }
    }

    /// One of its parts.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// True if the resource is this one.
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural
    }

    /// True for a resource of a CustomResourceDefinition.
    pub fn is_custom(&self) -> bool {
        self.custom.is_some()
    }

    /// True for questions that are answered and not stored.
    pub fn is_review(&self) -> bool {
        self.verbs == ["create"]
    }

    /// True if lists can be narrowed by this field, as a CustomResourceDefinition declares.
    pub fn selectable(&self, path: &str) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.selectable.iter().any(|known| known == path))
    }

    /// True if the resource has this verb.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }
}

/// The resources of one version of a group, by plural name.
pub type Resources = BTreeMap<String, Arc<Resource>>;

/// One group, its versions in order of preference.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The name.
    pub name: String,
    /// The versions, the preferred one first.
    pub versions: Vec<(String, Resources)>,
}

/// Everything that is served, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The groups in the order of discovery; the core group first.
    pub groups: Vec<Group>,
}

impl Index {
    /// A group.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The resources of a version of a group.
    pub fn version(&self, group: &str, version: &str) -> Option<&Resources> {
        let group = self.group(group)?;
        group.versions.iter().find(|(known, _)| known == version).map(|(_, resources)| resources)
    }

    /// A resource at a path.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.version(group, version)?.get(plural)
    }

    /// The resource of a kind.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.version(group, version)?.values().find(|resource| resource.kind == kind)
    }

    /// The resource of a kind in the preferred version that has it.
    pub fn by_group_kind(&self, group: &str, kind: &str) -> Option<&Arc<Resource>> {
        let group = self.group(group)?;
        group.versions.iter().find_map(|(_, all)| all.values().find(|resource| resource.kind == kind))
    }

    /// The resource of a plural name in the preferred version that has it.
    pub fn by_group_plural(&self, group: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.group(group)?.versions.iter().find_map(|(_, all)| all.get(plural))
    }

    /// The resource of a table, in its preferred version.
    pub fn by_table(&self, table: &str) -> Option<&Arc<Resource>> {
        let versions = self.groups.iter().flat_map(|group| group.versions.iter());
        versions.flat_map(|(_, resources)| resources.values()).find(|resource| &*resource.table == table)
    }

    /// Every resource, each table once, in its preferred version.
    pub fn tables(&self) -> Vec<Arc<Resource>> {
        let mut seen = std::collections::BTreeSet::new();
        self.groups
            .iter()
            .flat_map(|group| group.versions.iter())
            .flat_map(|(_, resources)| resources.values())
            .filter(|resource| seen.insert(resource.table.clone()))
            .cloned()
            .collect()
    }
}

/// The registry: an index that is replaced as a whole when a CustomResourceDefinition changes.
#[derive(Debug)]
pub struct Registry {
    index: ArcSwap<Index>,
    builtin: Index,
    /// The resources of each definition, by its name.
    custom: Mutex<BTreeMap<String, Vec<Arc<Resource>>>>,
}

impl Default for Registry {
    fn default() -> Self {
        let builtin = builtin::index();
        Self { index: ArcSwap::from_pointee(builtin.clone()), builtin, custom: Mutex::default() }
    }
}

impl Registry {
    /// The present index.
    pub fn index(&self) -> Arc<Index> {
        self.index.load_full()
    }

    /// A resource at a path.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.index.load().resource(group, version, plural).cloned()
    }

    /// Serves what a CustomResourceDefinition declares, from now on.
    pub fn define(&self, definition: &Value) {
        let name = crate::fields::name(definition).to_owned();
        let resources = custom::resources(definition);
        let mut all = self.custom.lock();
        all.insert(name, resources);
        self.rebuild(&all);
    }

    /// Serves it no longer.
    pub fn forget(&self, name: &str) {
        let mut all = self.custom.lock();
        if all.remove(name).is_some() {
            self.rebuild(&all);
        }
    }

    fn rebuild(&self, custom: &BTreeMap<String, Vec<Arc<Resource>>>) {
        let mut index = self.builtin.clone();
        let known = index.groups.len();
        for resource in custom.values().flatten() {
            builtin::add(&mut index, resource.clone());
        }
        for group in index.groups.iter_mut().skip(known) {
            group.versions.sort_by_key(|(version, _)| version_order(version));
        }
        if let Some(custom) = index.groups.get_mut(known..) {
            custom.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self.index.store(Arc::new(index));
    }
}
