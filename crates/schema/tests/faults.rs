//! Faults of invalid objects against answers recorded from a real server.
//!
//! Each record holds a path, an object, and for updates the live object and a merge patch, with the causes the server
//! gave.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod support;

use podsmith_object::{Value, json};
use podsmith_schema::strategy::{self, Birth};
use podsmith_schema::{decode, defaults, merge_patch, validate};
use support::Server;

const RECORDED: [&str; 4] = [
    include_str!("data/faults.json"),
    include_str!("data/faults2.json"),
    include_str!("data/faults3.json"),
    include_str!("data/faults4.json"),
];

/// Messages that print Go values or a difference are compared without that part.
fn comparable(message: &str) -> String {
    let text = message.split('\n').next().unwrap_or("");
    match (text.find("Invalid value: ["), text.find("Invalid value: {")) {
        (None, None) => text.to_owned(),
        _ => text.rsplit(": ").next().unwrap_or("").to_owned(),
    }
}

#[test]
fn recorded_faults_come_out_the_same() {
    let mut records: Vec<Value> =
        RECORDED.iter().flat_map(|text| serde_json::from_str::<Vec<Value>>(text).unwrap()).collect();
    // More records of the same form, made elsewhere.
    if let Some(path) = std::env::var_os("PODSMITH_FAULT_RECORDS") {
        records.extend(serde_json::from_slice::<Vec<Value>>(&std::fs::read(path).unwrap()).unwrap());
    }
    let server = Server::default();
    let mut wrong = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let path = record["path"].as_str().unwrap();
        let (kind, ..) = server.kind(path).unwrap();
        let mut object = record.get("live").unwrap_or(&record["body"]).clone();
        let old = record.get("live").cloned();
        if let Some(patch) = record.get("patch") {
            merge_patch::apply(&mut object, patch.clone());
        }
        if let Err(error) = decode::check(&kind.ty, &object) {
            wrong.push(format!("record {at} {path}: {error}"));
            continue;
        }
        defaults::fill(&kind.ty, &mut object);
        let faults = match &old {
            None => {
                if path.contains("/namespaces/") {
                    object["metadata"]["namespace"] = json!("t");
                }
                strategy::prepare_create(
                    &kind.gvk,
                    &mut object,
                    Birth { uid: "u", now: "2026-01-01T00:00:00Z" },
                );
                validate::create(&kind.gvk, &object)
            }
            Some(old) => {
                strategy::prepare_update(&kind.gvk, &mut object, old);
                validate::update(&kind.gvk, &object, old)
            }
        };
        let line =
            |reason: &str, field: &str, message: &str| format!("{reason} {field}: {}", comparable(message));
        let mut found: Vec<String> =
            faults.iter().map(|fault| line(fault.reason.cause(), &fault.field, &fault.body())).collect();
        let mut wanted: Vec<String> = record["causes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cause| {
                let text = |key: &str| cause[key].as_str().unwrap_or("");
                line(text("reason"), text("field"), text("message"))
            })
            .collect();
        found.sort();
        wanted.sort();
        if found != wanted {
            let extra: Vec<&String> = found.iter().filter(|line| !wanted.contains(line)).collect();
            let missing: Vec<&String> = wanted.iter().filter(|line| !found.contains(line)).collect();
            wrong.push(format!("record {at} {path}\n  too much {extra:#?}\n  missing {missing:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), records.len(), wrong.join("\n"));
}
