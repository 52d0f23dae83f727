//! The reconciler one event at a time: what is held back, what waits, and what nobody has to wait for.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use podsmith_namespaces::Config;
use podsmith_namespaces::config::OnConflict;
use podsmith_namespaces::model::{Key, Namespace};
use podsmith_namespaces::reconciler::{Outcome, Reconciler, Stream};
use podsmith_namespaces::write::Write;
use support::fake::{Fake, STREAMS};
use support::{KIND, config, config_map, labels};

struct Bench {
    fake: Fake,
    config: Arc<Config>,
    reconciler: Reconciler,
    now: u64,
}

impl Bench {
    /// A root, `count` sub-namespaces `n0`, `n1`…, and one shared object, all in sync.
    fn new(count: usize, limit: u32) -> Self {
        let config = Arc::new(Config { max_deletes_per_minute: limit, ..config(OnConflict::Keep) });
        let mut fake = Fake::default();
        fake.put_namespace(Namespace::new("root", labels("type=root"), &config.keys));
        for at in 0..count {
            fake.put_namespace(Namespace::new(format!("n{at}"), labels("parent=root"), &config.keys));
        }
        fake.put_object(config_map("root", "x", "update", "1"));
        let reconciler = Reconciler::new(config.clone());
        let mut out = Self { fake, config, reconciler, now: 0 };
        for stream in STREAMS {
            out.fake.list(&mut out.reconciler, stream, 0);
        }
        out.work(|_| None);
        out
    }

    fn key(&self, namespace: &str) -> Key {
        Key::new(namespace, KIND, "x")
    }

    /// Delivers everything and works until nothing may be done now; `refuse` can make a write fail.
    fn work(&mut self, refuse: impl Fn(&Write) -> Option<Outcome>) -> usize {
        let mut writes = 0;
        loop {
            while STREAMS.into_iter().any(|stream| self.fake.deliver(&mut self.reconciler, stream, self.now))
            {
            }
            let Some((task, write)) = self.reconciler.next(self.now) else { return writes };
            writes += 1;
            assert!(writes < 1000, "{write:?} again and again");
            let outcome = refuse(&write).unwrap_or_else(|| self.fake.write(&write, &self.config));
            self.reconciler.finish(&task, &write, outcome, self.now);
        }
    }

    fn copies(&self) -> usize {
        self.fake.objects.keys().filter(|key| *key.namespace != *"root").count()
    }

    fn reasons(&mut self) -> Vec<&'static str> {
        self.reconciler.take_notices().into_iter().map(|notice| notice.reason).collect()
    }
}

#[test]
fn an_edit_is_one_write_for_each_copy() {
    let mut b = Bench::new(20, 0);
    b.fake.put_object(config_map("root", "x", "update", "2"));
    assert_eq!(b.work(|_| None), 20);
    assert_eq!(b.work(|_| None), 0);
}

#[test]
fn deletes_beyond_the_limit_are_held_back_minute_by_minute() {
    let mut b = Bench::new(5, 2);
    b.fake.delete_object(&b.key("root"));
    b.work(|_| None);
    assert_eq!((b.copies(), b.reconciler.held().map(|(_, n)| n).sum::<usize>()), (3, 3));
    assert!(b.reasons().contains(&"DeletesHeld"));
    b.now += 60_000;
    b.work(|_| None);
    assert_eq!(b.copies(), 1);
    b.now += 60_000;
    b.work(|_| None);
    assert_eq!((b.copies(), b.reconciler.held().count()), (0, 0));
}

#[test]
fn a_confirmation_lets_the_deletes_go_at_once() {
    let mut b = Bench::new(5, 2);
    b.fake.delete_object(&b.key("root"));
    b.work(|_| None);
    let mut root = b.fake.namespaces["root"].clone();
    root.annotations.insert(b.config.keys.confirm_deletes.clone(), "true".into());
    b.fake.put_namespace(root);
    b.work(|_| None);
    assert_eq!(b.copies(), 0);
}

#[test]
fn deletes_that_are_no_longer_wanted_are_let_go() {
    let mut b = Bench::new(5, 2);
    b.fake.delete_object(&b.key("root"));
    b.work(|_| None);
    b.fake.put_object(config_map("root", "x", "update", "1"));
    b.work(|_| None);
    b.now += 60_000;
    b.work(|_| None);
    assert_eq!((b.copies(), b.reconciler.held().count()), (5, 0));
}

#[test]
fn a_bad_child_never_blocks_its_siblings() {
    let mut b = Bench::new(5, 0);
    b.fake.put_object(config_map("root", "x", "update", "2"));
    let bad = b.key("n2");
    let refuse = |write: &Write| match write {
        Write::Update(key, ..) if *key == bad => Some(Outcome::Refused("quota".into())),
        _ => None,
    };
    assert_eq!(b.work(refuse), 5);
    assert_eq!(b.reasons(), ["Refused"]);
    b.now += 249;
    assert_eq!(b.work(refuse), 0, "it waits");
    b.now += 1;
    assert_eq!(b.work(refuse), 1, "and is tried again");
    b.now += 500;
    assert_eq!(b.work(|_| None), 1);
}

#[test]
fn nothing_is_deleted_while_a_list_is_incomplete() {
    for stream in STREAMS {
        let mut b = Bench::new(2, 0);
        b.reconciler.begin_list(stream);
        if stream == Stream::Kind(KIND) {
            // The watch saw the source go before it broke off.
            let uid = b.reconciler.world().object(&b.key("root")).unwrap().uid.clone();
            b.reconciler.object_gone(&b.key("root"), &uid, 0);
        } else {
            b.fake.delete_object(&b.key("root"));
        }
        b.work(|_| None);
        assert_eq!(b.copies(), 2, "{stream:?}");
        b.fake.delete_object(&b.key("root"));
        b.fake.list(&mut b.reconciler, stream, b.now);
        b.now += 1000;
        b.work(|_| None);
        assert_eq!(b.copies(), 0, "{stream:?}");
    }
}

#[test]
fn a_fight_with_another_writer_is_bounded_and_told() {
    let mut b = Bench::new(1, 0);
    let mut writes = 0;
    for _ in 0..100 {
        let mut copy = b.fake.objects[&b.key("n0")].clone();
        copy.set_label("theirs", "1");
        b.fake.put_object(copy);
        writes += b.work(|_| None);
        b.now += 100;
    }
    assert!((5..15).contains(&writes), "{writes} repairs in ten seconds");
    assert!(b.reasons().contains(&"Contested"));
}

#[test]
fn a_move_is_not_undone_and_the_moved_namespace_not_deleted_by_a_late_stream() {
    let config = Arc::new(config(OnConflict::Keep));
    let mut fake = Fake::default();
    for name in ["r1", "r2"] {
        fake.put_namespace(Namespace::new(name, labels("type=root"), &config.keys));
    }
    let claim = |namespace: &str| podsmith_namespaces::claim::Claim {
        namespace: namespace.into(),
        name: "sub".into(),
        generation: 1,
        ..Default::default()
    };
    fake.put_claim(claim("r1"));
    let mut b = Bench { fake, reconciler: Reconciler::new(config.clone()), config, now: 0 };
    for stream in STREAMS {
        b.fake.list(&mut b.reconciler, stream, 0);
    }
    b.work(|_| None);
    // The command line moves it; the stream of namespaces lags behind.
    b.fake.put_claim(claim("r2"));
    b.fake.label("sub", "innu.cybozu.com/parent", Some("r2"), &b.config.clone());
    b.fake.delete_claim(&("r1".into(), "sub".into()), &b.config.clone());
    while b.fake.deliver(&mut b.reconciler, Stream::Claims, 0) {}
    for _ in 0..10 {
        let Some((task, write)) = b.reconciler.next(b.now) else { break };
        let outcome = b.fake.write(&write, &b.config);
        b.reconciler.finish(&task, &write, outcome, b.now);
    }
    assert!(!b.fake.namespaces["sub"].deleting);
    b.work(|_| None);
    b.now += 10_000;
    b.work(|_| None);
    assert_eq!(b.fake.namespaces["sub"].labels["innu.cybozu.com/parent"], "r2");
    assert_eq!(b.fake.claims.len(), 1);
}
