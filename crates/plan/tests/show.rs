//! What people and machines see of a plan, and that a saved plan is the same plan.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use podsmith_object::{Diagnostic, GroupVersionKind, Object, ObjectId, Value, json};
use podsmith_plan::change::{Action, Change, Checked, Seen};
use podsmith_plan::inventory::{Entry, Inventory};
use podsmith_plan::planfile::{self, PlanKey};
use podsmith_plan::text::{Detail, Palette};
use podsmith_plan::{Plan, diff, text};

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

fn deployment(image: &str, log: &str) -> Object {
    object(
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "labels": {"podinate.com/pod": "web"}},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "web", "image": image, "env": [{"name": "CONF", "value": log}]}]}}}}),
    )
}

fn secret(value: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop"}, "data": {"password": value}}),
    )
}

fn sample() -> Plan {
    let mut plan = Plan::new("embedded", "shop", "shop");
    let (before, after) = (deployment("web:1", "a\nb\nc\n"), deployment("web:2", "a\nB\nc\n"));
    let mut update = Change::new(&after, Action::Update);
    update.fields = diff::fields(&before, &after);
    update.seen = Some(Seen::of(&before));
    update.step = 8000;
    let service = object(
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop", "labels": {"podinate.com/pod": "web"}}}),
    );
    let mut create = Change::new(&service, Action::Create);
    create.step = 7000;
    let mut changed = Change::new(&secret("Y2FuYXJ5LW5ldw=="), Action::Update);
    changed.fields = diff::fields(&secret("Y2FuYXJ5LW9sZA=="), &secret("Y2FuYXJ5LW5ldw=="));
    changed.step = 3000;
    let mut replace = Change::new(
        &object(
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "seed", "namespace": "shop"}}),
        ),
        Action::Replace,
    );
    replace.reason = Some("spec.template cannot be changed in place".into());
    replace.step = 8000;
    let mut custom = Change::new(
        &object(
            json!({"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "shop"}}),
        ),
        Action::Create,
    );
    custom.checked = Checked::AgainstDefinition;
    custom.step = 9000;
    let delete = Change::new(
        &object(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old", "namespace": "shop"}}),
        ),
        Action::Delete,
    );
    let noop = Change::new(
        &object(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "same", "namespace": "shop"}}),
        ),
        Action::Noop,
    );
    plan.changes = vec![delete, update, create, changed, replace, custom, noop];
    plan.sort();
    plan.inventory = Some(Inventory::new("shop", "shop").with_entries([Entry {
        id: ObjectId::new(GroupVersionKind::new("", "v1", "ConfigMap"), "shop", "old"),
        fields: Some("x".into()),
    }]));
    plan
}

#[test]
fn a_plan_is_grouped_short_and_masked() {
    insta::assert_snapshot!(text::render(&sample(), Palette::Plain, Detail::Changes), @r#"
    ~ Secret shop/login
        data.password: "(sensitive)" → "(sensitive)"
    pod web will be changed
      + Service shop/web
      ~ Deployment shop/web
          spec.template.spec.containers[name=web].image: "web:1" → "web:2"
          spec.template.spec.containers[name=web].env[name=CONF].value:
              a
            - b
            + B
              c
    ± Job shop/seed (spec.template cannot be changed in place)
    + Thing.example.org shop/t (after its definition is established)
    - ConfigMap shop/old

    shop: 2 to create, 2 to change, 1 to replace, 1 to delete, 1 unchanged
    "#);
}

#[test]
fn colours_are_there_only_when_asked_for() {
    assert!(!text::render(&sample(), Palette::Plain, Detail::Everything).contains('\u{1b}'));
    assert!(
        text::render(&sample(), Palette::Ansi, Detail::Changes)
            .contains("\u{1b}[32m+ Service shop/web\u{1b}[0m")
    );
}

#[test]
fn errors_come_last_and_say_that_nothing_is_written() {
    let mut plan = Plan::new("embedded", "shop", "shop");
    plan.errors
        .push(Diagnostic::error("the server refuses it: spec.ports: Required value").on(secret("").id()));
    insta::assert_snapshot!(text::render(&plan, Palette::Plain, Detail::Changes), @r"
    error: Secret shop/login: the server refuses it: spec.ports: Required value
    shop: 1 error, nothing will be written
    ");
}

#[test]
fn json_follows_the_contract() {
    let value = podsmith_plan::json::to_json(&sample());
    assert_eq!(value["summary"], json!({"create": 2, "update": 2, "replace": 1, "delete": 1, "noop": 1}));
    assert_eq!(value["resources"], json!({"create": 1, "update": 2, "replace": 1, "delete": 1, "noop": 1}));
    let secret =
        value["changes"].as_array().unwrap().iter().find(|c| c["object"]["kind"] == "Secret").unwrap();
    assert_eq!(
        secret["fields"],
        json!([{"path": "data.password", "before": "(sensitive)", "after": "(sensitive)"}])
    );
    assert_eq!(secret["reason"], Value::Null);
}

#[test]
fn a_saved_plan_is_the_same_plan_without_readable_secrets() {
    let key = PlanKey::new([7; 32]);
    let plan = sample();
    let bytes = planfile::save(&plan, &key).unwrap();
    assert!(planfile::is_plan(&bytes));
    let shown = String::from_utf8(bytes.clone()).unwrap();
    assert!(!shown.contains("Y2FuYXJ5") && !shown.contains("canary"), "{shown}");
    let read = planfile::load(&bytes, &key).unwrap();
    assert_eq!(podsmith_plan::json::to_json(&read), podsmith_plan::json::to_json(&plan));
    let desired = |plan: &Plan| {
        plan.changes.iter().map(|c| c.desired.clone().map(Object::into_value)).collect::<Vec<_>>()
    };
    assert_eq!(desired(&read), desired(&plan));
    assert_eq!(read.inventory, plan.inventory);
    assert_eq!(planfile::save(&read, &key).unwrap(), bytes);
}

#[test]
fn a_plan_that_was_changed_or_belongs_to_someone_else_is_refused() {
    let bytes = planfile::save(&sample(), &PlanKey::new([7; 32])).unwrap();
    assert!(planfile::load(&bytes, &PlanKey::new([8; 32])).is_err());
    let forged = String::from_utf8(bytes).unwrap().replace("web:2", "evil:2");
    assert!(planfile::load(forged.as_bytes(), &PlanKey::new([7; 32])).is_err());
    assert!(planfile::load(b"{}", &PlanKey::new([7; 32])).is_err());
    assert!(planfile::load(b"not json", &PlanKey::new([7; 32])).is_err());
}
