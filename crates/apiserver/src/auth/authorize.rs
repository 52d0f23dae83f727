//! Requests against rights.

use http::Method;

use super::{Access, Identity};
use crate::request::{Query, Target};
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// Refuses a request for a resource its maker has no right to.
pub fn authorize(
    server: &Server,
    identity: &Identity,
    method: &Method,
    target: &Target,
    query: &Query,
) -> ApiResult<()> {
    if identity.is_in("system:masters") {
        return Ok(());
    }
    let named = !target.name.is_empty();
    let verb = match (method.as_str(), named) {
        ("GET" | "HEAD", _) if target.watch_prefix || (!named && query.flag("watch")) => "watch",
        ("GET" | "HEAD", true) => "get",
        ("GET" | "HEAD", false) => "list",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        _ => "",
    };
    let mut access = Access {
        verb: verb.to_owned(),
        group: target.group.clone(),
        resource: target.resource.clone(),
        subresource: target.subresource.clone(),
        namespace: target.namespace.clone(),
        name: target.name.clone(),
        path: String::new(),
    };
    if matches!(verb, "list" | "watch" | "deletecollection") && access.name.is_empty() {
        // A list narrowed to one object is as good as that object.
        let selector = query.get("fieldSelector").unwrap_or("");
        let name = selector.split(',').find_map(|term| term.strip_prefix("metadata.name="));
        access.name = name.unwrap_or("").trim_start_matches('=').to_owned();
    }
    server.allows(identity, &access).map(drop).map_err(|_| refusal(identity, &access, target))
}

fn refusal(identity: &Identity, access: &Access, target: &Target) -> ApiError {
    let resource = if access.subresource.is_empty() {
        access.resource.clone()
    } else {
        format!("{}/{}", access.resource, access.subresource)
    };
    let place = if access.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace \"{}\"", access.namespace)
    };
    let why = format!(
        "User \"{}\" cannot {} resource \"{resource}\" in API group \"{}\" {place}",
        identity.name, access.verb, access.group
    );
    ApiError::forbidden(&target.group, &target.resource, &target.name, why)
}

/// Refuses a request for a page its maker has no right to.
pub fn authorize_page(server: &Server, identity: &Identity, method: &Method, path: &str) -> ApiResult<()> {
    let access = Access { verb: method.as_str().to_lowercase(), path: path.to_owned(), ..Access::default() };
    server.allows(identity, &access).map(drop).map_err(|_| {
        let why = format!("User \"{}\" cannot {} path \"{path}\"", identity.name, access.verb);
        ApiError::forbidden("", "", "", why)
    })
}
