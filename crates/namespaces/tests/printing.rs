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

mod plans {
    use podsmith_namespaces::change::Change;
    use podsmith_namespaces::claim::Claim;
    use podsmith_namespaces::config::OnConflict;
    use podsmith_namespaces::model::Kind;
    use podsmith_namespaces::ops::{self, plan_of};
    use podsmith_namespaces::simulate;
    use podsmith_namespaces::world::World;

    use super::support::{config, config_map, entry, namespace};

    /// A settled cluster with two trees.
    fn settled() -> World {
        let config = config(OnConflict::Keep);
        let mut world = World::new();
        for (name, text) in [
            ("shop", "type=root,team=shop"),
            ("bank", "type=root,team=bank"),
            ("lone", ""),
            ("base", "type=template,team=base"),
        ] {
            world.put_namespace(namespace(name, text));
        }
        for (parent, name) in [("shop", "web"), ("web", "web-dev"), ("shop", "db")] {
            world.put_claim(Claim {
                namespace: parent.into(),
                name: name.into(),
                uid: name.into(),
                generation: 1,
                ..Claim::default()
            });
        }
        for (place, name, how) in [
            ("shop", "ca", "update"),
            ("shop", "start", "create"),
            ("bank", "ca", "update"),
            ("lone", "ca", ""),
            ("base", "rules", "update"),
        ] {
            let (key, resource) = entry(&config_map(place, name, how, place), &config);
            world.put_object(&key, resource);
        }
        simulate::run(&mut world, &config);
        world
    }

    fn planned(change: Change) -> String {
        let config = config(OnConflict::Keep);
        match plan_of(settled(), &config, &change, |_| None) {
            Ok(plan) => ops::plan_text(&plan),
            Err(refused) => format!("refused: {refused}\n"),
        }
    }

    #[test]
    fn moving_a_subtree() {
        insta::assert_snapshot!(planned(Change::Move("web".into(), "bank".into())), @r#"
create SubNamespace bank/web
label namespace web innu.cybozu.com/parent=bank
delete SubNamespace shop/web

propagation would then
  ~ Namespace web team=bank
  ~ Namespace web-dev team=bank
  ~ ConfigMap web/ca update from bank
  ~ ConfigMap web-dev/ca update from web
"#);
    }

    #[test]
    fn cutting_a_subtree() {
        insta::assert_snapshot!(planned(Change::Cut("web".into())), @r#"
label namespace web innu.cybozu.com/parent- innu.cybozu.com/type=root
delete SubNamespace shop/web

propagation would then
  ~ Namespace web app.kubernetes.io/created-by- team-
  ~ Namespace web-dev team-
  - ConfigMap web/ca
  - ConfigMap web-dev/ca
"#);
    }

    #[test]
    fn grafting_a_namespace_that_has_an_object_in_the_way() {
        insta::assert_snapshot!(planned(Change::Graft("lone".into(), "shop".into())), @r#"
create SubNamespace shop/lone
label namespace lone innu.cybozu.com/parent=shop

propagation would then
  ~ Namespace lone app.kubernetes.io/created-by=innu team=shop
  + ConfigMap lone/start create from shop
warning: ConfigMap lone/ca stands where a copy from `shop` belongs
"#);
    }

    #[test]
    fn creating_and_deleting() {
        insta::assert_snapshot!(planned(Change::Create("api".into(), "web".into(), Default::default(), Default::default())), @r#"
create SubNamespace web/api

propagation would then
  + Namespace api under web
  + ConfigMap api/ca update from web
  + ConfigMap api/start create from web
"#);
        insta::assert_snapshot!(planned(Change::Delete("db".into())), @r#"
delete SubNamespace shop/db

propagation would then
  - Namespace db
"#);
    }

    #[test]
    fn templates() {
        insta::assert_snapshot!(planned(Change::SetTemplate("lone".into(), "base".into())), @r#"
label namespace lone innu.cybozu.com/template=base

propagation would then
  ~ Namespace lone team=base
  + ConfigMap lone/rules update from base
"#);
    }

    #[test]
    fn what_is_refused() {
        let all = [
            Change::Delete("web".into()),
            Change::Delete("lone".into()),
            Change::Move("web".into(), "web-dev".into()),
            Change::Move("web".into(), "nowhere".into()),
            Change::Move("lone".into(), "shop".into()),
            Change::Move("web".into(), "shop".into()),
            Change::Graft("web".into(), "bank".into()),
            Change::Cut("shop".into()),
            Change::Create("web".into(), "bank".into(), Default::default(), Default::default()),
            Change::Create("x".into(), "lone".into(), Default::default(), Default::default()),
            Change::SetType("shop".into(), None),
            Change::SetType("web".into(), Some(Kind::Root)),
            Change::SetTemplate("lone".into(), "shop".into()),
            Change::UnsetTemplate("lone".into()),
        ];
        insta::assert_snapshot!(all.map(planned).concat(), @r#"
refused: namespace `web` has sub-namespaces, the first is `web-dev`
refused: namespace `lone` is no sub-namespace
refused: circular reference is not permitted: namespace `web` is among its own ancestors
refused: namespace `nowhere` does not exist
refused: namespace `lone` is no sub-namespace
nothing to do
refused: namespace `web` is a sub-namespace of `shop`; use `move` to change its parent
refused: namespace `shop` is no sub-namespace
refused: namespace `web` exists already; use `graft` to put it into a tree
refused: SubNamespaces are allowed in root and sub-namespaces only, and `lone` is neither
refused: namespace `shop` has sub-namespaces, the first is `db`
refused: sub-namespace `web` cannot have a type
refused: namespace `shop` is no template
nothing to do
"#);
    }

    #[test]
    fn a_described_namespace() {
        let mut world = settled();
        let config = config(OnConflict::Keep);
        let (key, resource) = entry(&config_map("web", "ca", "update<shop", "edited"), &config);
        world.put_object(&key, resource);
        insta::assert_snapshot!(ops::describe_text(&ops::description(&world, &config, "web").unwrap()), @r#"
Name:        web
Type:        sub
Parent:      shop
Dependants:  1

KIND       NAME   FROM  MODE    STATE
ConfigMap  ca     shop  update  out of date
ConfigMap  start  shop  create  in sync
"#);
    }
}
