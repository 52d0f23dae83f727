//! The rest of the core group.

use podsmith_object::{Value, json};

use super::{Object, each, inner, is_empty, set_if_empty, set_if_missing, text};

pub(super) fn fill(name: &str, map: &mut Object) {
    match name {
        "Service" => service(map),
        "ReplicationController" => replication_controller(map),
        "ReplicationControllerSpec" => set_if_missing(map, "replicas", || json!(1)),
        "Secret" => {
            set_if_empty(map, "type", || json!("Opaque"));
            string_data(map);
        }
        "PersistentVolume" => {
            if let Some(status) = inner(map, "status") {
                set_if_empty(status, "phase", || json!("Pending"));
            }
            if let Some(spec) = inner(map, "spec") {
                set_if_empty(spec, "persistentVolumeReclaimPolicy", || json!("Retain"));
                set_if_missing(spec, "volumeMode", || json!("Filesystem"));
            }
        }
        "PersistentVolumeClaim" => {
            if let Some(status) = inner(map, "status") {
                set_if_empty(status, "phase", || json!("Pending"));
            }
        }
        "PersistentVolumeClaimSpec" => set_if_missing(map, "volumeMode", || json!("Filesystem")),
        "Endpoints" => {
            for subset in each(map, "subsets") {
                each(subset, "ports").for_each(|port| set_if_empty(port, "protocol", || json!("TCP")));
            }
        }
        "Namespace" => namespace(map),
        "NodeStatus" => {
            if let Some(capacity) = map.get("capacity").cloned() {
                set_if_missing(map, "allocatable", || capacity);
            }
        }
        "LimitRangeItem" => limits(map),
        _ => {}
    }
}

/// Plain text is stored encoded, over what `data` says.
fn string_data(map: &mut Object) {
    use base64::Engine as _;
    let Some(Value::Object(plain)) = map.shift_remove("stringData") else { return };
    let Some(data) = inner(map, "data") else { return };
    for (key, text) in plain {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or(""));
        data.insert(key, Value::from(encoded));
    }
}

fn namespace(map: &mut Object) {
    if let Some(name) = map.get("metadata").and_then(|metadata| metadata.get("name")).cloned()
        && let Some(metadata) = inner(map, "metadata")
        && let Some(labels) = inner(metadata, "labels")
        && !is_empty(Some(&name))
    {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name);
    }
    if let Some(status) = inner(map, "status") {
        set_if_empty(status, "phase", || json!("Active"));
    }
}

fn replication_controller(map: &mut Object) {
    let labels = map.get("spec").and_then(|spec| spec.pointer("/template/metadata/labels")).cloned();
    let Some(labels) = labels.filter(|labels| !labels.is_null()) else { return };
    if let Some(spec) = inner(map, "spec") {
        set_if_empty(spec, "selector", || labels.clone());
    }
    if let Some(metadata) = inner(map, "metadata") {
        set_if_empty(metadata, "labels", || labels);
    }
}

fn service(map: &mut Object) {
    let Some(spec) = inner(map, "spec") else { return };
    set_if_empty(spec, "sessionAffinity", || json!("None"));
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.shift_remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let seconds = spec
                .get("sessionAffinityConfig")
                .and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
            if seconds.is_none_or(Value::is_null) {
                spec.insert(
                    "sessionAffinityConfig".to_owned(),
                    json!({"clientIP": {"timeoutSeconds": 10800}}),
                );
            }
        }
        _ => {}
    }
    set_if_empty(spec, "type", || json!("ClusterIP"));
    for port in each(spec, "ports") {
        set_if_empty(port, "protocol", || json!("TCP"));
        let number = port.get("port").cloned().unwrap_or(json!(0));
        set_if_empty(port, "targetPort", || number);
    }
    let kind = text(spec, "type").to_owned();
    let external_addresses = !is_empty(spec.get("externalIPs"));
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") || kind == "ClusterIP" && external_addresses {
        set_if_empty(spec, "externalTrafficPolicy", || json!("Cluster"));
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        set_if_missing(spec, "internalTrafficPolicy", || json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        set_if_missing(spec, "allocateLoadBalancerNodePorts", || json!(true));
        let status = map.get_mut("status").and_then(|status| status.get_mut("loadBalancer"));
        for ingress in
            status.and_then(Value::as_object_mut).into_iter().flat_map(|balancer| each(balancer, "ingress"))
        {
            if !text(ingress, "ip").is_empty() {
                set_if_missing(ingress, "ipMode", || json!("VIP"));
            }
        }
    }
}

fn limits(map: &mut Object) {
    if text(map, "type") != "Container" {
        return;
    }
    for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
        let given = map.get(from).and_then(Value::as_object).cloned().unwrap_or_default();
        let Some(target) = inner(map, to) else { continue };
        for (key, amount) in given {
            target.entry(key).or_insert(amount);
        }
    }
}
