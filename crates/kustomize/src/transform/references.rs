//! Names of objects inside other objects, after renames.
//!
//! A field that may hold a name is looked up in an index of every name an object once had, so the cost is linear in
//! the number of objects and fields, not in their product.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use podsmith_object::{Diagnostic, Diagnostics, GroupVersionKind, ObjectId, Value};

use crate::config::{FieldError, NameReference, split_path};
use crate::resources::{Gvk, NOT_NAMESPACED, Resource, ResourceMap, text_of};

/// What is needed of an object to decide whether a name means it.
struct Candidate {
    name: String,
    namespace: String,
    effective_namespace: String,
    original_namespace: String,
    cluster_scoped: bool,
    is_service_account: bool,
    group: String,
    version: String,
    previous: Vec<(Arc<str>, Arc<str>)>,
    prefixes: Vec<Arc<str>>,
    suffixes: Vec<Arc<str>>,
    kind: String,
}

/// All candidates, by every earlier name and then by current namespace.
struct Index {
    candidates: Vec<Candidate>,
    by_name: HashMap<Arc<str>, HashMap<String, Vec<usize>>>,
    /// Which original namespaces occur in which current one.
    namespaces: HashSet<(String, String)>,
}

impl Index {
    fn new(resources: &ResourceMap) -> Self {
        let mut index = Self {
            candidates: Vec::with_capacity(resources.len()),
            by_name: HashMap::new(),
            namespaces: HashSet::new(),
        };
        for (position, resource) in resources.iter().enumerate() {
            let effective_namespace = resource.effective_namespace().into_owned();
            let original_namespace = resource.original_namespace().into_owned();
            for previous in &resource.previous {
                let positions = index
                    .by_name
                    .entry(previous.name.clone())
                    .or_default()
                    .entry(effective_namespace.clone())
                    .or_default();
                if positions.last() != Some(&position) {
                    positions.push(position);
                }
            }
            index.namespaces.insert((original_namespace.clone(), effective_namespace.clone()));
            let Gvk { group, version, kind } = resource.gvk();
            index.candidates.push(Candidate {
                name: resource.name().into_owned(),
                namespace: resource.namespace().into_owned(),
                cluster_scoped: resource.is_cluster_scoped(),
                is_service_account: kind == "ServiceAccount",
                group,
                version,
                previous: resource.previous.iter().map(|id| (id.name.clone(), id.kind.clone())).collect(),
                prefixes: resource.prefixes.clone(),
                suffixes: resource.suffixes.clone(),
                kind,
                effective_namespace,
                original_namespace,
            });
        }
        index
    }
}

/// Rewrites every reference to a renamed object.
pub(crate) fn fix_references(
    resources: &mut ResourceMap,
    references: &[NameReference],
) -> Result<(), Diagnostics> {
    for resource in resources.iter() {
        check_subjects(resource)?;
    }
    if resources.iter().all(|resource| resource.previous.is_empty()) {
        return Ok(());
    }
    let index = Index::new(resources);
    // Which fields to look at depends on the type only.
    let mut by_type: HashMap<Gvk, Rc<PathTree<'_>>> = HashMap::new();
    for resource in resources.all_mut() {
        let tree = by_type
            .entry(resource.original_gvk())
            .or_insert_with_key(|gvk| Rc::new(PathTree::for_type(gvk, references)))
            .clone();
        if tree.children.is_empty() {
            continue;
        }
        let referrer = Referrer::new(resource, &index);
        let result = tree.children.iter().try_for_each(|(step, child)| match resource.body.get_mut(step) {
            Some(value) => child.walk(value, &referrer),
            None => Ok(()),
        });
        result.map_err(|error| {
            Diagnostics::from(
                Diagnostic::error("could not follow a name in this object")
                    .on(resource.id())
                    .or_at(resource.origin.as_ref().map(|origin| origin.place()))
                    .because(error.to_string()),
            )
        })?;
    }
    Ok(())
}

/// The fields of one type that may hold names, as a tree: paths that start alike are walked once.
#[derive(Default)]
struct PathTree<'r> {
    children: Vec<(String, PathTree<'r>)>,
    /// What a name here may mean, and whether it belongs to a `roleRef`. In the order of the configuration.
    targets: Vec<(&'r Gvk, bool)>,
}

impl<'r> PathTree<'r> {
    fn for_type(gvk: &Gvk, references: &'r [NameReference]) -> Self {
        let mut root = Self::default();
        for reference in references {
            for spec in reference.referrers.iter().filter(|spec| gvk.is_selected_by(&spec.gvk)) {
                let path = split_path(&spec.path, '/');
                let is_role =
                    matches!(path.as_slice(), [.., role, name] if role == "roleRef" && name == "name");
                let mut here = &mut root;
                for step in path {
                    let name = step.strip_suffix("[]").unwrap_or(&step);
                    let position = match here.children.iter().position(|(found, _)| found == name) {
                        Some(position) => position,
                        None => {
                            here.children.push((name.to_owned(), Self::default()));
                            here.children.len() - 1
                        }
                    };
                    let Some((_, next)) = here.children.get_mut(position) else { break };
                    here = next;
                }
                here.targets.push((&reference.target, is_role));
            }
        }
        root
    }

    fn walk(&self, value: &mut Value, referrer: &Referrer<'_>) -> Result<(), FieldError> {
        for (target, is_role) in &self.targets {
            referrer.update(value, target, referrer.role.as_ref().filter(|_| *is_role))?;
        }
        if self.children.is_empty() {
            return Ok(());
        }
        self.walk_children(value, referrer)
    }

    fn walk_children(&self, value: &mut Value, referrer: &Referrer<'_>) -> Result<(), FieldError> {
        match value {
            Value::Null => Ok(()),
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.walk_children(item, referrer)),
            Value::Object(map) => {
                self.children.iter().try_for_each(|(step, child)| match map.get_mut(step) {
                    Some(value) => child
                        .walk(value, referrer)
                        .map_err(|FieldError(message)| FieldError(format!("{step}: {message}"))),
                    None => Ok(()),
                })
            }
            _ => Err(FieldError("a scalar stands where a list or a mapping is expected".into())),
        }
    }
}

/// A service account of a role binding must not have a blank namespace.
fn check_subjects(resource: &Resource) -> Result<(), Diagnostics> {
    if resource.kind() != "RoleBinding" {
        return Ok(());
    }
    let Some(Value::Array(subjects)) = resource.body.get("subjects") else { return Ok(()) };
    let blank = subjects.iter().any(|subject| {
        subject.get("kind").and_then(Value::as_str) == Some("ServiceAccount")
            && subject.get("namespace").is_some_and(|namespace| !namespace.is_string())
    });
    if blank {
        return Err(Diagnostic::error("`namespace` of a subject is there but has no text")
            .on(resource.id())
            .or_at(resource.origin.as_ref().map(|origin| origin.place()))
            .into());
    }
    Ok(())
}

/// The object whose fields are being updated.
struct Referrer<'i> {
    index: &'i Index,
    effective_namespace: String,
    cluster_scoped: bool,
    prefixes: Vec<Arc<str>>,
    suffixes: Vec<Arc<str>>,
    /// Other namespaces a role binding may reach into.
    subject_namespaces: Vec<String>,
    /// The kind that a `roleRef` names, which narrows the choice.
    role: Option<Gvk>,
}

impl<'i> Referrer<'i> {
    fn new(resource: &Resource, index: &'i Index) -> Self {
        let mut subject_namespaces = Vec::new();
        if resource.kind() == "RoleBinding"
            && let Some(Value::Array(subjects)) = resource.body.get("subjects")
        {
            for subject in subjects {
                if let (Some(Value::String(namespace)), Some("ServiceAccount")) =
                    (subject.get("namespace"), subject.get("kind").and_then(Value::as_str))
                    && !subject_namespaces.contains(namespace)
                {
                    subject_namespaces.push(namespace.clone());
                }
            }
        }
        Self {
            index,
            effective_namespace: resource.effective_namespace().into_owned(),
            cluster_scoped: resource.is_cluster_scoped(),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
            subject_namespaces,
            role: resource.body.get("roleRef").and_then(role_kind),
        }
    }

    fn update(&self, leaf: &mut Value, target: &Gvk, role: Option<&Gvk>) -> Result<(), FieldError> {
        match leaf {
            Value::Null => Ok(()),
            Value::Object(_) => self.update_mapping(leaf, target, role),
            Value::Array(items) => items.iter_mut().try_for_each(|item| match item {
                Value::Null => Ok(()),
                Value::Object(_) => self.update_mapping(item, target, role),
                Value::Array(_) => Err(FieldError("a name or a mapping is expected in this list".into())),
                _ => self.update_scalar(item, target, role),
            }),
            _ => self.update_scalar(leaf, target, role),
        }
    }

    fn update_scalar(&self, leaf: &mut Value, target: &Gvk, role: Option<&Gvk>) -> Result<(), FieldError> {
        let name = text_of(leaf);
        if let Some(found) = self.choose(&name, target, role, None)?
            && found.name != name
        {
            *leaf = Value::from(found.name.as_str());
        }
        Ok(())
    }

    fn update_mapping(&self, leaf: &mut Value, target: &Gvk, role: Option<&Gvk>) -> Result<(), FieldError> {
        let Value::Object(map) = leaf else { return Ok(()) };
        let Some(name) = map.get("name").map(|name| text_of(name).into_owned()) else {
            return Err(FieldError("there is no `name` here".into()));
        };
        let namespace = map.get("namespace").map(|namespace| text_of(namespace).into_owned());
        let Some(found) = self.choose(&name, target, role, Some(namespace.as_deref()))? else {
            return Ok(());
        };
        if found.name == name && found.namespace.is_empty() {
            return Ok(());
        }
        map.insert("name".into(), Value::from(found.name.as_str()));
        if !found.namespace.is_empty() {
            map.insert("namespace".into(), Value::from(found.namespace.as_str()));
        }
        Ok(())
    }

    /// Positions of objects that once had this name and that this object can see.
    fn visible(&self, name: &str) -> Vec<usize> {
        let Some(by_namespace) = self.index.by_name.get(name) else { return Vec::new() };
        let mut positions: Vec<usize> = if self.cluster_scoped {
            by_namespace.values().flatten().copied().collect()
        } else {
            let mut reachable = vec![self.effective_namespace.as_str(), NOT_NAMESPACED];
            reachable.extend(
                self.subject_namespaces.iter().map(String::as_str).filter(|n| *n != self.effective_namespace),
            );
            reachable.iter().filter_map(|namespace| by_namespace.get(*namespace)).flatten().copied().collect()
        };
        positions.sort_unstable();
        positions
    }

    /// `mapping` is set for a reference with a namespace field, and holds its value.
    fn choose(
        &self,
        name: &str,
        target: &Gvk,
        role: Option<&Gvk>,
        mapping: Option<Option<&str>>,
    ) -> Result<Option<&'i Candidate>, FieldError> {
        let by_original = mapping.flatten().map(|namespace| (namespace, self.sees_original(namespace)));
        let mut found: Vec<&'i Candidate> = self
            .visible(name)
            .into_iter()
            .filter_map(|position| self.index.candidates.get(position))
            .filter(|candidate| match by_original {
                None => true,
                Some((namespace, true)) => candidate.original_namespace == namespace,
                Some((namespace, false)) => candidate.effective_namespace == namespace,
            })
            .filter(|candidate| was(candidate, target) && role.is_none_or(|role| was(candidate, role)))
            .filter(|candidate| {
                self.cluster_scoped
                    || candidate.cluster_scoped
                    || candidate.is_service_account
                    || candidate.effective_namespace == self.effective_namespace
            })
            .collect();
        if let [only] = found.as_slice() {
            return Ok(Some(only));
        }
        found.retain(|candidate| {
            either_empty_or_same(&candidate.prefixes, &self.prefixes)
                && either_empty_or_same(&candidate.suffixes, &self.suffixes)
        });
        if found.len() > 1 {
            found.retain(|candidate| {
                same_ending(&candidate.prefixes, &self.prefixes)
                    && same_ending(&candidate.suffixes, &self.suffixes)
            });
        }
        let Some((first, others)) = found.split_first() else { return Ok(None) };
        let same = others.iter().all(|other| {
            other.name == first.name && (mapping.is_none() || other.namespace == first.namespace)
        });
        if same {
            return Ok(Some(first));
        }
        let names: Vec<String> = found
            .iter()
            .map(|candidate| {
                let gvk = GroupVersionKind::new(&*candidate.group, &*candidate.version, &*candidate.kind);
                ObjectId::new(gvk, &*candidate.namespace, &*candidate.name).to_string()
            })
            .collect();
        Err(FieldError(format!("`{name}` could mean any of {}", names.join(", "))))
    }

    /// True if an object this one can see came from that namespace.
    fn sees_original(&self, namespace: &str) -> bool {
        if namespace == NOT_NAMESPACED {
            return false;
        }
        let has = |current: &str| self.index.namespaces.contains(&(namespace.to_owned(), current.to_owned()));
        if self.cluster_scoped {
            return self.index.namespaces.iter().any(|(original, _)| original == namespace);
        }
        has(&self.effective_namespace)
            || has(NOT_NAMESPACED)
            || self.subject_namespaces.iter().any(|subject| has(subject))
    }
}

fn role_kind(role: &Value) -> Option<Gvk> {
    Some(Gvk {
        group: text_of(role.get("apiGroup")?).into_owned(),
        version: String::new(),
        kind: text_of(role.get("kind")?).into_owned(),
    })
}

/// True if the object once had a type that `selector` selects.
fn was(candidate: &Candidate, selector: &Gvk) -> bool {
    (selector.group.is_empty() || selector.group == candidate.group)
        && (selector.version.is_empty() || selector.version == candidate.version)
        && (selector.kind.is_empty() || candidate.previous.iter().any(|(_, kind)| **kind == *selector.kind))
}

fn either_empty_or_same(a: &[Arc<str>], b: &[Arc<str>]) -> bool {
    a.is_empty() || b.is_empty() || same_ending(a, b)
}

/// True if the shorter list is the end of the longer one. Nothing is only the end of nothing.
fn same_ending(a: &[Arc<str>], b: &[Arc<str>]) -> bool {
    a.is_empty() == b.is_empty() && a.iter().rev().zip(b.iter().rev()).all(|(x, y)| x == y)
}
