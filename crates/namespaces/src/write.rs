//! From what must be to what is sent: single writes, each with the version it was decided on.

use crate::claim::Status;
use crate::config::Config;
use crate::desired::{Copy, Desired, Meta, MetaChange, Want, WantClaim, WantNamespace};
use crate::model::{Key, Mode, Name};
use crate::world::World;

/// The version of an object that a decision was made on. A write fails when the object has changed since.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// `metadata.uid`.
    pub uid: Name,
    /// `metadata.resourceVersion`.
    pub version: Name,
}

/// One request to the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Makes a sub-namespace, with everything it inherits.
    CreateNamespace(Name, Meta),
    /// Changes inherited labels and annotations.
    ChangeNamespace(Name, Seen, MetaChange),
    /// Deletes the sub-namespace of a SubNamespace that is going away. The second name is the parent.
    DeleteNamespace(Name, Name, Seen),
    /// Puts our finalizer on the SubNamespace in a namespace.
    HoldClaim(Name, Name, Seen),
    /// Takes our finalizer off.
    ReleaseClaim(Name, Name, Seen),
    /// Sets the status of a SubNamespace.
    SetStatus(Name, Name, Seen, Status),
    /// Makes a copy.
    Create(Key, Copy),
    /// Makes an existing object equal to a copy. The flag says that it has fields of its own to preserve.
    Update(Key, Seen, Copy, bool),
    /// Sets the mode of an object.
    Annotate(Key, Seen, Mode),
    /// Deletes a copy.
    Delete(Key, Seen),
}

impl Write {
    /// The words for metrics: what is done to what.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::CreateNamespace(..) | Self::Create(..) => "create",
            Self::DeleteNamespace(..) | Self::Delete(..) => "delete",
            Self::ReleaseClaim(..) => "release",
            Self::SetStatus(..) => "status",
            _ => "update",
        }
    }

    /// True for what takes something away.
    pub fn is_delete(&self) -> bool {
        matches!(self, Self::Delete(..) | Self::DeleteNamespace(..))
    }
}

/// The write for one object.
pub fn for_object(world: &World, key: &Key, want: &Want) -> Option<Write> {
    let live = world.object(key);
    // What is going away is left to go; its place is free afterwards.
    if live.is_some_and(|live| live.deleting) {
        return None;
    }
    let seen = live.map(|live| Seen { uid: live.uid.clone(), version: live.version.clone() });
    match (want, live, seen) {
        (Want::Copy(copy), None, _) => Some(Write::Create(key.clone(), copy.clone())),
        (Want::Copy(copy), Some(live), Some(seen)) if !copy.is(live) => {
            Some(Write::Update(key.clone(), seen, copy.clone(), live.delicate))
        }
        (Want::Annotate(mode), _, Some(seen)) => Some(Write::Annotate(key.clone(), seen, *mode)),
        (Want::Absent, _, Some(seen)) => Some(Write::Delete(key.clone(), seen)),
        _ => None,
    }
}

/// The write for one namespace.
pub fn for_namespace(world: &World, name: &Name, want: &WantNamespace) -> Option<Write> {
    match (want, world.namespace(name)) {
        (WantNamespace::Create(_, meta), None) => Some(Write::CreateNamespace(name.clone(), meta.clone())),
        (WantNamespace::Change(change), Some(live)) => {
            let seen = Seen { uid: live.uid.clone(), version: live.version.clone() };
            Some(Write::ChangeNamespace(name.clone(), seen, change.clone()))
        }
        _ => None,
    }
}

/// The write for one SubNamespace.
pub fn for_claim(
    world: &World,
    config: &Config,
    claim: (&Name, &Name),
    want: Option<&WantClaim>,
) -> Option<Write> {
    let (namespace, name) = claim;
    let live = world.claim(namespace, name)?;
    let seen = Seen { uid: live.uid.clone(), version: live.version.clone() };
    let at = || (namespace.clone(), name.clone());
    // Admission puts the finalizer on; this is for clusters without it. One that was taken off later stays off.
    if !live.deleting && live.status.observed.is_none() && !live.is_held(&config.keys) {
        return Some(Write::HoldClaim(at().0, at().1, seen));
    }
    match want? {
        WantClaim::Status(status) if *status != live.status => {
            Some(Write::SetStatus(at().0, at().1, seen, status.clone()))
        }
        WantClaim::Status(_) => None,
        WantClaim::DeleteNamespace => {
            let own = world.namespace(name)?;
            let seen = Seen { uid: own.uid.clone(), version: own.version.clone() };
            Some(Write::DeleteNamespace(name.clone(), namespace.clone(), seen))
        }
        WantClaim::Release => Some(Write::ReleaseClaim(at().0, at().1, seen)),
    }
}

/// All writes that a cluster needs now, deletes last.
pub fn all(world: &World, config: &Config, desired: &Desired) -> Vec<Write> {
    let mut out: Vec<Write> = Vec::new();
    out.extend(desired.namespaces.iter().filter_map(|(name, want)| for_namespace(world, name, want)));
    out.extend(world.claims().filter_map(|claim| {
        let key = (claim.namespace.clone(), claim.name.clone());
        for_claim(world, config, (&key.0, &key.1), desired.claims.get(&key))
    }));
    out.extend(desired.objects.iter().filter_map(|(key, want)| for_object(world, key, want)));
    out.sort_by_key(Write::is_delete);
    out
}
