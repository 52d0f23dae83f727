use podsmith_apiserver::auth::Identity;
use podsmith_object::{Value, json};

use super::{Replay, captured, empty, text};

/// The share of the captured errors that must come out the same.
const WANTED_PERCENT: usize = 95;

#[tokio::test]
async fn wrong_requests_are_refused_as_by_the_real_server() {
    let Some(captured) = captured("errors", "error-vectors.json") else { return };
    let replay = Replay::open().await;
    for request in captured["setup"].as_array().unwrap() {
        let path = text(request, "path").unwrap();
        let answer = replay.send(text(request, "method").unwrap(), path, None, &request["body"]).await;
        assert!(answer.code < 300 || answer.code == 409, "{path}: {}", answer.text);
    }
    let (mut right, mut wrong) = (0, Vec::new());
    for case in captured["cases"].as_array().unwrap() {
        match one_case(&replay, case).await {
            None => right += 1,
            Some(fault) => wrong.push(format!("{}: {fault}", case["title"])),
        }
    }
    let share = right * 100 / (right + wrong.len());
    assert!(share >= WANTED_PERCENT, "{right} right, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

async fn body_of(replay: &Replay, case: &Value, path: &str) -> Value {
    if let Some(changes) = case.get("bodyIsLiveObjectWith").and_then(Value::as_object) {
        let mut object = replay.send("GET", path, None, &empty()).await.body;
        for (field, value) in changes {
            let pointer = format!("/{}", field.replace('.', "/"));
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let map = object.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            if value.is_null() {
                map.shift_remove(key);
            } else {
                map.insert(key.to_owned(), value.clone());
            }
        }
        return object;
    }
    match case.get("body") {
        Some(Value::String(text)) if text == "<1.1MB data>" => {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c4"}, "data": {"a": "x".repeat(1_150_000)}})
        }
        Some(body) => body.clone(),
        None => Value::Null,
    }
}

fn causes(status: &Value) -> Vec<(String, String)> {
    let list = status.pointer("/details/causes").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut causes: Vec<(String, String)> =
        list.iter().map(|cause| (cause["reason"].to_string(), cause["field"].to_string())).collect();
    causes.sort();
    causes
}

async fn one_case(replay: &Replay, case: &Value) -> Option<String> {
    let path = text(case, "path").unwrap();
    let body = body_of(replay, case, path).await;
    let method = text(case, "method").unwrap();
    let service = match text(case, "user") {
        Some("alice") => replay._cluster.service(Identity::new("alice", &[])),
        Some("anonymous") => replay._cluster.service(Identity::anonymous()),
        Some("bad token") => return None,
        _ => replay.service.clone(),
    };
    let answer = replay.send_as(&service, method, path, text(case, "contentType"), &body).await;
    let wanted = &case["response"];
    if u64::from(answer.code) != case["code"].as_u64().unwrap() {
        return Some(format!("code {} instead of {}: {}", answer.code, case["code"], answer.text));
    }
    if answer.code < 300 {
        return None;
    }
    if wanted.is_string() {
        return (Some(answer.text.trim()) != wanted.as_str().map(str::trim)).then(|| answer.text.clone());
    }
    if answer.body.get("reason") != wanted.get("reason") {
        return Some(format!("reason {} instead of {}", answer.body["reason"], wanted["reason"]));
    }
    if causes(&answer.body) != causes(wanted) {
        return Some(format!("causes {:?} instead of {:?}", causes(&answer.body), causes(wanted)));
    }
    if let Some(warning) = text(case, "warning") {
        let ours: Vec<&str> =
            answer.headers.get_all("warning").iter().filter_map(|value| value.to_str().ok()).collect();
        if !ours.iter().any(|one| warning.contains(one)) {
            return Some(format!("warning {ours:?} instead of {warning}"));
        }
    }
    None
}
