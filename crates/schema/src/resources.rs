//! The resources of the built-in groups, as discovery shows them.

use std::collections::HashMap;
use std::sync::OnceLock;

use podsmith_object::GroupVersionKind;

static TEXT: &str = include_str!("../table/resources.txt");
static RESOURCES: OnceLock<Index> = OnceLock::new();

/// A resource of a built-in group.
#[derive(Debug)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// Name in paths: `deployments`.
    pub plural: &'static str,
    /// Singular name.
    pub singular: &'static str,
    /// Kind of its objects.
    pub kind: &'static str,
    /// Its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it, sorted.
    pub verbs: Vec<&'static str>,
    /// Short names, such as `deploy`.
    pub short_names: Vec<&'static str>,
    /// Groups of resources it belongs to, such as `all`.
    pub categories: Vec<&'static str>,
    /// The hash of the storage version in legacy discovery; empty when there is none.
    pub storage_version_hash: &'static str,
    /// Parts of it with paths of their own, sorted by name.
    pub subresources: Vec<Subresource>,
}

/// A part of a resource with a path of its own.
#[derive(Debug)]
pub struct Subresource {
    /// Name in paths: `status`.
    pub name: &'static str,
    /// Group of the objects it takes.
    pub group: &'static str,
    /// Version of the objects it takes.
    pub version: &'static str,
    /// Kind of the objects it takes.
    pub kind: &'static str,
    /// What can be done with it.
    pub verbs: Vec<&'static str>,
}

impl Resource {
    /// Group, version and kind of its objects.
    pub fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::new(self.group, self.version, self.kind)
    }

    /// True when a server with default settings serves it: stable versions only.
    pub fn served_by_default(&self) -> bool {
        !self.version.contains("alpha") && !self.version.contains("beta")
    }

    /// One of its subresources.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// `configmaps` or `deployments.apps`, as error messages write it.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) list: Vec<Resource>,
    kinds: HashMap<(&'static str, &'static str, &'static str), usize>,
}

/// All resources, read on first use.
pub(crate) fn index() -> &'static Index {
    RESOURCES.get_or_init(|| {
        let mut list: Vec<Resource> = Vec::new();
        for line in TEXT.lines() {
            let columns: Vec<&'static str> = line.split('\t').map(undash).collect();
            match columns.as_slice() {
                ["", name, group, version, kind, verbs] => {
                    if let Some(resource) = list.last_mut() {
                        let verbs = words(verbs);
                        resource.subresources.push(Subresource { name, group, version, kind, verbs });
                    }
                }
                [group, version, plural, singular, kind, scope, verbs, short, categories, hash] => {
                    list.push(Resource {
                        group,
                        version,
                        plural,
                        singular,
                        kind,
                        namespaced: *scope == "namespaced",
                        verbs: words(verbs),
                        short_names: words(short),
                        categories: words(categories),
                        storage_version_hash: hash,
                        subresources: Vec::new(),
                    });
                }
                _ => {}
            }
        }
        let kinds =
            list.iter().enumerate().map(|(at, one)| ((one.group, one.version, one.kind), at)).collect();
        Index { list, kinds }
    })
}

impl Index {
    pub(crate) fn by_kind(&self, gvk: &GroupVersionKind) -> Option<&Resource> {
        let at = self.kinds.get(&(&*gvk.group, &*gvk.version, &*gvk.kind))?;
        self.list.get(*at)
    }
}

fn undash(word: &'static str) -> &'static str {
    if word == "-" { "" } else { word }
}

fn words(text: &'static str) -> Vec<&'static str> {
    text.split(',').filter(|word| !word.is_empty()).collect()
}
