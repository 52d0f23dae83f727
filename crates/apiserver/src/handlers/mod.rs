//! One set of handlers for every kind.

pub mod create;
pub mod delete;
pub mod discovery;
pub mod internal;
mod list;
pub mod pages;
mod patch;
mod pods;
mod read;
mod reviews;
mod scale;
mod update;
mod watch;

use std::sync::Arc;

use http::Method;
use podsmith_object::Value;

use crate::reply::Reply;
use crate::request::ListOptions;
use crate::request::body::{self, BodyFormat, Decoded};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

/// Answers a call, and says when it uses what is deprecated.
pub async fn dispatch(server: &Arc<Server>, call: Call) -> ApiResult<Reply> {
    let resource = call.resource.clone();
    let mut reply = match find_handler(server, call).await {
        Ok(reply) => reply,
        Err(error) => Reply::error(&error),
    };
    let warning = match &resource.custom {
        Some(custom) => custom.deprecation.clone(),
        None if resource.is("", "endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned())
        }
        None if resource.is("", "componentstatuses") => {
            Some("v1 ComponentStatus is deprecated in v1.19+".to_owned())
        }
        None => None,
    };
    reply.warnings.splice(0..0, warning);
    Ok(reply)
}

async fn find_handler(server: &Arc<Server>, call: Call) -> ApiResult<Reply> {
    let target = &call.target;
    let resource = &call.resource;
    if !target.subresource.is_empty() {
        let Some(part) = resource.subresource(&target.subresource) else {
            return Err(ApiError::no_such_resource());
        };
        let verb = match call.method.as_str() {
            "GET" | "HEAD" => "get",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            _ => "delete",
        };
        if !part.verbs.iter().any(|known| known == verb) {
            return Err(ApiError::method_not_allowed());
        }
        if matches!(part.name.as_str(), "attach" | "exec" | "log" | "portforward" | "proxy") {
            return pods::needs_node(server, &call);
        }
    } else {
        let lacks_namespace = resource.namespaced && target.namespace.is_empty() && !target.name.is_empty();
        let has_namespace = !resource.namespaced && !target.namespace.is_empty();
        if lacks_namespace || (has_namespace && !resource.is("", "namespaces")) {
            return Err(ApiError::no_such_resource());
        }
    }
    let named = !target.name.is_empty();
    if target.subresource == "scale" {
        return scale::answer(server, &call).await;
    }
    if call.method == Method::GET || call.method == Method::HEAD {
        if target.watch_prefix || (!named && call.query.flag("watch")) {
            return watch::watch(server, call).await;
        }
        if named {
            return read::get(server, &call).await;
        }
        require(&call, "list")?;
        return list::list(server, &call, &ListOptions::read(&call.query)?).await;
    }
    if call.method == Method::POST && !target.subresource.is_empty() {
        return pods::create_part(server, &call).await;
    }
    match (call.method.as_str(), named) {
        ("POST", false) => create::create(server, &call).await,
        ("PUT", true) => update::replace(server, &call).await,
        ("PATCH", true) => patch::patch(server, &call).await,
        ("DELETE", true) => delete::delete(server, &call).await,
        ("DELETE", false) => delete::delete_collection(server, &call).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

/// Refuses a verb the resource does not have.
fn require(call: &Call, verb: &str) -> ApiResult<()> {
    if call.resource.has_verb(verb) { Ok(()) } else { Err(ApiError::method_not_allowed()) }
}

/// The body of a write, decoded; `kind` is what it should be, for messages.
pub(crate) fn read_body(call: &Call, kind: &str) -> ApiResult<Decoded> {
    let unreadable = |why: String| {
        let sample: String = String::from_utf8_lossy(&call.body).chars().take(200).collect();
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why} ({sample})"
        ))
    };
    match BodyFormat::from_content_type(call.content_type.as_deref())? {
        BodyFormat::Json => body::decode_json(&call.body).map_err(|error| {
            let why =
                if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() };
            unreadable(why)
        }),
        BodyFormat::Yaml => body::decode_yaml(&call.body).map_err(unreadable),
        BodyFormat::Protobuf => crate::rules::decode_protobuf(&call.body)
            .map(|value| Decoded { value, duplicates: Vec::new() })
            .map_err(|why| {
                ApiError::bad_request(format!(
                    "the object provided is unrecognized (must be of type {kind}): {why}"
                ))
            }),
    }
}

/// Checks that a body is of the kind its path wants, and fills in what was left out.
pub(crate) fn check_type(object: &mut Value, group: &str, version: &str, kind: &str) -> ApiResult<()> {
    let expected = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let Some(body) = object.as_object_mut() else {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct {{ APIVersion string; Kind string }}"
        )));
    };
    let given = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let (api_version, given_kind) = (given("apiVersion"), given("kind"));
    if !api_version.is_empty() && api_version != expected {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({expected})"
        )));
    }
    if !given_kind.is_empty() && given_kind != kind {
        return Err(ApiError::bad_request(format!(
            "{given_kind} in version \"{version}\" cannot be handled as a {kind}: converting ({version}.{given_kind}) to ({kind}): unknown conversion"
        )));
    }
    body.insert("apiVersion".into(), expected.into());
    body.insert("kind".into(), kind.into());
    Ok(())
}
