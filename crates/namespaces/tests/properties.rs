//! The pure function on random states: stable, idempotent, the same by key as in full, and any order of single writes
//! ends in the same state.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Instant;

use podsmith_namespaces::config::OnConflict;
use podsmith_namespaces::desired::{Want, want_namespace, want_object};
use podsmith_namespaces::model::{Key, KindIndex, Namespace};
use podsmith_namespaces::resource::Resource;
use podsmith_namespaces::world::World;
use podsmith_namespaces::{Config, desired, desired_of, write};
use proptest::prelude::*;
use support::fake::Fake;
use support::{KIND, config, config_map, entry, labels, namespace};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Whether foreign objects are kept, the namespaces, and the objects, all as numbers.
type State = (bool, Vec<(u8, u8, bool)>, Vec<(u8, u8, u8, u8)>);

fn state() -> impl Strategy<Value = State> {
    (
        any::<bool>(),
        proptest::collection::vec((0u8..12, 0u8..7, any::<bool>()), 6),
        proptest::collection::vec((0u8..6, 0u8..4, 0u8..9, 0u8..3), 0..12),
    )
}

fn build((keep, namespaces, objects): &State) -> (Fake, Config) {
    let config = config(if *keep { OnConflict::Keep } else { OnConflict::Overwrite });
    let mut fake = Fake::default();
    for (name, (kind, upstream, team)) in NAMES.iter().zip(namespaces) {
        let up = NAMES.get(usize::from(*upstream)).copied().unwrap_or("gone");
        let text = match kind {
            0..=5 => format!("parent={up}"),
            6..=7 => format!("template={up}"),
            _ => "type=root".to_owned(),
        };
        let mut namespace = Namespace::new(*name, labels(&text), &config.keys);
        if *team {
            let mut with = namespace.labels.clone();
            with.insert("team".into(), name.to_string());
            namespace.set_labels(with, &config.keys);
        }
        namespace.deleting = *kind == 11;
        fake.put_namespace(namespace);
    }
    for (namespace, slot, how, data) in objects {
        let namespace = NAMES[usize::from(*namespace)];
        let how = ["", "create", "update", "create<a", "update<a", "update<b", "update<gone", "other", "<a"]
            [usize::from(*how)];
        let name = if *slot < 3 { "x" } else { "y" };
        fake.put_object(config_map(namespace, name, how, &data.to_string()));
    }
    (fake, config)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_single_writes_ends_in_the_same_state(state in state(), order in proptest::collection::vec(any::<u16>(), 60)) {
        let (mut once, config) = build(&state);
        let world = once.world(&config);
        for write in write::all(&world, &config, &desired_of(&world, &config)) {
            once.write(&write, &config);
        }
        let settled = once.world(&config);
        prop_assert!(write::all(&settled, &config, &desired_of(&settled, &config)).is_empty(), "one round is not enough");

        let (mut single, _) = build(&state);
        for choice in order {
            let world = single.world(&config);
            let writes = write::all(&world, &config, &desired_of(&world, &config));
            if writes.is_empty() {
                break;
            }
            single.write(&writes[usize::from(choice) % writes.len()], &config);
        }
        let text = |fake: &Fake| -> Vec<String> {
            let objects = fake.objects.values().map(|object| {
                let mut object = object.clone();
                for field in ["uid", "resourceVersion"] {
                    object.metadata_mut().shift_remove(field);
                }
                podsmith_object::json::canonical(&object.to_value())
            });
            objects.chain(fake.namespaces.values().map(|n| format!("{} {:?}", n.name, n.labels))).collect()
        };
        prop_assert_eq!(text(&once), text(&single));
    }

    #[test]
    fn one_target_alone_is_decided_as_in_full(state in state()) {
        let (fake, config) = build(&state);
        let world = fake.world(&config);
        let full = desired_of(&world, &config);
        for name in world.namespaces().keys() {
            prop_assert_eq!(want_namespace(&world, &config, name), full.namespaces.get(name).cloned());
            for slot in ["x", "y"] {
                let key = Key::new(name.clone(), KIND, slot);
                let want = full.objects.get(&key).cloned().unwrap_or(Want::Keep);
                prop_assert_eq!(want_object(&world, &config, &key), want, "{:?}", key);
            }
        }
    }
}

#[test]
fn the_function_takes_plain_lists() {
    let config = config(OnConflict::Keep);
    let namespaces = [namespace("root", "type=root"), namespace("sub", "parent=root")];
    let objects = [entry(&config_map("root", "x", "update", "1"), &config)];
    let out = desired(namespaces, [], objects, &config);
    assert!(matches!(out.objects[&Key::new("sub", KIND, "x")], Want::Copy(_)));
}

/// 10,000 namespaces in trees of depth 3 with 10 resources: prints how long the function takes; release builds count.
#[test]
fn the_cost_is_linear() {
    let config = config(OnConflict::Keep);
    for (roots, name) in [(1, "1,000"), (10, "10,000")] {
        let mut world = World::new();
        for r in 0..roots {
            let root = format!("r{r}");
            world.put_namespace(namespace(&root, "type=root,team=a"));
            for slot in 0..10 {
                let object = config_map(&root, &format!("x{slot}"), "update", "1");
                world.put_object(
                    &Key::new(root.as_str(), KindIndex(0), object.name()),
                    Resource::read(&object, &config),
                );
            }
            for m in 0..27 {
                let middle = format!("r{r}-m{m}");
                world.put_namespace(namespace(&middle, &format!("parent={root}")));
                for l in 0..36 {
                    world.put_namespace(namespace(&format!("{middle}-l{l}"), &format!("parent={middle}")));
                }
            }
        }
        let start = Instant::now();
        let out = desired_of(&world, &config);
        let took = start.elapsed();
        assert_eq!(out.objects.len(), (world.namespaces().len() - roots) * 10);
        println!("{name} namespaces, {} copies: {took:?}", out.objects.len());
    }
}
