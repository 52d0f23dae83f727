use std::collections::BTreeMap;

use podsmith_object::{Value, json};

use super::{Replay, captured, empty, text};

#[tokio::test]
async fn every_resource_of_the_real_server_is_discovered() {
    let Some(captured) = captured("discovery", "discovery-vectors.json") else { return };
    let replay = Replay::open().await;
    let groups = replay.send("GET", "/apis", None, &empty()).await.body;
    let order: Vec<String> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            let versions: Vec<&str> = group["versions"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|version| text(version, "version"))
                .collect();
            format!("{} {}", group["name"].as_str().unwrap(), versions.join(","))
        })
        .collect();
    let wanted: Vec<&str> =
        captured["groupOrder"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(order, wanted);
    let mut lists: BTreeMap<String, Value> = BTreeMap::new();
    let mut wrong = Vec::new();
    for known in captured["resources"].as_array().unwrap() {
        let (group, version) = (text(known, "group").unwrap(), text(known, "version").unwrap());
        let path =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        if !lists.contains_key(&path) {
            lists.insert(path.clone(), replay.send("GET", &path, None, &empty()).await.body);
        }
        let all = lists[&path]["resources"].as_array().unwrap();
        let plural = text(known, "resource").unwrap();
        let found = all.iter().find(|one| one["name"] == plural);
        let ours = found.map(|one| {
            json!([
                one["kind"],
                one["namespaced"],
                sorted(&one["verbs"]),
                one.get("shortNames"),
                one.get("categories"),
                one["singularName"]
            ])
        });
        let theirs = json!([
            known["kind"],
            known["namespaced"],
            sorted(&known["verbs"]),
            known.get("shortNames"),
            known.get("categories"),
            known["singular"]
        ]);
        if ours.as_ref() != Some(&theirs) {
            wrong.push(format!("{path} {plural}\n    ours   {ours:?}\n    theirs {theirs}"));
        }
        for part in known["subresources"].as_array().into_iter().flatten() {
            let name = format!("{plural}/{}", text(part, "name").unwrap());
            let found = all.iter().any(|one| {
                let kind = match (text(one, "group"), text(one, "version")) {
                    (Some(group), Some(version)) => {
                        format!("{group}/{version}/{}", text(one, "kind").unwrap())
                    }
                    _ => text(one, "kind").unwrap().to_owned(),
                };
                one["name"] == name.as_str()
                    && sorted(&one["verbs"]) == sorted(&part["verbs"])
                    && Some(kind.as_str()) == text(part, "kind")
            });
            if !found {
                wrong.push(format!("{path} {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sorted(verbs: &Value) -> Vec<String> {
    let mut verbs: Vec<String> = verbs.as_array().unwrap().iter().map(Value::to_string).collect();
    verbs.sort();
    verbs
}
