//! What follows from the type of a Service, and what stays when a client leaves it out.

use podsmith_object::{Value, json};

use super::{copy, set};

fn kind(object: &Value) -> &str {
    object.pointer("/spec/type").and_then(Value::as_str).unwrap_or("")
}

fn field<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.get("spec")?.get(key)
}

fn is_empty(object: &Value, key: &str) -> bool {
    field(object, key).is_none_or(|value| match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        other => other.is_null(),
    })
}

fn drop_field(object: &mut Value, key: &str) {
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.shift_remove(key);
    }
}

/// The list of addresses follows the single one, which is all that older clients know.
pub(super) fn prepare_create(object: &mut Value) {
    if !is_empty(object, "clusterIP") && is_empty(object, "clusterIPs") {
        let address = field(object, "clusterIP").cloned().unwrap_or_default();
        set(object, &["spec", "clusterIPs"], json!([address]));
    }
}

/// Clears what the new type does not have, and keeps what was handed out where the client left it out.
pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    drop_by_type(new, old);
    if kind(new) != "ExternalName" {
        keep_allocated(new, old);
    }
}

fn has_node_ports(object: &Value) -> bool {
    matches!(kind(object), "NodePort" | "LoadBalancer")
}

fn is_external(object: &Value) -> bool {
    has_node_ports(object) || kind(object) == "ClusterIP" && !is_empty(object, "externalIPs")
}

/// Fields that belong to the old type and that the client did not touch go with it.
fn drop_by_type(new: &mut Value, old: &Value) {
    let has_address = |object: &Value| kind(object) != "ExternalName";
    let balancer = |object: &Value| kind(object) == "LoadBalancer";
    let mut gone: Vec<&str> = Vec::new();
    if has_address(old) && !has_address(new) {
        gone.extend(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    }
    if balancer(old) && !balancer(new) {
        gone.extend(["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    if health_checked(old) && !health_checked(new) {
        gone.push("healthCheckNodePort");
    }
    if is_external(old) && !is_external(new) {
        gone.push("externalTrafficPolicy");
    }
    for key in gone {
        if field(new, key) == field(old, key) {
            drop_field(new, key);
        }
    }
    if has_node_ports(old) && !has_node_ports(new) && node_ports(new) == node_ports(old) {
        for port in new.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(port) = port {
                port.shift_remove("nodePort");
            }
        }
    }
}

fn node_ports(object: &Value) -> Vec<i64> {
    let ports = object.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    ports.filter_map(|port| port.get("nodePort")?.as_i64()).filter(|port| *port != 0).collect()
}

fn keep_allocated(new: &mut Value, old: &Value) {
    let same_list = field(new, "clusterIPs") == field(old, "clusterIPs");
    if kind(old) != "ExternalName" && is_empty(new, "clusterIP") && (is_empty(new, "clusterIPs") || same_list)
    {
        copy(old, new, &["spec", "clusterIP"]);
        copy(old, new, &["spec", "clusterIPs"]);
    }
    // A client that knows only the single address changes that one; the list follows.
    if !is_empty(new, "clusterIP")
        && field(new, "clusterIP") != field(old, "clusterIP")
        && (same_list || is_empty(new, "clusterIPs"))
    {
        let address = field(new, "clusterIP").cloned().unwrap_or_default();
        set(new, &["spec", "clusterIPs"], json!([address]));
    }
    for key in ["ipFamilies", "ipFamilyPolicy"] {
        if is_empty(new, key) {
            copy(old, new, &["spec", key]);
        }
    }
    if has_node_ports(new) && has_node_ports(old) {
        keep_node_ports(new, old);
    }
    if is_empty(new, "healthCheckNodePort") && health_checked(new) && health_checked(old) {
        copy(old, new, &["spec", "healthCheckNodePort"]);
    }
}

fn health_checked(object: &Value) -> bool {
    kind(object) == "LoadBalancer" && field(object, "externalTrafficPolicy") == Some(&json!("Local"))
}

fn keep_node_ports(new: &mut Value, old: &Value) {
    let old_ports = old.pointer("/spec/ports").and_then(Value::as_array).cloned().unwrap_or_default();
    let key = |port: &Value| (port.get("protocol").cloned(), port.get("port").cloned());
    let used: Vec<Value> = new
        .pointer("/spec/ports")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|port| port.get("nodePort").cloned())
        .collect();
    let Some(Value::Array(ports)) = new.pointer_mut("/spec/ports") else { return };
    for port in ports {
        if port.get("nodePort").and_then(Value::as_i64).unwrap_or(0) != 0 {
            continue;
        }
        let before = old_ports.iter().find(|before| key(before) == key(port));
        let number = before.and_then(|before| before.get("nodePort")).filter(|number| !used.contains(number));
        if let (Some(number), Value::Object(port)) = (number, port) {
            port.insert("nodePort".to_owned(), number.clone());
        }
    }
}
