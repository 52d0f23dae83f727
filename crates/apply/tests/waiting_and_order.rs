//! Order of writes, waits with reasons, storage that survives a replace, and random packages that converge.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod support;

use podsmith_apply::{ApplyOptions, Cancel, Event, Silent};
use podsmith_object::{Object, Value, json};
use podsmith_plan::Action;
use support::{World, actions, messages, options};

on_every_cluster! {
    async fn row_15_objects_are_written_in_the_order_they_need_each_other(w: World) {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, annotations: {podsmith.dev/depends-on: apps/Deployment/d}}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: early}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n";
        w.apply(w.package("order", w.yaml(text))).await;
        let writes: Vec<String> = w.wire.writes().iter().map(|line| line.split('?').next().unwrap().rsplit('/').next().unwrap().to_owned()).collect();
        assert_eq!(writes, [w.namespace.as_str(), "podsmith-inventory-order", "early", "s", "d", "late", "podsmith-inventory-order"], "{}", w.name);
    }
}

async fn with_node(w: &World) {
    let name = format!("node-{}", w.namespace);
    w.create("/api/v1/nodes", json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})).await;
}

async fn without_node(w: &World) {
    let path = format!("/api/v1/nodes/node-{}", w.namespace);
    let request = http::Request::delete(path).body(Vec::new()).unwrap();
    let _ = w.client.request_text(request).await;
}

/// Patches the status while the apply waits for it, the way a controller would.
async fn applied_while(w: &World, text: &str, statuses: Vec<Value>) -> (podsmith_apply::Report, Vec<String>) {
    let plan = w.plan(w.package("wait", w.yaml(text))).await;
    assert!(plan.errors.is_empty(), "{:#?}", messages(&plan));
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let said = std::sync::Mutex::new(Vec::new());
    let sink = |event: Event| {
        if let Event::Waiting { message, .. } = &event {
            said.lock().unwrap().push(message.clone());
            let _ = sender.send(());
        }
    };
    let cancel = Cancel::new();
    let options = options();
    let apply = podsmith_apply::apply(&w.watched, &plan, &options, &cancel, &sink);
    let controller = async {
        for status in statuses {
            receiver.recv().await;
            w.edit(
                "/apis/apps/v1/namespaces/NS/deployments/web/status",
                "controller",
                json!({ "status": status }),
            )
            .await;
        }
    };
    let (report, ()) = tokio::join!(apply, controller);
    let said = said.into_inner().unwrap();
    (report.unwrap(), said)
}

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: 'web:1'}]}}}\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_16_a_wait_says_what_it_waits_for_and_ends_when_ready() {
    let w = support::embedded().await;
    with_node(&w).await;
    let (report, said) = applied_while(
        &w,
        WEB,
        vec![
            json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}),
            json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}),
        ],
    )
    .await;
    without_node(&w).await;
    assert!(report.is_success() && !report.no_nodes, "{report:#?}");
    assert_eq!(said, ["the deployment controller has not seen the change yet", "0 of 1 pods are available"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_16_a_rollout_that_is_stuck_ends_the_wait_early() {
    let w = support::embedded().await;
    with_node(&w).await;
    let stuck = json!({"observedGeneration": 1, "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "deadline exceeded"}]});
    let (report, _) = applied_while(&w, WEB, vec![stuck]).await;
    without_node(&w).await;
    assert!(!report.is_success());
    assert_eq!(report.not_ready[0].1, "the rollout does not get on: deadline exceeded");
    assert!(report.to_text().contains("is not ready"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_16_time_runs_out() {
    let w = support::embedded().await;
    with_node(&w).await;
    let plan = w.plan(w.package("slow", w.yaml(WEB))).await;
    let options = ApplyOptions { timeout: std::time::Duration::from_millis(300), ..options() };
    let report = podsmith_apply::apply(&w.watched, &plan, &options, &Cancel::new(), &Silent).await.unwrap();
    without_node(&w).await;
    assert!(report.not_ready[0].1.starts_with("after 0s: the deployment controller"), "{report:#?}");
}

on_every_cluster! {
    async fn row_22_storage_of_a_statefulset_survives_its_replacement(w: World) {
        let text = |size: &str| format!("podsmith {{\n  package = \"db\"\n  namespace = \"NS\"\n}}\npod \"db\" {{\n  image = \"x\"\n  volume \"data\" {{\n    size       = \"{size}\"\n    mount_path = \"/data\"\n  }}\n}}\n");
        w.apply(w.podfile(&text("1Gi"))).await;
        // The controller would make this claim from the template.
        let claim = w.create("/api/v1/namespaces/NS/persistentvolumeclaims", json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})).await;
        let plan = w.plan(w.podfile(&text("2Gi"))).await;
        let change = plan.changes.iter().find(|c| c.action == Action::Replace).unwrap_or_else(|| panic!("{}: {:#?} {:#?}", w.name, actions(&plan), messages(&plan)));
        assert!(change.reason.as_deref().unwrap().ends_with("its volumes stay"), "{:?}", change.reason);
        assert!(change.fields.iter().any(|f| f.path.contains("volumeClaimTemplates") && f.after == Some(json!("2Gi"))), "{:#?}", change.fields);
        let report = w.run_with(&plan, &ApplyOptions { replace: true, ..options() }).await;
        assert!(report.is_success(), "{report:#?}");
        let after = w.get("/api/v1/namespaces/NS/persistentvolumeclaims/data-db-0").await.unwrap();
        assert_eq!(after["metadata"]["uid"], claim["metadata"]["uid"], "{}", w.name);
        assert!(!w.plan(w.podfile(&text("2Gi"))).await.has_changes());
    }
}

mod converge {
    use super::*;
    use proptest::prelude::*;

    fn metadata() -> impl Strategy<Value = Value> {
        let map = |key: &'static str| proptest::collection::btree_map(key, "[a-z]{1,4}", 0..3);
        (map("[a-c]"), map("[d-f]"))
            .prop_map(|(labels, annotations)| json!({"labels": labels, "annotations": annotations}))
    }

    fn object() -> impl Strategy<Value = Value> {
        let data = proptest::collection::btree_map("[a-d]", "[a-z0-9 ]{0,6}", 0..4);
        let cpu = prop_oneof![Just("1"), Just("1000m"), Just("0.5"), Just("500m")];
        let ports = proptest::collection::btree_set(80u16..84, 1..4);
        prop_oneof![
            (metadata(), data.clone()).prop_map(|(m, data)| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": m, "data": data})),
            (metadata(), data).prop_map(|(m, data)| json!({"apiVersion": "v1", "kind": "Secret", "metadata": m, "stringData": data})),
            (metadata(), ports).prop_map(|(m, ports)| {
                let ports: Vec<Value> = ports.into_iter().map(|p| json!({"name": format!("p{p}"), "port": p})).collect();
                json!({"apiVersion": "v1", "kind": "Service", "metadata": m, "spec": {"ports": ports, "selector": {"a": "b"}}})
            }),
            (metadata(), cpu, 1..4u8, proptest::collection::vec("[A-C]", 0..3)).prop_map(|(m, cpu, replicas, mut env)| {
                env.sort();
                env.dedup();
                let env: Vec<Value> = env.into_iter().map(|name| json!({"name": name, "value": "x"})).collect();
                json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": m, "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "x", "env": env, "resources": {"requests": {"cpu": cpu}}}]}}}})
            }),
        ]
    }

    fn package() -> impl Strategy<Value = Vec<Value>> {
        proptest::collection::btree_map("[a-e]", object(), 0..5).prop_map(|map| {
            map.into_iter()
                .map(|(name, mut object)| {
                    object["metadata"]["name"] = json!(name);
                    object
                })
                .collect()
        })
    }

    fn check(world: impl AsyncFn() -> Option<World>, cases: u32) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let Some(w) = runtime.block_on(world()) else { return };
        let mut runner = proptest::test_runner::TestRunner::new(proptest::test_runner::Config {
            cases,
            failure_persistence: None,
            ..Default::default()
        });
        let number = std::cell::Cell::new(0);
        runner
            .run(&(package(), package()), |(live, desired)| {
                number.set(number.get() + 1);
                runtime.block_on(async {
                    let name = format!("p{}", number.get());
                    let objects = |list: &[Value]| -> Vec<Object> {
                        list.iter()
                            .map(|value| {
                                let mut object = Object::from_value(value.clone()).unwrap();
                                object.set_name(&format!("{}-{name}", object.name()));
                                object
                            })
                            .collect()
                    };
                    w.apply(w.package(&name, objects(&live))).await;
                    w.apply(w.package(&name, objects(&desired))).await;
                    w.wire.clear();
                    let again = w.apply(w.package(&name, objects(&desired))).await;
                    assert!(!again.has_changes(), "{}: {:#?}", w.name, actions(&again));
                    assert_eq!(w.wire.writes(), Vec::<String>::new());
                    assert_eq!(again.changes.len(), desired.len());
                });
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn random_packages_converge_in_one_apply_embedded() {
        check(async || Some(support::embedded().await), 40);
    }

    #[test]
    fn random_packages_converge_in_one_apply_real() {
        check(async || support::real("random_packages_converge_in_one_apply_real").await, 12);
    }
}
