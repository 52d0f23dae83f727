//! The resources a server has, from the discovery documents in the Kubernetes module.
//!
//! One line per resource, fields separated by tabs:
//! `group version plural singular kind scope verbs short-names categories storage-version-hash`;
//! `-` stands for nothing. A line that begins with a tab is a subresource of the resource above:
//! `name group version kind verbs`. Groups stand in the order in which a server lists them, the core group first.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::modules::{Failure, read_json};

/// The whole file.
pub fn resources(kubernetes: &Path) -> Result<String, Failure> {
    let folder = kubernetes.join("api/discovery");
    let mut out = String::new();
    document(&folder.join("api__v1.json"), "", "v1", &mut out)?;
    let groups = read_json(&folder.join("apis.json"))?;
    for group in list(&groups, "groups") {
        let name = text(group, "name");
        for version in list(group, "versions") {
            let version = text(version, "version");
            document(&folder.join(format!("apis__{name}__{version}.json")), name, version, &mut out)?;
        }
    }
    Ok(out)
}

fn document(path: &Path, group: &str, version: &str, out: &mut String) -> Result<(), Failure> {
    let document = read_json(path)?;
    for resource in list(&document, "resources") {
        let name = text(resource, "name");
        let kind = text(resource, "kind");
        let verbs = words(resource, "verbs");
        let line = match name.split_once('/') {
            Some((_, subresource)) => {
                let own = |key, other| match text(resource, key) {
                    "" if text(resource, "version").is_empty() => dash(other),
                    given => dash(given),
                };
                let (group, version) = (own("group", group), own("version", version));
                writeln!(out, "\t{subresource}\t{group}\t{version}\t{kind}\t{verbs}")
            }
            None => {
                let scope = if resource.get("namespaced") == Some(&Value::Bool(true)) {
                    "namespaced"
                } else {
                    "cluster"
                };
                let (short, categories) = (words(resource, "shortNames"), words(resource, "categories"));
                let (singular, hash) =
                    (text(resource, "singularName"), dash(text(resource, "storageVersionHash")));
                let group = dash(group);
                writeln!(
                    out,
                    "{group}\t{version}\t{name}\t{singular}\t{kind}\t{scope}\t{verbs}\t{short}\t{categories}\t{hash}"
                )
            }
        };
        line.map_err(|_| Failure::Content {
            path: path.to_owned(),
            reason: "could not be written down".into(),
        })?;
    }
    Ok(())
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn words(value: &Value, key: &str) -> String {
    let words: Vec<&str> = list(value, key).iter().filter_map(Value::as_str).collect();
    dash(&words.join(",")).to_owned()
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}
