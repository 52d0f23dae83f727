//! What the controller would do, played through on a copy of the view.

use crate::config::Config;
use crate::desired::{self, Copy, MetaChange};
use crate::model::{Key, Mode, Name, Namespace};
use crate::resource::Resource;
use crate::world::World;
use crate::write::{self, Write};

/// All writes until nothing is left to do, in order. The view is afterwards what the cluster would be.
pub fn run(world: &mut World, config: &Config) -> Vec<Write> {
    let mut out = Vec::new();
    // Each round settles one more generation of new namespaces; there cannot be more of them than claims.
    let rounds = world.claims().count() + 10;
    for _ in 0..rounds {
        let writes = write::all(world, config, &desired::desired_of(world, config));
        if writes.is_empty() {
            break;
        }
        for write in &writes {
            apply(world, config, write);
        }
        out.extend(writes);
    }
    out
}

/// The effect of one write on a view.
pub fn apply(world: &mut World, config: &Config, write: &Write) {
    match write {
        Write::CreateNamespace(name, meta) => {
            let mut namespace = Namespace::new(name.clone(), meta.labels.clone(), &config.keys);
            namespace.annotations = meta.annotations.clone();
            namespace.owned_labels = meta.labels.keys().cloned().collect();
            namespace.owned_annotations = meta.annotations.keys().cloned().collect();
            world.put_namespace(namespace);
        }
        Write::ChangeNamespace(name, _, change) => {
            if let Some(mut namespace) = world.namespace(name).cloned() {
                relabel(&mut namespace, change, config);
                world.put_namespace(namespace);
            }
        }
        Write::DeleteNamespace(name, ..) => delete_namespace(world, name),
        Write::HoldClaim(namespace, name, _) => {
            if let Some(mut claim) = world.claim(namespace, name).cloned() {
                claim.finalizers.push(config.keys.finalizer.clone());
                world.put_claim(claim);
            }
        }
        Write::ReleaseClaim(namespace, name, _) => drop(world.take_claim(namespace, name)),
        Write::SetStatus(namespace, name, _, status) => {
            if let Some(mut claim) = world.claim(namespace, name).cloned() {
                claim.status = status.clone();
                world.put_claim(claim);
            }
        }
        Write::Create(key, copy) | Write::Update(key, _, copy, _) => put(world, key, copy),
        Write::Annotate(key, _, mode) => annotate(world, key, *mode),
        Write::Delete(key, _) => drop(world.take_object(key)),
    }
}

fn relabel(namespace: &mut Namespace, change: &MetaChange, config: &Config) {
    let mut labels = namespace.labels.clone();
    for (key, value) in &change.labels {
        match value {
            Some(value) => {
                labels.insert(key.clone(), value.clone());
                namespace.owned_labels.insert(key.clone());
            }
            None => {
                labels.remove(key);
                namespace.owned_labels.remove(key);
            }
        }
    }
    namespace.set_labels(labels, &config.keys);
    for (key, value) in &change.annotations {
        match value {
            Some(value) => {
                namespace.annotations.insert(key.clone(), value.clone());
                namespace.owned_annotations.insert(key.clone());
            }
            None => {
                namespace.annotations.remove(key);
                namespace.owned_annotations.remove(key);
            }
        }
    }
}

/// The namespace goes at once, with everything in it; SubNamespaces in it go the way they always do.
fn delete_namespace(world: &mut World, name: &Name) {
    world.take_namespace(name);
    let objects: Vec<Key> =
        world.objects_in(name).map(|(slot, _)| Key { namespace: name.clone(), slot: slot.clone() }).collect();
    for key in objects {
        world.take_object(&key);
    }
    let claimed: Vec<Name> = world.claimed_in(name).cloned().collect();
    for below in claimed {
        if let Some(mut claim) = world.claim(name, &below).cloned() {
            claim.deleting = true;
            world.put_claim(claim);
        }
    }
}

fn put(world: &mut World, key: &Key, copy: &Copy) {
    let before = world.object(key).cloned();
    let resource = Resource {
        uid: before.as_ref().map_or_else(|| Name::from(""), |before| before.uid.clone()),
        version: Name::from(""),
        mode: Some(copy.mode),
        from: Some(copy.from.clone()),
        deleting: false,
        content: copy.content.clone(),
        owner: None,
        generates: None,
        delicate: before.is_some_and(|before| before.delicate),
    };
    world.put_object(key, resource);
}

fn annotate(world: &mut World, key: &Key, mode: Mode) {
    if let Some(mut resource) = world.object(key).cloned() {
        resource.mode = Some(mode);
        world.put_object(key, resource);
    }
}
