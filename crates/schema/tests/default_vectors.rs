//! Defaults against answers captured from a real server.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod support;

use podsmith_object::json::canonical;
use podsmith_object::{Value, json};
use podsmith_schema::strategy::{self, Birth};
use podsmith_schema::{canonical as stored, decode, defaults, validate};
use support::{Server, vectors};

/// What admission and allocation add is not the matter of this crate.
fn without_other_parts(object: &mut Value) {
    let kind = object["kind"].as_str().unwrap().to_owned();
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.shift_remove("finalizers");
    let drop = |object: &mut Value, fields: &[&str]| {
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            fields.iter().for_each(|field| drop(spec.shift_remove(*field)));
        }
    };
    match kind.as_str() {
        "Pod" => {
            drop(
                object,
                &[
                    "volumes",
                    "serviceAccountName",
                    "serviceAccount",
                    "tolerations",
                    "priority",
                    "preemptionPolicy",
                ],
            );
            for container in object["spec"]["containers"].as_array_mut().unwrap() {
                container.as_object_mut().unwrap().shift_remove("volumeMounts");
            }
        }
        "Service" => {
            drop(object, &["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
            for port in object["spec"].get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                port.as_object_mut().unwrap().shift_remove("nodePort");
            }
        }
        _ => {}
    }
}

#[test]
fn captured_defaults_come_out_the_same() {
    if let Some(data) = vectors("default-vectors.json") {
        check(&data);
    }
}

/// Objects with many fields set, recorded for this test.
#[test]
fn recorded_defaults_come_out_the_same() {
    check(&serde_json::from_str(include_str!("data/defaults.json")).unwrap());
}

/// What the server hands out it takes back: nothing is filled in again, and no rule is broken by a new label.
#[test]
fn stored_objects_stay_as_they_are() {
    let mut sets: Vec<Value> = vec![serde_json::from_str(include_str!("data/defaults.json")).unwrap()];
    sets.extend(vectors("default-vectors.json"));
    let server = Server::default();
    for case in sets.iter().flat_map(|set| set["cases"].as_array().unwrap()) {
        let (kind, ..) = server.kind(case["path"].as_str().unwrap()).unwrap();
        let mut live = case["output"].clone();
        for (key, value) in
            [("resourceVersion", "1"), ("uid", "u"), ("creationTimestamp", "2026-01-01T00:00:00Z")]
        {
            live["metadata"][key] = json!(value);
        }
        let text = canonical(&live)
            .replace("<TIME>", "2026-01-01T00:00:00Z")
            .replace("<UID>", "u")
            .replace("<RAND>", "rrrrr");
        let live: Value = serde_json::from_str(&text).unwrap();
        let mut again = live.clone();
        defaults::fill(&kind.ty, &mut again);
        strategy::prepare_update(&kind.gvk, &mut again, &live);
        assert_eq!(canonical(&again), canonical(&live), "{}", case["title"]);
        again["metadata"]["labels"]["new"] = json!("label");
        let faults = validate::update(&kind.gvk, &again, &live);
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(faults.is_empty(), "{}: {told:?}", case["title"]);
    }
}

fn check(data: &Value) {
    let server = Server::default();
    let mut wrong = Vec::new();
    for case in data["cases"].as_array().unwrap() {
        let (kind, ..) = server.kind(case["path"].as_str().unwrap()).unwrap();
        let mut object = case["input"].clone();
        decode::check(&kind.ty, &object).unwrap();
        defaults::fill(&kind.ty, &mut object);
        strategy::prepare_create(&kind.gvk, &mut object, Birth { uid: "<UID>", now: "<TIME>" });
        if case["path"].as_str().unwrap().contains("/namespaces/") {
            object["metadata"]["namespace"] = json!("dfl");
        }
        defaults::fill(&kind.ty, &mut object);
        stored::canonicalize(&kind.ty, &mut object);
        let mut expected = case["output"].clone();
        without_other_parts(&mut object);
        without_other_parts(&mut expected);
        let (found, wanted) = (canonical(&object), canonical(&expected));
        if found != wanted {
            // The first difference is enough to see what is meant.
            let same =
                found.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(60);
            let part = |text: &str| text.get(same..).unwrap_or("").chars().take(200).collect::<String>();
            wrong.push(format!("{}\n  found  {}\n  wanted {}", case["title"], part(&found), part(&wanted)));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
