//! Who may do what: one row for each rule.

#![allow(clippy::unwrap_used)]

mod support;

use podsmith_namespaces::admission::{self, Denied};
use podsmith_namespaces::claim::Claim;
use podsmith_namespaces::config::{NamingPolicy, OnConflict};
use podsmith_namespaces::world::World;
use podsmith_namespaces::{Config, Keys};
use podsmith_object::{Object, json};
use support::{config, labels, namespace};

/// A tree, a lone root, templates in use and not, and things that are broken.
fn world() -> World {
    let mut world = World::new();
    for (name, text) in [
        ("root", "type=root"),
        ("sub", "parent=root"),
        ("leaf", "parent=sub"),
        ("lone", "type=root"),
        ("tmpl", "type=template"),
        ("inst", "template=tmpl"),
        ("spare", "type=template"),
        ("chained", "type=template,template=tmpl"),
        ("plain", ""),
        ("lost", "parent=gone"),
    ] {
        world.put_namespace(namespace(name, text));
    }
    world
}

fn ok(result: &Result<(), Denied>) -> bool {
    result.is_ok()
}

#[test]
fn namespaces_are_created_by_the_rules() {
    for (text, allowed) in [
        ("", true),
        ("type=root", true),
        ("parent=root", true),
        ("parent=sub", true),
        ("parent=", true),
        ("template=tmpl", true),
        ("type=root,template=tmpl", true),
        ("type=template,template=tmpl", true),
        ("parent=new", false),
        ("template=new", false),
        ("parent=root,template=tmpl", false),
        ("parent=root,type=root", false),
        ("parent=root,type=template", false),
        ("parent=gone", false),
        ("parent=plain", false),
        ("parent=tmpl", false),
        ("template=gone", false),
        ("template=plain", false),
        ("template=root", false),
        // A sub-namespace is no template, whatever its labels.
        ("template=sub", false),
    ] {
        let result =
            admission::create_namespace(&world(), &config(OnConflict::Keep), &namespace("new", text));
        assert_eq!(ok(&result), allowed, "{text}: {result:?}");
    }
}

#[test]
fn namespaces_are_changed_by_the_rules() {
    for (name, after, allowed) in [
        ("lone", "", true),
        ("spare", "", true),
        ("leaf", "", true),
        ("sub", "type=root", true),
        ("leaf", "parent=root", true),
        ("inst", "template=spare", true),
        ("plain", "type=root", true),
        ("root", "", false),
        ("root", "type=template", false),
        ("tmpl", "", false),
        ("sub", "", false),
        // Dropping the parent while adding a template is no way around.
        ("sub", "template=tmpl", false),
        ("sub", "type=template", false),
        ("sub", "parent=leaf", false),
        ("root", "type=root,parent=leaf", false),
        ("tmpl", "type=template,template=chained", false),
        ("tmpl", "type=template,template=tmpl", false),
        ("leaf", "parent=sub,template=tmpl", false),
        ("leaf", "parent=sub,type=root", false),
        ("leaf", "parent=gone", false),
        ("leaf", "parent=plain", false),
        ("leaf", "parent=lost", false),
        ("inst", "template=gone", false),
        // What is broken can be repaired, and worked in until then.
        ("lost", "parent=gone,team=a", true),
        ("lost", "parent=root", true),
        ("lost", "", true),
    ] {
        let world = world();
        let result = admission::update_namespace(
            &world,
            &config(OnConflict::Keep),
            world.namespace(name).unwrap(),
            &namespace(name, after),
        );
        assert_eq!(ok(&result), allowed, "{name} to {after}: {result:?}");
    }
}

#[test]
fn namespaces_are_deleted_by_the_rules() {
    let mut tree_allows = world();
    let mut root = namespace("root", "type=root");
    root.annotations.insert("innu.cybozu.com/allow-cascading-deletion".into(), "true".into());
    tree_allows.put_namespace(root);
    let everywhere = Config { allow_cascading_deletion: true, ..config(OnConflict::Keep) };
    let usual = config(OnConflict::Keep);
    for (name, plainly, with_flag, in_tree) in [
        ("plain", true, true, true),
        ("lone", true, true, true),
        ("leaf", true, true, true),
        ("spare", true, true, true),
        ("inst", true, true, true),
        ("root", false, true, true),
        ("sub", false, true, true),
        ("tmpl", false, false, false),
    ] {
        for (world, config, allowed) in [
            (world(), &usual, plainly),
            (world(), &everywhere, with_flag),
            (tree_allows.clone(), &usual, in_tree),
        ] {
            let result = admission::delete_namespace(&world, config, world.namespace(name).unwrap());
            assert_eq!(ok(&result), allowed, "{name}: {result:?}");
        }
    }
}

fn claim(namespace: &str, name: &str) -> Claim {
    Claim { namespace: namespace.into(), name: name.into(), ..Claim::default() }
}

#[test]
fn subnamespaces_are_created_in_roots_and_sub_namespaces_only() {
    for (place, allowed) in
        [("root", true), ("sub", true), ("plain", false), ("tmpl", false), ("inst", false), ("gone", false)]
    {
        let result = admission::create_claim(&world(), &config(OnConflict::Keep), &claim(place, "new"));
        assert_eq!(ok(&result), allowed, "{place}: {result:?}");
    }
}

#[test]
fn the_spec_of_a_subnamespace_must_be_valid_also_when_it_is_changed() {
    let good = Claim {
        labels: labels("team=a"),
        annotations: labels("Example.com/Note=any text"),
        ..claim("root", "new")
    };
    let bad_label = Claim { labels: labels("team=a b"), ..claim("root", "new") };
    let bad_annotation = Claim { annotations: labels("a b=x"), ..claim("root", "new") };
    for (claim, allowed) in [(good, true), (bad_label, false), (bad_annotation, false)] {
        assert_eq!(
            ok(&admission::create_claim(&world(), &config(OnConflict::Keep), &claim)),
            allowed,
            "{claim:?}"
        );
        assert_eq!(ok(&admission::update_claim(&self::claim("root", "new"), &claim)), allowed, "{claim:?}");
        assert!(ok(&admission::update_claim(&claim, &claim)), "what was there before can stay");
    }
}

#[test]
fn naming_policies_look_at_the_root_of_the_tree() {
    let config = Config {
        naming_policies: vec![NamingPolicy::new("^root$", "^root-").unwrap()],
        ..config(OnConflict::Keep)
    };
    for (place, name, allowed) in
        [("leaf", "root-a", true), ("leaf", "a", false), ("lone", "a", true), ("root", "Root-A", false)]
    {
        let result = admission::create_claim(&world(), &config, &claim(place, name));
        assert_eq!(ok(&result), allowed, "{place}/{name}: {result:?}");
    }
}

#[test]
fn subnamespaces_are_deleted_by_the_rules() {
    let everywhere = Config { allow_cascading_deletion: true, ..config(OnConflict::Keep) };
    for (claim, allowed) in [
        (claim("root", "sub"), false),
        (claim("sub", "leaf"), true),
        (claim("root", "gone"), true),
        (claim("lone", "sub"), true),
    ] {
        assert_eq!(
            ok(&admission::delete_claim(&world(), &config(OnConflict::Keep), &claim)),
            allowed,
            "{claim:?}"
        );
        assert!(ok(&admission::delete_claim(&world(), &everywhere, &claim)));
    }
}

#[test]
fn the_finalizer_is_put_beside_the_others() {
    let mut object = Object::from_value(json!({"metadata": {"finalizers": ["mine"]}})).unwrap();
    admission::hold(&mut object, &Keys::default());
    admission::hold(&mut object, &Keys::default());
    assert_eq!(object.get(&["metadata", "finalizers"]), Some(&json!(["mine", "innu.cybozu.com/finalizer"])));
}

#[test]
fn namespaces_without_our_labels_are_no_concern() {
    for (text, expected) in
        [("", false), ("team=a", false), ("parent=", false), ("type=root", true), ("template=x", true)]
    {
        assert_eq!(admission::concerns(&namespace("n", text), &Keys::default()), expected, "{text}");
    }
}
