//! The smaller groups: networking, RBAC, autoscaling, storage, scheduling, discovery, flow control, devices.

use podsmith_object::{Map, Value, json};

use super::{Object, inner, is_empty, set_if_empty, set_if_missing, text};

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) fn fill(package: &str, name: &str, map: &mut Object) {
    match (package, name) {
        ("networking/v1", "NetworkPolicyPort") => set_if_missing(map, "protocol", || json!("TCP")),
        ("networking/v1", "NetworkPolicySpec") => {
            let egress = !is_empty(map.get("egress"));
            let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
            set_if_empty(map, "policyTypes", || types);
        }
        ("networking/v1", "IngressClassParametersReference") => {
            set_if_missing(map, "scope", || json!("Cluster"))
        }
        ("rbac/v1", "ClusterRoleBinding" | "RoleBinding") => {
            if let Some(reference) = inner(map, "roleRef") {
                set_if_empty(reference, "apiGroup", || json!(RBAC));
            }
        }
        ("rbac/v1", "Subject") if matches!(text(map, "kind"), "User" | "Group") => {
            set_if_empty(map, "apiGroup", || json!(RBAC));
        }
        ("autoscaling/v1", "HorizontalPodAutoscalerSpec") => set_if_missing(map, "minReplicas", || json!(1)),
        ("autoscaling/v2", "HorizontalPodAutoscalerSpec") => autoscaler(map),
        ("storage/v1", "StorageClass") => {
            set_if_missing(map, "reclaimPolicy", || json!("Delete"));
            set_if_missing(map, "volumeBindingMode", || json!("Immediate"));
        }
        ("storage/v1", "CSIDriverSpec") => {
            set_if_missing(map, "attachRequired", || json!(true));
            set_if_missing(map, "podInfoOnMount", || json!(false));
            set_if_missing(map, "storageCapacity", || json!(false));
            set_if_missing(map, "fsGroupPolicy", || json!("ReadWriteOnceWithFSType"));
            set_if_empty(map, "volumeLifecycleModes", || json!(["Persistent"]));
            set_if_missing(map, "requiresRepublish", || json!(false));
            set_if_missing(map, "seLinuxMount", || json!(false));
        }
        ("scheduling/v1", "PriorityClass") => {
            set_if_missing(map, "preemptionPolicy", || json!("PreemptLowerPriority"))
        }
        ("discovery/v1", "EndpointPort") => {
            set_if_missing(map, "name", || json!(""));
            set_if_missing(map, "protocol", || json!("TCP"));
        }
        ("authentication/v1", "TokenRequestSpec") => set_if_missing(map, "expirationSeconds", || json!(3600)),
        ("flowcontrol/v1", name) => flow_control(name, map),
        ("resource/v1", "ExactDeviceRequest" | "DeviceSubRequest") => {
            set_if_empty(map, "allocationMode", || json!("ExactCount"));
            if text(map, "allocationMode") == "ExactCount" {
                set_if_empty(map, "count", || json!(1));
            }
        }
        _ => {}
    }
}

fn flow_control(name: &str, map: &mut Object) {
    match name {
        "FlowSchemaSpec" => set_if_empty(map, "matchingPrecedence", || json!(1000)),
        "ExemptPriorityLevelConfiguration" => {
            set_if_missing(map, "nominalConcurrencyShares", || json!(0));
            set_if_missing(map, "lendablePercent", || json!(0));
        }
        "LimitedPriorityLevelConfiguration" => {
            set_if_missing(map, "nominalConcurrencyShares", || json!(30));
            set_if_missing(map, "lendablePercent", || json!(0));
        }
        "QueuingConfiguration" => {
            set_if_empty(map, "handSize", || json!(8));
            set_if_empty(map, "queues", || json!(64));
            set_if_empty(map, "queueLengthLimit", || json!(50));
        }
        _ => {}
    }
}

fn autoscaler(map: &mut Object) {
    set_if_missing(map, "minReplicas", || json!(1));
    set_if_empty(
        map,
        "metrics",
        || json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]),
    );
    let Some(behavior) = map.get_mut("behavior").and_then(Value::as_object_mut) else { return };
    let up = json!({
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15}
        ]
    });
    let down =
        json!({"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]});
    for (key, defaults) in [("scaleUp", up), ("scaleDown", down)] {
        let defaults = defaults.as_object().cloned().unwrap_or_else(Map::new);
        let Some(rules) = inner(behavior, key) else { continue };
        for (field, value) in defaults {
            set_if_missing(rules, &field, || value);
        }
    }
}
