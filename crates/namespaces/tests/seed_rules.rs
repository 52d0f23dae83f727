//! Every rule of the original description, each test named after its line.

#![allow(clippy::unwrap_used)]

mod support;

use podsmith_namespaces::claim::Claim;
use podsmith_namespaces::config::OnConflict;
use podsmith_namespaces::keys::CREATED_BY;
use podsmith_namespaces::model::{Key, Name, Namespace};
use podsmith_namespaces::{Config, desired_of, write};
use podsmith_object::{Object, json};
use support::fake::Fake;
use support::{KIND, config, config_map, labels};

/// A cluster that is brought to rest by the pure function alone.
struct Cluster {
    fake: Fake,
    config: Config,
}

impl Cluster {
    fn new(namespaces: &[(&str, &str)]) -> Self {
        let mut out = Self { fake: Fake::default(), config: config(OnConflict::Keep) };
        for (name, text) in namespaces {
            out.fake.put_namespace(Namespace::new(*name, labels(text), &out.config.keys));
        }
        out
    }

    fn overwriting(mut self) -> Self {
        self.config.on_conflict = OnConflict::Overwrite;
        self
    }

    fn put(&mut self, object: Object) -> &mut Self {
        self.fake.put_object(object);
        self
    }

    fn map(&mut self, namespace: &str, how: &str, data: &str) -> &mut Self {
        self.put(config_map(namespace, "x", how, data))
    }

    fn claim(&mut self, namespace: &str, name: &str) -> &mut Self {
        self.fake.put_claim(Claim {
            namespace: namespace.into(),
            name: name.into(),
            generation: 1,
            ..Claim::default()
        });
        self
    }

    fn unclaim(&mut self, namespace: &str, name: &str) -> &mut Self {
        self.fake.delete_claim(&(namespace.into(), name.into()), &self.config);
        self
    }

    fn label(&mut self, namespace: &str, key: &str, value: Option<&str>) -> &mut Self {
        let ours = ["type", "parent", "template"].contains(&key);
        let key = if ours { format!("innu.cybozu.com/{key}") } else { key.to_owned() };
        self.fake.label(namespace, &key, value, &self.config);
        self
    }

    fn drop_map(&mut self, namespace: &str) -> &mut Self {
        self.fake.delete_object(&Key::new(namespace, KIND, "x"));
        self
    }

    fn settle(&mut self) -> &mut Self {
        for _ in 0..50 {
            let world = self.fake.world(&self.config);
            let writes = write::all(&world, &self.config, &desired_of(&world, &self.config));
            let worked = self.fake.terminate(&self.config);
            if writes.is_empty() && !worked {
                return self;
            }
            writes.iter().for_each(|write| drop(self.fake.write(write, &self.config)));
        }
        panic!("no rest");
    }

    /// `update<root:1` for a copy with that mode, origin and data; empty when there is nothing.
    fn at(&self, namespace: &str) -> String {
        let Some(object) = self.fake.objects.get(&Key::new(namespace, KIND, "x")) else {
            return String::new();
        };
        let word = |key: &str| object.annotation(key).unwrap_or("").to_owned();
        let from = word("innu.cybozu.com/from");
        let from = if from.is_empty() { from } else { format!("<{from}") };
        let data = object.get(&["data", "k"]).and_then(|v| v.as_str()).unwrap_or("").to_owned();
        format!("{}{from}:{data}", word("innu.cybozu.com/propagate"))
    }

    fn value(&self, namespace: &str, key: &str) -> Option<&str> {
        self.fake.namespaces.get(namespace)?.labels.get(key).map(String::as_str)
    }

    fn exists(&self, namespace: &str) -> bool {
        self.fake.namespaces.contains_key(namespace)
    }

    fn conditions(&self, namespace: &str, name: &str) -> Vec<String> {
        let claim = &self.fake.claims[&(Name::from(namespace), Name::from(name))];
        claim.status.conditions.iter().map(|c| format!("{}/{}", c.kind, c.reason)).collect()
    }
}

fn tree() -> Cluster {
    Cluster::new(&[("root", "type=root"), ("sub", "parent=root"), ("leaf", "parent=sub")])
}

fn template() -> Cluster {
    Cluster::new(&[("tmpl", "type=template"), ("inst", "template=tmpl")])
}

// SubNamespace

#[test]
fn for_a_new_subnamespace_a_sub_namespace_is_created() {
    let mut c = Cluster::new(&[("root", "type=root,team=a")]);
    c.claim("root", "sub").settle();
    assert_eq!(c.value("sub", "innu.cybozu.com/parent"), Some("root"));
    assert_eq!((c.value("sub", CREATED_BY), c.value("sub", "team")), (Some("innu"), Some("a")));
    assert_eq!(c.fake.claims[&("root".into(), "sub".into())].status.observed, Some(1));
    assert!(c.conditions("root", "sub").is_empty());
}

#[test]
fn for_a_deleting_subnamespace_its_sub_namespace_is_deleted_if_the_parent_is_the_same() {
    let mut c = Cluster::new(&[("root", "type=root")]);
    c.claim("root", "sub").settle().unclaim("root", "sub").settle();
    assert!(!c.exists("sub") && c.fake.claims.is_empty());
}

#[test]
fn for_a_deleting_subnamespace_a_namespace_with_another_parent_stays() {
    let mut c = Cluster::new(&[("root", "type=root"), ("other", "type=root")]);
    c.claim("root", "sub").settle().label("sub", "parent", Some("other")).settle();
    assert_eq!(c.conditions("root", "sub"), ["Stalled/Conflict"]);
    c.unclaim("root", "sub").settle();
    assert!(c.exists("sub") && c.fake.claims.is_empty());
}

#[test]
fn the_oldest_claim_wins_and_the_other_one_takes_over_when_it_goes() {
    let mut c = Cluster::new(&[("r1", "type=root"), ("r2", "type=root")]);
    c.claim("r2", "sub").claim("r1", "sub").settle();
    assert_eq!(c.value("sub", "innu.cybozu.com/parent"), Some("r2"));
    assert_eq!(c.conditions("r1", "sub"), ["Stalled/Conflict"]);
    c.unclaim("r2", "sub").settle();
    assert_eq!(c.value("sub", "innu.cybozu.com/parent"), Some("r1"));
    assert!(c.conditions("r1", "sub").is_empty());
}

#[test]
fn a_deleted_sub_namespace_comes_back_while_it_is_claimed() {
    let mut c = Cluster::new(&[("root", "type=root")]);
    c.claim("root", "sub").settle();
    let before = c.fake.namespaces["sub"].uid.clone();
    c.fake.delete_namespace("sub");
    c.settle();
    assert_ne!(c.fake.namespaces["sub"].uid, before);
}

// Namespaces that are labeled with template

#[test]
fn labels_are_propagated_from_the_template_namespace() {
    let mut c = Cluster::new(&[("tmpl", "type=template,team=a,other=b"), ("inst", "template=tmpl")]);
    c.settle();
    assert_eq!((c.value("inst", "team"), c.value("inst", "other")), (Some("a"), None));
    c.label("tmpl", "team", None).settle();
    assert_eq!(c.value("inst", "team"), None);
}

#[test]
fn copies_of_template_resources_with_create_are_made_if_they_are_missing() {
    let mut c = template();
    c.map("tmpl", "create", "1").settle();
    assert_eq!(c.at("inst"), "create<tmpl:1");
    c.map("tmpl", "create", "2").settle();
    assert_eq!(c.at("inst"), "create<tmpl:1");
    c.drop_map("inst").settle();
    assert_eq!(c.at("inst"), "create<tmpl:2");
}

#[test]
fn copies_of_template_resources_with_update_are_made_or_updated() {
    let mut c = template();
    c.map("tmpl", "update", "1").settle().map("tmpl", "update", "2").settle();
    assert_eq!(c.at("inst"), "update<tmpl:2");
    c.map("inst", "update<tmpl", "tampered").settle();
    assert_eq!(c.at("inst"), "update<tmpl:2");
}

#[test]
fn update_resources_from_another_namespace_than_the_template_are_deleted() {
    let mut c = template();
    c.map("inst", "update<elsewhere", "1").settle();
    assert_eq!(c.at("inst"), "");
}

#[test]
fn update_resources_without_one_in_the_template_are_deleted() {
    let mut c = template();
    c.map("tmpl", "update", "1").settle().drop_map("tmpl").settle();
    assert_eq!(c.at("inst"), "");
}

// Namespaces without upstream

#[test]
fn when_the_labels_are_removed_update_copies_are_deleted() {
    for (mut c, label, namespace) in [(template(), "template", "inst"), (tree(), "parent", "sub")] {
        let top = if namespace == "inst" { "tmpl" } else { "root" };
        c.map(top, "update", "1").label(top, "team", Some("a")).settle();
        assert!(!c.at(namespace).is_empty() && c.value(namespace, "team").is_some());
        c.label(namespace, label, None).settle();
        assert_eq!(c.at(namespace), "", "{namespace}");
        assert_eq!(c.value(namespace, "team"), None, "what was inherited goes too");
    }
}

#[test]
fn when_the_labels_are_removed_create_copies_and_origins_stay() {
    let mut c = tree();
    c.map("root", "create", "1").settle().label("sub", "parent", None).settle();
    assert_eq!(c.at("sub"), "create<root:1");
    let mut c = Cluster::new(&[("plain", "")]);
    c.map("plain", "update", "1").settle();
    assert_eq!(c.at("plain"), "update:1");
}

// Template namespace, root namespace, sub-namespace

#[test]
fn a_template_namespace_propagates_labels_to_its_instances_and_theirs() {
    let mut c = Cluster::new(&[
        ("t1", "type=template,team=a"),
        ("t2", "type=template,template=t1"),
        ("i", "template=t2"),
    ]);
    c.settle();
    assert_eq!(c.value("i", "team"), Some("a"));
    c.label("t2", "team", Some("mine")).settle();
    assert_eq!((c.value("t2", "team"), c.value("i", "team")), (Some("a"), Some("a")));
}

#[test]
fn a_root_namespace_propagates_labels_to_its_sub_namespaces() {
    let mut c = tree();
    c.label("root", "team", Some("a")).settle();
    assert_eq!(c.value("sub", "team"), Some("a"));
}

#[test]
fn a_sub_namespace_propagates_labels_to_its_sub_namespaces() {
    let mut c = tree();
    c.label("root", "team", Some("a")).settle();
    assert_eq!(c.value("leaf", "team"), Some("a"));
    c.label("root", "team", None).settle();
    assert_eq!((c.value("sub", "team"), c.value("leaf", "team")), (None, None));
}

#[test]
fn the_spec_of_a_subnamespace_wins_over_what_is_inherited() {
    let mut c = Cluster::new(&[("root", "type=root,team=a")]);
    let mut claim = Claim { namespace: "root".into(), name: "sub".into(), generation: 1, ..Claim::default() };
    claim.labels = labels("team=mine,app=web,forbidden=x");
    c.fake.put_claim(claim);
    c.claim("sub", "leaf").settle();
    assert_eq!((c.value("sub", "team"), c.value("sub", "app")), (Some("mine"), Some("web")));
    assert_eq!((c.value("sub", "forbidden"), c.value("leaf", "team")), (None, Some("mine")));
    let mut claim = c.fake.claims[&("root".into(), "sub".into())].clone();
    claim.labels.clear();
    c.fake.put_claim(claim);
    c.settle();
    assert_eq!((c.value("sub", "team"), c.value("sub", "app")), (Some("a"), None));
}

#[test]
fn copies_of_parent_resources_with_create_are_made_if_they_are_missing() {
    let mut c = tree();
    c.map("root", "create", "1").settle();
    assert_eq!((c.at("sub"), c.at("leaf")), ("create<root:1".into(), "create<sub:1".into()));
    c.map("sub", "create<root", "edited").drop_map("leaf").settle();
    assert_eq!((c.at("sub"), c.at("leaf")), ("create<root:edited".into(), "create<sub:edited".into()));
    c.drop_map("root").settle();
    assert_eq!(c.at("sub"), "create<root:edited");
}

#[test]
fn copies_of_parent_resources_with_update_are_made_or_updated() {
    let mut c = tree();
    c.map("root", "update", "1").settle().map("root", "update", "2").settle();
    assert_eq!((c.at("sub"), c.at("leaf")), ("update<root:2".into(), "update<sub:2".into()));
}

#[test]
fn update_resources_from_another_namespace_than_the_parent_are_deleted() {
    let mut c = tree();
    c.map("leaf", "update<root", "forged").settle();
    assert_eq!(c.at("leaf"), "");
}

#[test]
fn update_resources_without_one_in_the_parent_are_deleted() {
    let mut c = tree();
    c.map("sub", "update<root", "orphan").map("leaf", "update<sub", "orphan").settle();
    assert_eq!((c.at("sub"), c.at("leaf")), (String::new(), String::new()));
}

// Watched resources

#[test]
fn a_copy_that_differs_from_its_parent_resource_is_updated() {
    let mut c = tree();
    let mut source = config_map("root", "x", "update", "1");
    source.body_mut().insert("binaryData".into(), json!({"a": "YQ==", "b": "Yg=="}));
    source.set_label("l", "1");
    source.set_label("skip-me", "1");
    c.put(source.clone()).settle();
    source.body_mut().insert("binaryData".into(), json!({"a": "YQ=="}));
    source.remove_label("l");
    c.put(source).settle();
    let copy = &c.fake.objects[&Key::new("leaf", KIND, "x")];
    assert_eq!(copy.get(&["binaryData"]), Some(&json!({"a": "YQ=="})), "a removed key goes");
    assert_eq!((copy.label("l"), copy.label("skip-me")), (None, None));
    let mut touched = copy.clone();
    touched.set_label("tenant", "1");
    c.put(touched).settle();
    assert_eq!(c.fake.objects[&Key::new("leaf", KIND, "x")].label("tenant"), None, "an added key goes");
}

#[test]
fn when_a_resource_is_deleted_its_update_copies_are_deleted() {
    let mut c = tree();
    c.map("root", "update", "1").settle().drop_map("root").settle();
    assert_eq!((c.at("sub"), c.at("leaf")), (String::new(), String::new()));
}

#[test]
fn a_change_of_mode_takes_effect_at_once() {
    for (before, after, expected) in [
        ("update", "create", "create<root:1"),
        ("create", "update", "update<root:1"),
        ("update", "", ""),
        ("create", "", "create<root:1"),
        ("", "create", "create<root:1"),
        ("", "update", "update<root:1"),
        ("update", "nonsense", ""),
    ] {
        let mut c = tree();
        c.map("root", before, "1").settle().map("root", after, "1").settle();
        assert_eq!(c.at("sub"), expected, "{before} to {after}");
    }
}

#[test]
fn a_resource_owned_by_one_with_propagate_generated_is_annotated() {
    for mode in ["create", "update"] {
        let mut c = tree();
        c.config.propagate_generated = true;
        let mut owner = config_map("root", "owner", "", "o");
        owner.set_annotation("innu.cybozu.com/propagate-generated", mode);
        let owner = c.fake.put_object(owner);
        let uid = owner.get(&["metadata", "uid"]).unwrap().clone();
        let mut owned = config_map("root", "x", "", "1");
        owned.metadata_mut().insert("ownerReferences".into(), json!([{"uid": uid, "controller": true}]));
        c.put(owned).settle();
        assert_eq!(c.at("root"), format!("{mode}:1"));
        assert_eq!(c.at("leaf"), format!("{mode}<sub:1"));
    }
}

// What the description leaves open

#[test]
fn a_foreign_object_is_kept_and_the_conflict_is_told() {
    let mut c = Cluster::new(&[("root", "type=root")]);
    c.claim("root", "sub").settle().map("sub", "", "mine").map("root", "update", "1").settle();
    assert_eq!(c.at("sub"), ":mine");
    assert_eq!(c.conditions("root", "sub"), ["PropagationConflict/ObjectExists"]);
    c.drop_map("sub").settle();
    assert_eq!(c.at("sub"), "update<root:1", "the copy appears when the blocker goes");
    assert!(c.conditions("root", "sub").is_empty());
}

#[test]
fn a_foreign_object_is_overwritten_only_when_asked_for() {
    let mut c = tree().overwriting();
    c.map("sub", "", "mine").map("root", "update", "1").settle();
    assert_eq!(c.at("sub"), "update<root:1");
}

#[test]
fn an_own_update_object_below_a_create_source_survives_the_source() {
    let mut c = tree();
    c.map("sub", "update", "mine").map("root", "create", "1").settle().drop_map("root").settle();
    assert_eq!((c.at("sub"), c.at("leaf")), ("update:mine".into(), "update<sub:mine".into()));
}

#[test]
fn a_moved_subtree_follows() {
    let mut c = tree();
    c.fake.put_namespace(Namespace::new("other", labels("type=root,team=b"), &c.config.keys));
    c.map("root", "update", "1").put(config_map("root", "y", "create", "y")).settle();
    c.label("sub", "parent", Some("other")).settle();
    assert_eq!((c.at("sub"), c.at("leaf")), (String::new(), String::new()));
    assert_eq!((c.value("sub", "team"), c.value("leaf", "team")), (Some("b"), Some("b")));
    assert!(c.fake.objects.contains_key(&Key::new("sub", KIND, "y")), "what was copied once stays");
}

#[test]
fn cycles_and_gaps_freeze_what_hangs_below() {
    let mut c =
        Cluster::new(&[("a", "parent=b"), ("b", "parent=a"), ("c", "parent=b"), ("d", "parent=gone")]);
    for namespace in ["a", "b", "c", "d"] {
        c.map(namespace, "update<gone", "1");
    }
    c.settle();
    assert!(["a", "b", "c", "d"].iter().all(|namespace| c.at(namespace) == "update<gone:1"));
    let world = c.fake.world(&c.config);
    let frozen: Vec<String> =
        desired_of(&world, &c.config).frozen.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    insta::assert_snapshot!(frozen.join("\n"), @r#"
a: namespace `a` is among its own ancestors
b: namespace `b` is among its own ancestors
c: namespace `b` is among its own ancestors
d: namespace `gone` does not exist
"#);
    c.label("a", "parent", None).settle();
    assert_eq!((c.at("a"), c.at("b"), c.at("c")), (String::new(), String::new(), String::new()));
}
