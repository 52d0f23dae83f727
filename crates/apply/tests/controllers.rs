//! What only real controllers show: pods that survive the replacement of their StatefulSet, and deletion with a garbage
//! collector. Runs with kube-controller-manager and one node that says it is ready; nothing runs on it.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod support;

use podsmith_apply::{ApplyOptions, PlanOptions};
use podsmith_object::Value;
use podsmith_plan::Action;
use support::{actions, options};

/// Looks until `found` gives something; the controllers need a moment.
async fn eventually<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..200 {
        if let Some(value) = found().await {
            return value;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{what} does not happen")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_22_pods_and_volumes_survive_when_their_statefulset_is_replaced() {
    let Some(w) = support::real_with_controllers("row_22_pods_and_volumes_survive").await else { return };
    let text = |size: &str| {
        format!(
            "podsmith {{\n  package = \"db\"\n  namespace = \"NS\"\n}}\npod \"db\" {{\n  image = \"x\"\n  volume \"data\" {{\n    size       = \"{size}\"\n    mount_path = \"/data\"\n  }}\n}}\n"
        )
    };
    let quick = ApplyOptions { wait: false, replace: true, ..options() };
    let plan = w.plan(w.podfile(&text("1Gi"))).await;
    assert!(w.run_with(&plan, &quick).await.is_success());
    let pod = "/api/v1/namespaces/NS/pods/db-0";
    let claim = "/api/v1/namespaces/NS/persistentvolumeclaims/data-db-0";
    let before = eventually("the pod", async || w.get(pod).await).await;
    let volume = w.get(claim).await.unwrap();

    let plan = w.plan(w.podfile(&text("2Gi"))).await;
    assert!(plan.changes.iter().any(|change| change.action == Action::Replace), "{:#?}", actions(&plan));
    let report = w.run_with(&plan, &quick).await;
    assert!(report.is_success(), "{report:#?}");
    let set = w.get("/apis/apps/v1/namespaces/NS/statefulsets/db").await.unwrap();
    let adopted = eventually("the adoption of the pod", async || {
        let pod = w.get(pod).await?;
        (pod["metadata"]["ownerReferences"][0]["uid"] == set["metadata"]["uid"]).then_some(pod)
    })
    .await;
    assert_eq!(adopted["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(w.get(claim).await.unwrap()["metadata"]["uid"], volume["metadata"]["uid"]);
    assert!(!w.plan(w.podfile(&text("2Gi"))).await.has_changes());

    // Deleting the package takes the pods away and keeps the volume.
    let plan = podsmith_apply::plan_delete(&w.watched, "db", Some(&w.namespace), &PlanOptions::default())
        .await
        .unwrap();
    assert!(w.run_with(&plan, &quick).await.is_success());
    eventually("the end of the pod", async || match w.get(pod).await {
        None => Some(()),
        Some(pod) => (pod["metadata"]["deletionTimestamp"] != Value::Null).then_some(()),
    })
    .await;
    assert!(w.get(claim).await.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_rollout_and_a_stuck_one() {
    let Some(w) = support::real_with_controllers("a_finished_rollout_and_a_stuck_one").await else { return };
    // No kubelet: pods never start, so the wait ends with the reason. Without replicas there is nothing to wait for.
    let web = |replicas: u32| {
        w.yaml(&format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: {{automountServiceAccountToken: false, containers: [{{name: c, image: x}}]}}}}}}\n"))
    };
    w.apply(w.package("roll", web(0))).await;
    let plan = w.plan(w.package("roll", web(1))).await;
    let report =
        w.run_with(&plan, &ApplyOptions { timeout: std::time::Duration::from_secs(3), ..options() }).await;
    assert!(!report.is_success());
    assert!(report.not_ready[0].1.contains("0 of 1 pods are"), "{report:#?}");
    let status = podsmith_apply::status(&w.client, Some("roll"), Some(&w.namespace)).await.unwrap();
    assert!(status.to_text().contains("0 of 1 pods are"), "{}", status.to_text());
}
