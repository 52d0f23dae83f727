//! One view of a cluster, indexed by the tree.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use crate::claim::Claim;
use crate::model::{Key, Mode, Name, Namespace, Slot};
use crate::resource::Resource;

/// Everything known about namespaces, SubNamespaces and watched objects.
#[derive(Clone, Debug, Default)]
pub struct World {
    namespaces: BTreeMap<Name, Namespace>,
    children: BTreeMap<Name, BTreeSet<Name>>,
    claims: BTreeMap<Name, BTreeMap<Name, Claim>>,
    claims_in: BTreeMap<Name, BTreeSet<Name>>,
    objects: BTreeMap<Name, BTreeMap<Slot, Resource>>,
    generators: HashMap<Name, Mode>,
}

/// Why nothing is written in a namespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frozen {
    /// It is its own ancestor.
    Cycle(Name),
    /// An ancestor does not exist.
    Missing(Name),
    /// It or an ancestor is being deleted.
    Deleting(Name),
}

impl fmt::Display for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(name) => write!(f, "namespace `{name}` is among its own ancestors"),
            Self::Missing(name) => write!(f, "namespace `{name}` does not exist"),
            Self::Deleting(name) => write!(f, "namespace `{name}` is being deleted"),
        }
    }
}

impl World {
    /// An empty cluster.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a namespace; the one before is returned.
    pub fn put_namespace(&mut self, namespace: Namespace) -> Option<Namespace> {
        let before = self.take_namespace(&namespace.name.clone());
        if let Some(upstream) = namespace.upstream() {
            self.children.entry(upstream.clone()).or_default().insert(namespace.name.clone());
        }
        self.namespaces.insert(namespace.name.clone(), namespace);
        before
    }

    /// Removes a namespace. Its objects stay until they are removed on their own.
    pub fn take_namespace(&mut self, name: &str) -> Option<Namespace> {
        let before = self.namespaces.remove(name)?;
        if let Some(upstream) = before.upstream()
            && let Some(siblings) = self.children.get_mut(upstream)
        {
            siblings.remove(name);
            if siblings.is_empty() {
                self.children.remove(upstream);
            }
        }
        Some(before)
    }

    /// Adds or replaces a SubNamespace.
    pub fn put_claim(&mut self, claim: Claim) -> Option<Claim> {
        self.claims_in.entry(claim.namespace.clone()).or_default().insert(claim.name.clone());
        self.claims.entry(claim.name.clone()).or_default().insert(claim.namespace.clone(), claim)
    }

    /// Removes a SubNamespace.
    pub fn take_claim(&mut self, namespace: &str, name: &str) -> Option<Claim> {
        let rivals = self.claims.get_mut(name)?;
        let before = rivals.remove(namespace);
        if rivals.is_empty() {
            self.claims.remove(name);
        }
        if let Some(inside) = self.claims_in.get_mut(namespace) {
            inside.remove(name);
            if inside.is_empty() {
                self.claims_in.remove(namespace);
            }
        }
        before
    }

    /// Adds or replaces a watched object.
    pub fn put_object(&mut self, key: &Key, resource: Resource) -> Option<Resource> {
        if let Some(mode) = resource.generates {
            self.generators.insert(resource.uid.clone(), mode);
        }
        let before =
            self.objects.entry(key.namespace.clone()).or_default().insert(key.slot.clone(), resource);
        if let Some(old) = &before
            && old.generates.is_some()
            && self.object(key).is_some_and(|new| new.uid != old.uid || new.generates.is_none())
        {
            self.generators.remove(&old.uid);
        }
        before
    }

    /// Removes a watched object.
    pub fn take_object(&mut self, key: &Key) -> Option<Resource> {
        let slots = self.objects.get_mut(&key.namespace)?;
        let before = slots.remove(&key.slot)?;
        if slots.is_empty() {
            self.objects.remove(&key.namespace);
        }
        if before.generates.is_some() {
            self.generators.remove(&before.uid);
        }
        Some(before)
    }

    /// Notes that an owner of an unwatched kind asks for a mode, or no longer does.
    pub fn set_generator(&mut self, uid: Name, mode: Option<Mode>) {
        match mode {
            Some(mode) => self.generators.insert(uid, mode),
            None => self.generators.remove(&uid),
        };
    }

    /// The mode that an owner asks for.
    pub fn generated(&self, resource: &Resource) -> Option<Mode> {
        self.generators.get(resource.owner.as_ref()?).copied()
    }

    /// All namespaces by name.
    pub fn namespaces(&self) -> &BTreeMap<Name, Namespace> {
        &self.namespaces
    }

    /// One namespace.
    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.get(name)
    }

    /// The namespaces that name this one as their parent or template.
    pub fn children(&self, name: &str) -> impl Iterator<Item = &Name> {
        self.children.get(name).into_iter().flatten()
    }

    /// A namespace and everything below it, also through cycles, each once.
    pub fn subtree(&self, top: &Name) -> Vec<Name> {
        let mut seen = HashSet::from([top.clone()]);
        let mut out = vec![top.clone()];
        let mut at = 0;
        while let Some(name) = out.get(at).cloned() {
            at += 1;
            for child in self.children(&name) {
                if seen.insert(child.clone()) {
                    out.push(child.clone());
                }
            }
        }
        out
    }

    /// The claims to a name, by the namespace they are in.
    pub fn claims_to(&self, name: &str) -> impl Iterator<Item = &Claim> {
        self.claims.get(name).into_iter().flat_map(BTreeMap::values)
    }

    /// The names that are claimed from within a namespace.
    pub fn claimed_in(&self, namespace: &str) -> impl Iterator<Item = &Name> {
        self.claims_in.get(namespace).into_iter().flatten()
    }

    /// One claim.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        self.claims.get(name)?.get(namespace)
    }

    /// All claims.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.values().flat_map(BTreeMap::values)
    }

    /// The names that somebody claims.
    pub fn claimed(&self) -> impl Iterator<Item = &Name> {
        self.claims.keys()
    }

    /// One object.
    pub fn object(&self, key: &Key) -> Option<&Resource> {
        self.objects.get(&key.namespace)?.get(&key.slot)
    }

    /// The objects of a namespace.
    pub fn objects_in(&self, namespace: &str) -> impl Iterator<Item = (&Slot, &Resource)> {
        self.objects.get(namespace).into_iter().flatten()
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = (&Name, &Slot, &Resource)> {
        self.objects.iter().flat_map(|(ns, slots)| slots.iter().map(move |(slot, o)| (ns, slot, o)))
    }

    /// The way from a namespace up to the top of its tree, both included.
    ///
    /// # Errors
    ///
    /// Why the namespace is frozen.
    pub fn chain(&self, name: &str) -> Result<Vec<&Namespace>, Frozen> {
        let mut out: Vec<&Namespace> = Vec::new();
        let mut next: &str = name;
        loop {
            let Some(namespace) = self.namespaces.get(next) else {
                return Err(Frozen::Missing(Name::from(next)));
            };
            if namespace.deleting {
                return Err(Frozen::Deleting(namespace.name.clone()));
            }
            out.push(namespace);
            // More steps than namespaces can only mean a circle; the place where it closes is told.
            if out.len() > self.namespaces.len() {
                let mut seen = HashSet::new();
                let closing = out.iter().find(|namespace| !seen.insert(&namespace.name));
                return Err(Frozen::Cycle(
                    closing.map_or_else(|| Name::from(name), |found| found.name.clone()),
                ));
            }
            match namespace.upstream() {
                Some(upstream) if **upstream == *name => return Err(Frozen::Cycle(upstream.clone())),
                Some(upstream) => next = upstream,
                None => return Ok(out),
            }
        }
    }
}
