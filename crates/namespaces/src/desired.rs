//! What must exist: a pure function of everything that is known.
//!
//! A copy is worked out from the top of the tree down, through what *must* stand at every level, never from what
//! stands at the level above just now. That is why any order of single writes ends in the same state.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::claim::{Claim, Condition, Status};
use crate::config::{Config, OnConflict};
use crate::keys::CREATED_BY;
use crate::model::{Key, Mode, Name, Namespace, Slot, StringMap};
use crate::resource::{Content, Resource};
use crate::world::{Frozen, World};

/// What must become of an object. What is not mentioned stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// It stays.
    Keep,
    /// It stays, though a copy from this namespace belongs in its place.
    Conflict(Name),
    /// It stays and gets this mode, which its owner asks for.
    Annotate(Mode),
    /// It is, or becomes, a copy.
    Copy(Copy),
    /// It must not exist.
    Absent,
}

/// A copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// What it contains.
    pub content: Content,
    /// The namespace above.
    pub from: Name,
    /// The mode of the object above.
    pub mode: Mode,
    /// The namespace of the object the content is from.
    pub origin: Name,
}

impl Copy {
    /// True when the object is this copy already.
    pub fn is(&self, resource: &Resource) -> bool {
        resource.mode == Some(self.mode)
            && resource.from.as_ref() == Some(&self.from)
            && resource.content.print == self.content.print
    }
}

/// What stands in a place once all is done, as the level below sees it. Only what is propagated is of interest.
#[derive(Clone, Debug)]
pub struct Source {
    mode: Mode,
    content: Content,
    origin: Name,
}

/// Labels and annotations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Labels.
    pub labels: StringMap,
    /// Annotations.
    pub annotations: StringMap,
}

/// Labels and annotations to set, or to remove where the value is `None`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MetaChange {
    /// Labels.
    pub labels: BTreeMap<String, Option<String>>,
    /// Annotations.
    pub annotations: BTreeMap<String, Option<String>>,
}

impl MetaChange {
    /// True when there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }

    fn between(now: &Namespace, then: &Meta) -> Self {
        let change = |now: &StringMap, then: &StringMap| {
            let gone = now.keys().filter(|key| !then.contains_key(*key)).map(|key| (key.clone(), None));
            let set = then.iter().filter(|(key, value)| now.get(*key) != Some(value));
            gone.chain(set.map(|(key, value)| (key.clone(), Some(value.clone())))).collect()
        };
        Self {
            labels: change(&now.labels, &then.labels),
            annotations: change(&now.annotations, &then.annotations),
        }
    }
}

/// What must become of a namespace.
#[derive(Clone, Debug, PartialEq)]
pub enum WantNamespace {
    /// Somebody claims it and it does not exist: it is made under this parent.
    Create(Name, Meta),
    /// Inherited labels and annotations differ.
    Change(MetaChange),
}

/// What must become of a SubNamespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WantClaim {
    /// Its status.
    Status(Status),
    /// It is going away and so must its namespace.
    DeleteNamespace,
    /// It is going away and nothing keeps it.
    Release,
}

/// Everything that must change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Desired {
    /// Objects, except those that stay as they are.
    pub objects: BTreeMap<Key, Want>,
    /// Namespaces, except those that stay as they are.
    pub namespaces: BTreeMap<Name, WantNamespace>,
    /// SubNamespaces by namespace and name; the status also when it is right already.
    pub claims: BTreeMap<(Name, Name), WantClaim>,
    /// Namespaces in which nothing is written, and why.
    pub frozen: BTreeMap<Name, Frozen>,
}

/// The pure function over a plain list of everything.
pub fn desired(
    namespaces: impl IntoIterator<Item = Namespace>,
    subnamespaces: impl IntoIterator<Item = Claim>,
    objects: impl IntoIterator<Item = (Key, Resource)>,
    config: &Config,
) -> Desired {
    let mut world = World::new();
    for namespace in namespaces {
        world.put_namespace(namespace);
    }
    for claim in subnamespaces {
        world.put_claim(claim);
    }
    for (key, resource) in objects {
        world.put_object(&key, resource);
    }
    desired_of(&world, config)
}

/// The pure function over an indexed view. Linear in the number of namespaces, objects and copies.
pub fn desired_of(world: &World, config: &Config) -> Desired {
    let mut out = Desired::default();
    let mut metas: BTreeMap<&Name, Meta> = BTreeMap::new();
    let mut reached = 0;
    // Depth first from the tops; what is not reached hangs below a cycle, a gap or something that is going away.
    let tops = world.namespaces().values().filter(|n| n.upstream().is_none() && !n.deleting);
    type Level = Arc<BTreeMap<Slot, Source>>;
    let mut stack: Vec<(&Namespace, Option<(&Name, Level)>)> = tops.map(|n| (n, None)).collect();
    while let Some((namespace, above)) = stack.pop() {
        reached += 1;
        let meta = meta(world, config, namespace, above.as_ref().and_then(|(name, _)| metas.get(name)));
        let change = MetaChange::between(namespace, &meta);
        if !change.is_empty() {
            out.namespaces.insert(namespace.name.clone(), WantNamespace::Change(change));
        }
        let mut below = BTreeMap::new();
        let mut visit = |slot: &Slot, source: Option<&Source>, resource: Option<&Resource>| {
            let upstream = above.as_ref().map(|(name, _)| *name).zip(source);
            let (want, next) = decide(world, config, &namespace.name, upstream, resource);
            if want != Want::Keep {
                let key = Key { namespace: namespace.name.clone(), slot: slot.clone() };
                out.objects.insert(key, want);
            }
            if let Some(next) = next {
                below.insert(slot.clone(), next);
            }
        };
        let empty = Level::default();
        let inherited = above.as_ref().map_or(&empty, |(_, level)| level);
        let mut own = world.objects_in(&namespace.name).peekable();
        for (slot, source) in inherited.iter() {
            while let Some((own_slot, resource)) = own.next_if(|(own_slot, _)| *own_slot < slot) {
                visit(own_slot, None, Some(resource));
            }
            let here = own.next_if(|(own_slot, _)| *own_slot == slot).map(|(_, resource)| resource);
            visit(slot, Some(source), here);
        }
        own.for_each(|(slot, resource)| visit(slot, None, Some(resource)));
        let below = Arc::new(below);
        let children = world.children(&namespace.name).filter_map(|child| world.namespace(child));
        stack.extend(
            children
                .filter(|child| !child.deleting)
                .map(|child| (child, Some((&namespace.name, below.clone())))),
        );
        metas.insert(&namespace.name, meta);
    }
    if reached < world.namespaces().len() {
        let rest = world.namespaces().keys().filter(|name| !metas.contains_key(name));
        out.frozen = rest.filter_map(|name| Some((name.clone(), world.chain(name).err()?))).collect();
    }
    let mut conflicts: BTreeMap<&Name, Vec<String>> = BTreeMap::new();
    for (key, want) in &out.objects {
        if matches!(want, Want::Conflict(_)) {
            conflicts.entry(&key.namespace).or_default().push(key.describe(config));
        }
    }
    for name in world.claimed() {
        if let Some((parent, meta)) = new_namespace(world, config, name) {
            out.namespaces.insert(name.clone(), WantNamespace::Create(parent, meta));
        }
    }
    for claim in world.claims() {
        let found = conflicts.get(&claim.name).map_or(&[][..], |found| found);
        if let Some(want) = want_claim(world, config, claim, found) {
            out.claims.insert((claim.namespace.clone(), claim.name.clone()), want);
        }
    }
    out
}

/// What must become of one object. Costs one look at each level above.
pub fn want_object(world: &World, config: &Config, key: &Key) -> Want {
    let Ok(chain) = world.chain(&key.namespace) else { return Want::Keep };
    let mut above: Option<(&Name, Option<Source>)> = None;
    let mut want = Want::Keep;
    for namespace in chain.into_iter().rev() {
        let at = Key { namespace: namespace.name.clone(), slot: key.slot.clone() };
        let upstream = above.as_ref().and_then(|(name, source)| Some((*name, source.as_ref()?)));
        let (here, next) = decide(world, config, &namespace.name, upstream, world.object(&at));
        want = here;
        above = Some((&namespace.name, next));
    }
    want
}

/// The objects of a namespace that stand where copies belong, in words.
pub fn conflicts_in(world: &World, config: &Config, namespace: &Name) -> Vec<String> {
    if config.on_conflict == OnConflict::Overwrite {
        return Vec::new();
    }
    let own = world.objects_in(namespace).filter(|(_, resource)| resource.is_origin());
    own.map(|(slot, _)| Key { namespace: namespace.clone(), slot: slot.clone() })
        .filter(|key| matches!(want_object(world, config, key), Want::Conflict(_)))
        .map(|key| key.describe(config))
        .collect()
}

/// The rule for one place: what stands above once all is done, and what stands here now.
fn decide(
    world: &World,
    config: &Config,
    here: &Name,
    above: Option<(&Name, &Source)>,
    resource: Option<&Resource>,
) -> (Want, Option<Source>) {
    let keep = |resource: &Resource| {
        let generated = (config.propagate_generated && resource.mode.is_none() && resource.is_origin())
            .then(|| world.generated(resource))
            .flatten();
        let source = resource.mode.or(generated).map(|mode| Source {
            mode,
            content: resource.content.clone(),
            origin: here.clone(),
        });
        (generated.map_or(Want::Keep, Want::Annotate), source)
    };
    let Some((upstream, source)) = above else {
        return match resource {
            Some(resource) if resource.is_update_copy() => (Want::Absent, None),
            Some(resource) => keep(resource),
            None => (Want::Keep, None),
        };
    };
    match (source.mode, resource) {
        (Mode::Update, Some(resource)) if resource.is_origin() && config.on_conflict == OnConflict::Keep => {
            let (_, source) = keep(resource);
            (Want::Conflict(upstream.clone()), source)
        }
        (Mode::Create, Some(resource)) if !resource.is_update_copy() => keep(resource),
        (_, resource) => {
            let copy = Copy {
                content: source.content.clone(),
                from: upstream.clone(),
                mode: source.mode,
                origin: source.origin.clone(),
            };
            let want = if resource.is_some_and(|resource| copy.is(resource)) {
                Want::Keep
            } else {
                Want::Copy(copy)
            };
            (want, Some(source.clone()))
        }
    }
}

/// What must become of one namespace.
pub fn want_namespace(world: &World, config: &Config, name: &Name) -> Option<WantNamespace> {
    let Some(namespace) = world.namespace(name) else {
        return new_namespace(world, config, name).map(|(parent, meta)| WantNamespace::Create(parent, meta));
    };
    let meta = meta_of(world, config, name)?;
    let change = MetaChange::between(namespace, &meta);
    (!change.is_empty()).then_some(WantNamespace::Change(change))
}

/// The labels and annotations a namespace must have; `None` where it is frozen.
fn meta_of(world: &World, config: &Config, name: &str) -> Option<Meta> {
    let chain = world.chain(name).ok()?;
    chain
        .into_iter()
        .rev()
        .fold(None, |above, namespace| Some(meta(world, config, namespace, above.as_ref())))
}

fn meta(world: &World, config: &Config, namespace: &Namespace, above: Option<&Meta>) -> Meta {
    let mut out = Meta { labels: namespace.labels.clone(), annotations: namespace.annotations.clone() };
    let wanted = above.map(|above| {
        let claim = namespace.parent().and_then(|parent| world.claim(parent, &namespace.name));
        inherited(config, above, namespace.parent(), claim)
    });
    let wanted = wanted.unwrap_or_default();
    // What the server or a webhook added to a request of ours counts as ours too, so only keys that can be inherited
    // are taken away again.
    let label = |key: &str| key == CREATED_BY || config.inherits_label(key) || config.takes_label(key);
    for key in namespace.owned_labels.iter().filter(|key| !wanted.labels.contains_key(*key) && label(key)) {
        out.labels.remove(key);
    }
    let annotation = |key: &str| config.inherits_annotation(key) || config.takes_annotation(key);
    let owned = namespace.owned_annotations.iter();
    for key in owned.filter(|key| !wanted.annotations.contains_key(*key) && annotation(key)) {
        out.annotations.remove(key);
    }
    out.labels.extend(wanted.labels);
    out.annotations.extend(wanted.annotations);
    out
}

/// What a namespace takes from the one above and from its SubNamespace.
fn inherited(config: &Config, above: &Meta, parent: Option<&Name>, claim: Option<&Claim>) -> Meta {
    let pick = |map: &StringMap, keep: &dyn Fn(&str) -> bool| -> StringMap {
        map.iter().filter(|(key, _)| keep(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let mut out = Meta {
        labels: pick(&above.labels, &|key| config.inherits_label(key)),
        annotations: pick(&above.annotations, &|key| config.inherits_annotation(key)),
    };
    if let Some(parent) = parent {
        if let Some(claim) = claim {
            out.labels.extend(pick(&claim.labels, &|key| config.takes_label(key)));
            out.annotations.extend(pick(&claim.annotations, &|key| config.takes_annotation(key)));
        }
        out.labels.insert(CREATED_BY.to_owned(), config.keys.creator.clone());
        out.labels.insert(config.keys.parent.clone(), parent.to_string());
    }
    out
}

/// The parent and the metadata of a namespace that is claimed and does not exist.
fn new_namespace(world: &World, config: &Config, name: &Name) -> Option<(Name, Meta)> {
    if world.namespace(name).is_some() {
        return None;
    }
    let claims =
        world.claims_to(name).filter(|claim| !claim.deleting && world.chain(&claim.namespace).is_ok());
    let claim = claims.min_by_key(|claim| claim.seniority())?;
    let above = meta_of(world, config, &claim.namespace)?;
    Some((claim.namespace.clone(), inherited(config, &above, Some(&claim.namespace), Some(claim))))
}

/// What must become of one claim, given the conflicts found in its namespace.
pub fn want_claim(world: &World, config: &Config, claim: &Claim, conflicts: &[String]) -> Option<WantClaim> {
    let namespace = world.namespace(&claim.name);
    let own = namespace.filter(|namespace| namespace.parent() == Some(&claim.namespace));
    if claim.deleting {
        return match own {
            Some(namespace) if !namespace.deleting => Some(WantClaim::DeleteNamespace),
            _ => claim.is_held(&config.keys).then_some(WantClaim::Release),
        };
    }
    let mut conditions = Vec::new();
    match (namespace, own) {
        (None, _) => {
            let reason = world.chain(&claim.namespace).err()?;
            conditions.push(Condition::new("Stalled", "Frozen", reason.to_string()));
        }
        (Some(other), None) => {
            let owner = match other.parent() {
                Some(parent) => format!("belongs to `{parent}`"),
                None => "is no sub-namespace".to_owned(),
            };
            let message = format!("namespace `{}` exists already and {owner}", claim.name);
            conditions.push(Condition::new("Stalled", "Conflict", message));
        }
        (_, Some(own)) if own.deleting => {
            let message = format!("namespace `{}` is being deleted and will be made again", claim.name);
            conditions.push(Condition::new("Reconciling", "Terminating", message));
        }
        (_, Some(_)) => {
            if let Err(reason) = world.chain(&claim.name) {
                conditions.push(Condition::new("Stalled", "Frozen", reason.to_string()));
            }
            if let Some(first) = conflicts.first() {
                let more = match conflicts.len() - 1 {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let message = format!("{first}{more} stands where a copy belongs");
                conditions.push(Condition::new("PropagationConflict", "ObjectExists", message));
            }
        }
    }
    conditions.sort();
    Some(WantClaim::Status(Status { observed: Some(claim.generation), conditions }))
}
