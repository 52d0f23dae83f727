//! The metadata of every object.

use podsmith_object::{GroupVersionKind, Value};

use super::names;
use super::node::{At, Faults};
use crate::fault::Fault;

/// Which names a kind allows.
pub(super) type NameRule = fn(&str) -> Vec<String>;

/// The name rule of a kind.
pub(super) fn name_rule(gvk: &GroupVersionKind) -> NameRule {
    match (&*gvk.group, &*gvk.kind) {
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") => names::dns_label,
        ("rbac.authorization.k8s.io", _) => names::path_segment,
        ("certificates.k8s.io", "ClusterTrustBundle") => names::path_segment,
        // Checked with the rest of the object.
        ("networking.k8s.io", "IPAddress") | ("apiregistration.k8s.io", _) => names::path_segment,
        _ => names::dns_subdomain,
    }
}

/// Longest allowed total of annotation keys and values.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Checks the metadata of a new object.
pub(super) fn create(metadata: &At<'_>, namespaced: bool, rule: NameRule, faults: &mut Faults) {
    let generate = metadata.child("generateName");
    if !generate.is_empty() {
        faults.each(&generate, rule(&names::without_trailing_dash(generate.text())));
    }
    let name = metadata.child("name");
    if name.is_empty() {
        faults.required(&name, "name or generateName is required");
    } else {
        faults.each(&name, rule(name.text()));
    }
    let namespace = metadata.child("namespace");
    if namespaced {
        if namespace.is_empty() {
            faults.required(&namespace, "");
        } else {
            faults.each(&namespace, names::dns_label(namespace.text()));
        }
    } else if !namespace.is_empty() {
        faults.forbidden(&namespace, "not allowed on this type");
    }
    faults_of_generation(metadata, faults);
    shared(metadata, faults);
    finalizers(metadata, faults);
}

fn faults_of_generation(metadata: &At<'_>, faults: &mut Faults) {
    faults.not_negative(&metadata.child("generation"));
}

/// What holds for new and changed objects alike.
pub(super) fn shared(metadata: &At<'_>, faults: &mut Faults) {
    labels(&metadata.child("labels"), faults);
    annotations(&metadata.child("annotations"), faults);
    owners(&metadata.child("ownerReferences"), faults);
}

/// Label keys and values.
pub(super) fn labels(labels: &At<'_>, faults: &mut Faults) {
    for (key, value) in labels.entries() {
        let at = |value: Value| Fault::invalid(labels.path.as_str(), value, "");
        for text in names::label_key(key) {
            faults.push(Fault { detail: text, ..at(Value::from(key)) });
        }
        for text in names::label_value(value.text()) {
            faults.push(Fault { detail: text, ..at(value.value.clone()) });
        }
    }
}

/// Annotation keys, and how much there is in all.
pub(super) fn annotations(annotations: &At<'_>, faults: &mut Faults) {
    let mut size = 0;
    for (key, value) in annotations.entries() {
        for text in names::qualified_name(&key.to_lowercase()) {
            faults.push(Fault::invalid(annotations.path.as_str(), key, text));
        }
        size += key.len() + value.text().len();
    }
    if size > MAX_ANNOTATIONS {
        faults.push(Fault::too_long(annotations.path.as_str(), 262_144));
    }
}

fn owners(references: &At<'_>, faults: &mut Faults) {
    let mut controller: Option<String> = None;
    for reference in references.items() {
        let here =
            |key: &str| At { path: format!("{}.{key}", references.path), value: reference.child(key).value };
        let version = here("apiVersion");
        let version_part = version.text().rsplit('/').next().unwrap_or("");
        if version_part.is_empty() {
            invalid_text(&version, "version must not be empty", faults);
        }
        for key in ["kind", "name", "uid"] {
            if here(key).is_empty() {
                invalid_text(&here(key), "must not be empty", faults);
            }
        }
        if version.text() == "v1" && here("kind").text() == "Event" {
            let banned = At { path: references.path.clone(), value: reference.value };
            faults.invalid(&banned, "/v1, Kind=Event is disallowed from being an owner");
        }
        if reference.child("controller").flag() {
            let this = format!("{}/{}", here("kind").text(), here("name").text());
            match &controller {
                Some(first) => faults.invalid(
                    references,
                    format!("Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"),
                ),
                None => controller = Some(this),
            }
        }
    }
}

/// An empty text shows as such, not as null.
pub(super) fn invalid_text(at: &At<'_>, detail: &str, faults: &mut Faults) {
    faults.push(Fault::invalid(at.path.as_str(), at.text(), detail));
}

fn finalizers(metadata: &At<'_>, faults: &mut Faults) {
    let list = metadata.child("finalizers");
    let names: Vec<&str> = list.items().iter().map(|item| item.value.as_str().unwrap_or("")).collect();
    for name in &names {
        for text in names::qualified_name(name) {
            faults.push(Fault::invalid(list.path.as_str(), *name, text));
        }
    }
    if names.contains(&"orphan") && names.contains(&"foregroundDeletion") {
        faults.invalid(&list, "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

/// Finalizers of built-in kinds need a slash, but for three that Kubernetes itself uses.
pub(super) fn qualified_finalizers(metadata: &At<'_>, faults: &mut Faults) {
    let list = metadata.child("finalizers");
    for item in list.items() {
        let name = item.text();
        if !name.contains('/') && !matches!(name, "kubernetes" | "orphan" | "foregroundDeletion") {
            faults.push(Fault::invalid(
                item.path,
                name,
                "name is neither a standard finalizer name nor is it fully qualified",
            ));
        }
    }
}

/// Checks the metadata of a changed object against what it was.
pub(super) fn update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    if old.child("deletionTimestamp").is_set() {
        let list = |at: &At<'_>| -> Vec<String> {
            at.child("finalizers").items().iter().map(|item| item.text().to_owned()).collect()
        };
        let before = list(old);
        let mut added: Vec<String> = list(new).into_iter().filter(|name| !before.contains(name)).collect();
        added.sort();
        if !added.is_empty() {
            let shown: Vec<String> = added.iter().map(|name| crate::gotext::quoted(name)).collect();
            faults.forbidden(
                &new.child("finalizers"),
                format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    shown.join(", ")
                ),
            );
        }
    }
    if new.child("resourceVersion").is_empty() && !old.child("resourceVersion").is_empty() {
        faults.push(Fault::invalid("metadata.resourceVersion", "", "must be specified for an update"));
    }
    if new.child("generation").int() < old.child("generation").int() {
        faults.invalid(&new.child("generation"), "must not be decremented");
    }
    for key in
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        faults.immutable(&new.child(key), &old.child(key));
    }
    shared(new, faults);
}
