//! Validation of the built-in kinds: what the server says about objects that fit their type but break a rule.
//!
//! Objects must be complete: defaulted and in the stored form. One file holds one group of kinds. Kinds that are not
//! listed get the rules of metadata only.

mod claims;
mod cluster;
mod config;
mod containers;
mod crds;
mod metadata;
mod names;
mod networking;
mod node;
mod others;
mod pods;
mod rbac;
mod schedule;
mod selector;
mod services;
mod volumes;
mod workloads;

use podsmith_object::{GroupVersionKind, Value};

use crate::fault::Fault;
use crate::table::is_cluster_scoped;
use node::{At, Faults};

/// What is wrong with a new object.
pub fn create(gvk: &GroupVersionKind, object: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    let at = At::root(object);
    let namespaced = is_cluster_scoped(gvk) == Some(false);
    metadata::create(&at.child("metadata"), namespaced, metadata::name_rule(gvk), &mut faults);
    metadata::qualified_finalizers(&at.child("metadata"), &mut faults);
    body(gvk, &at, None, &mut faults);
    faults.list
}

/// What is wrong with a changed object. `new` must carry the resourceVersion it is based on.
pub fn update(gvk: &GroupVersionKind, new: &Value, old: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    let (new, old) = (At::root(new), At::root(old));
    changed_metadata(&new, &old, &mut faults);
    if revalidates_metadata(gvk) {
        let namespaced = is_cluster_scoped(gvk) == Some(false);
        metadata::create(&new.child("metadata"), namespaced, metadata::name_rule(gvk), &mut faults);
        metadata::qualified_finalizers(&new.child("metadata"), &mut faults);
    }
    metadata::qualified_finalizers(&new.child("metadata"), &mut faults);
    body(gvk, &new, Some(&old), &mut faults);
    faults.list
}

/// The server checks the metadata of a change twice, once for all kinds and once for this one, and lists what it finds
/// as often.
fn changed_metadata(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (new, old) = (new.child("metadata"), old.child("metadata"));
    metadata::shared(&new, faults);
    metadata::update(&new, &old, faults);
    metadata::update(&new, &old, faults);
}

/// Kinds whose changes are checked like new objects on top.
fn revalidates_metadata(gvk: &GroupVersionKind) -> bool {
    match (&*gvk.group, &*gvk.kind) {
        ("rbac.authorization.k8s.io", _) | ("batch", "Job") => true,
        ("", kind) => matches!(
            kind,
            "ConfigMap"
                | "Secret"
                | "PersistentVolumeClaim"
                | "PersistentVolume"
                | "Pod"
                | "ServiceAccount"
                | "Namespace"
        ),
        _ => false,
    }
}

/// What is wrong with an object changed through its status.
pub fn status_update(gvk: &GroupVersionKind, new: &Value, old: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    let (new, old) = (At::root(new), At::root(old));
    changed_metadata(&new, &old, &mut faults);
    if matches!((&*gvk.group, &*gvk.kind), ("apps", _) | ("", "ReplicationController")) {
        replica_counts(&new.child("status"), &mut faults);
    }
    faults.list
}

/// What is wrong with the metadata of a custom resource; the rest is the matter of its schema.
pub fn custom_create(object: &Value, namespaced: bool) -> Vec<Fault> {
    let mut faults = Faults::default();
    metadata::create(&At::root(object).child("metadata"), namespaced, names::dns_subdomain, &mut faults);
    faults.list
}

/// What is wrong with the metadata of a changed custom resource.
pub fn custom_update(new: &Value, old: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    changed_metadata(&At::root(new), &At::root(old), &mut faults);
    faults.list
}

fn body(gvk: &GroupVersionKind, object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    match (&*gvk.group, &*gvk.kind) {
        ("", "Pod") => {
            pods::spec(&spec, pods::Place::Pod, faults);
            if let Some(old) = old {
                pods::update(object, old, faults);
            }
        }
        ("", "PodTemplate") => pods::template(&object.child("template"), faults),
        ("", "ReplicationController") => workloads::replication_controller(object, faults),
        ("", "Service") => services::service(object, old, faults),
        ("", "Endpoints") => services::endpoints(object, faults),
        ("", "ConfigMap") => config::config_map(object, old, faults),
        ("", "Secret") => config::secret(object, old, faults),
        ("", "Node") => config::node(object, old, faults),
        ("", "Namespace") => config::namespace(object, faults),
        ("", "ResourceQuota") => config::quota(object, old, faults),
        ("", "LimitRange") => config::limit_range(object, faults),
        ("", "Event") => config::event(object, faults),
        ("", "PersistentVolume") => claims::volume(object, old, faults),
        ("", "PersistentVolumeClaim") => claims::claim(object, old, faults),
        ("apps", "ControllerRevision") => others::revision(object, old, faults),
        ("apps", kind) => workloads::apps(kind, object, old, faults),
        ("batch", "Job") => workloads::job(object, old, faults),
        ("batch", "CronJob") => workloads::cron_job(object, faults),
        ("networking.k8s.io", "Ingress") => networking::ingress(object, old.is_none(), faults),
        ("networking.k8s.io", "IngressClass") => networking::ingress_class(object, old, faults),
        ("networking.k8s.io", "NetworkPolicy") => networking::network_policy(object, faults),
        ("discovery.k8s.io", "EndpointSlice") => services::endpoint_slice(object, old, faults),
        ("rbac.authorization.k8s.io", "Role") => rbac::role(object, true, faults),
        ("rbac.authorization.k8s.io", "ClusterRole") => rbac::role(object, false, faults),
        ("rbac.authorization.k8s.io", "RoleBinding") => rbac::binding(object, old, true, faults),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => rbac::binding(object, old, false, faults),
        ("autoscaling", "HorizontalPodAutoscaler") => cluster::autoscaler(object, faults),
        ("policy", "PodDisruptionBudget") => cluster::disruption_budget(object, faults),
        ("scheduling.k8s.io", "PriorityClass") => cluster::priority_class(object, old, faults),
        ("coordination.k8s.io", "Lease") => cluster::lease(object, faults),
        ("storage.k8s.io", "StorageClass") => claims::storage_class(object, old, faults),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => {
            cluster::webhooks(object, faults);
        }
        ("admissionregistration.k8s.io", kind) => others::admission_policy(kind, object, faults),
        ("storage.k8s.io", kind) => others::storage(kind, object, old, faults),
        ("flowcontrol.apiserver.k8s.io", kind) => others::flow_control(kind, object, faults),
        ("resource.k8s.io", "ResourceClaim" | "ResourceClaimTemplate") => {
            others::device_claim(object, old, faults)
        }
        ("node.k8s.io", "RuntimeClass") => others::runtime_class(object, old, faults),
        ("certificates.k8s.io", "CertificateSigningRequest") => others::signing_request(object, faults),
        ("apiregistration.k8s.io", "APIService") => others::api_service(object, faults),
        ("networking.k8s.io", kind @ ("ServiceCIDR" | "IPAddress")) => {
            others::service_addresses(kind, object, old, faults);
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => crds::definition(object, old, faults),
        _ => {}
    }
}

fn replica_counts(status: &At<'_>, faults: &mut Faults) {
    let all = status.child("replicas").int();
    for key in [
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "currentReplicas",
        "availableReplicas",
        "fullyLabeledReplicas",
    ] {
        faults.not_negative(&status.child(key));
    }
    // Daemon sets count nodes instead.
    if !status.child("desiredNumberScheduled").is_set() {
        for key in [
            "updatedReplicas",
            "readyReplicas",
            "currentReplicas",
            "availableReplicas",
            "fullyLabeledReplicas",
        ] {
            if status.child(key).int() > all {
                faults.invalid(&status.child(key), "cannot be greater than status.replicas");
            }
        }
    }
}
