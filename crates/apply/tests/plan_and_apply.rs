//! The rows of the acceptance list that need a cluster, each on the embedded and on a real one.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod support;

use podsmith_apply::{ApplyError, ApplyOptions, Cancel, PlanOptions, Silent};
use podsmith_object::{Value, json};
use podsmith_plan::planfile::{self, PlanKey};
use podsmith_plan::text::{Detail, Palette};
use podsmith_plan::{Action, text};
use support::{Fault, World, actions, messages, options};

const SHOP: &str = r#"
podinate {
  package   = "shop"
  namespace = "NS"
}
pod "web" {
  image = "ghcr.io/acme/shop:2.4"
  environment {
    A = 1
    B = 2
    C = 3
    D = 4
    E = 5
    F = 6
    G = 7
    H = 8
  }
  volume "one" {
    size       = "1Gi"
    mount_path = "/one"
  }
  volume "two" {
    size       = "1Gi"
    mount_path = "/two"
  }
  service "web" {
    port        = 80
    target_port = 8080
    INGRESS
  }
  service "statsd" {
    port     = 8125
    protocol = "udp"
    type     = "NodePort"
  }
}
"#;

const INGRESS: &str =
    "ingress {\n      hostname      = \"shop.example.org\"\n      ingress_class = \"nginx\"\n    }";

on_every_cluster! {
    async fn row_12_a_second_apply_writes_nothing(w: World) {
        let text = SHOP.replace("INGRESS", INGRESS);
        w.apply(w.podfile(&text)).await;
        w.wire.clear();
        let plan = w.apply(w.podfile(&text)).await;
        assert!(!plan.has_changes(), "{}: {:#?}", w.name, text::render(&plan, Palette::Plain, Detail::Changes));
        assert_eq!(w.wire.writes(), Vec::<String>::new(), "{}", w.name);
        // Two for discovery, one for inventories, one for each kind.
        assert!(w.wire.requests().len() <= 3 + 3, "{}: {:#?}", w.name, w.wire.requests());
    }
}

on_every_cluster! {
    async fn row_18_an_ingress_added_to_a_live_pod_is_planned_and_applied(w: World) {
        w.apply(w.podfile(&SHOP.replace("INGRESS", ""))).await;
        let before = w.get("/apis/apps/v1/namespaces/NS/statefulsets/web").await.unwrap();
        let plan = w.apply(w.podfile(&SHOP.replace("INGRESS", INGRESS))).await;
        let changed: Vec<String> = actions(&plan).into_iter().filter(|a| !a.starts_with("noop")).collect();
        assert_eq!(changed, ["create Ingress web"], "{}", w.name);
        assert_eq!(plan.resource_summary().update, 1);
        assert!(w.get("/apis/networking.k8s.io/v1/namespaces/NS/ingresses/web").await.is_some());
        let after = w.get("/apis/apps/v1/namespaces/NS/statefulsets/web").await.unwrap();
        assert_eq!(before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"], "{}", w.name);
    }
}

on_every_cluster! {
    async fn row_09_objects_and_inventory_name_the_package(w: World) {
        w.apply(w.package("ident", w.yaml("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"))).await;
        let object = w.get("/api/v1/namespaces/NS/configmaps/a").await.unwrap();
        assert_eq!(object["metadata"]["labels"]["app.kubernetes.io/managed-by"], "podsmith");
        assert_eq!(object["metadata"]["labels"]["app.kubernetes.io/part-of"], "ident");
        let inventory = w.get("/api/v1/namespaces/NS/configmaps/podsmith-inventory-ident").await.unwrap();
        let record: Value = serde_json::from_str(inventory["data"]["inventory.json"].as_str().unwrap()).unwrap();
        assert_eq!(record["objects"][0]["name"], "a");
        assert_eq!(record["objects"].as_array().unwrap().len(), 1, "the namespace that only had to exist is not owned");
    }
}

on_every_cluster! {
    async fn row_10_all_errors_are_collected_and_nothing_is_written(w: World) {
        let objects = w.yaml("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: default}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: one, namespace: default}\nspec: {ports: [{port: 99999}]}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name, namespace: default}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: three, namespace: default}\nspec: {replicaz: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n---\napiVersion: x/v1\nkind: Nothing\nmetadata: {name: four}\n");
        let plan = w.plan(w.package("bad", objects)).await;
        let found = messages(&plan);
        for name in ["Service default/one", "ConfigMap default/Bad_Name", "Deployment default/three", "Nothing.x"] {
            assert!(found.iter().any(|message| message.contains(name)), "{}: {name} in {found:#?}", w.name);
        }
        assert!(!found.iter().any(|message| message.contains("good")), "{found:#?}");
        assert_eq!(w.wire.writes(), Vec::<String>::new());
        let refused = podsmith_apply::apply(&w.watched, &plan, &options(), &Cancel::new(), &Silent).await;
        assert!(matches!(refused, Err(ApplyError::PlanHasErrors(_))));
        assert_eq!(w.wire.writes(), Vec::<String>::new());
    }
}

const CRD: &str = r#"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.NS.example.org}
spec:
  group: NS.example.org
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer, minimum: 1}}
            x-kubernetes-validations:
            - {rule: "self.size < 100", message: "too big"}
---
apiVersion: NS.example.org/v1
kind: Thing
metadata: {name: first}
spec: {size: SIZE}
"#;

on_every_cluster! {
    async fn row_20_a_definition_and_its_resource_in_one_plan(w: World) {
        let plan = w.plan(w.package("crd", w.yaml(&CRD.replace("SIZE", "0")))).await;
        assert_eq!(messages(&plan).len(), 1, "{}: {:#?}", w.name, messages(&plan));
        assert!(messages(&plan)[0].contains("spec.size is 0, less than 1"));
        assert_eq!(w.wire.writes(), Vec::<String>::new());

        let plan = w.plan(w.package("crd", w.yaml(&CRD.replace("SIZE", "500")))).await;
        assert!(messages(&plan)[0].contains("too big"), "{}: {:#?}", w.name, messages(&plan));

        let plan = w.apply(w.package("crd", w.yaml(&CRD.replace("SIZE", "3")))).await;
        assert!(text::render(&plan, Palette::Plain, Detail::Changes).contains("after its definition is established"));
        let thing = w.get("/apis/NS.example.org/v1/namespaces/NS/things/first").await.unwrap();
        assert_eq!(thing["spec"]["size"], 3);
        let again = w.plan(w.package("crd", w.yaml(&CRD.replace("SIZE", "3")))).await;
        assert!(!again.has_changes() && again.errors.is_empty(), "{}: {:#?} {:#?}", w.name, actions(&again), messages(&again));
        // A definition is not deleted while others have objects of its kind.
        w.create("/apis/NS.example.org/v1/namespaces/NS/things", json!({"apiVersion": "NS.example.org/v1", "kind": "Thing", "metadata": {"name": "foreign"}, "spec": {"size": 1}})).await;
        let plan = podsmith_apply::plan_delete(&w.watched, "crd", Some(&w.namespace), &PlanOptions::default()).await.unwrap();
        assert_eq!(actions(&plan).len(), 2, "{}: {:#?}", w.name, actions(&plan));
        assert!(text::render(&plan, Palette::Plain, Detail::Changes).contains("would be deleted with it"), "{}", w.name);
        assert!(w.run(&plan).await.is_success());
        assert!(w.get("/apis/NS.example.org/v1/namespaces/NS/things/foreign").await.is_some());
        assert!(w.get("/apis/NS.example.org/v1/namespaces/NS/things/first").await.is_none());
    }
}

on_every_cluster! {
    async fn row_21_objects_in_a_namespace_of_the_same_plan_are_validated(w: World) {
        let bad = w.yaml("apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: NS-new}\nspec: {ports: [{port: 0}]}\n");
        let plan = w.plan(w.package("fresh", bad)).await;
        assert!(messages(&plan).iter().any(|m| m.contains("Service NS-new/s".replace("NS", &w.namespace).as_str())), "{}: {:#?}", w.name, messages(&plan));
        assert_eq!(w.wire.writes(), Vec::<String>::new());
        let good = "podsmith {\n  package = \"fresh\"\n  namespace = \"NS\"\n}\npod \"a\" {\n  image = \"x\"\n}\npod \"b\" {\n  image = \"x\"\n  namespace = \"NS-b\"\n}\n";
        let plan = w.apply(w.podfile(good)).await;
        let namespaces: Vec<String> = actions(&plan).into_iter().filter(|a| a.contains("Namespace")).collect();
        assert_eq!(namespaces.len(), 2, "{}: {namespaces:?}", w.name);
        assert!(w.get("/apis/apps/v1/namespaces/NS-b/statefulsets/b").await.is_some());
        assert!(!w.plan(w.podfile(good)).await.has_changes());
    }
}

on_every_cluster! {
    async fn row_22_an_immutable_change_is_a_replace_that_needs_consent(w: World) {
        let job = |image: &str| w.yaml(&format!("apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: '{image}'}}]}}}}}}\n"));
        w.apply(w.package("jobs", job("x:1"))).await;
        let before = w.get("/apis/batch/v1/namespaces/NS/jobs/j").await.unwrap();
        let plan = w.plan(w.package("jobs", job("x:2"))).await;
        assert_eq!(messages(&plan), Vec::<String>::new(), "{}", w.name);
        let change = plan.changes.iter().find(|c| c.action == Action::Replace).unwrap_or_else(|| panic!("{}: {:#?}", w.name, actions(&plan)));
        assert!(change.reason.as_deref().unwrap().contains("cannot be changed in place"));
        let refused = podsmith_apply::apply(&w.watched, &plan, &options(), &Cancel::new(), &Silent).await;
        assert!(matches!(refused, Err(ApplyError::NeedsReplace(_))));
        let report = w.run_with(&plan, &ApplyOptions { replace: true, wait: false, ..options() }).await;
        assert!(report.is_success(), "{}: {report:#?}", w.name);
        let after = w.get("/apis/batch/v1/namespaces/NS/jobs/j").await.unwrap();
        assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
        assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], "x:2");
        assert!(!w.plan(w.package("jobs", job("x:2"))).await.has_changes());
    }
}

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {keep: yes-we-do, drop: later}}\nspec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: 'web:1'}]}}}\n";

on_every_cluster! {
    async fn row_23_foreign_changes_survive_and_ours_go_when_no_longer_declared(w: World) {
        let path = "/apis/apps/v1/namespaces/NS/deployments/web";
        w.apply(w.package("web", w.yaml(WEB))).await;
        w.edit(path, "kubectl-rollout", json!({"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}})).await;
        w.edit(path, "injector", json!({"metadata": {"labels": {"injected": "true"}}})).await;
        let text = WEB.replace(", drop: later", "").replace("web:1", "web:2");
        w.apply(w.package("web", w.yaml(&text))).await;
        let after = w.get(path).await.unwrap();
        assert_eq!(after["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"], "now", "{}", w.name);
        assert_eq!(after["metadata"]["labels"]["injected"], "true");
        assert_eq!(after["metadata"]["labels"]["keep"], "yes-we-do");
        assert_eq!(after["metadata"]["labels"]["drop"], Value::Null, "{}", w.name);
        assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");

        // Somebody takes a field of ours: the plan names him, the field and the way out.
        w.edit(path, "by-hand", json!({"spec": {"replicas": 5}})).await;
        let status = podsmith_apply::status(&w.client, Some("web"), Some(&w.namespace)).await.unwrap();
        assert!(status.packages[0].objects[0].drift, "{}: {}", w.name, status.to_text());
        let plan = w.plan(w.package("web", w.yaml(&text))).await;
        assert_eq!(plan.errors.len(), 1, "{}: {:#?}", w.name, messages(&plan));
        let shown = plan.errors[0].to_string();
        assert!(shown.contains("spec.replicas belongs to by-hand") && shown.contains("--force-conflicts"), "{shown}");
        let forced = w.plan_with(w.package("web", w.yaml(&text)), &PlanOptions { force_conflicts: true, ..PlanOptions::default() }).await;
        let report = w.run_with(&forced, &ApplyOptions { force_conflicts: true, ..options() }).await;
        assert!(report.is_success(), "{report:#?}");
        assert_eq!(w.get(path).await.unwrap()["spec"]["replicas"], 2);
    }
}

on_every_cluster! {
    async fn row_23_replicas_are_left_to_an_autoscaler(w: World) {
        let path = "/apis/apps/v1/namespaces/NS/deployments/web";
        let hpa = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
        w.apply(w.package("web", w.yaml(&format!("{WEB}{hpa}")))).await;
        w.edit(&format!("{path}/scale"), "kube-controller-manager", json!({"spec": {"replicas": 7}})).await;
        let text = format!("{WEB}{hpa}").replace("web:1", "web:2");
        w.apply(w.package("web", w.yaml(&text))).await;
        let after = w.get(path).await.unwrap();
        assert_eq!(after["spec"]["replicas"], 7, "{}", w.name);
        assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
        assert!(!w.plan(w.package("web", w.yaml(&text))).await.has_changes(), "{}", w.name);
    }
}

fn config(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: '{value}'}}\n---\n")
}

on_every_cluster! {
    async fn row_24_prune_deletes_what_is_ours_and_nothing_else(w: World) {
        let all = ["a", "b", "c", "d"].map(|name| config(name, "1")).concat();
        w.apply(w.package("one", w.yaml(&all))).await;
        w.apply(w.package("two", w.yaml(&config("other", "1")))).await;
        let path = |name: &str| format!("/api/v1/namespaces/NS/configmaps/{name}");
        // b is marked to be kept, c was taken over by hand.
        w.edit(&path("b"), "hand", json!({"metadata": {"annotations": {"podsmith.dev/keep": "true"}}})).await;
        w.edit(&path("c"), "hand", json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "hand"}, "managedFields": [{}]}})).await;
        let plan = w.apply(w.package("one", w.yaml(&config("a", "1")))).await;
        assert_eq!(actions(&plan), ["noop ConfigMap a", "noop ConfigMap b", "noop ConfigMap c", "delete ConfigMap d"], "{}", w.name);
        assert!(w.get(&path("d")).await.is_none());
        for kept in ["a", "b", "c", "other"] {
            assert!(w.get(&path(kept)).await.is_some(), "{kept}");
        }
        // Two packages cannot have one object, and both are named.
        let plan = w.plan(w.package("one", w.yaml(&config("other", "2")))).await;
        let shown = plan.errors.iter().map(ToString::to_string).collect::<String>();
        assert!(shown.contains("belongs to package `two`") && shown.contains("package `one`"), "{shown}");
        // An object that belongs to nobody is taken over only on request.
        w.create("/api/v1/namespaces/NS/configmaps", json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wild"}, "data": {"k": "old"}})).await;
        let wild = format!("{}{}", config("a", "1"), config("wild", "new"));
        let plan = w.plan(w.package("one", w.yaml(&wild))).await;
        assert!(plan.errors[0].to_string().contains("--adopt"), "{:#?}", messages(&plan));
        let plan = w.plan_with(w.package("one", w.yaml(&wild)), &PlanOptions { adopt: true, ..PlanOptions::default() }).await;
        assert!(w.run(&plan).await.is_success());
        assert_eq!(w.get(&path("wild")).await.unwrap()["data"]["k"], "new");
        // Without pruning nothing is deleted, but it stays owned.
        let plan = w.plan_with(w.package("one", w.yaml(&config("a", "1"))), &PlanOptions { prune: false, ..PlanOptions::default() }).await;
        assert!(!plan.has_changes());
        assert!(w.run(&plan).await.is_success());
        let plan = w.apply(w.package("one", w.yaml(&config("a", "1")))).await;
        assert_eq!(actions(&plan), ["noop ConfigMap a", "delete ConfigMap wild"], "{}", w.name);
    }
}

on_every_cluster! {
    async fn row_25_a_stale_plan_is_refused_with_what_moved(w: World) {
        w.apply(w.package("p", w.yaml(&config("a", "1")))).await;
        let plan = w.plan(w.package("p", w.yaml(&config("a", "2")))).await;
        let key = PlanKey::new([1; 32]);
        let saved = planfile::load(&planfile::save(&plan, &key).unwrap(), &key).unwrap();
        w.edit("/api/v1/namespaces/NS/configmaps/a", "by-hand", json!({"data": {"z": "moved"}})).await;
        w.wire.clear();
        let refused = podsmith_apply::apply(&w.watched, &saved, &ApplyOptions { verify: true, ..options() }, &Cancel::new(), &Silent).await;
        let Err(ApplyError::Stale(moved)) = refused else { panic!("{}: {refused:?}", w.name) };
        assert!(moved[0].to_string().contains("was changed by by-hand since the plan was made"), "{}", moved[0]);
        assert_eq!(w.wire.writes(), Vec::<String>::new());

        let plan = w.plan(w.package("p", w.yaml(&config("a", "2")))).await;
        let saved = planfile::load(&planfile::save(&plan, &key).unwrap(), &key).unwrap();
        let report = w.run_with(&saved, &ApplyOptions { verify: true, ..options() }).await;
        assert!(report.is_success());
        assert_eq!(w.get("/api/v1/namespaces/NS/configmaps/a").await.unwrap()["data"]["k"], "2");
    }
}

on_every_cluster! {
    async fn row_25_after_any_broken_write_a_second_run_completes_the_work(w: World) {
        let text = |value: &str, names: &[&str]| names.iter().map(|name| config(name, value)).collect::<String>();
        let mut broken = 0;
        for (kind, tries) in [(Fault::Status(500), 2), (Fault::Status(409), 2), (Fault::Lost, 2), (Fault::AnswerLost, 1)] {
            for at in 0..6 {
                let name = format!("p{broken}");
                broken += 1;
                let with = |value: &str, names: &[&str]| w.package(&name, w.yaml(&text(value, &names.iter().map(|n| format!("{n}-{name}")).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>())));
                w.apply(with("1", &["a", "old"])).await;
                let plan = w.plan(with("2", &["a", "b", "c"])).await;
                // From write `at` on nothing works any more, as if the process had been killed there.
                w.wire.break_writes(at, usize::MAX, kind);
                let result = podsmith_apply::apply(&w.watched, &plan, &ApplyOptions { tries, ..options() }, &Cancel::new(), &Silent).await;
                w.wire.heal();
                if let Ok(report) = &result {
                    let (done, failed, skipped) = (report.done.len(), report.failed.len(), report.skipped.len());
                    assert_eq!(done + failed + skipped, 4, "{}: {kind:?} at {at}: {report:#?}", w.name);
                }
                // The next run completes it, and nothing is left behind.
                w.apply(with("2", &["a", "b", "c"])).await;
                let again = w.plan(with("2", &["a", "b", "c"])).await;
                assert!(!again.has_changes(), "{}: {kind:?} at {at}: {:#?}", w.name, actions(&again));
                assert!(w.get(&format!("/api/v1/namespaces/NS/configmaps/old-{name}")).await.is_none(), "{}: {kind:?} at {at} leaks", w.name);
                // Delete leaves nothing either.
                let plan = podsmith_apply::plan_delete(&w.watched, &name, Some(&w.namespace), &PlanOptions::default()).await.unwrap();
                assert!(w.run(&plan).await.is_success());
                for left in ["a", "b", "c"] {
                    assert!(w.get(&format!("/api/v1/namespaces/NS/configmaps/{left}-{name}")).await.is_none());
                }
                assert!(w.get(&format!("/api/v1/namespaces/NS/configmaps/podsmith-inventory-{name}")).await.is_none());
            }
        }
    }
}

on_every_cluster! {
    async fn a_write_that_fails_once_is_tried_again(w: World) {
        for kind in [Fault::Status(500), Fault::Status(409), Fault::Lost, Fault::AnswerLost] {
            let plan = w.plan(w.package("again", w.yaml(&config("a", &format!("{kind:?}"))))).await;
            w.wire.break_writes(0, 1, kind);
            let report = w.run(&plan).await;
            w.wire.heal();
            assert!(report.is_success(), "{}: {kind:?}: {report:#?}", w.name);
        }
    }
}

on_every_cluster! {
    async fn row_17_delete_goes_backwards_and_keeps_data(w: World) {
        let text = "podsmith {\n  package = \"lib\"\n  namespace = \"NS\"\n}\nshared_volume \"library\" {\n  size = \"1Gi\"\n}\npod \"reader\" {\n  image = \"x\"\n  shared_volume \"library\" { mount_path = \"/l\" }\n  service \"http\" { port = 80 }\n}\n";
        w.apply(w.podfile(text)).await;
        let plan = podsmith_apply::plan_delete(&w.watched, "lib", None, &PlanOptions::default()).await.unwrap();
        let shown = text::render(&plan, Palette::Plain, Detail::Changes);
        assert!(shown.contains("kept: it holds data"), "{shown}");
        let deletes: Vec<String> = actions(&plan).into_iter().filter(|a| a.starts_with("delete")).collect();
        assert_eq!(deletes, ["delete StatefulSet reader", "delete Service reader", "delete Service http"], "{}", w.name);
        assert!(w.run(&plan).await.is_success());
        assert!(w.get("/api/v1/namespaces/NS/persistentvolumeclaims/library").await.is_some());
        assert!(w.get("/apis/apps/v1/namespaces/NS/statefulsets/reader").await.is_none());
        // Applied again, the volume is still the package's own.
        w.apply(w.podfile(text)).await;
        let plan = podsmith_apply::plan_delete(&w.watched, "lib", None, &PlanOptions { delete_data: true, ..PlanOptions::default() }).await.unwrap();
        let report = w.run_with(&plan, &ApplyOptions { wait: false, ..options() }).await;
        assert!(report.is_success());
        let unknown = podsmith_apply::plan_delete(&w.watched, "nope", None, &PlanOptions::default()).await;
        assert!(matches!(unknown, Err(ApplyError::UnknownPackage(_))));
    }
}

on_every_cluster! {
    async fn row_14_secrets_never_show(w: World) {
        let secret = |value: &str| w.yaml(&format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{password: '{value}'}}\n"));
        w.apply(w.package("sec", secret("canary-one"))).await;
        let plan = w.plan(w.package("sec", secret("canary-two"))).await;
        assert_eq!(plan.summary().update, 1, "{}: {:#?}", w.name, actions(&plan));
        let key = PlanKey::new([3; 32]);
        let outputs = [
            text::render(&plan, Palette::Plain, Detail::Everything),
            podsmith_plan::json::to_json(&plan).to_string(),
            String::from_utf8(planfile::save(&plan, &key).unwrap()).unwrap(),
        ];
        for output in outputs {
            for canary in ["canary-one", "canary-two", "Y2FuYXJ5LW9uZQ==", "Y2FuYXJ5LXR3bw=="] {
                assert!(!output.contains(canary), "{}: {output}", w.name);
            }
        }
    }
}

on_every_cluster! {
    async fn a_changed_config_restarts_its_users(w: World) {
        let text = |value: &str| format!("podsmith {{\n  package = \"conf\"\n  namespace = \"NS\"\n}}\nconfig \"c\" {{\n  data = {{ k = \"{value}\" }}\n}}\npod \"a\" {{\n  kind = \"deployment\"\n  image = \"x\"\n  config \"c\" {{ environment = true }}\n}}\n");
        w.apply(w.podfile(&text("1"))).await;
        let plan = w.apply(w.podfile(&text("2"))).await;
        assert_eq!(plan.summary().update, 2, "{}: {:#?}", w.name, actions(&plan));
    }
}

on_every_cluster! {
    async fn many_unchanged_objects_cost_one_list_and_one_percent_changed_costs_one_percent(w: World) {
        let text = |changed: usize| (0..200).map(|n| config(&format!("c{n}"), if n < changed { "new" } else { "old" })).collect::<String>();
        w.apply(w.package("many", w.yaml(&text(0)))).await;
        w.wire.clear();
        let plan = w.apply(w.package("many", w.yaml(&text(0)))).await;
        assert!(!plan.has_changes());
        assert_eq!(w.wire.requests().len(), 4, "{}: {:#?}", w.name, w.wire.requests());
        w.wire.clear();
        w.apply(w.package("many", w.yaml(&text(2)))).await;
        assert_eq!(w.wire.writes().len(), 2, "{}: {:#?}", w.name, w.wire.writes());
    }
}

on_every_cluster! {
    async fn stopping_leaves_a_clean_state(w: World) {
        let text = ["a", "b", "c"].map(|name| config(name, "1")).concat();
        let plan = w.plan(w.package("stop", w.yaml(&text))).await;
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let sink = move |event: podsmith_apply::Event| {
            if matches!(event, podsmith_apply::Event::Done { .. }) {
                stop.cancel();
            }
        };
        let report = podsmith_apply::apply(&w.watched, &plan, &ApplyOptions { concurrency: 1, ..options() }, &cancel, &sink).await.unwrap();
        assert!(report.interrupted && !report.skipped.is_empty() && !report.is_success(), "{}: {report:#?}", w.name);
        w.apply(w.package("stop", w.yaml(&text))).await;
        assert!(!w.plan(w.package("stop", w.yaml(&text))).await.has_changes());
    }
}

on_every_cluster! {
    async fn a_cluster_without_nodes_is_said_once_and_pods_are_not_waited_for(w: World) {
        let plan = w.plan(w.package("nodes", w.yaml(WEB))).await;
        let events = std::sync::Mutex::new(Vec::new());
        let sink = |event: podsmith_apply::Event| events.lock().unwrap().push(event);
        let report = podsmith_apply::apply(&w.watched, &plan, &options(), &Cancel::new(), &sink).await.unwrap();
        assert!(report.is_success() && report.no_nodes, "{}: {report:#?}", w.name);
        let said = events.lock().unwrap().iter().filter(|event| **event == podsmith_apply::Event::NoNodes).count();
        assert_eq!(said, 1);
        let status = podsmith_apply::status(&w.client, Some("nodes"), Some(&w.namespace)).await.unwrap();
        assert!(status.no_nodes);
        assert_eq!(status.to_json("x")["packages"][0]["name"], "nodes");
    }
}

on_every_cluster! {
    async fn rows_05_and_06_missing_cluster_defaults_are_told(w: World) {
        let text = "podsmith {\n  package = \"d\"\n  namespace = \"NS\"\n}\npod \"a\" {\n  image = \"x\"\n  service \"http\" {\n    port = 80\n    ingress {\n      hostname = \"a.example.org\"\n      tls = true\n    }\n  }\n  volume \"v\" {\n    size = \"1Gi\"\n    mount_path = \"/v\"\n  }\n}\n";
        let plan = w.plan(w.podfile(text)).await;
        assert_eq!(messages(&plan).len(), 1, "{}: {:#?}", w.name, messages(&plan));
        assert!(plan.errors[0].to_string().contains("cert-manager is not installed"));
        let plan = w.plan(w.podfile(&text.replace("tls = true", "tls = true\n      tls_secret = \"mine\""))).await;
        assert!(plan.errors.is_empty());
        let warnings: Vec<String> = plan.warnings.iter().map(|warning| warning.message.clone()).collect();
        assert!(warnings.iter().any(|m| m.contains("no default StorageClass")), "{}: {warnings:#?}", w.name);
    }
}
