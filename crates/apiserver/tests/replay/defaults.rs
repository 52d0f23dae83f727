use podsmith_object::Value;

use super::{Replay, captured, mask, text};

/// Masks times, uids and random names wherever they stand.
fn mask_random(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                let random = matches!(
                    key.as_str(),
                    "nodePort"
                        | "clusterIP"
                        | "clusterIPs"
                        | "lastPhaseTransitionTime"
                        | "controller-uid"
                        | "batch.kubernetes.io/controller-uid"
                        | "lastTransitionTime"
                );
                if random && *inner != "None" && *inner != Value::from(vec!["None"]) {
                    *inner = "masked".into();
                } else {
                    mask_random(inner);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_random),
        Value::String(name) if name.starts_with("kube-api-access-") => *name = "kube-api-access-".to_owned(),
        _ => {}
    }
}

#[tokio::test]
async fn new_objects_are_completed_as_by_the_real_server() {
    let Some(captured) = captured("defaults", "default-vectors.json") else { return };
    let replay = Replay::open().await;
    let namespace = podsmith_object::json!({"metadata": {"name": "dfl"}});
    replay.send("POST", "/api/v1/namespaces", None, &namespace).await;
    let account = podsmith_object::json!({"metadata": {"name": "default"}});
    replay.send("POST", "/api/v1/namespaces/dfl/serviceaccounts", None, &account).await;
    let (mut right, mut wrong) = (0, Vec::new());
    for case in captured["cases"].as_array().unwrap() {
        let path = text(case, "path").unwrap();
        let url = if path.ends_with("/services") { path.to_owned() } else { format!("{path}?dryRun=All") };
        let answer = replay.send("POST", &url, None, &case["input"]).await;
        let (mut ours, mut theirs) = (answer.body, case["output"].clone());
        for object in [&mut ours, &mut theirs] {
            mask(object);
            mask_random(object);
        }
        if ours == theirs {
            right += 1;
        } else {
            wrong.push(format!("{}\n    ours   {ours}\n    theirs {theirs}", case["title"]));
        }
    }
    assert!(wrong.is_empty(), "{right} right, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
