//! Random histories of a cluster: people, tenants, lost watches, failing requests, restarts. At every write the
//! invariants hold, and once all is quiet the cluster is what the pure function says.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use podsmith_namespaces::claim::Claim;
use podsmith_namespaces::config::OnConflict;
use podsmith_namespaces::model::{Key, Name, Namespace};
use podsmith_namespaces::reconciler::{Outcome, Reconciler, Stream, Task};
use podsmith_namespaces::resource::Resource;
use podsmith_namespaces::write::{self, Write};
use podsmith_namespaces::{Config, desired_of};
use proptest::prelude::*;
use support::fake::{Fake, STREAMS};
use support::{KIND, config, config_map};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const MODES: [&str; 5] = ["", "create", "update", "update", "other"];

/// One thing that happens, and three numbers that say to what.
type Step = (u8, u8, u8, u8);

struct Run {
    fake: Fake,
    config: Arc<Config>,
    reconciler: Reconciler,
    now: u64,
    /// The next requests fail: every other one after it did its work.
    faults: u8,
    /// A stream that is between the start and the end of a list.
    relisting: Option<Stream>,
}

fn pick<'a>(names: &[&'a str], at: u8) -> &'a str {
    names[usize::from(at) % names.len()]
}

impl Run {
    fn new(config: Config) -> Self {
        let config = Arc::new(config);
        let reconciler = Reconciler::new(config.clone());
        Self { fake: Fake::default(), config, reconciler, now: 0, faults: 0, relisting: None }
    }

    fn restart(&mut self) {
        self.reconciler = Reconciler::new(self.config.clone());
        self.relisting = None;
        for stream in STREAMS {
            self.fake.list(&mut self.reconciler, stream, self.now);
        }
    }

    fn step(&mut self, (what, a, b, c): Step) {
        self.now += 10;
        let name = pick(&NAMES, a);
        let key = Key::new(name, KIND, pick(&["x", "y"], c));
        match what {
            0..=3 => self.make_namespace(name, b, c),
            4 => drop(self.fake.delete_namespace(name)),
            5..=8 => self.relabel(name, b, c),
            9..=11 => {
                let mut claim = Claim {
                    namespace: name.into(),
                    name: pick(&NAMES, b).into(),
                    generation: 1,
                    ..Claim::default()
                };
                if self.fake.namespaces.get(name).is_none_or(|n| n.deleting) {
                    return;
                }
                if let Some(known) = self.fake.claims.get(&(claim.namespace.clone(), claim.name.clone())) {
                    claim = known.clone();
                    claim.generation += 1;
                }
                if c % 2 == 0 {
                    claim.labels.insert(pick(&["team", "app", "other"], c).into(), format!("v{}", c % 3));
                } else {
                    claim.labels.clear();
                }
                self.fake.put_claim(claim);
            }
            12 => {
                self.fake.delete_claim(&(Name::from(name), Name::from(pick(&NAMES, b))), &self.config.clone())
            }
            13..=19 => self.write_object(&key, b, c),
            20..=22 => self.tamper(&key, b),
            23 => self.fake.delete_object(&key),
            24 => self.restart(),
            25 => {
                // The watch is lost and what it had not delivered with it; the new list comes in two moments.
                let stream = STREAMS[usize::from(a) % STREAMS.len()];
                self.fake.pending.remove(&stream);
                self.reconciler.begin_list(stream);
                if self.relisting.is_some_and(|open| open != stream) {
                    self.end_list();
                }
                self.relisting = Some(stream);
            }
            26 => self.end_list(),
            27 => self.faults = b % 4,
            28 => {
                self.fake.terminate(&self.config.clone());
            }
            29 => {
                let mut config = Config::clone(&self.config);
                config.on_conflict = if config.on_conflict == OnConflict::Keep {
                    OnConflict::Overwrite
                } else {
                    OnConflict::Keep
                };
                self.config = Arc::new(config);
                self.restart();
            }
            30..=44 => {
                let stream = STREAMS[usize::from(a) % STREAMS.len()];
                for _ in 0..=b % 4 {
                    self.deliver(stream);
                }
            }
            _ => {
                for _ in 0..=b % 4 {
                    self.work();
                }
            }
        }
    }

    fn end_list(&mut self) {
        if let Some(stream) = self.relisting.take() {
            self.fake.list(&mut self.reconciler, stream, self.now);
        }
    }

    fn deliver(&mut self, stream: Stream) -> bool {
        self.relisting != Some(stream) && self.fake.deliver(&mut self.reconciler, stream, self.now)
    }

    fn make_namespace(&mut self, name: &str, b: u8, c: u8) {
        if self.fake.namespaces.contains_key(name) {
            return;
        }
        let text = match b % 6 {
            0 => "type=root".to_owned(),
            1 => "type=template".to_owned(),
            2 => format!("template={}", pick(&NAMES, c)),
            3 => "type=root,team=z".to_owned(),
            4 => format!("parent={}", pick(&NAMES, c)),
            _ => String::new(),
        };
        let namespace = Namespace::new(name, support::labels(&text), &self.config.keys);
        self.fake.put_namespace(namespace);
    }

    fn relabel(&mut self, name: &str, b: u8, c: u8) {
        let config = self.config.clone();
        let (key, value) = match b % 8 {
            0 | 1 => (config.keys.parent.as_str(), Some(pick(&NAMES, c))),
            2 => (config.keys.parent.as_str(), None),
            3 => (config.keys.template.as_str(), Some(pick(&NAMES, c))),
            4 => (config.keys.template.as_str(), None),
            5 => (config.keys.kind.as_str(), Some(pick(&["root", "template", "strange"], c))),
            6 => ("team", Some(pick(&["v0", "v1"], c))),
            _ => ("team", None),
        };
        self.fake.label(name, key, value, &config);
    }

    fn write_object(&mut self, key: &Key, b: u8, c: u8) {
        if self.fake.namespaces.get(&key.namespace).is_none_or(|n| n.deleting) {
            return;
        }
        let mode = pick(&MODES, b);
        let object = match self.fake.objects.get(key) {
            None => config_map(&key.namespace, &key.slot.name, mode, pick(&["1", "2", "3"], c / 4)),
            Some(known) => {
                let mut object = known.clone();
                let data = object.body_mut().get_mut("data").unwrap().as_object_mut().unwrap();
                match b % 4 {
                    0 => drop(data.insert("extra".into(), format!("{c}").into())),
                    1 => drop(data.shift_remove("extra")),
                    2 => drop(data.insert("k".into(), format!("{}", c % 3).into())),
                    _ if mode.is_empty() => object.remove_annotation(&self.config.keys.propagate),
                    _ => object.set_annotation(&self.config.keys.propagate, mode),
                }
                object
            }
        };
        self.fake.put_object(object);
    }

    /// What a tenant who means no good, or does not know better, does to a copy.
    fn tamper(&mut self, key: &Key, b: u8) {
        let Some(mut object) = self.fake.objects.get(key).cloned() else { return };
        match b % 5 {
            0 => object.remove_annotation(&self.config.keys.from),
            1 => object.set_annotation(&self.config.keys.from, pick(&NAMES, b / 5)),
            2 => object.set_label("added", "1"),
            3 => object.set_label("skip-this", "1"),
            _ => object.remove_annotation(&self.config.keys.propagate),
        }
        self.fake.put_object(object);
    }

    /// One write of the controller. True when there was one.
    fn work(&mut self) -> bool {
        let Some((task, write)) = self.reconciler.next(self.now) else { return false };
        self.check(&task, &write);
        let outcome = if self.faults > 0 {
            self.faults -= 1;
            if self.faults % 2 == 1 {
                self.fake.write(&write, &self.config.clone());
            }
            Outcome::Refused("injected".into())
        } else {
            self.fake.write(&write, &self.config.clone())
        };
        self.reconciler.finish(&task, &write, outcome, self.now);
        true
    }

    /// What must hold for every write, whatever the controller believes.
    fn check(&self, task: &Task, write: &Write) {
        let world = self.reconciler.world();
        let live = |key: &Key, version: &str| {
            let object = self.fake.objects.get(key)?;
            let resource = Resource::read(object, &self.config);
            (*resource.version == *version).then_some(resource)
        };
        if let Task::Object(key) = task {
            assert!(world.chain(&key.namespace).is_ok(), "a write outside the live trees: {write:?}");
        }
        if write.is_delete() {
            let partial = self.relisting.is_some_and(|stream| match task {
                Task::Object(_) => true,
                _ => stream != Stream::Kind(KIND),
            });
            assert!(!partial, "a delete from a partial view: {write:?}");
        }
        match write {
            Write::Delete(key, seen) => {
                if let Some(resource) = live(key, &seen.version) {
                    assert!(resource.is_update_copy(), "something else than a copy is deleted: {key:?}");
                }
            }
            Write::Update(key, seen, copy, _) => {
                if let Some(resource) = live(key, &seen.version) {
                    let foreign = resource.is_origin() && self.config.on_conflict == OnConflict::Keep;
                    assert!(!foreign, "a foreign object is overwritten: {key:?}");
                }
                self.check_origin(key, &copy.origin);
            }
            Write::Create(key, copy) => self.check_origin(key, &copy.origin),
            Write::ChangeNamespace(name, ..) => assert!(world.chain(name).is_ok()),
            _ => {}
        }
    }

    fn check_origin(&self, key: &Key, origin: &Name) {
        let chain = self.reconciler.world().chain(&key.namespace).unwrap();
        assert!(chain.iter().skip(1).any(|n| n.name == *origin), "{origin} is no ancestor of {key:?}");
    }

    /// Lets everything come to rest.
    fn settle(&mut self) {
        self.faults = 0;
        self.end_list();
        for stream in STREAMS {
            if !self.reconciler.has_listed(stream) {
                self.fake.list(&mut self.reconciler, stream, self.now);
            }
        }
        for _ in 0..20_000 {
            if STREAMS.into_iter().any(|stream| self.deliver(stream)) || self.work() {
                continue;
            }
            if self.fake.terminate(&self.config.clone()) {
                continue;
            }
            match self.reconciler.next_due() {
                Some(due) => self.now = self.now.max(due),
                None => return,
            }
        }
        panic!("no rest after 20,000 steps: {:?}", self.reconciler.next(self.now));
    }

    fn verify(&mut self) {
        let world = self.fake.world(&self.config);
        let left = write::all(&world, &self.config, &desired_of(&world, &self.config));
        assert!(left.is_empty(), "at rest, but not as it must be: {left:#?}");
        self.restart();
        assert_eq!(self.reconciler.next(self.now), None, "a restart in sync writes nothing");
    }
}

fn runs() -> u32 {
    std::env::var("PODSMITH_MODEL_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: runs(), failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn every_history_ends_in_what_the_pure_function_says(
        keep in any::<bool>(),
        steps in proptest::collection::vec((0u8..60, any::<u8>(), any::<u8>(), any::<u8>()), 1..80),
    ) {
        let mut run = Run::new(config(if keep { OnConflict::Keep } else { OnConflict::Overwrite }));
        run.restart();
        for step in steps {
            run.step(step);
        }
        run.settle();
        run.verify();
    }
}
