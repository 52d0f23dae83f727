//! The rules of single kinds that are no matter of types: what a create sets, what an update may touch, what is
//! handed out, what follows a write.

mod definitions;
mod restrict;
pub mod services;

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::clock;
use crate::fields;
use crate::registry::Resource;
use crate::request::DeleteOptions;
use crate::server::{Call, Server};
use crate::store::Stored;
pub use definitions::CLEANUP;
use podsmith_schema::strategy as rules;

/// Sets what a new object of its kind begins with.
pub fn before_create(call: &Call, object: &mut Value) {
    let resource = &call.resource;
    if resource.is_custom() {
        rules::custom_create(object, resource.subresource("status").is_some());
        return;
    }
    let uid = fields::uid(object).to_owned();
    let now = clock::now();
    rules::prepare_create(&resource.gvk(), object, rules::Birth { uid: &uid, now: &now });
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("apps", "daemonsets") => count_templates(object, None),
        ("certificates.k8s.io", "certificatesigningrequests") => {
            if let Some(who) = call.identity.to_value().as_object() {
                for (key, value) in who {
                    fields::set(object, &["spec", key], value.clone());
                }
            }
        }
        ("apiregistration.k8s.io", "apiservices") if fields::at(object, &["spec", "service"]).is_none() => {
            let condition = json!({
                "type": "Available", "status": "True", "lastTransitionTime": now,
                "reason": "Local", "message": "Local APIServices are always available",
            });
            fields::set(object, &["status", "conditions"], json!([condition]));
        }
        _ => {}
    }
}

/// Leaves only those changes that the path allows, and sets what an update of its kind brings with it.
pub fn before_update(resource: &Resource, subresource: &str, old: &Value, new: &mut Value) {
    let has_status = resource.subresource("status").is_some();
    match (subresource, resource.is_custom()) {
        ("" | "scale", true) => rules::custom_update(new, old, has_status),
        ("status", true) => rules::custom_status_update(new, old),
        ("" | "scale", false) => {
            rules::prepare_update(&resource.gvk(), new, old);
            match (resource.group.as_str(), resource.plural.as_str()) {
                ("apps", "daemonsets") => count_templates(new, Some(old)),
                ("", "services") => services::drop_allocated(old, new),
                ("apiextensions.k8s.io", "customresourcedefinitions") => {
                    definitions::note_stored_versions(new)
                }
                _ => {}
            }
        }
        ("status", false) => rules::prepare_status_update(&resource.gvk(), new, old, &clock::now()),
        (other, _) => restrict::restrict(other, old, new),
    }
}

/// Sets what belongs to the written form of a kind, before anyone notes who wrote it.
pub fn complete(resource: &Resource, old: Option<&Value>, object: &mut Value) {
    let path = ["metadata", "annotations", TEMPLATE_GENERATION];
    if resource.is("apps", "daemonsets") && fields::at(object, &path).is_none() {
        let known = old.map_or("", |old| fields::text(old, &path));
        let generation = if known.is_empty() { "1" } else { known };
        fields::set(object, &path, generation.into());
    }
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// An annotation counts the templates of a DaemonSet.
fn count_templates(set: &mut Value, old: Option<&Value>) {
    let generation = match old {
        None => 1,
        Some(old) => {
            let text = fields::text(old, &["metadata", "annotations", TEMPLATE_GENERATION]);
            let known: i64 = text.parse().unwrap_or(1);
            let template = ["spec", "template"];
            known + i64::from(fields::at(old, &template) != fields::at(set, &template))
        }
    };
    let path = ["metadata", "annotations", TEMPLATE_GENERATION];
    fields::set(set, &path, generation.to_string().into());
}

/// What follows a write.
pub fn after_write(server: &Arc<Server>, resource: &Resource, stored: &Arc<Stored>, gone: bool) {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "services") => server.addresses.note(&stored.value(), gone),
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            definitions::after_write(server, resource, stored, gone);
        }
        ("rbac.authorization.k8s.io", _) => server.rights.forget(),
        _ => {}
    }
}

/// What a client should know about a deletion.
pub fn deletion_warnings(resource: &Resource, options: &DeleteOptions) -> Vec<String> {
    if resource.is("batch", "jobs") && options.propagation.is_none() {
        return vec![
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning".to_owned(),
        ];
    }
    Vec::new()
}

/// What happens to dependents when the client does not say.
pub fn default_propagation(resource: &Resource) -> &'static str {
    if resource.is("batch", "jobs") || resource.is("", "replicationcontrollers") {
        "Orphan"
    } else {
        "Background"
    }
}

/// How many seconds an object gets to end well.
pub fn grace_period(resource: &Resource, options: &DeleteOptions, object: &Value) -> i64 {
    if !resource.is("", "pods") {
        return 0;
    }
    let phase = fields::text(object, &["status", "phase"]);
    if fields::text(object, &["spec", "nodeName"]).is_empty() || matches!(phase, "Failed" | "Succeeded") {
        return 0;
    }
    let own = fields::at(object, &["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64);
    options.grace_period_seconds.or(own).unwrap_or(30).max(0)
}

/// What the beginning of a deletion changes.
pub fn begin_deletion(resource: &Resource, object: &mut Value) {
    if resource.is("", "namespaces") {
        fields::set(object, &["status", "phase"], "Terminating".into());
    }
    if resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
        definitions::begin_deletion(object);
    }
}
