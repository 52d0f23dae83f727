//! What may be done to namespaces and SubNamespaces, as pure functions over one view of the cluster.
//!
//! An empty label value means no label. Namespaces that carry none of our labels are never looked at.

use podsmith_object::{Object, Value, names};
use thiserror::Error;

use crate::claim::Claim;
use crate::config::{Config, NamingProblem};
use crate::keys::Keys;
use crate::model::{Kind, Name, Namespace};
use crate::world::{Frozen, World};

/// Why a request is refused.
#[derive(Clone, Debug, Error)]
pub enum Denied {
    /// A namespace names itself.
    #[error("namespace `{0}` cannot be its own {1}")]
    Itself(Name, &'static str),
    /// A sub-namespace has a template as well.
    #[error("sub-namespace `{0}` cannot have a template")]
    SubWithTemplate(Name),
    /// A sub-namespace has a type.
    #[error("sub-namespace `{0}` cannot have a type")]
    SubWithType(Name),
    /// The parent or template does not exist.
    #[error("{1} namespace `{0}` does not exist")]
    Missing(Name, &'static str),
    /// The parent is no root and no sub-namespace.
    #[error("namespace `{0}` is neither a root nor a sub-namespace, so it cannot be a parent")]
    NoParent(Name),
    /// The template is no template.
    #[error("namespace `{0}` is no template")]
    NoTemplate(Name),
    /// The way up does not end.
    #[error("circular reference is not permitted: {0}")]
    Chain(Frozen),
    /// Others hang on it.
    #[error("namespace `{0}` has {1}, the first is `{2}`")]
    InUse(Name, &'static str, Name),
    /// A SubNamespace in the wrong place.
    #[error("SubNamespaces are allowed in root and sub-namespaces only, and `{0}` is neither")]
    WrongPlace(Name),
    /// A label or annotation in the spec that no namespace could have.
    #[error("spec.{0}: {1}")]
    Metadata(&'static str, String),
    /// A name against the rules.
    #[error(transparent)]
    Naming(#[from] NamingProblem),
    /// A name that no namespace could have.
    #[error("{0}")]
    Name(String),
}

/// True when a namespace carries a label of ours, now or after the change. Others never need a check.
pub fn concerns(namespace: &Namespace, keys: &Keys) -> bool {
    [&keys.kind, &keys.parent, &keys.template].into_iter().any(|key| set(namespace, key).is_some())
}

fn set<'a>(namespace: &'a Namespace, key: &str) -> Option<&'a str> {
    namespace.labels.get(key).map(String::as_str).filter(|value| !value.is_empty())
}

/// A namespace is to be created.
///
/// # Errors
///
/// Why not.
pub fn create_namespace(world: &World, config: &Config, new: &Namespace) -> Result<(), Denied> {
    let keys = &config.keys;
    if let Some(parent) = new.parent() {
        if *parent == new.name {
            return Err(Denied::Itself(parent.clone(), "parent"));
        }
        if new.template().is_some() {
            return Err(Denied::SubWithTemplate(new.name.clone()));
        }
        if set(new, &keys.kind).is_some() {
            return Err(Denied::SubWithType(new.name.clone()));
        }
        let above = world.namespace(parent).ok_or_else(|| Denied::Missing(parent.clone(), "parent"))?;
        if !can_be_parent(above, keys) {
            return Err(Denied::NoParent(parent.clone()));
        }
    } else if let Some(template) = new.template() {
        if *template == new.name {
            return Err(Denied::Itself(template.clone(), "template"));
        }
        let above = world.namespace(template).ok_or_else(|| Denied::Missing(template.clone(), "template"))?;
        if above.kind(keys) != Some(Kind::Template) {
            return Err(Denied::NoTemplate(template.clone()));
        }
    }
    Ok(())
}

fn can_be_parent(namespace: &Namespace, keys: &Keys) -> bool {
    namespace.parent().is_some() || namespace.kind(keys) == Some(Kind::Root)
}

/// A namespace is to be changed. Changes that leave its place in the tree alone are always allowed, so that a broken
/// tree never keeps anybody from working in it.
///
/// # Errors
///
/// Why not.
pub fn update_namespace(
    world: &World,
    config: &Config,
    old: &Namespace,
    new: &Namespace,
) -> Result<(), Denied> {
    let keys = &config.keys;
    let same =
        [&keys.kind, &keys.parent, &keys.template].into_iter().all(|key| set(old, key) == set(new, key));
    if same {
        return Ok(());
    }
    walk(world, new)?;
    let (subs, instances) = dependants(world, &old.name);
    if set(old, &keys.kind) != set(new, &keys.kind) {
        match old.kind(keys) {
            Some(Kind::Root) => none(&old.name, "sub-namespaces", &subs)?,
            Some(Kind::Template) => none(&old.name, "instances", &instances)?,
            None => {}
        }
    }
    // Whatever else it becomes, a namespace with children stays one that may have some.
    if old.parent().is_some() && !can_be_parent(new, keys) {
        none(&old.name, "sub-namespaces", &subs)?;
    }
    create_namespace(world, config, new)
}

/// Follows the way up from what the namespace is to become.
fn walk(world: &World, new: &Namespace) -> Result<(), Denied> {
    let mut next = new.upstream();
    for _ in 0..=world.namespaces().len() {
        let Some(name) = next else { return Ok(()) };
        if *name == new.name {
            return Err(Denied::Chain(Frozen::Cycle(name.clone())));
        }
        let above = world.namespace(name).ok_or_else(|| Denied::Missing(name.clone(), "parent"))?;
        next = above.upstream();
    }
    Err(Denied::Chain(Frozen::Cycle(new.name.clone())))
}

/// A namespace is to be deleted.
///
/// # Errors
///
/// Why not.
pub fn delete_namespace(world: &World, config: &Config, old: &Namespace) -> Result<(), Denied> {
    let (subs, instances) = dependants(world, &old.name);
    if old.kind(&config.keys) == Some(Kind::Template) {
        none(&old.name, "instances", &instances)?;
    }
    if may_cascade(world, config, &old.name) { Ok(()) } else { none(&old.name, "sub-namespaces", &subs) }
}

/// True when namespaces with children may be deleted, everywhere or in this tree.
fn may_cascade(world: &World, config: &Config, name: &Name) -> bool {
    let top = world.chain(name).ok().and_then(|chain| chain.last().copied());
    let allowed = top.and_then(|top| top.annotations.get(&config.keys.allow_cascade));
    config.allow_cascading_deletion || allowed.is_some_and(|value| value == "true")
}

/// The sub-namespaces and the instances of a namespace.
pub fn dependants<'w>(world: &'w World, name: &Name) -> (Vec<&'w Name>, Vec<&'w Name>) {
    world
        .children(name)
        .partition(|child| world.namespace(child).is_some_and(|namespace| namespace.parent() == Some(name)))
}

fn none(name: &Name, what: &'static str, found: &[&Name]) -> Result<(), Denied> {
    match found.first() {
        Some(first) => Err(Denied::InUse(name.clone(), what, (*first).clone())),
        None => Ok(()),
    }
}

/// A SubNamespace is to be created. A name that is taken is no reason to refuse; the status tells about it.
///
/// # Errors
///
/// Why not.
pub fn create_claim(world: &World, config: &Config, new: &Claim) -> Result<(), Denied> {
    let place = world.namespace(&new.namespace);
    if !place.is_some_and(|namespace| can_be_parent(namespace, &config.keys)) {
        return Err(Denied::WrongPlace(new.namespace.clone()));
    }
    names::dns_label(&new.name).map_err(|problem| Denied::Name(problem.to_string()))?;
    check_spec(new)?;
    if config.naming_policies.is_empty() {
        return Ok(());
    }
    let chain = world.chain(&new.namespace).map_err(|reason| match reason {
        Frozen::Missing(name) => Denied::Missing(name, "parent"),
        other => Denied::Chain(other),
    })?;
    // The root of a tree of sub-namespaces may itself be an instance of a template; the way ends at the root.
    let root =
        chain.iter().find(|namespace| namespace.parent().is_none()).map_or(&new.namespace, |n| &n.name);
    for policy in &config.naming_policies {
        policy.check(root, &new.name)?;
    }
    Ok(())
}

/// A SubNamespace is to be changed.
///
/// # Errors
///
/// Why not.
pub fn update_claim(old: &Claim, new: &Claim) -> Result<(), Denied> {
    if old.labels == new.labels && old.annotations == new.annotations {
        return Ok(());
    }
    check_spec(new)
}

fn check_spec(claim: &Claim) -> Result<(), Denied> {
    for (key, value) in &claim.labels {
        names::qualified_name(key).map_err(|problem| Denied::Metadata("labels", problem.to_string()))?;
        names::label_value(value).map_err(|problem| Denied::Metadata("labels", problem.to_string()))?;
    }
    for key in claim.annotations.keys() {
        // Annotation keys may have capital letters in their prefix.
        let key = key.to_lowercase();
        names::qualified_name(&key)
            .map_err(|problem| Denied::Metadata("annotations", problem.to_string()))?;
    }
    Ok(())
}

/// A SubNamespace is to be deleted.
///
/// # Errors
///
/// Why not.
pub fn delete_claim(world: &World, config: &Config, old: &Claim) -> Result<(), Denied> {
    let own = world.namespace(&old.name).is_some_and(|namespace| namespace.parent() == Some(&old.namespace));
    if !own || may_cascade(world, config, &old.name) {
        return Ok(());
    }
    none(&old.name, "sub-namespaces", &dependants(world, &old.name).0)
}

/// Puts our finalizer on a new SubNamespace, beside whatever finalizers it has.
pub fn hold(object: &mut Object, keys: &Keys) {
    let finalizers = object.metadata_mut().entry("finalizers").or_insert_with(|| Value::Array(Vec::new()));
    if !finalizers.is_array() {
        *finalizers = Value::Array(Vec::new());
    }
    if let Value::Array(items) = finalizers
        && !items.iter().any(|item| item.as_str() == Some(&keys.finalizer))
    {
        items.push(Value::from(keys.finalizer.as_str()));
    }
}
