//! The order in which a cluster can take objects.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod support;

use podsmith_engine::{ApplyOrder, Engine, InvalidOrder, MemorySource, Sources};
use podsmith_object::{Object, json};
use support::raw;

const KINDS: [&str; 24] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

fn of_kind(kind: &str) -> Object {
    raw(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}}))
}

fn sorted(order: ApplyOrder, objects: Vec<Object>) -> Vec<Object> {
    let source = Sources::new("memory", [MemorySource::new("m", objects)]);
    let engine = Engine::builder().renderer(source).post_renderer(order).build().unwrap();
    engine.render(Default::default()).unwrap().objects
}

fn kinds_sorted(order: ApplyOrder, kinds: &[&str]) -> Vec<String> {
    let objects = kinds.iter().map(|kind| of_kind(kind)).collect();
    sorted(order, objects).iter().map(|object| object.kind().to_owned()).collect()
}

#[test]
fn all_known_kinds_have_their_place() {
    let mut backwards = KINDS;
    backwards.reverse();
    assert_eq!(kinds_sorted(ApplyOrder::new(), &backwards), KINDS);
    assert_eq!(kinds_sorted(ApplyOrder::default(), &[]), [""; 0]);
    assert_eq!(kinds_sorted(ApplyOrder::default(), &["Pod"]), ["Pod"]);
}

#[test]
fn unknown_kinds_come_in_the_middle() {
    let found = kinds_sorted(
        ApplyOrder::new(),
        &["ValidatingWebhookConfiguration", "Zebra", "PodDisruptionBudget", "Ant", "Namespace"],
    );
    assert_eq!(found, ["Namespace", "PodDisruptionBudget", "Ant", "Zebra", "ValidatingWebhookConfiguration"]);
}

#[test]
fn ties_are_broken_by_version_namespace_and_name_and_are_stable() {
    let make = |version: &str, namespace: &str, name: &str, mark: u8| {
        raw(
            json!({"apiVersion": version, "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "mark": mark}),
        )
    };
    let objects = vec![
        make("v2", "a", "a", 1),
        make("v1", "b", "a", 2),
        make("v1", "a", "b", 3),
        make("v1", "a", "a", 4),
        make("v1", "a", "a", 5),
    ];
    let marks: Vec<_> =
        sorted(ApplyOrder::new(), objects).iter().map(|object| object.body()["mark"].clone()).collect();
    assert_eq!(marks, [4, 5, 3, 2, 1]);
}

#[test]
fn custom_kinds_are_placed_before_and_after_others() {
    let order = ApplyOrder::new()
        .after("Service", ["Gateway", "HTTPRoute"])
        .unwrap()
        .after("Service", ["Late"])
        .unwrap()
        .before("Deployment", ["Certificate"])
        .unwrap()
        .before("Deployment", ["Issuer"])
        .unwrap()
        .before("Namespace", ["First"])
        .unwrap()
        .after("ValidatingWebhookConfiguration", ["Last"])
        .unwrap()
        .after("Gateway", ["Behind"])
        .unwrap();
    let mixed = [
        "Last",
        "Issuer",
        "Late",
        "Deployment",
        "Behind",
        "HTTPRoute",
        "Other",
        "Certificate",
        "Gateway",
        "Service",
        "Namespace",
        "First",
        "LimitRange",
        "ValidatingWebhookConfiguration",
    ];
    let expected = [
        "First",
        "Namespace",
        "Service",
        "Gateway",
        "Behind",
        "HTTPRoute",
        "Late",
        "LimitRange",
        "Certificate",
        "Issuer",
        "Deployment",
        "Other",
        "ValidatingWebhookConfiguration",
        "Last",
    ];
    assert_eq!(kinds_sorted(order, &mixed), expected);
    assert_eq!(
        kinds_sorted(ApplyOrder::new(), &["Gateway", "Service"]),
        ["Service", "Gateway"],
        "each value has its own order"
    );
}

#[test]
fn a_kind_that_is_placed_again_moves() {
    let order = ApplyOrder::new().after("Service", ["A"]).unwrap().before("Namespace", ["A"]).unwrap();
    assert_eq!(kinds_sorted(order, &["Namespace", "Service", "A"]), ["A", "Namespace", "Service"]);
    let order = ApplyOrder::new()
        .after("Service", ["A"])
        .unwrap()
        .after("A", ["B"])
        .unwrap()
        .after("B", ["A"])
        .unwrap();
    assert_eq!(kinds_sorted(order, &["A", "B", "Service"]), ["Service", "B", "A"], "no circle");
}

#[test]
fn a_wrong_order_is_refused() {
    let none: [&str; 0] = [];
    assert_eq!(ApplyOrder::new().after("Service", none).unwrap_err(), InvalidOrder::NoKinds);
    assert_eq!(
        ApplyOrder::new().before("Service", ["A", " "]).unwrap_err(),
        InvalidOrder::BlankKind { index: 1 }
    );
    for reference in ["", "Nothing", "A"] {
        let error = ApplyOrder::new().after(reference, ["A"]).unwrap_err();
        assert!(matches!(error, InvalidOrder::UnknownReference { .. }), "{reference}");
    }
    insta::assert_snapshot!(ApplyOrder::new().after("Servise", ["A"]).unwrap_err(), @"`Servise` has no place in the order; did you mean `Service`?");
}
