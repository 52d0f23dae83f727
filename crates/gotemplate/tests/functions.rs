//! Every function against what the real engine prints.
//!
//! `functions.json` holds templates of our own and, for each, the output or the error message of Helm 3.21.4's engine
//! for the same values, recorded once in the zone UTC. A row without a message only says that the template fails.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;

use podsmith_gotemplate::{Functions, Map, MapKind, Options, TemplateSet, Value};
use podsmith_object::{Value as Json, json};

const NAME: &str = "c/templates/t.yaml";

fn table() -> Json {
    serde_json::from_str(include_str!("functions.json")).unwrap()
}

fn render(empty: &TemplateSet, template: &str, values: &Json) -> Result<String, String> {
    let mut set = empty.clone();
    let root = Map::of_kind(MapKind::Values);
    root.insert("Values", Value::values_from_json(values.as_object().unwrap()));
    root.insert("Release", Value::from_json(&json!({"Name": "r", "Namespace": "ns"})));
    // A seed fixes the zone of the machine too.
    let options = Options { seed: Some(1), ..Options::default() };
    set.parse(NAME, template)
        .and_then(|()| set.execute(NAME, &root.into(), options))
        .map_err(|error| error.helm_message())
}

#[test]
fn every_function_prints_what_the_real_engine_prints() {
    let table = table();
    let rows = table["rows"].as_array().unwrap();
    let empty = TemplateSet::new(Functions::helm());
    let mut wrong = Vec::new();
    for row in rows {
        let template = row[0].as_str().unwrap();
        let found = render(&empty, template, &table["values"]);
        let fits = match (&found, row[1].as_str(), row[2].as_str()) {
            (Ok(found), Some(expected), _) => found == expected,
            (Err(message), None, Some(expected)) => message == expected,
            (Err(_), None, None) => true,
            _ => false,
        };
        if !fits {
            wrong.push(format!("{template}\n  expected {row}\n  found    {found:?}"));
        }
    }
    println!("{} rows", rows.len());
    assert!(rows.len() >= 600);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn every_function_has_a_row() {
    let table = table();
    let words: BTreeSet<&str> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row[0].as_str().unwrap().split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .collect();
    // These need new keys, which take long without optimization; `certificates.rs` covers them.
    let elsewhere = ["genSignedCertWithKey", "genSelfSignedCertWithKey"];
    let missing: Vec<_> = Functions::helm()
        .names()
        .into_iter()
        .filter(|name| !words.contains(name) && !elsewhere.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_functions_are_those_that_helm_ships() {
    let expected: Vec<&str> = include_str!("function-names.txt").lines().collect();
    assert_eq!(Functions::helm().names(), expected);
}
