//! Replays what a real server answered.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod defaults;
mod discovery;
mod errors;
mod ssa;

use std::path::PathBuf;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use podsmith_apiserver::auth::Identity;
use podsmith_apiserver::{ApiService, Cluster, ClusterOptions};
use podsmith_object::{Value, json};
use tower::ServiceExt as _;

/// A server with its captured answers beside it.
struct Replay {
    _cluster: Cluster,
    service: ApiService,
}

struct Answer {
    code: u16,
    body: Value,
    text: String,
    headers: HeaderMap,
}

impl Replay {
    async fn open() -> Self {
        let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
        let service = cluster.service(Identity::admin());
        Self { _cluster: cluster, service }
    }

    async fn send(&self, method: &str, path: &str, content_type: Option<&str>, body: &Value) -> Answer {
        self.send_as(&self.service, method, path, content_type, body).await
    }

    async fn send_as(
        &self,
        service: &ApiService,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: &Value,
    ) -> Answer {
        let bytes = match body {
            Value::Null => Bytes::new(),
            Value::String(text) => Bytes::from(text.clone()),
            other => Bytes::from(other.to_string()),
        };
        let mut request = Request::builder().method(method).uri(path);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let request = request.body(Full::new(bytes)).unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Answer { code: parts.status.as_u16(), body, text, headers: parts.headers }
    }
}

/// One of the captured files; nothing when it is not on this machine.
fn captured(test: &str, file: &str) -> Option<Value> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/apiserver");
    match std::fs::read(root.join(file)) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap()),
        Err(_) => {
            println!("skipped: {test}: the captured answers are not on this machine");
            None
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// Removes what differs from run to run.
fn mask(value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            metadata.shift_remove(key);
        }
    }
}

fn empty() -> Value {
    json!(null)
}
