//! Invalid requests captured from a real server, as far as they are a matter of types and rules.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod support;

use std::collections::BTreeMap;

use podsmith_object::{Value, json};
use podsmith_schema::fault::invalid_message;
use podsmith_schema::strategy::{self, Birth};
use podsmith_schema::{decode, defaults, merge_patch, validate};
use support::{Server, vectors};

struct Outcome {
    code: u64,
    message: String,
    causes: Vec<(String, String)>,
}

/// Writes an object the way the server does, up to the point where it would be stored.
fn write(
    server: &Server,
    path: &str,
    body: &Value,
    live: Option<&Value>,
    strict: bool,
) -> Result<Value, Outcome> {
    let (kind, ..) = server.kind(path).unwrap();
    let refuse = |code, message: String| Outcome { code, message, causes: vec![] };
    let mut object = match (body, live) {
        (Value::String(text), _) => {
            let read = decode::read_typed(text.as_bytes(), &kind.ty)
                .map_err(|error| refuse(400, error.to_string()))?;
            if strict && !read.strict_errors.is_empty() {
                return Err(refuse(400, strict_error(&kind.gvk.kind, &read.strict_errors)));
            }
            read.value
        }
        (patch, Some(live)) => {
            let mut object = live.clone();
            merge_patch::apply(&mut object, patch.clone());
            object
        }
        (body, None) => body.clone(),
    };
    decode::check(&kind.ty, &object).map_err(|error| {
        let name = &kind.gvk.kind;
        refuse(
            400,
            format!("{name} in version \"{}\" cannot be handled as a {name}: {error}", kind.gvk.version),
        )
    })?;
    let unknown = decode::unknown_fields(&kind.ty, &object);
    if strict && !unknown.is_empty() {
        return Err(refuse(400, strict_error(&kind.gvk.kind, &unknown)));
    }
    defaults::fill(&kind.ty, &mut object);
    let faults = match live {
        None => {
            if path.contains("/namespaces/") {
                object["metadata"]["namespace"] = json!("inv");
            }
            strategy::prepare_create(&kind.gvk, &mut object, Birth { uid: "u", now: "2026-01-01T00:00:00Z" });
            validate::create(&kind.gvk, &object)
        }
        Some(live) => {
            strategy::prepare_update(&kind.gvk, &mut object, live);
            validate::update(&kind.gvk, &object, live)
        }
    };
    if faults.is_empty() {
        return Ok(object);
    }
    let name = object["metadata"]["name"].as_str().unwrap_or("");
    Err(Outcome {
        code: 422,
        message: invalid_message(&kind.gvk.group, &kind.gvk.kind, name, &faults),
        causes: faults.iter().map(|fault| (fault.reason.cause().to_owned(), fault.field.clone())).collect(),
    })
}

fn strict_error(kind: &str, errors: &[String]) -> String {
    format!(
        "{kind} in version \"v1\" cannot be handled as a {kind}: strict decoding error: {}",
        errors.join(", ")
    )
}

/// What HTTP, storage, authorization and selectors decide is not the matter of this crate.
fn is_ours(case: &Value) -> bool {
    let title = case["title"].as_str().unwrap();
    let body = case.get("body").is_some_and(|body| !body.is_null());
    let writes = matches!(case["method"].as_str().unwrap(), "POST" | "PATCH");
    let other = [
        "Bad fieldValidation",
        "mismatch",
        "Wrong kind",
        "Wrong apiVersion",
        "Broken JSON",
        "resourceVersion on create",
        "Unsupported",
        "Method not allowed",
        "JSON patch",
        "Forbidden",
        "too large",
    ];
    body && writes && !other.iter().any(|part| title.contains(part))
}

#[test]
fn captured_refusals_come_out_the_same() {
    let Some(data) = vectors("error-vectors.json") else { return };
    let server = Server::default();
    let mut stored: BTreeMap<String, Value> = BTreeMap::new();
    for request in data["setup"].as_array().unwrap() {
        let path = request["path"].as_str().unwrap();
        let Ok(mut object) = write(&server, path, &request["body"], None, false) else { panic!("{request}") };
        if object["kind"] == "Service" {
            object["spec"]["clusterIP"] = json!("10.0.0.1");
            object["spec"]["clusterIPs"] = json!(["10.0.0.1"]);
        }
        object["metadata"]["resourceVersion"] = json!("1");
        stored.insert(format!("{path}/{}", object["metadata"]["name"].as_str().unwrap()), object);
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for case in data["cases"].as_array().unwrap().iter().filter(|case| is_ours(case)) {
        count += 1;
        let (path, query) =
            case["path"].as_str().unwrap().split_once('?').unwrap_or((case["path"].as_str().unwrap(), ""));
        let live = stored.get(path);
        let Err(outcome) = write(&server, path, &case["body"], live, query.contains("Strict")) else {
            wrong.push(format!("{}: accepted", case["title"]));
            continue;
        };
        let response = &case["response"];
        let mut wanted: Vec<(String, String)> = response["details"]["causes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|cause| {
                (cause["reason"].as_str().unwrap().to_owned(), cause["field"].as_str().unwrap().to_owned())
            })
            .collect();
        let mut found = outcome.causes.clone();
        found.sort();
        wanted.sort();
        let message = response["message"].as_str().unwrap().lines().next().unwrap();
        if outcome.code != case["code"].as_u64().unwrap() || found != wanted || outcome.message != message {
            let (code, said) = (outcome.code, &outcome.message);
            wrong.push(format!(
                "{}\n  found  {code} {said} {found:?}\n  wanted {} {message} {wanted:?}",
                case["title"], case["code"]
            ));
        }
    }
    assert!(count >= 25, "{count}");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}
