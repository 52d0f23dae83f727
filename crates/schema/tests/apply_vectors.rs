//! Server-side apply against answers captured from a real server.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod support;

use podsmith_object::Value;
use support::{Server, vectors};

/// The entries without times, sorted the way the captured ones are.
fn entries(object: &Value) -> Vec<Value> {
    let list =
        object.pointer("/metadata/managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut list: Vec<Value> = list
        .into_iter()
        .map(|mut entry| {
            let present = entry.as_object_mut().unwrap().shift_remove("time").is_some();
            entry["timePresent"] = Value::from(present);
            entry
        })
        .collect();
    let key = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().unwrap_or("").to_owned();
        (text("operation"), text("manager"), text("apiVersion"), text("subresource"))
    };
    list.sort_by_key(key);
    list
}

fn body(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        metadata.shift_remove(field);
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            spec.shift_remove(field);
        }
    }
    object
}

#[test]
fn captured_applies_come_out_the_same() {
    let Some(data) = vectors("ssa-vectors.json") else { return };
    let mut server = Server::default();
    for request in data["setup"].as_array().unwrap() {
        if request["path"].as_str().unwrap().ends_with("customresourcedefinitions") {
            server.define(&request["body"]);
        }
    }
    let (mut steps, mut wrong) = (0, Vec::new());
    for vector in data["vectors"].as_array().unwrap() {
        for (at, step) in vector["steps"].as_array().unwrap().iter().enumerate() {
            let text = |key: &str| step[key].as_str().unwrap_or("").to_owned();
            let expected = &step["expect"];
            if text("path").ends_with("/scale") {
                server.send("PUT", &text("path"), &text("query"), "application/json", &step["body"]);
                continue;
            }
            let answer = server.send(
                &text("method"),
                &text("path"),
                &text("query"),
                &text("contentType"),
                &step["body"],
            );
            steps += 1;
            let mut complain = |what: &str, found: String, wanted: String| {
                if found != wanted {
                    wrong.push(format!(
                        "{} step {at}: {what}\n  found  {found}\n  wanted {wanted}",
                        vector["id"]
                    ));
                }
            };
            complain("code", answer.code.to_string(), expected["code"].to_string());
            if let (Some(object), true) = (&answer.object, expected.get("object").is_some()) {
                let sorted = |value: &Value| podsmith_object::json::canonical(value);
                complain("object", sorted(&body(object)), sorted(&body(&expected["object"])));
                let found =
                    Some(entries(object)).filter(|list| !list.is_empty()).map_or(Value::Null, Value::from);
                complain("managers", sorted(&found), sorted(&expected["managedFields"]));
            }
            if let Some(status) = expected.get("status").filter(|_| answer.code == 409 || answer.code == 500)
            {
                let message = status["message"].as_str().unwrap();
                if !message.contains("the object has been modified") {
                    complain("message", answer.message.clone(), message.to_owned());
                }
            }
        }
    }
    eprintln!("{steps} steps");
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
