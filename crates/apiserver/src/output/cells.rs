//! The cells of built-in kinds.

mod network;
mod pods;
mod policy;
mod storage;
mod workloads;

use podsmith_object::selector::Selector;
use podsmith_object::{Value, json};

use super::age;
use crate::fields;
use crate::registry::Resource;

/// The cells of an object, in the order of the columns; nothing for a kind without cells of its own.
pub fn cells(resource: &Resource, object: &Value) -> Option<Vec<Value>> {
    let name = Value::from(fields::name(object));
    let group = resource.group.as_str();
    match (group, resource.plural.as_str()) {
        ("", "pods") => Some(pods::pod(object)),
        ("", "podtemplates") => Some(pods::template(object)),
        ("", "nodes") => Some(pods::node(object)),
        ("", "replicationcontrollers") | ("apps" | "batch", _) => workloads::cells(resource, object),
        ("", "services" | "endpoints") | ("networking.k8s.io" | "discovery.k8s.io", _) => {
            network::cells(resource, object)
        }
        ("", "persistentvolumes" | "persistentvolumeclaims") | ("storage.k8s.io", _) => {
            storage::cells(resource, object)
        }
        ("", "events") | ("events.k8s.io", "events") => Some(event(object)),
        ("", "namespaces") => Some(vec![name, text(object, &["status", "phase"]), age::of(object)]),
        ("", "configmaps") => {
            let count =
                |key: &str| object.get(key).and_then(Value::as_object).map_or(0, serde_json::Map::len);
            Some(vec![name, (count("data") + count("binaryData")).into(), age::of(object)])
        }
        ("", "secrets") => {
            let count = object.get("data").and_then(Value::as_object).map_or(0, serde_json::Map::len);
            Some(vec![name, text(object, &["type"]), count.into(), age::of(object)])
        }
        ("", "serviceaccounts") => Some(vec![name, age::of(object)]),
        _ => policy::cells(resource, object),
    }
}

/// The text at a path.
fn text(object: &Value, path: &[&str]) -> Value {
    fields::text(object, path).into()
}

/// The text at a path, or `<none>`.
fn or_none(object: &Value, path: &[&str]) -> Value {
    let text = fields::text(object, path);
    if text.is_empty() { "<none>".into() } else { text.into() }
}

/// The number at a path.
fn number(object: &Value, path: &[&str]) -> i64 {
    fields::at(object, path).and_then(Value::as_i64).unwrap_or(0)
}

/// The scalar at a path, as text.
fn shown(object: &Value, path: &[&str], missing: &str) -> String {
    match fields::at(object, path) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => missing.to_owned(),
    }
}

/// Names and images of the containers of a pod template, comma separated.
fn containers(template: &Value) -> (Value, Value) {
    let all = fields::list(template, &["spec", "containers"]);
    let join = |key: &str| -> Value {
        all.iter().map(|one| fields::text(one, &[key])).collect::<Vec<_>>().join(",").into()
    };
    (join("name"), join("image"))
}

/// A label selector as text.
fn selector(value: Option<&Value>) -> Value {
    let Some(value) = value else { return "<none>".into() };
    let text = Selector::from_label_selector(value).map(|one| one.to_string()).unwrap_or_default();
    if text.is_empty() { "<none>".into() } else { text.into() }
}

/// Plain labels as text.
fn labels(value: Option<&Value>) -> Value {
    let pairs: Vec<String> = value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")))
        .collect();
    if pairs.is_empty() { "<none>".into() } else { pairs.join(",").into() }
}

fn event(object: &Value) -> Vec<Value> {
    // The same columns for both forms of events.
    let first = |paths: &[&[&str]]| {
        paths
            .iter()
            .map(|path| fields::text(object, path))
            .find(|text| !text.is_empty())
            .unwrap_or("")
            .to_owned()
    };
    let about = |key: &str| first(&[&["involvedObject", key], &["regarding", key]]);
    let last = first(&[
        &["series", "lastObservedTime"],
        &["lastTimestamp"],
        &["deprecatedLastTimestamp"],
        &["eventTime"],
    ]);
    let begun = first(&[&["firstTimestamp"], &["deprecatedFirstTimestamp"], &["eventTime"]]);
    let component = first(&[
        &["source", "component"],
        &["deprecatedSource", "component"],
        &["reportingComponent"],
        &["reportingController"],
    ]);
    let host = first(&[&["source", "host"], &["deprecatedSource", "host"]]);
    let source = if host.is_empty() { component } else { format!("{component}, {host}") };
    let count = ["count", "deprecatedCount"].iter().map(|key| number(object, &[key])).max().unwrap_or(0);
    let count = number(object, &["series", "count"]).max(count).max(1);
    let target = format!("{}/{}", about("kind").to_lowercase(), about("name"));
    vec![
        age::since(&last).into(),
        text(object, &["type"]),
        text(object, &["reason"]),
        target.into(),
        about("fieldPath").into(),
        source.into(),
        first(&[&["message"], &["note"]]).trim().into(),
        age::since(&begun).into(),
        count.to_string().into(),
        fields::name(object).into(),
    ]
}

/// `2/3`.
fn ratio(part: i64, whole: i64) -> Value {
    json!(format!("{part}/{whole}"))
}
