//! The examples that users copy, each applied to a cluster twice: the second time nothing changes.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod support;

use std::path::PathBuf;

use podsmith_apply::PlanOptions;
use podsmith_object::files::DiskFiles;
use podsmith_object::{Object, json};
use podsmith_plan::Package;
use podsmith_podfile::{Options, Podfile};
use support::{World, actions, messages};

fn packages() -> Vec<Package> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/podfiles");
    let mut names: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".pf"))
        .collect();
    names.sort();
    assert!(names.len() >= 10);
    let mut packages = Vec::new();
    for name in names {
        let text = std::fs::read_to_string(directory.join(&name)).unwrap();
        let file = Podfile { name, directory: String::new(), text };
        let output = podsmith_podfile::render(&[file], &DiskFiles::new(&directory), &Options::default());
        for package in output.unwrap_or_else(|problems| panic!("{problems}")).packages {
            let namespace = package.namespace.unwrap_or_else(|| "default".into());
            packages.push(Package { name: package.name, namespace, objects: package.objects });
        }
    }
    packages
}

on_every_cluster! {
    async fn every_example_applies_and_is_then_up_to_date(w: World) {
        for package in packages() {
            let name = package.name.clone();
            w.apply(package.clone()).await;
            w.wire.clear();
            let again = w.plan(package.clone()).await;
            assert!(!again.has_changes() && again.errors.is_empty(), "{} {name}: {:#?} {:#?}", w.name, actions(&again), messages(&again));
            w.run(&again).await;
            assert_eq!(w.wire.writes(), Vec::<String>::new(), "{} {name}", w.name);
        }
        for package in packages() {
            let options = PlanOptions::default();
            let plan = podsmith_apply::plan_delete(&w.watched, &package.name, Some(&package.namespace), &options).await.unwrap();
            let report = w.run_with(&plan, &podsmith_apply::ApplyOptions { wait: false, ..support::options() }).await;
            assert!(report.is_success(), "{}: {report:#?}", package.name);
        }
    }
}

on_every_cluster! {
    async fn row_07_the_namespace_comes_from_the_object_then_the_package_and_never_for_cluster_kinds(w: World) {
        let objects = w.yaml("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: NS-own}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: package}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NS-role, namespace: wrong}\nrules: []\n");
        let plan = w.apply(w.package("places", objects)).await;
        let places: Vec<String> = plan.changes.iter().filter(|c| &*c.id.gvk.kind != "Namespace").map(|c| format!("{}/{}", c.id.namespace, c.id.name)).collect();
        let wanted = ["NS/package", "NS-own/own", "/NS-role"].map(|place| place.replace("NS", &w.namespace));
        assert_eq!(places, wanted, "{}", w.name);
    }
}

on_every_cluster! {
    async fn row_08_lists_empty_documents_and_empty_files(w: World) {
        assert!(w.plan(w.package("empty", w.yaml("# nothing\n---\n---\n"))).await.changes.is_empty());
        let list = w.yaml("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n---\n# only a comment\n---\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"c\"}}\n");
        let plan = w.apply(w.package("list", list)).await;
        assert_eq!(plan.changes.iter().filter(|c| &*c.id.gvk.kind == "ConfigMap").count(), 3);
    }
}

on_every_cluster! {
    async fn row_05_the_default_issuer_is_looked_up(w: World) {
        if w.name == "real" {
            // Cluster-wide definitions would be seen by the other tests that share the real server.
            return;
        }
        let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: clusterissuers.cert-manager.io}\nspec:\n  group: cert-manager.io\n  scope: Cluster\n  names: {plural: clusterissuers, singular: clusterissuer, kind: ClusterIssuer, listKind: ClusterIssuerList}\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n";
        w.apply(w.package("cert-manager", w.yaml(definition))).await;
        let site = "podsmith {\n  package = \"d\"\n  namespace = \"NS\"\n}\npod \"a\" {\n  image = \"x\"\n  service \"http\" {\n    port = 80\n    ingress {\n      hostname = \"a.example.org\"\n      tls = true\n    }\n  }\n}\n";
        let first = w.plan(w.podfile(site)).await;
        assert!(first.errors[0].to_string().contains("there is no ClusterIssuer"), "{:#?}", messages(&first));
        let issuer = |name: &str, marked: bool| json!({"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": name, "annotations": if marked { json!({"podinate.com/default-cluster-issuer": "true"}) } else { json!({}) }}});
        for (name, marked, expected) in [("one", false, Ok("one")), ("two", false, Err("is marked")), ("three", true, Ok("three")), ("four", true, Err("several are marked"))] {
            w.create("/apis/cert-manager.io/v1/clusterissuers", issuer(name, marked)).await;
            let plan = w.plan(w.podfile(site)).await;
            match expected {
                Ok(name) => {
                    let ingress = plan.changes.iter().filter_map(|c| c.desired.as_ref()).find(|o: &&Object| o.kind() == "Ingress").unwrap();
                    assert_eq!(ingress.annotation("cert-manager.io/cluster-issuer"), Some(name));
                    assert_eq!(ingress.annotation("podsmith.dev/default-issuer"), None);
                }
                Err(part) => assert!(plan.errors[0].to_string().contains(part), "{:#?}", messages(&plan)),
            }
        }
    }
}
