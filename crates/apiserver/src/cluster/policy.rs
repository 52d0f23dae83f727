//! The roles and bindings every cluster begins with.

use podsmith_object::{Value, json};

static TEXT: &str = include_str!("policy.txt");
const GROUP: &str = "rbac.authorization.k8s.io";

/// One of them: plural, namespace, name, body.
pub type Policy = (&'static str, &'static str, &'static str, Value);

/// All of them.
pub fn all() -> Vec<Policy> {
    let mut all: Vec<Policy> = Vec::new();
    for line in TEXT.lines() {
        let words: Vec<&'static str> = line.split('\t').collect();
        match words.as_slice() {
            ["C", name, labels, aggregation] => {
                let mut body = json!({"metadata": metadata(labels), "rules": []});
                if *aggregation != "-" {
                    body["aggregationRule"] =
                        json!({"clusterRoleSelectors": [{"matchLabels": {*aggregation: "true"}}]});
                }
                all.push(("clusterroles", "", name, body));
            }
            ["R", namespace, name] => {
                all.push(("roles", namespace, name, json!({"metadata": metadata("-"), "rules": []})))
            }
            ["", verbs, groups, resources, names, paths] => {
                if let Some(rules) = all.last_mut().and_then(|last| last.3.get_mut("rules")?.as_array_mut()) {
                    rules.push(rule(&[
                        ("verbs", verbs),
                        ("apiGroups", groups),
                        ("resources", resources),
                        ("resourceNames", names),
                        ("nonResourceURLs", paths),
                    ]));
                }
            }
            ["B", name, namespace, kind, role, subjects] => {
                let body = json!({
                    "metadata": metadata("-"),
                    "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
                    "subjects": list(subjects).into_iter().map(subject).collect::<Vec<_>>(),
                });
                all.push(match *namespace {
                    "-" => ("clusterrolebindings", "", name, body),
                    namespace => ("rolebindings", namespace, name, body),
                });
            }
            _ => {}
        }
    }
    all
}

fn metadata(labels: &str) -> Value {
    let mut all = json!({"kubernetes.io/bootstrapping": "rbac-defaults"});
    for (key, value) in list(labels).into_iter().filter_map(|pair| pair.split_once('=')) {
        all[key] = value.into();
    }
    json!({"labels": all, "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"}})
}

fn list(text: &str) -> Vec<&str> {
    if text == "-" {
        Vec::new()
    } else {
        text.split(',').map(|word| if word == "\"\"" { "" } else { word }).collect()
    }
}

fn rule(parts: &[(&str, &str)]) -> Value {
    parts
        .iter()
        .filter(|(_, text)| *text != "-")
        .map(|(key, text)| ((*key).to_owned(), Value::from(list(text))))
        .collect()
}

fn subject(text: &str) -> Value {
    match text.split_once(':') {
        Some(("U", name)) => json!({"kind": "User", "apiGroup": GROUP, "name": name}),
        Some(("G", name)) => json!({"kind": "Group", "apiGroup": GROUP, "name": name}),
        Some((_, account)) => {
            let (namespace, name) = account.split_once('/').unwrap_or(("", account));
            json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
        }
        None => Value::Null,
    }
}
