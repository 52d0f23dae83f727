//! An API server in memory: versions, preconditions, finalizers, field owners, namespaces that take their time to go.

use std::collections::{BTreeMap, BTreeSet};

use podsmith_namespaces::claim::Claim;
use podsmith_namespaces::config::Config;
use podsmith_namespaces::model::{Key, Name, Namespace, StringMap};
use podsmith_namespaces::reconciler::{Outcome, Reconciler, Stream};
use podsmith_namespaces::resource::{self, Resource};
use podsmith_namespaces::world::World;
use podsmith_namespaces::write::{Seen, Write};
use podsmith_object::{Object, Value};

use super::KIND;

#[derive(Clone, Debug)]
pub enum Event {
    Namespace(Namespace),
    NamespaceGone(Namespace),
    Claim(Claim),
    ClaimGone(Claim),
    Object(Key, Object),
    ObjectGone(Key, Object),
}

impl Event {
    fn stream(&self) -> Stream {
        match self {
            Self::Namespace(_) | Self::NamespaceGone(_) => Stream::Namespaces,
            Self::Claim(_) | Self::ClaimGone(_) => Stream::Claims,
            Self::Object(..) | Self::ObjectGone(..) => Stream::Kind(KIND),
        }
    }
}

pub const STREAMS: [Stream; 3] = [Stream::Namespaces, Stream::Claims, Stream::Kind(KIND)];

#[derive(Default)]
pub struct Fake {
    version: u64,
    pub namespaces: BTreeMap<Name, Namespace>,
    pub claims: BTreeMap<(Name, Name), Claim>,
    pub objects: BTreeMap<Key, Object>,
    /// What each stream has not delivered yet.
    pub pending: BTreeMap<Stream, Vec<Event>>,
    pub writes: usize,
}

impl Fake {
    fn tick(&mut self) -> Name {
        self.version += 1;
        Name::from(self.version.to_string())
    }

    fn emit(&mut self, event: Event) {
        self.pending.entry(event.stream()).or_default().push(event);
    }

    pub fn put_namespace(&mut self, mut namespace: Namespace) -> Namespace {
        namespace.version = self.tick();
        if namespace.uid.is_empty() {
            namespace.uid = Name::from(format!("u{}", namespace.version));
        }
        self.namespaces.insert(namespace.name.clone(), namespace.clone());
        self.emit(Event::Namespace(namespace.clone()));
        namespace
    }

    /// What a person does: keys they change are theirs.
    pub fn label(&mut self, name: &str, key: &str, value: Option<&str>, config: &Config) {
        let Some(mut namespace) = self.namespaces.get(name).cloned() else { return };
        let mut labels = namespace.labels.clone();
        if labels.get(key).map(String::as_str) == value {
            return;
        }
        match value {
            Some(value) => labels.insert(key.to_owned(), value.to_owned()),
            None => labels.remove(key),
        };
        namespace.owned_labels.remove(key);
        namespace.set_labels(labels, &config.keys);
        self.put_namespace(namespace);
    }

    pub fn delete_namespace(&mut self, name: &str) -> Option<Namespace> {
        let mut namespace = self.namespaces.get(name).cloned()?;
        namespace.deleting = true;
        Some(self.put_namespace(namespace))
    }

    /// One step of the server's own work: empties namespaces that are going away. True when something happened.
    pub fn terminate(&mut self, config: &Config) -> bool {
        let going: Vec<Name> =
            self.namespaces.values().filter(|n| n.deleting).map(|n| n.name.clone()).collect();
        let mut worked = false;
        for name in going {
            let objects: Vec<Key> =
                self.objects.keys().filter(|key| key.namespace == name).cloned().collect();
            for key in &objects {
                self.delete_object(key);
                worked = true;
            }
            let claims: Vec<(Name, Name)> = self.claims.keys().filter(|key| key.0 == name).cloned().collect();
            for key in &claims {
                if !self.claims[key].deleting {
                    self.delete_claim(key, config);
                    worked = true;
                }
            }
            if objects.is_empty() && claims.is_empty() {
                let gone = self.namespaces.remove(&name).unwrap();
                self.tick();
                self.emit(Event::NamespaceGone(gone));
                worked = true;
            }
        }
        worked
    }

    pub fn put_claim(&mut self, mut claim: Claim) -> Claim {
        claim.version = self.tick();
        if claim.uid.is_empty() {
            claim.uid = Name::from(format!("u{}", claim.version));
            claim.created = Name::from(format!("{:08}", self.version));
        }
        let key = (claim.namespace.clone(), claim.name.clone());
        if claim.deleting && claim.finalizers.is_empty() {
            self.claims.remove(&key);
            self.emit(Event::ClaimGone(claim.clone()));
        } else {
            self.claims.insert(key, claim.clone());
            self.emit(Event::Claim(claim.clone()));
        }
        claim
    }

    pub fn delete_claim(&mut self, key: &(Name, Name), _config: &Config) {
        if let Some(mut claim) = self.claims.get(key).cloned() {
            claim.deleting = true;
            self.put_claim(claim);
        }
    }

    pub fn put_object(&mut self, mut object: Object) -> Object {
        let version = self.tick();
        let key = Key::new(object.namespace(), KIND, object.name());
        let uid = self.objects.get(&key).and_then(|old| old.get(&["metadata", "uid"]).cloned());
        let uid = uid.unwrap_or_else(|| Value::from(format!("u{version}")));
        object.metadata_mut().insert("uid".into(), uid);
        object.metadata_mut().insert("resourceVersion".into(), Value::from(&*version));
        self.objects.insert(key.clone(), object.clone());
        self.emit(Event::Object(key, object.clone()));
        object
    }

    pub fn delete_object(&mut self, key: &Key) {
        if let Some(object) = self.objects.remove(key) {
            self.tick();
            self.emit(Event::ObjectGone(key.clone(), object));
        }
    }

    /// Everything as it really is.
    pub fn world(&self, config: &Config) -> World {
        let mut world = World::new();
        self.namespaces.values().for_each(|namespace| drop(world.put_namespace(namespace.clone())));
        self.claims.values().for_each(|claim| drop(world.put_claim(claim.clone())));
        for (key, object) in &self.objects {
            world.put_object(key, Resource::read(object, config));
        }
        world
    }

    /// A full list of one stream, which makes up for everything not delivered.
    pub fn list(&mut self, reconciler: &mut Reconciler, stream: Stream, now: u64) {
        self.pending.remove(&stream);
        let config = reconciler.config().clone();
        match stream {
            Stream::Namespaces => {
                reconciler.list_namespaces(self.namespaces.values().cloned().collect(), now)
            }
            Stream::Claims => reconciler.list_claims(self.claims.values().cloned().collect(), now),
            Stream::Kind(kind) => {
                let all = self.objects.iter();
                let all = all.map(|(key, object)| (key.clone(), Resource::read(object, &config))).collect();
                reconciler.list_objects(kind, all, now);
            }
        }
    }

    /// Delivers the next event of a stream. True when there was one.
    pub fn deliver(&mut self, reconciler: &mut Reconciler, stream: Stream, now: u64) -> bool {
        let Some(pending) = self.pending.get_mut(&stream).filter(|pending| !pending.is_empty()) else {
            return false;
        };
        let config = reconciler.config().clone();
        match pending.remove(0) {
            Event::Namespace(namespace) => reconciler.namespace(namespace, now),
            Event::NamespaceGone(gone) => reconciler.namespace_gone(&gone.name, &gone.uid, now),
            Event::Claim(claim) => reconciler.claim(claim, now),
            Event::ClaimGone(gone) => reconciler.claim_gone(&gone.namespace, &gone.name, &gone.uid, now),
            Event::Object(key, object) => reconciler.object(&key, Resource::read(&object, &config), now),
            Event::ObjectGone(key, object) => {
                let uid = object.get(&["metadata", "uid"]).and_then(Value::as_str).unwrap();
                reconciler.object_gone(&key, uid, now);
            }
        }
        true
    }

    fn object_is(&self, key: &Key, seen: &Seen) -> bool {
        self.objects.get(key).is_some_and(|live| {
            live.get(&["metadata", "uid"]).and_then(Value::as_str) == Some(&seen.uid)
                && live.get(&["metadata", "resourceVersion"]).and_then(Value::as_str) == Some(&seen.version)
        })
    }

    /// Does a write as the controller would, with all preconditions.
    pub fn write(&mut self, write: &Write, config: &Config) -> Outcome {
        self.writes += 1;
        match write {
            Write::CreateNamespace(name, meta) => {
                if self.namespaces.contains_key(name) {
                    return Outcome::Stale;
                }
                let mut namespace = Namespace::new(name.clone(), meta.labels.clone(), &config.keys);
                namespace.annotations = meta.annotations.clone();
                namespace.owned_labels = meta.labels.keys().cloned().collect();
                namespace.owned_annotations = meta.annotations.keys().cloned().collect();
                Outcome::Namespace(self.put_namespace(namespace))
            }
            Write::ChangeNamespace(name, seen, change) => {
                let Some(mut namespace) =
                    self.namespaces.get(name).filter(|n| n.version == seen.version).cloned()
                else {
                    return Outcome::Stale;
                };
                let merge = |map: &mut StringMap,
                             owned: &mut BTreeSet<String>,
                             change: &BTreeMap<String, Option<String>>| {
                    for (key, value) in change {
                        match value {
                            Some(value) => {
                                map.insert(key.clone(), value.clone());
                                owned.insert(key.clone());
                            }
                            None => {
                                map.remove(key);
                                owned.remove(key);
                            }
                        }
                    }
                };
                let mut labels = namespace.labels.clone();
                merge(&mut labels, &mut namespace.owned_labels, &change.labels);
                namespace.set_labels(labels, &config.keys);
                let mut annotations = namespace.annotations.clone();
                merge(&mut annotations, &mut namespace.owned_annotations, &change.annotations);
                namespace.annotations = annotations;
                Outcome::Namespace(self.put_namespace(namespace))
            }
            Write::DeleteNamespace(name, parent, seen) => {
                let Some(live) = self.namespaces.get(name).filter(|n| n.version == seen.version) else {
                    return Outcome::Stale;
                };
                assert_eq!(live.parent(), Some(parent), "only an own child is deleted");
                let claim = self.claims.get(&(parent.clone(), name.clone()));
                assert!(
                    claim.is_none_or(|claim| claim.deleting),
                    "a namespace is deleted while it is claimed"
                );
                self.delete_namespace(name).map_or(Outcome::Gone, Outcome::Namespace)
            }
            Write::HoldClaim(namespace, name, seen)
            | Write::ReleaseClaim(namespace, name, seen)
            | Write::SetStatus(namespace, name, seen, _) => {
                let key = (namespace.clone(), name.clone());
                let Some(mut claim) = self.claims.get(&key).filter(|c| c.version == seen.version).cloned()
                else {
                    return Outcome::Stale;
                };
                match write {
                    Write::HoldClaim(..) => claim.finalizers.push(config.keys.finalizer.clone()),
                    Write::SetStatus(_, _, _, status) => claim.status = status.clone(),
                    _ => {
                        // The controller reads the namespace itself before it lets go.
                        let own = self.namespaces.get(name).filter(|n| n.parent() == Some(namespace));
                        if own.is_some_and(|own| !own.deleting) {
                            return Outcome::Stale;
                        }
                        claim.finalizers.retain(|finalizer| *finalizer != config.keys.finalizer);
                    }
                }
                let gone = claim.deleting && claim.finalizers.is_empty();
                let claim = self.put_claim(claim);
                if gone { Outcome::Gone } else { Outcome::Claim(claim) }
            }
            Write::Create(key, copy) => {
                match self.namespaces.get(&key.namespace) {
                    None => return Outcome::Stale,
                    Some(namespace) if namespace.deleting => return Outcome::Refused("terminating".into()),
                    _ if self.objects.contains_key(key) => return Outcome::Stale,
                    Some(_) => {}
                }
                let body = copy.content.body.as_ref().expect("a source has a body");
                let made = resource::copy(body, key, &copy.from, copy.mode, &config.keys);
                Outcome::Object(Resource::read(&self.put_object(made), config))
            }
            Write::Update(key, seen, copy, _) => {
                if !self.object_is(key, seen) {
                    return Outcome::Stale;
                }
                let body = copy.content.body.as_ref().expect("a source has a body");
                let made = resource::copy(body, key, &copy.from, copy.mode, &config.keys);
                Outcome::Object(Resource::read(&self.put_object(made), config))
            }
            Write::Annotate(key, seen, mode) => {
                if !self.object_is(key, seen) {
                    return Outcome::Stale;
                }
                let mut object = self.objects[key].clone();
                object.set_annotation(&config.keys.propagate, mode.as_str());
                Outcome::Object(Resource::read(&self.put_object(object), config))
            }
            Write::Delete(key, seen) => {
                if !self.object_is(key, seen) {
                    return Outcome::Stale;
                }
                self.delete_object(key);
                Outcome::Gone
            }
        }
    }
}
