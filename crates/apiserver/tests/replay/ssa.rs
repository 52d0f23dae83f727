use podsmith_object::{Value, json};

use super::{Replay, captured, empty, mask, text};

/// The managers as the captured file writes them.
fn managers(object: &Value) -> Vec<Value> {
    let mut entries: Vec<Value> =
        object.pointer("/metadata/managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
    for entry in &mut entries {
        let map = entry.as_object_mut().unwrap();
        let present = map.shift_remove("time").is_some();
        map.insert("timePresent".into(), present.into());
    }
    sort(&mut entries);
    entries
}

fn sort(entries: &mut [Value]) {
    entries.sort_by_key(|entry| {
        ["operation", "manager", "apiVersion", "subresource"]
            .map(|key| text(entry, key).unwrap_or("").to_owned())
    });
}

fn masked(mut object: Value) -> Value {
    mask(&mut object);
    if object["kind"] == "Service"
        && let Some(spec) = object["spec"].as_object_mut()
    {
        for key in ["clusterIP", "clusterIPs"] {
            if spec.contains_key(key) {
                spec.insert(key.into(), "masked".into());
            }
        }
    }
    object
}

#[tokio::test]
async fn server_side_apply_gives_what_the_real_server_gave() {
    let Some(captured) = captured("server_side_apply", "ssa-vectors.json") else { return };
    let replay = Replay::open().await;
    for request in captured["setup"].as_array().unwrap() {
        let path = text(request, "path").unwrap();
        let answer = replay.send(text(request, "method").unwrap(), path, None, &request["body"]).await;
        assert!(answer.code < 300 || answer.code == 409, "{path}: {}", answer.text);
    }
    let (mut right, mut wrong) = (0, Vec::new());
    for vector in captured["vectors"].as_array().unwrap() {
        let mut faults: Vec<String> = Vec::new();
        for (number, step) in vector["steps"].as_array().unwrap().iter().enumerate() {
            faults.extend(
                one_step(&replay, step).await.into_iter().map(|fault| format!("step {number}: {fault}")),
            );
        }
        if faults.is_empty() {
            right += 1;
        } else {
            wrong.push(format!("{}: {}", text(vector, "id").unwrap(), faults.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{right} right, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

async fn one_step(replay: &Replay, step: &Value) -> Option<String> {
    let path = text(step, "path").unwrap();
    let url = match text(step, "query").filter(|query| !query.is_empty()) {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let before = replay.send("GET", path, None, &empty()).await.body;
    let method = text(step, "method").unwrap();
    let answer = replay.send(method, &url, text(step, "contentType"), &step["body"]).await;
    let expect = &step["expect"];
    if u64::from(answer.code) != expect["code"].as_u64().unwrap() {
        return Some(format!("code {} instead of {}: {}", answer.code, expect["code"], answer.text));
    }
    if let Some(object) = expect.get("object") {
        let (ours, theirs) = (masked(answer.body.clone()), masked(object.clone()));
        if ours != theirs {
            return Some(format!("object\n    ours   {ours}\n    theirs {theirs}"));
        }
        let mut theirs = expect["managedFields"].as_array().cloned().unwrap_or_default();
        sort(&mut theirs);
        let ours = managers(&answer.body);
        if ours != theirs {
            return Some(format!("managers\n    ours   {}\n    theirs {}", json!(ours), json!(theirs)));
        }
    }
    if let Some(changed) = expect.get("resourceVersionChanged") {
        let revision = |object: &Value| object.pointer("/metadata/resourceVersion").cloned();
        if *changed != (revision(&before) != revision(&answer.body)) {
            return Some(format!("the revision changed: {} expected", changed));
        }
    }
    if let Some(status) = expect.get("status") {
        for pointer in ["/reason", "/details/causes"] {
            let sorted = |value: Option<&Value>| {
                let mut value = value.cloned().unwrap_or(Value::Null);
                if let Some(causes) = value.as_array_mut() {
                    causes.sort_by_key(|cause| cause["field"].to_string());
                    for cause in causes {
                        let message = cause["message"].to_string();
                        if message.contains("UID") || cause["field"] == "metadata.uid" {
                            cause["message"] = "masked".into();
                        }
                    }
                }
                value
            };
            let (ours, theirs) = (sorted(answer.body.pointer(pointer)), sorted(status.pointer(pointer)));
            if ours != theirs {
                return Some(format!("{pointer}\n    ours   {ours}\n    theirs {theirs}"));
            }
        }
        let masked = |value: &Value| value["message"].to_string();
        if !masked(status).contains("<UID>")
            && masked(status) != masked(&answer.body)
            && !masked(status).contains('[')
        {
            return Some(format!(
                "message\n    ours   {}\n    theirs {}",
                answer.body["message"], status["message"]
            ));
        }
    }
    None
}
