//! What has to be installed in a cluster: the SubNamespace kind, and the roles to work with it.

use podsmith_object::{Value, json};

use crate::config::Config;
use crate::keys::{ACCURATE_PREFIX, Keys};

fn spec() -> Value {
    let strings = |what: &str| {
        json!({"type": "object", "additionalProperties": {"type": "string"},
            "description": format!("{what} for the sub-namespace, as far as the configuration allows them.")})
    };
    json!({"type": "object", "properties": {"labels": strings("Labels"), "annotations": strings("Annotations")}})
}

fn version(name: &str, served: bool, status: Value, subresource: bool) -> Value {
    let mut out = json!({
        "name": name, "served": served, "storage": name == "v2",
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "description": "Asks for a namespace of the same name under the namespace it is in.",
            "properties": {
                "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
                "spec": spec(), "status": status,
            },
        }},
    });
    if subresource {
        out["subresources"] = json!({"status": {}});
    }
    out
}

/// The definition of SubNamespace. Under Accurate's prefix the versions that it once served are kept, not served.
pub fn definition(keys: &Keys) -> Value {
    let condition = json!({
        "type": "object", "required": ["type", "status", "reason", "message", "lastTransitionTime"],
        "properties": {
            "type": {"type": "string", "maxLength": 316}, "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": {"type": "string", "maxLength": 1024, "minLength": 1}, "message": {"type": "string", "maxLength": 32768},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
        },
    });
    let status = json!({"type": "object", "properties": {
        "observedGeneration": {"type": "integer", "format": "int64"},
        "conditions": {"type": "array", "items": condition, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    }});
    let mut versions = Vec::new();
    if &*keys.prefix == ACCURATE_PREFIX {
        versions.push(version("v1", false, json!({"type": "string", "enum": ["ok", "conflict"]}), false));
        versions.push(version("v2alpha1", false, status.clone(), true));
    }
    versions.push(version("v2", true, status, true));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("subnamespaces.{}", keys.prefix)},
        "spec": {
            "group": &*keys.prefix, "scope": "Namespaced", "versions": versions,
            "names": {"kind": "SubNamespace", "listKind": "SubNamespaceList", "plural": "subnamespaces", "singular": "subnamespace"},
        },
    })
}

/// The role of the controller, and the roles of people who make sub-namespaces. The controller can only propagate roles
/// whose permissions it has itself, so its own role is usually bound together with `admin`.
pub fn roles(config: &Config) -> Vec<Value> {
    let group = &*config.keys.prefix;
    let role = |name: &str, labels: Value, rules: Value| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": format!("{}-{name}", config.keys.creator), "labels": labels}, "rules": rules})
    };
    let all = json!(["get", "list", "watch", "create", "update", "patch", "delete"]);
    let aggregate = |to: &[&str]| -> Value {
        to.iter()
            .map(|role| (format!("rbac.authorization.k8s.io/aggregate-to-{role}"), json!("true")))
            .collect()
    };
    vec![
        role(
            "controller",
            json!({}),
            json!([
                {"apiGroups": [""], "resources": ["namespaces"], "verbs": all},
                {"apiGroups": [group], "resources": ["subnamespaces"], "verbs": all},
                {"apiGroups": [group], "resources": ["subnamespaces/finalizers"], "verbs": ["update"]},
                {"apiGroups": [group], "resources": ["subnamespaces/status"], "verbs": ["get", "update", "patch"]},
                {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
            ]),
        ),
        role(
            "subnamespace-editor",
            aggregate(&["admin", "edit"]),
            json!([
                {"apiGroups": [group], "resources": ["subnamespaces"], "verbs": all},
            ]),
        ),
        role(
            "subnamespace-viewer",
            aggregate(&["view"]),
            json!([
                {"apiGroups": [group], "resources": ["subnamespaces"], "verbs": ["get", "list", "watch"]},
            ]),
        ),
    ]
}
