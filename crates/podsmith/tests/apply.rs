//! plan, apply, status, delete and cluster as a user types them, on the embedded cluster.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use serde_json::Value;
use support::{Place, project};

const WEB: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: '1'}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_package_is_planned_applied_shown_changed_and_deleted_without_any_set_up() {
    let place = Place::new().file("web.yaml", WEB);
    assert_eq!(place.run(&["plan", "web.yaml", "--detailed-exitcode"]).code, 2);
    insta::assert_snapshot!(place.out(&["plan", "web.yaml"]), @r"
    + ConfigMap default/web
    + Service default/web

    web: 2 to create
    ");
    place.out(&["apply", "web.yaml", "--yes"]);
    assert_eq!(place.run(&["plan", "web.yaml", "--detailed-exitcode"]).code, 0);
    place.write("web.yaml", WEB.replace("'1'", "'2'"));
    insta::assert_snapshot!(place.out(&["plan", "web.yaml"]), @r#"
    ~ ConfigMap default/web
        data.a: "1" → "2"

    web: 1 to change, 1 unchanged
    "#);
    let plan = json(&place.out(&["plan", "web.yaml", "-o", "json"]));
    assert_eq!(
        plan["changes"][0]["fields"][0],
        serde_json::json!({"path": "data.a", "before": "1", "after": "2"})
    );
    assert_eq!(plan["summary"]["update"], 1);
    place.write("web.yaml", WEB.split("---\n").next().unwrap());
    insta::assert_snapshot!(place.out(&["apply", "web.yaml", "--yes"]), @r"
    - Service default/web

    web: 1 to delete, 1 unchanged
    ");
    let status = json(&place.out(&["status", "-o", "json"]));
    assert_eq!(status["packages"][0]["objects"][0]["health"], "ready");
    place.out(&["delete", "--package", "web", "--yes"]);
    assert_eq!(json(&place.out(&["status", "-o", "json"]))["packages"], serde_json::json!([]));
}

#[test]
fn a_saved_plan_is_applied_exactly_or_refused() {
    let place = Place::new().file("web.yaml", WEB);
    place.out(&["plan", "web.yaml", "--out", "web.plan"]);
    place.out(&["apply", "web.plan", "--yes"]);
    place.write("web.yaml", WEB.replace("'1'", "'2'"));
    place.out(&["plan", "web.yaml", "--out", "web.plan"]);
    place.write("web.yaml", WEB.replace("'1'", "'3'"));
    place.out(&["apply", "web.yaml", "--yes"]);
    let refused = place.run(&["apply", "web.plan", "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("the cluster changed since the plan was made"), "{}", refused.stderr);
}

#[test]
fn one_bad_object_means_no_write_and_every_error() {
    let bad = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\n---\napiVersion: v1\nkind: Servcie\nmetadata: {name: x}\n";
    let place = Place::new().file("web.yaml", format!("{WEB}---\n{bad}"));
    let done = place.run(&["apply", "web.yaml", "--yes"]);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("A_B") && done.stderr.contains("Servcie"), "{}", done.stderr);
    assert_eq!(json(&place.out(&["status", "-o", "json"]))["packages"], serde_json::json!([]));
    let plan = place.run(&["plan", "web.yaml", "-o", "json"]);
    assert_eq!((plan.code, json(&plan.stdout)["errors"].as_array().unwrap().len()), (1, 2));
}

#[test]
fn without_a_terminal_a_question_is_an_error() {
    let place = Place::new().file("web.yaml", WEB);
    let done = place.run(&["apply", "web.yaml"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--yes"), "{}", done.stderr);
}

#[test]
fn the_served_cluster_is_used_by_commands_and_ends_when_told() {
    let place = Place::new().file("web.yaml", WEB);
    place.out(&["cluster", "start"]);
    let status = json(&place.out(&["cluster", "status", "-o", "json"]));
    assert_eq!(status["running"], true);
    assert!(status["server"].as_str().unwrap().starts_with("https://127.0.0.1:"));
    place.out(&["apply", "web.yaml", "--yes"]);
    assert!(place.out(&["cluster", "kubeconfig"]).contains("certificate-authority-data"));
    place.out(&["cluster", "stop"]);
    assert_eq!(json(&place.out(&["cluster", "status", "-o", "json"]))["running"], false);
    assert!(place.out(&["status"]).contains("web"), "what was written through the server is on disk");
    place.out(&["cluster", "reset"]);
    assert_eq!(json(&place.out(&["status", "-o", "json"]))["packages"], serde_json::json!([]));
}

#[test]
fn the_example_shop_applies() {
    let place = Place::new();
    let shop = project().join("examples/shop");
    let done = place.run(&["apply", shop.to_str().unwrap(), "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("this cluster has no nodes, so pods are not waited for"), "{}", done.stderr);
}
