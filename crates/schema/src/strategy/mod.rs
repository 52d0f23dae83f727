//! What a write may touch, kind by kind: status against spec, generations, values only the server sets.
//!
//! The functions change the new object before it is validated. They know built-in kinds; for custom resources use
//! [`custom_create`] and [`custom_update`].

mod service;

use podsmith_object::quantity::Quantity;
use podsmith_object::{GroupVersionKind, Map, Value, json};

use crate::apply::FieldSet;
use crate::table::table;

/// What only the server knows about a create.
#[derive(Clone, Copy, Debug)]
pub struct Birth<'a> {
    /// The uid the object gets.
    pub uid: &'a str,
    /// Now, in whole seconds.
    pub now: &'a str,
}

/// How a kind counts generations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Generation {
    /// Not at all.
    None,
    /// Starts at 1 and grows when these fields change.
    On(&'static [&'static str]),
    /// Grows when these fields change, but does not start.
    Later(&'static [&'static str]),
}

fn generation(gvk: &GroupVersionKind) -> Generation {
    const SPEC: &[&str] = &["spec"];
    match (&*gvk.group, &*gvk.kind) {
        ("apps", "Deployment") => Generation::On(&["spec", "metadata.annotations"]),
        ("apps", "DaemonSet" | "ReplicaSet" | "StatefulSet")
        | ("batch", "Job" | "CronJob")
        | ("", "Pod" | "ReplicationController")
        | ("networking.k8s.io", "Ingress" | "IngressClass" | "NetworkPolicy")
        | ("policy", "PodDisruptionBudget")
        | ("resource.k8s.io", "ResourceSlice" | "DeviceClass" | "DeviceTaintRule")
        | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
        | ("apiextensions.k8s.io", "CustomResourceDefinition")
        | (
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "MutatingAdmissionPolicy"
            | "MutatingAdmissionPolicyBinding",
        ) => Generation::On(SPEC),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => Generation::On(&["webhooks"]),
        ("discovery.k8s.io", "EndpointSlice") => Generation::On(&["endpoints", "ports", "addressType"]),
        ("", "PodTemplate") => Generation::On(&["template"]),
        ("scheduling.k8s.io", "PriorityClass") => Generation::On(&[]),
        ("storage.k8s.io", "CSIDriver") => Generation::Later(SPEC),
        _ => Generation::None,
    }
}

/// True when a PUT without resourceVersion is taken as "whatever is there". Custom resources never allow it.
pub fn allows_unconditional_update(gvk: &GroupVersionKind) -> bool {
    !matches!(
        (&*gvk.group, &*gvk.kind),
        ("admissionregistration.k8s.io" | "internal.apiserver.k8s.io" | "coordination.k8s.io", _)
            | ("certificates.k8s.io", "ClusterTrustBundle" | "PodCertificateRequest")
            | ("node.k8s.io", "RuntimeClass")
            | ("policy", "PodDisruptionBudget")
            | ("storage.k8s.io", "CSIDriver" | "CSINode" | "CSIStorageCapacity" | "VolumeAttachment")
            | ("storagemigration.k8s.io", _)
            | ("apiextensions.k8s.io" | "apiregistration.k8s.io", _)
    )
}

/// True for kinds that a PUT to a missing name creates.
pub fn creates_on_update(gvk: &GroupVersionKind) -> bool {
    matches!(
        (&*gvk.group, &*gvk.kind),
        ("", "Endpoints" | "Event" | "LimitRange" | "Service")
            | ("coordination.k8s.io", _)
            | ("events.k8s.io", "Event")
            | ("node.k8s.io", "RuntimeClass")
            | ("rbac.authorization.k8s.io", _)
    )
}

/// The fields an endpoint does not let a client write. They never become part of what an apply owns.
pub fn reset_fields(gvk: &GroupVersionKind, subresource: &str) -> FieldSet {
    let Some(resource) = table().resource(gvk) else { return FieldSet::default() };
    if resource.subresource("status").is_none() {
        return FieldSet::default();
    }
    let kind = (&*gvk.group, &*gvk.kind);
    match (subresource, kind) {
        ("", ("certificates.k8s.io", "CertificateSigningRequest")) => {
            FieldSet::of_fields(&[&["spec"], &["status"]])
        }
        ("", ("apiregistration.k8s.io", _)) | ("", _) => FieldSet::of_fields(&[&["status"]]),
        ("status", ("apps", "Deployment")) => FieldSet::of_fields(&[&["spec"], &["metadata", "labels"]]),
        ("status", ("", "Pod")) => FieldSet::of_fields(&[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ]),
        ("status", ("certificates.k8s.io", "CertificateSigningRequest")) => {
            FieldSet::of_fields(&[&["spec"], &["status", "conditions"]])
        }
        ("approval", _) => FieldSet::of_fields(&[&["spec"], &["status", "certificate"]]),
        ("status", _) if status_keeps_metadata(gvk) => FieldSet::of_fields(&[&["metadata"], &["spec"]]),
        ("status", _) => FieldSet::of_fields(&[&["spec"]]),
        ("finalize", _) => FieldSet::of_fields(&[&["status"]]),
        _ => FieldSet::default(),
    }
}

/// Kinds whose status endpoint ignores all metadata.
fn status_keeps_metadata(gvk: &GroupVersionKind) -> bool {
    matches!(
        (&*gvk.group, &*gvk.kind),
        ("networking.k8s.io", "ServiceCIDR")
            | ("resource.k8s.io" | "storagemigration.k8s.io" | "internal.apiserver.k8s.io", _)
            | ("storage.k8s.io", "VolumeAttachment")
            | ("flowcontrol.apiserver.k8s.io" | "admissionregistration.k8s.io", _)
            | ("apiextensions.k8s.io" | "apiregistration.k8s.io", _)
            | ("scheduling.k8s.io", "PodGroup")
    )
}

/// Prepares a new object: no status from the client, generation 1, what the kind begins with.
pub fn prepare_create(gvk: &GroupVersionKind, object: &mut Value, birth: Birth<'_>) {
    forget_empty(gvk, object);
    let has_status = table().resource(gvk).is_some_and(|resource| resource.subresource("status").is_some());
    let kind = (&*gvk.group, &*gvk.kind);
    if has_status && kind != ("", "Node") && kind != ("networking.k8s.io", "ServiceCIDR") {
        empty_status(gvk, object);
    }
    if matches!(generation(gvk), Generation::On(_)) {
        set(object, &["metadata", "generation"], json!(1));
    }
    match kind {
        ("", "Pod") => {
            let class = qos_class(object);
            set(object, &["status"], json!({"phase": "Pending", "qosClass": class}));
            if object
                .pointer("/spec/schedulingGates")
                .and_then(Value::as_array)
                .is_some_and(|gates| !gates.is_empty())
            {
                let condition = json!({
                    "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                    "lastTransitionTime": birth.now
                });
                set(object, &["status", "conditions"], json!([condition]));
            }
        }
        ("", "PersistentVolume") => {
            set(object, &["status"], json!({"phase": "Pending", "lastPhaseTransitionTime": birth.now}));
        }
        ("", "PersistentVolumeClaim") => {
            set(object, &["status"], json!({"phase": "Pending"}));
            pair_data_sources(object);
        }
        ("", "Namespace") => {
            set(object, &["status"], json!({"phase": "Active"}));
            let finalizers =
                object.pointer("/spec/finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
            if !finalizers.contains(&json!("kubernetes")) {
                let all: Vec<Value> = finalizers.into_iter().chain([json!("kubernetes")]).collect();
                set(object, &["spec", "finalizers"], Value::Array(all));
            }
        }
        ("batch", "Job") => job_selector(object, birth.uid),
        ("", "Service") => service::prepare_create(object),
        ("apps", "DaemonSet") => count_template(object, None),
        ("", "Node") => not_ready_yet(object),
        ("", "ServiceAccount") => bare_secret_names(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let versions = object.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
            let mut stored = versions.filter(|version| version.get("storage") == Some(&Value::Bool(true)));
            if let Some(name) = stored.next().and_then(|version| version.get("name")).cloned() {
                set(object, &["status", "storedVersions"], json!([name]));
            }
        }
        _ => {}
    }
}

fn forget_empty(gvk: &GroupVersionKind, object: &mut Value) {
    if let Some(ty) = table().type_of(gvk) {
        crate::canonical::forget_empty(&ty, object);
    }
}

/// The status a client may not set on a create: what the type has when nothing is set.
fn empty_status(gvk: &GroupVersionKind, object: &mut Value) {
    let Some(field) = table().type_of(gvk).and_then(|ty| ty.field("status").cloned()) else { return };
    let Value::Object(map) = object else { return };
    map.insert("status".to_owned(), crate::canonical::zero(&field.ty));
}

/// Prepares a change of the object itself: the status stays, the generation grows when it should.
pub fn prepare_update(gvk: &GroupVersionKind, new: &mut Value, old: &Value) {
    forget_empty(gvk, new);
    let has_status = table().resource(gvk).is_some_and(|resource| resource.subresource("status").is_some());
    let kind = (&*gvk.group, &*gvk.kind);
    if has_status {
        copy(old, new, &["status"]);
    }
    match kind {
        ("", "Namespace") => copy(old, new, &["spec", "finalizers"]),
        ("certificates.k8s.io", "CertificateSigningRequest") => copy(old, new, &["spec"]),
        ("", "PersistentVolumeClaim") => pair_data_sources(new),
        ("", "Secret") if new.get("type").and_then(Value::as_str).is_none_or(str::is_empty) => {
            copy(old, new, &["type"])
        }
        ("", "Service") => service::prepare_update(new, old),
        ("apps", "DaemonSet") => count_template(new, Some(old)),
        ("", "ServiceAccount") => bare_secret_names(new),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => add_stored_version(new),
        _ => {}
    }
    bump(gvk, new, old);
}

/// Prepares a change through the status subresource: only the status moves, and what metadata the kind allows.
pub fn prepare_status_update(gvk: &GroupVersionKind, new: &mut Value, old: &Value, now: &str) {
    if status_keeps_metadata(gvk) {
        keep_metadata(new, old);
    }
    if let (Value::Object(target), Value::Object(source)) = (&mut *new, old) {
        let status = target.get("status").cloned();
        let metadata = target.get("metadata").cloned();
        *target = source.clone();
        for (key, value) in [("status", status), ("metadata", metadata)] {
            match value {
                Some(value) => target.insert(key.to_owned(), value),
                None => target.shift_remove(key),
            };
        }
    }
    copy(old, new, &["metadata", "generation"]);
    match (&*gvk.group, &*gvk.kind) {
        ("apps", "Deployment") => copy(old, new, &["metadata", "labels"]),
        ("", "Pod") => {
            copy(old, new, &["metadata", "ownerReferences"]);
            copy(old, new, &["metadata", "deletionTimestamp"]);
            if new.pointer("/status/qosClass").and_then(Value::as_str).is_none_or(str::is_empty) {
                copy(old, new, &["status", "qosClass"]);
            }
        }
        ("", "PersistentVolume") => {
            let phase = |object: &Value| object.pointer("/status/phase").cloned();
            let time = |object: &Value| object.pointer("/status/lastPhaseTransitionTime").cloned();
            if phase(old) == phase(new) {
                if time(new).is_none() {
                    copy(old, new, &["status", "lastPhaseTransitionTime"]);
                }
            } else if time(new).is_none() || time(new) == time(old) {
                set(new, &["status", "lastPhaseTransitionTime"], json!(now));
            }
        }
        _ => {}
    }
}

/// Takes over the old metadata but for the managers, which the server keeps itself.
fn keep_metadata(new: &mut Value, old: &Value) {
    let managed = new.pointer("/metadata/managedFields").cloned();
    let version = new.pointer("/metadata/resourceVersion").cloned();
    copy(old, new, &["metadata"]);
    for (key, value) in [("managedFields", managed), ("resourceVersion", version)] {
        if let Some(value) = value {
            set(new, &["metadata", key], value);
        }
    }
}

fn bump(gvk: &GroupVersionKind, new: &mut Value, old: &Value) {
    let fields = match generation(gvk) {
        Generation::None => return,
        Generation::On(fields) | Generation::Later(fields) => fields,
    };
    let before = old.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
    let at = |object: &Value, field: &str| object.pointer(&format!("/{}", field.replace('.', "/"))).cloned();
    let changed = fields.iter().any(|field| at(new, field) != at(old, field));
    let next = if changed { before + 1 } else { before };
    if next > 0 {
        set(new, &["metadata", "generation"], json!(next));
    }
}

/// Prepares a new custom resource.
pub fn custom_create(object: &mut Value, status_subresource: bool) {
    if status_subresource && let Value::Object(map) = object {
        map.shift_remove("status");
    }
    set(object, &["metadata", "generation"], json!(1));
}

/// Prepares a change of a custom resource; with a status subresource the status stays.
pub fn custom_update(new: &mut Value, old: &Value, status_subresource: bool) {
    if status_subresource {
        copy(old, new, &["status"]);
    }
    let rest = |object: &Value| -> Option<Map<String, Value>> {
        let mut map = object.as_object()?.clone();
        map.shift_remove("metadata");
        Some(map)
    };
    let before = old.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
    let next = if rest(new) == rest(old) { before } else { before + 1 };
    set(new, &["metadata", "generation"], json!(next));
}

/// Prepares a change of a custom resource through its status: nothing but the status moves.
pub fn custom_status_update(new: &mut Value, old: &Value) {
    let status = new.get("status").cloned();
    keep_metadata(new, old);
    let metadata = new.get("metadata").cloned();
    *new = old.clone();
    if let Value::Object(map) = new {
        match status {
            Some(status) => map.insert("status".to_owned(), status),
            None => map.shift_remove("status"),
        };
        if let Some(metadata) = metadata {
            map.insert("metadata".to_owned(), metadata);
        }
    }
}

/// Daemon sets still count the changes of their template, in an annotation.
fn count_template(object: &mut Value, old: Option<&Value>) {
    const COUNT: &str = "deprecated.daemonset.template.generation";
    let count = |object: &Value| -> Option<i64> {
        object.get("metadata")?.get("annotations")?.get(COUNT)?.as_str()?.parse().ok()
    };
    let next = match old {
        None => count(object).unwrap_or(1).max(1),
        Some(old) => {
            let changed = object.pointer("/spec/template") != old.pointer("/spec/template");
            count(old).unwrap_or(0) + i64::from(changed)
        }
    };
    if next > 0 {
        set(object, &["metadata", "annotations", COUNT], json!(next.to_string()));
    }
}

/// A new node takes no pods before somebody says that it is ready.
fn not_ready_yet(object: &mut Value) {
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let mut taints = object.pointer("/spec/taints").and_then(Value::as_array).cloned().unwrap_or_default();
    if !taints.contains(&taint) {
        taints.push(taint);
        set(object, &["spec", "taints"], Value::Array(taints));
    }
}

/// A service account names its secrets and says nothing else about them.
fn bare_secret_names(object: &mut Value) {
    let Some(Value::Array(secrets)) = object.get_mut("secrets") else { return };
    for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
        secret.retain(|key, _| key == "name");
    }
}

/// The version that is stored from now on joins those stored before.
fn add_stored_version(object: &mut Value) {
    let versions = object.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let mut stored = versions.filter(|version| version.get("storage") == Some(&Value::Bool(true)));
    let Some(name) = stored.next().and_then(|version| version.get("name")).cloned() else { return };
    let mut list =
        object.pointer("/status/storedVersions").and_then(Value::as_array).cloned().unwrap_or_default();
    if !list.contains(&name) {
        list.push(name);
        set(object, &["status", "storedVersions"], Value::Array(list));
    }
}

/// A claim's `dataSource` and `dataSourceRef` say the same.
fn pair_data_sources(object: &mut Value) {
    let at =
        |object: &Value, key: &str| object.pointer(&format!("/spec/{key}")).filter(|v| !v.is_null()).cloned();
    match (at(object, "dataSource"), at(object, "dataSourceRef")) {
        (Some(source), None) => set(object, &["spec", "dataSourceRef"], source),
        (None, Some(reference)) if reference.get("namespace").is_none() => {
            let group = reference.get("apiGroup").and_then(Value::as_str).unwrap_or("");
            let kind = reference.get("kind").and_then(Value::as_str).unwrap_or("");
            if matches!(
                (group, kind),
                ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
            ) {
                set(object, &["spec", "dataSource"], reference);
            }
        }
        _ => {}
    }
}

/// The selector and labels by which a Job finds its pods, unless the client manages them itself.
fn job_selector(object: &mut Value, uid: &str) {
    if object.pointer("/spec/manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("").to_owned();
    let labels = [
        ("controller-uid", uid),
        ("batch.kubernetes.io/controller-uid", uid),
        ("job-name", name.as_str()),
        ("batch.kubernetes.io/job-name", name.as_str()),
    ];
    let template = |object: &Value| object.pointer("/spec/template/metadata/labels").cloned();
    let own = object.pointer("/metadata/labels").cloned();
    let follows = own.as_ref().is_none_or(|own| {
        own.as_object().is_none_or(Map::is_empty) || Some(own) == template(object).as_ref()
    });
    for (label, value) in labels {
        if template(object).is_none_or(|map| map.get(label).is_none()) {
            set(object, &["spec", "template", "metadata", "labels", label], json!(value));
        }
    }
    // A job without labels of its own shows those of its pods.
    if let (true, Some(labels)) = (follows, template(object)) {
        set(object, &["metadata", "labels"], labels);
    }
    if object.pointer("/spec/selector").is_none_or(Value::is_null) {
        set(object, &["spec", "selector"], json!({}));
    }
    let given = object
        .pointer("/spec/selector/matchLabels")
        .and_then(|map| map.get("batch.kubernetes.io/controller-uid"));
    if given.is_none() {
        set(object, &["spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"], json!(uid));
    }
}

/// Guaranteed, Burstable or BestEffort, from what the containers ask for and may use.
pub fn qos_class(pod: &Value) -> &'static str {
    let lists = ["containers", "initContainers"];
    let containers =
        lists.iter().filter_map(|list| pod.pointer(&format!("/spec/{list}"))?.as_array()).flatten();
    let amount = |container: &Value, sort: &str, key: &str| -> Option<Quantity> {
        let text = container.get("resources")?.get(sort)?.get(key)?.as_str()?;
        Quantity::parse(text).ok().filter(|amount| amount.milli() > 0)
    };
    let (mut any, mut guaranteed) = (false, true);
    for container in containers {
        for key in ["cpu", "memory"] {
            let (request, limit) = (amount(container, "requests", key), amount(container, "limits", key));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request.is_none_or(|request| Some(request) == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

fn set(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = object;
    for key in parents {
        let Value::Object(map) = at else { return };
        let slot = map.entry(*key).or_insert_with(|| Value::Object(Map::new()));
        if slot.is_null() {
            *slot = Value::Object(Map::new());
        }
        at = slot;
    }
    if let Value::Object(map) = at {
        map.insert((*last).to_owned(), value);
    }
}

/// Makes one place of `to` what it is in `from`, absent included.
fn copy(from: &Value, to: &mut Value, path: &[&str]) {
    match path.iter().try_fold(from, |value, key| value.get(*key)) {
        Some(value) => set(to, path, value.clone()),
        None => {
            let Some((last, parents)) = path.split_last() else { return };
            let mut at = Some(to);
            for key in parents {
                at = at.and_then(|value| value.get_mut(*key));
            }
            if let Some(Value::Object(map)) = at {
                map.shift_remove(*last);
            }
        }
    }
}
