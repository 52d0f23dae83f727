//! What people see.

#![allow(clippy::unwrap_used)]

mod support;

use podsmith_namespaces::Keys;
use podsmith_namespaces::tree::{self, Edges};
use podsmith_namespaces::world::World;
use support::namespace;

fn world() -> World {
    let mut world = World::new();
    for (name, text) in [
        ("shop", "type=root,template=base"),
        ("shop-web", "parent=shop"),
        ("shop-web-dev", "parent=shop-web"),
        ("shop-web-prod", "parent=shop-web"),
        ("shop-db", "parent=shop"),
        ("admin", "type=root"),
        ("base", "type=template"),
        ("strict", "type=template,template=base"),
        ("bank", "template=strict"),
        ("lost", "parent=gone"),
        ("below-lost", "parent=lost"),
        ("c1", "parent=c2"),
        ("c2", "parent=c1"),
        ("default", ""),
    ] {
        world.put_namespace(namespace(name, text));
    }
    world
}

#[test]
fn all_trees() {
    let lines = tree::lines(&world(), &Keys::default(), Edges::Parents, None).unwrap();
    insta::assert_snapshot!(tree::draw(&lines), @r#"
admin
shop
├── shop-db
└── shop-web
    ├── shop-web-dev
    └── shop-web-prod
lost (namespace `gone` does not exist)
└── below-lost (namespace `gone` does not exist)
c1 (namespace `c1` is among its own ancestors)
└── c2 (namespace `c2` is among its own ancestors)
"#);
}

#[test]
fn the_tree_under_one_namespace() {
    let lines = tree::lines(&world(), &Keys::default(), Edges::Parents, Some("shop-web")).unwrap();
    insta::assert_snapshot!(tree::draw(&lines), @r#"
shop-web
├── shop-web-dev
└── shop-web-prod
"#);
    assert!(tree::lines(&world(), &Keys::default(), Edges::Parents, Some("nobody")).is_none());
}

#[test]
fn templates_and_their_instances() {
    let lines = tree::lines(&world(), &Keys::default(), Edges::Templates, None).unwrap();
    insta::assert_snapshot!(tree::draw(&lines), @r#"
base
├── shop
└── strict
    └── bank
"#);
}

#[test]
fn the_list() {
    insta::assert_snapshot!(tree::table(&tree::rows(&world(), &Keys::default(), false)), @r#"
NAME           TYPE      UPSTREAM  DEPENDANTS  STATE
admin          root      -         0           live
bank           instance  strict    0           live
base           template  -         2           live
below-lost     sub       lost      0           frozen: namespace `gone` does not exist
c1             sub       c2        1           frozen: namespace `c1` is among its own ancestors
c2             sub       c1        1           frozen: namespace `c2` is among its own ancestors
lost           sub       gone      1           frozen: namespace `gone` does not exist
shop           root      base      2           live
shop-db        sub       shop      0           live
shop-web       sub       shop      2           live
shop-web-dev   sub       shop-web  0           live
shop-web-prod  sub       shop-web  0           live
strict         template  base      1           live
"#);
}

#[test]
fn a_very_deep_tree_is_drawn() {
    let mut world = World::new();
    world.put_namespace(namespace("n0", "type=root"));
    for at in 1..2000 {
        world.put_namespace(namespace(&format!("n{at}"), &format!("parent=n{}", at - 1)));
    }
    let lines = tree::lines(&world, &Keys::default(), Edges::Parents, None).unwrap();
    assert_eq!(lines.last().unwrap().depth, 1999);
    assert_eq!(tree::draw(&lines).lines().count(), 2000);
}
