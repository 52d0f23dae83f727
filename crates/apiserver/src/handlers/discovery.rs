//! What is served: one document for everything, or one for each group and version.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, header};
use podsmith_object::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::registry::{Group, Index, Resource};
use crate::reply::{Payload, Reply};
use crate::request::Form;
use crate::server::{Server, text_header};
use crate::status::{ApiError, ApiResult};

/// Answers `/api`, `/apis` and what is directly below.
pub fn answer(
    server: &Arc<Server>,
    request: &Request<Bytes>,
    group: Option<String>,
    version: Option<String>,
    core: bool,
    form: Form,
) -> ApiResult<Reply> {
    let index = server.registry.index();
    let document = match (group, version) {
        (None, _) => {
            if let Form::Discovery(version) = form {
                return Ok(aggregated(&index, core, version, request));
            }
            if core { core_versions() } else { group_list(&index) }
        }
        (Some(group), None) => match index.group(&group).filter(|group| !group.name.is_empty()) {
            Some(group) => group_value(group, true),
            None => return Err(ApiError::no_such_page()),
        },
        (Some(group), Some(version)) => match index.version(&group, &version) {
            Some(resources) => {
                let api_version = if group.is_empty() { version } else { format!("{group}/{version}") };
                let all: Vec<Value> = resources.values().flat_map(|resource| legacy(resource)).collect();
                json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": all})
            }
            None => return Err(ApiError::no_such_page()),
        },
    };
    Ok(Reply::value(200, document))
}

fn core_versions() -> Value {
    json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
    })
}

fn group_list(index: &Index) -> Value {
    let groups: Vec<Value> = index
        .groups
        .iter()
        .filter(|group| !group.name.is_empty())
        .map(|group| group_value(group, false))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn group_value(group: &Group, alone: bool) -> Value {
    let version =
        |version: &str| json!({"groupVersion": format!("{}/{version}", group.name), "version": version});
    let versions: Vec<Value> = group.versions.iter().map(|(name, _)| version(name)).collect();
    let mut out = Map::new();
    if alone {
        out.insert("kind".into(), "APIGroup".into());
        out.insert("apiVersion".into(), "v1".into());
    }
    out.insert("name".into(), group.name.as_str().into());
    let preferred = versions.first().cloned().unwrap_or_else(|| json!({}));
    out.insert("versions".into(), versions.into());
    out.insert("preferredVersion".into(), preferred);
    Value::Object(out)
}

/// The entries of a resource and its parts in a legacy list.
fn legacy(resource: &Resource) -> Vec<Value> {
    let mut main = json!({
        "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
        "kind": resource.kind, "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        main["shortNames"] = resource.short_names.clone().into();
    }
    if !resource.categories.is_empty() {
        main["categories"] = resource.categories.clone().into();
    }
    if !resource.storage_hash.is_empty() {
        main["storageVersionHash"] = resource.storage_hash.as_str().into();
    }
    let mut all = vec![main];
    for part in &resource.subresources {
        let mut entry = json!({
            "name": format!("{}/{}", resource.plural, part.name), "singularName": "",
            "namespaced": resource.namespaced,
        });
        if (part.group.as_str(), part.version.as_str())
            != (resource.group.as_str(), resource.version.as_str())
        {
            entry["group"] = part.group.as_str().into();
            entry["version"] = part.version.as_str().into();
        }
        entry["kind"] = part.kind.as_str().into();
        entry["verbs"] = part.verbs.clone().into();
        all.push(entry);
    }
    all
}

/// Everything in one document, with an ETag so that clients fetch it once.
fn aggregated(index: &Index, core: bool, version: &'static str, request: &Request<Bytes>) -> Reply {
    let items: Vec<Value> = index
        .groups
        .iter()
        .filter(|group| group.name.is_empty() == core)
        .map(|group| {
            let versions: Vec<Value> = group
                .versions
                .iter()
                .map(|(name, resources)| {
                    let all: Vec<Value> = resources.values().map(|resource| discovered(resource)).collect();
                    json!({"version": name, "resources": all, "freshness": "Current"})
                })
                .collect();
            let metadata = if core {
                json!({"creationTimestamp": null})
            } else {
                json!({"name": group.name, "creationTimestamp": null})
            };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    let document = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": items,
    });
    let text = document.to_string();
    let media = match version {
        "v2" => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        _ => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
    };
    with_etag(request, media, text)
}

/// Text with an ETag; nothing but 304 if the client has it.
pub fn with_etag(request: &Request<Bytes>, media: &'static str, text: String) -> Reply {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    let etag = format!("\"{hex}\"");
    let known = text_header(request, header::IF_NONE_MATCH).is_some_and(|given| given.contains(&etag));
    let mut reply = if known { Reply::text(304, "") } else { Reply::text(200, "") };
    reply.payload = Payload::Text(media, if known { String::new() } else { text });
    reply.headers.push((header::ETAG, etag));
    reply.headers.push((header::VARY, "Accept".to_owned()));
    reply
}

fn discovered(resource: &Resource) -> Value {
    let kind =
        |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut out = json!({
        "resource": resource.plural,
        "responseKind": kind(&resource.group, &resource.version, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        out["shortNames"] = resource.short_names.clone().into();
    }
    if !resource.categories.is_empty() {
        out["categories"] = resource.categories.clone().into();
    }
    if !resource.subresources.is_empty() {
        out["subresources"] = resource
            .subresources
            .iter()
            .map(|part| {
                json!({
                    "subresource": part.name,
                    "responseKind": kind(&part.group, &part.version, &part.kind),
                    "verbs": part.verbs,
                })
            })
            .collect();
    }
    out
}
