//! A package made ready: namespaces, identity, mistakes.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use podsmith_object::{GroupVersionKind, Object, Value, json};
use podsmith_plan::kinds::{Kinds, Resource};
use podsmith_plan::{Package, PrepareOptions, prepare};

fn kinds() -> Kinds {
    let mut kinds = Kinds::new();
    for (group, version, kind, plural, namespaced) in [
        ("", "v1", "ConfigMap", "configmaps", true),
        ("", "v1", "Namespace", "namespaces", false),
        ("", "v1", "Secret", "secrets", true),
        ("apps", "v1", "Deployment", "deployments", true),
        ("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
        ("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    ] {
        kinds.insert(Resource {
            gvk: GroupVersionKind::new(group, version, kind),
            plural: plural.into(),
            namespaced,
        });
    }
    kinds
}

fn run(objects: Vec<Value>) -> (Vec<String>, Vec<String>) {
    let objects = objects.into_iter().map(|value| Object::from_value(value).unwrap()).collect();
    let package = Package { name: "shop".into(), namespace: "prod".into(), objects };
    let (prepared, problems) = prepare(package, &mut kinds(), PrepareOptions::default());
    (
        prepared.objects.iter().map(|o| o.id().to_string()).collect(),
        problems.0.iter().map(ToString::to_string).collect(),
    )
}

#[test]
fn namespaces_are_given_by_scope() {
    let (ids, problems) = run(vec![
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "other"}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "namespace": "wrong"}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "c"}, "spec": {"group": "x.org", "scope": "Cluster", "names": {"kind": "C", "plural": "cs"}, "versions": [{"name": "v1", "served": true}]}}),
        json!({"apiVersion": "x.org/v1", "kind": "C", "metadata": {"name": "c"}}),
    ]);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(
        ids,
        ["ConfigMap prod/a", "ConfigMap other/b", "Namespace n", "CustomResourceDefinition c", "C.x.org c"]
    );
}

#[test]
fn every_object_says_which_package_it_belongs_to() {
    let object = Object::from_value(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"app.kubernetes.io/managed-by": "Helm"}}})).unwrap();
    let package = Package { name: "my shop".into(), namespace: "prod".into(), objects: vec![object] };
    let (prepared, _) = prepare(package, &mut kinds(), PrepareOptions::default());
    assert_eq!(prepared.objects[0].label("app.kubernetes.io/managed-by"), Some("podsmith"));
    assert_eq!(prepared.objects[0].label("app.kubernetes.io/part-of"), Some("my-shop"));
    assert!(prepared.objects[0].annotation("podsmith.dev/digest").is_some());
}

#[test]
fn all_mistakes_are_told_and_the_rest_is_kept() {
    let (ids, problems) = run(vec![
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMp", "metadata": {"name": "a"}}),
        json!({"apiVersion": "apps/v2", "kind": "Deployment", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "Deployment", "metadata": {"name": "a"}}),
        json!({"apiVersion": "x.org/v1", "kind": "Thing", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}}),
    ]);
    assert_eq!(ids, ["ConfigMap prod/a"]);
    insta::assert_snapshot!(problems.join("\n"), @r"
    error: ConfigMp a: the cluster does not know v1 ConfigMp
    hint: did you mean `ConfigMap`?
    error: Deployment a: the cluster does not know apps/v2 Deployment
    hint: the cluster serves Deployment as apps/v1
    error: Deployment a: the cluster does not know v1 Deployment
    hint: Deployment exists in apps/v1
    error: Thing.x.org a: the cluster does not know x.org/v1 Thing
    hint: add its CustomResourceDefinition to the package, or install it first
    error: ConfigMap (no name): an object with generateName is new on every run and cannot be kept up to date
    hint: give it a name
    error: ConfigMap prod/a: the package declares this object twice
    hint: remove one of them, or give it another name
    ");
}

#[test]
fn plain_secret_values_are_declared_as_data_so_that_they_can_go_away() {
    let object = Object::from_value(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"x": "eA=="}, "stringData": {"y": "why"}})).unwrap();
    let package = Package { name: "p".into(), namespace: "prod".into(), objects: vec![object] };
    let (prepared, _) = prepare(package, &mut kinds(), PrepareOptions::default());
    assert_eq!(prepared.objects[0].get(&["data"]), Some(&json!({"x": "eA==", "y": "d2h5"})));
    assert_eq!(prepared.objects[0].get(&["stringData"]), None);
}
