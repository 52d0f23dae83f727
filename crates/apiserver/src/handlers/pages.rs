//! Pages outside of the API proper.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use podsmith_object::json;

use crate::reply::Reply;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// Answers `/version`, `/readyz` and their like.
pub fn answer(server: &Arc<Server>, request: &Request<Bytes>, path: &str) -> ApiResult<Reply> {
    match path.trim_end_matches('/') {
        path if path.starts_with("/openapi/") => crate::openapi::answer(server, request, path),
        "" => Ok(Reply::value(200, json!({"paths": root_paths(server)}))),
        "/version" => Ok(Reply::value(200, version())),
        path if ["/healthz", "/livez", "/readyz"].iter().any(|page| path.starts_with(page)) => {
            Ok(Reply::text(200, "ok"))
        }
        _ => Err(ApiError::no_such_page()),
    }
}

fn root_paths(server: &Arc<Server>) -> Vec<String> {
    let mut paths: Vec<String> =
        ["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
            .map(str::to_owned)
            .to_vec();
    for group in &server.registry.index().groups {
        for (version, _) in &group.versions {
            paths.push(if group.name.is_empty() {
                format!("/api/{version}")
            } else {
                format!("/apis/{}/{version}", group.name)
            });
        }
    }
    paths.sort();
    paths
}

/// What `/version` says.
pub fn version() -> podsmith_object::Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": crate::VERSION, "gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none", "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, go_arch()),
    })
}

fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
