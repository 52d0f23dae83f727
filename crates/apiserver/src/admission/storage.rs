//! Claims, volumes, ingresses: the default class, and protection while in use.

use std::sync::Arc;

use podsmith_object::Value;

use crate::fields;
use crate::server::Server;

/// Adds the finalizer that holds an object while it is used.
pub fn protect(object: &mut Value, finalizer: &str) {
    let mut finalizers: Vec<Value> = fields::list(object, &["metadata", "finalizers"]).to_vec();
    if !finalizers.iter().any(|one| one == finalizer) {
        finalizers.push(finalizer.into());
        fields::set(object, &["metadata", "finalizers"], finalizers.into());
    }
}

/// Gives a claim the default class, if it names none and there is one.
pub fn default_storage_class(server: &Arc<Server>, claim: &mut Value) {
    if fields::at(claim, &["spec", "storageClassName"]).is_some()
        || fields::at(claim, &["metadata", "annotations", "volume.beta.kubernetes.io/storage-class"])
            .is_some()
    {
        return;
    }
    let marks =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    if let Some(name) = default_of(server, "storage.k8s.io/storageclasses", &marks) {
        fields::set(claim, &["spec", "storageClassName"], name.into());
    }
}

/// Gives an ingress the default class, if it names none and there is one.
pub fn default_ingress_class(server: &Arc<Server>, ingress: &mut Value) {
    if fields::at(ingress, &["spec", "ingressClassName"]).is_some()
        || fields::at(ingress, &["metadata", "annotations", "kubernetes.io/ingress.class"]).is_some()
    {
        return;
    }
    let marks = ["ingressclass.kubernetes.io/is-default-class"];
    if let Some(name) = default_of(server, "networking.k8s.io/ingressclasses", &marks) {
        fields::set(ingress, &["spec", "ingressClassName"], name.into());
    }
}

/// The newest object that an annotation marks as the default.
fn default_of(server: &Arc<Server>, table: &str, marks: &[&str]) -> Option<String> {
    let listing = server.store.list(table, "", None, None, None).ok()?;
    let marked = listing.items.iter().map(|(_, stored)| stored.value()).filter(|class| {
        marks.iter().any(|mark| fields::text(class, &["metadata", "annotations", mark]) == "true")
    });
    let newest = marked.max_by(|a, b| {
        let born = |class: &Value| fields::text(class, &["metadata", "creationTimestamp"]).to_owned();
        born(a).cmp(&born(b)).then_with(|| fields::name(b).cmp(fields::name(a)))
    })?;
    Some(fields::name(&newest).to_owned())
}
