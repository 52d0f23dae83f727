//! What a person can do to the tree: each change as checked single steps that can be undone.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::admission::{self, Denied};
use crate::claim::Claim;
use crate::config::Config;
use crate::model::{Kind, Name, Namespace, StringMap};
use crate::world::World;

/// A change of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Makes a namespace a root, a template, or neither.
    SetType(Name, Option<Kind>),
    /// Asks for a sub-namespace under a parent, with labels and annotations.
    Create(Name, Name, StringMap, StringMap),
    /// Removes a sub-namespace.
    Delete(Name),
    /// Puts a sub-namespace under another parent.
    Move(Name, Name),
    /// Makes a namespace a sub-namespace.
    Graft(Name, Name),
    /// Makes a sub-namespace a root.
    Cut(Name),
    /// Gives a namespace a template.
    SetTemplate(Name, Name),
    /// Takes the template away.
    UnsetTemplate(Name),
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Sets labels of a namespace, or removes them; the version is the one that was looked at.
    Label(Name, Name, BTreeMap<String, Option<String>>),
    /// Makes a SubNamespace.
    Claim(Claim),
    /// Deletes a SubNamespace; the second name is its own, the third its uid.
    Unclaim(Name, Name, Name),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(name, _, labels) => {
                let words: Vec<String> = labels
                    .iter()
                    .map(|(key, value)| match value {
                        Some(value) => format!("{key}={value}"),
                        None => format!("{key}-"),
                    })
                    .collect();
                write!(f, "label namespace {name} {}", words.join(" "))
            }
            Self::Claim(claim) => write!(f, "create SubNamespace {}/{}", claim.namespace, claim.name),
            Self::Unclaim(namespace, name, _) => write!(f, "delete SubNamespace {namespace}/{name}"),
        }
    }
}

/// Why a change is not possible.
#[derive(Clone, Debug, Error)]
pub enum Refused {
    /// There is no such namespace.
    #[error("namespace `{0}` does not exist")]
    Missing(Name),
    /// There is one already.
    #[error("namespace `{0}` exists already; use `graft` to put it into a tree")]
    Exists(Name),
    /// It is no sub-namespace.
    #[error("namespace `{0}` is no sub-namespace")]
    NoSub(Name),
    /// It is a sub-namespace.
    #[error("namespace `{0}` is a sub-namespace of `{1}`; use `move` to change its parent")]
    Sub(Name, Name),
    /// The rules are against it.
    #[error(transparent)]
    Denied(#[from] Denied),
}

/// The steps of a change; none when there is nothing to do.
///
/// A SubNamespace is made before the label changes and deleted after it, so that no moment exists in which the
/// namespace is nobody's, or in which the SubNamespace that goes still speaks for it.
///
/// # Errors
///
/// Why the change is not possible. Nothing has happened then.
pub fn steps(world: &World, config: &Config, change: &Change) -> Result<Vec<Step>, Refused> {
    let keys = &config.keys;
    let find = |name: &Name| world.namespace(name).ok_or_else(|| Refused::Missing(name.clone()));
    let label = |namespace: &Namespace, labels: &[(&str, Option<&str>)]| -> Result<Option<Step>, Refused> {
        let changed =
            labels.iter().filter(|(key, value)| namespace.labels.get(*key).map(String::as_str) != *value);
        let changed: BTreeMap<String, Option<String>> =
            changed.map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let step = Step::Label(namespace.name.clone(), namespace.version.clone(), changed);
        let after = labelled(namespace, &step, config);
        admission::update_namespace(world, config, namespace, &after)?;
        Ok(Some(step))
    };
    let unclaim = |parent: &Name, name: &Name| {
        world.claim(parent, name).map(|claim| Step::Unclaim(parent.clone(), name.clone(), claim.uid.clone()))
    };
    let claim_under = |parent: &Name, name: &Name, like: Option<&Claim>| -> Result<Option<Step>, Refused> {
        if world.claim(parent, name).is_some() {
            return Ok(None);
        }
        let (labels, annotations) =
            like.map(|like| (like.labels.clone(), like.annotations.clone())).unwrap_or_default();
        let claim =
            Claim { namespace: parent.clone(), name: name.clone(), labels, annotations, ..Claim::default() };
        admission::create_claim(world, config, &claim)?;
        Ok(Some(Step::Claim(claim)))
    };
    Ok(match change {
        Change::SetType(name, kind) => {
            label(find(name)?, &[(&keys.kind, kind.map(Kind::as_str))])?.into_iter().collect()
        }
        Change::SetTemplate(name, template) => {
            label(find(name)?, &[(&keys.template, Some(template))])?.into_iter().collect()
        }
        Change::UnsetTemplate(name) => label(find(name)?, &[(&keys.template, None)])?.into_iter().collect(),
        Change::Create(name, parent, labels, annotations) => {
            find(parent)?;
            if world.namespace(name).is_some() {
                return Err(Refused::Exists(name.clone()));
            }
            let (labels, annotations) = (labels.clone(), annotations.clone());
            let claim = Claim {
                namespace: parent.clone(),
                name: name.clone(),
                labels,
                annotations,
                ..Claim::default()
            };
            admission::create_claim(world, config, &claim)?;
            vec![Step::Claim(claim)]
        }
        Change::Delete(name) => {
            let parent = find(name)?.parent().ok_or_else(|| Refused::NoSub(name.clone()))?;
            let step = unclaim(parent, name).ok_or_else(|| Refused::NoSub(name.clone()))?;
            if let Some(claim) = world.claim(parent, name) {
                admission::delete_claim(world, config, claim)?;
            }
            vec![step]
        }
        Change::Move(name, to) => {
            let namespace = find(name)?;
            let from = namespace.parent().ok_or_else(|| Refused::NoSub(name.clone()))?;
            find(to)?;
            if from == to {
                return Ok(Vec::new());
            }
            let relabel = label(namespace, &[(&keys.parent, Some(to))])?;
            let claim = claim_under(to, name, world.claim(from, name))?;
            claim.into_iter().chain(relabel).chain(unclaim(from, name)).collect()
        }
        Change::Graft(name, parent) => {
            let namespace = find(name)?;
            find(parent)?;
            if let Some(parent) = namespace.parent() {
                return Err(Refused::Sub(name.clone(), parent.clone()));
            }
            let labels = [(&*keys.parent, Some(&**parent)), (&*keys.kind, None), (&*keys.template, None)];
            let relabel = label(namespace, &labels)?;
            claim_under(parent, name, None)?.into_iter().chain(relabel).collect()
        }
        Change::Cut(name) => {
            let namespace = find(name)?;
            let parent = namespace.parent().ok_or_else(|| Refused::NoSub(name.clone()))?;
            let relabel = label(namespace, &[(&keys.parent, None), (&keys.kind, Some("root"))])?;
            relabel.into_iter().chain(unclaim(parent, name)).collect()
        }
    })
}

fn labelled(namespace: &Namespace, step: &Step, config: &Config) -> Namespace {
    let mut after = namespace.clone();
    if let Step::Label(_, _, changes) = step {
        let mut labels = after.labels.clone();
        for (key, value) in changes {
            after.owned_labels.remove(key);
            match value {
                Some(value) => labels.insert(key.clone(), value.clone()),
                None => labels.remove(key),
            };
        }
        after.set_labels(labels, &config.keys);
    }
    after
}

/// The effect of one step on a view.
pub fn apply(world: &mut World, config: &Config, step: &Step) {
    match step {
        Step::Label(name, ..) => {
            if let Some(after) = world.namespace(name).map(|namespace| labelled(namespace, step, config)) {
                world.put_namespace(after);
            }
        }
        Step::Claim(claim) => {
            let mut claim = claim.clone();
            claim.finalizers.push(config.keys.finalizer.clone());
            // It is the youngest claim there is.
            claim.created = Name::from("9999-12-31T23:59:59Z");
            world.put_claim(claim);
        }
        Step::Unclaim(namespace, name, _) => {
            if let Some(mut claim) = world.claim(namespace, name).cloned() {
                claim.deleting = true;
                world.put_claim(claim);
            }
        }
    }
}
