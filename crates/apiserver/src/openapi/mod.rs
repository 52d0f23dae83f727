//! OpenAPI: an index, and one document for each group and version, made when it is asked for.

mod protobuf;
mod schemas;

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, header};
use podsmith_object::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::handlers::discovery::with_etag;
use crate::registry::{Index, Resource, Resources};
use crate::reply::Reply;
use crate::server::{Server, text_header};
use crate::status::{ApiError, ApiResult};
use schemas::{Dialect, Schemas};

/// Answers what is below `/openapi`.
pub fn answer(server: &Arc<Server>, request: &Request<Bytes>, path: &str) -> ApiResult<Reply> {
    let index = server.registry.index();
    match path.trim_end_matches('/') {
        "/openapi/v3" => Ok(with_etag(request, "application/json", contents(&index).to_string())),
        "/openapi/v2" => {
            let document = version_two(&index);
            let accept = text_header(request, header::ACCEPT).unwrap_or_default();
            if accept.contains("proto-openapi.spec.v2") {
                let media = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
                return Ok(Reply::bytes(200, media, protobuf::document(&document).into()));
            }
            Ok(with_etag(request, "application/json", document.to_string()))
        }
        path => {
            let wanted = path.strip_prefix("/openapi/v3/").unwrap_or("");
            let found = groups(&index).find(|(name, ..)| name == wanted);
            let Some((_, _, _, resources)) = found else { return Err(ApiError::no_such_page()) };
            let document = version_three(resources);
            Ok(with_etag(request, "application/json", document.to_string()))
        }
    }
}

/// Every version of every group: the name in paths, group, version, resources.
fn groups(index: &Index) -> impl Iterator<Item = (String, &str, &str, &Resources)> {
    index.groups.iter().flat_map(|group| {
        group.versions.iter().map(|(version, resources)| {
            let name = if group.name.is_empty() {
                format!("api/{version}")
            } else {
                format!("apis/{}/{version}", group.name)
            };
            (name, group.name.as_str(), version.as_str(), resources)
        })
    })
}

fn contents(index: &Index) -> Value {
    let mut paths = Map::new();
    for (name, _, _, resources) in groups(index) {
        let url = format!("/openapi/v3/{name}?hash={}", fingerprint(resources));
        paths.insert(name, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

/// Changes when the document does: built-in resources change with our version, custom ones with their schemas.
fn fingerprint(resources: &Resources) -> String {
    let mut hash = Sha256::new();
    hash.update(crate::VERSION);
    for resource in resources.values() {
        hash.update(&resource.plural);
        if let Some(custom) = &resource.custom {
            hash.update(custom.schema.schema().to_string());
            hash.update(resource.subresources.len().to_le_bytes());
        }
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02X}")).collect()
}

fn version_three(resources: &Resources) -> Value {
    let mut schemas = Schemas::new(Dialect::Three);
    let mut paths = Map::new();
    for resource in resources.values() {
        schemas.add_resource(resource);
        add_paths(&mut paths, resource, Dialect::Three);
    }
    // Kinds that have no path of their own, such as DeleteOptions, are documented as well.
    schemas.add_options();
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": crate::VERSION},
        "paths": paths, "components": {"schemas": schemas.finish()},
    })
}

fn version_two(index: &Index) -> Value {
    let mut schemas = Schemas::new(Dialect::Two);
    let mut paths = Map::new();
    for (_, _, _, resources) in groups(index) {
        for resource in resources.values() {
            schemas.add_resource(resource);
            add_paths(&mut paths, resource, Dialect::Two);
        }
    }
    schemas.add_options();
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": crate::VERSION},
        "paths": paths, "definitions": schemas.finish(),
    })
}

/// The paths of a resource with the parameters clients look for before they use them.
fn add_paths(paths: &mut Map<String, Value>, resource: &Resource, dialect: Dialect) {
    let base = if resource.group.is_empty() {
        format!("/api/{}", resource.version)
    } else {
        format!("/apis/{}/{}", resource.group, resource.version)
    };
    let collection = if resource.namespaced {
        format!("{base}/namespaces/{{namespace}}/{}", resource.plural)
    } else {
        format!("{base}/{}", resource.plural)
    };
    let kind = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
    let parameter = |name: &str| match dialect {
        Dialect::Two => json!({"name": name, "in": "query", "type": "string", "uniqueItems": true}),
        Dialect::Three => {
            json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}})
        }
    };
    let write = ["dryRun", "fieldManager", "fieldValidation"].map(parameter);
    let operation = |action: &str, parameters: &[Value]| {
        let mut operation = json!({
            "operationId": format!("{action}{}", resource.kind), "parameters": parameters,
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind,
        });
        if action == "patch" {
            let media = json!([
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/strategic-merge-patch+json",
                "application/apply-patch+yaml",
            ]);
            operation["consumes"] = media;
        }
        operation
    };
    let mut on_collection = Map::new();
    if resource.has_verb("create") {
        on_collection.insert("post".into(), operation("post", &write));
    }
    if resource.has_verb("list") {
        on_collection.insert("get".into(), operation("list", &[]));
    }
    paths.insert(collection.clone(), Value::Object(on_collection));
    if resource.has_verb("get") {
        let mut on_object = Map::new();
        on_object.insert("get".into(), operation("get", &[]));
        if resource.has_verb("update") {
            on_object.insert("put".into(), operation("put", &write));
        }
        if resource.has_verb("patch") {
            let mut parameters = write.to_vec();
            parameters.push(parameter("force"));
            on_object.insert("patch".into(), operation("patch", &parameters));
        }
        if resource.has_verb("delete") {
            on_object.insert("delete".into(), operation("delete", &[parameter("dryRun")]));
        }
        paths.insert(format!("{collection}/{{name}}"), Value::Object(on_object));
    }
}
