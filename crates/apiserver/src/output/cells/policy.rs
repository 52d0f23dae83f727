//! Roles, budgets, quotas, autoscalers and what remains.

use podsmith_object::Value;

use super::super::age;
use super::{number, or_none, shown, text};
use crate::fields;
use crate::registry::Resource;

/// The cells of such an object.
pub fn cells(resource: &Resource, object: &Value) -> Option<Vec<Value>> {
    let name = Value::from(fields::name(object));
    let created = text(object, &["metadata", "creationTimestamp"]);
    Some(match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "limitranges") | ("rbac.authorization.k8s.io", "roles" | "clusterroles") => vec![name, created],
        ("", "resourcequotas") => {
            let (requests, limits) = quota(object);
            vec![name, requests.into(), limits.into(), age::of(object)]
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => vec![name, created],
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            let role = format!(
                "{}/{}",
                fields::text(object, &["roleRef", "kind"]),
                fields::text(object, &["roleRef", "name"])
            );
            let of = |kind: &str| -> Value {
                fields::list(object, &["subjects"])
                    .iter()
                    .filter(|one| fields::text(one, &["kind"]) == kind)
                    .map(|one| {
                        let namespace = fields::text(one, &["namespace"]);
                        let name = fields::text(one, &["name"]);
                        if kind == "ServiceAccount" { format!("{namespace}/{name}") } else { name.to_owned() }
                    })
                    .collect::<Vec<_>>()
                    .join(", ")
                    .into()
            };
            vec![name, role.into(), age::of(object), of("User"), of("Group"), of("ServiceAccount")]
        }
        ("policy", "poddisruptionbudgets") => vec![
            name,
            shown(object, &["spec", "minAvailable"], "N/A").into(),
            shown(object, &["spec", "maxUnavailable"], "N/A").into(),
            number(object, &["status", "disruptionsAllowed"]).into(),
            age::of(object),
        ],
        ("autoscaling", _) => autoscaler(object),
        ("scheduling.k8s.io", "priorityclasses") => vec![
            name,
            number(object, &["value"]).into(),
            Value::from(object.get("globalDefault") == Some(&Value::Bool(true))),
            age::of(object),
            shown(object, &["preemptionPolicy"], "").into(),
        ],
        ("coordination.k8s.io", "leases") => {
            vec![name, text(object, &["spec", "holderIdentity"]), age::of(object)]
        }
        ("certificates.k8s.io", "certificatesigningrequests") => {
            let conditions = fields::list(object, &["status", "conditions"]);
            let has = |sort: &str| conditions.iter().any(|one| fields::text(one, &["type"]) == sort);
            let mut state = if has("Denied") {
                "Denied".to_owned()
            } else if has("Approved") {
                "Approved".to_owned()
            } else {
                "Pending".to_owned()
            };
            if has("Failed") {
                state += ",Failed";
            }
            if fields::at(object, &["status", "certificate"]).is_some() {
                state += ",Issued";
            }
            let lasts = fields::at(object, &["spec", "expirationSeconds"]).and_then(Value::as_i64);
            vec![
                name,
                age::of(object),
                shown(object, &["spec", "signerName"], "<none>").into(),
                text(object, &["spec", "username"]),
                lasts.map_or("<none>".to_owned(), age::human).into(),
                state.into(),
            ]
        }
        (
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations" | "mutatingwebhookconfigurations",
        ) => {
            vec![name, fields::list(object, &["webhooks"]).len().into(), age::of(object)]
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicies" | "mutatingadmissionpolicies") => {
            let list = if resource.plural.starts_with("validating") { "validations" } else { "mutations" };
            let kind = fields::at(object, &["spec", "paramKind"]).map_or("<unset>".to_owned(), |one| {
                format!("{}/{}", fields::text(one, &["apiVersion"]), fields::text(one, &["kind"]))
            });
            vec![name, fields::list(object, &["spec", list]).len().into(), kind.into(), age::of(object)]
        }
        (
            "admissionregistration.k8s.io",
            "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings",
        ) => {
            let reference = fields::at(object, &["spec", "paramRef"]).map_or("<unset>".to_owned(), |one| {
                let (space, name) = (fields::text(one, &["namespace"]), fields::text(one, &["name"]));
                if space.is_empty() { format!("*/{name}") } else { format!("{space}/{name}") }
            });
            vec![name, text(object, &["spec", "policyName"]), reference.into(), age::of(object)]
        }
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => {
            let limited = ["spec", "limited"];
            let queuing = |key: &str| {
                shown(object, &[limited[0], limited[1], "limitResponse", "queuing", key], "<none>")
            };
            vec![
                name,
                text(object, &["spec", "type"]),
                shown(object, &[limited[0], limited[1], "nominalConcurrencyShares"], "<none>").into(),
                queuing("queues").into(),
                queuing("handSize").into(),
                queuing("queueLengthLimit").into(),
                age::of(object),
            ]
        }
        ("resource.k8s.io", "resourceslices") => vec![
            name,
            shown(object, &["spec", "nodeName"], "<unset>").into(),
            text(object, &["spec", "driver"]),
            text(object, &["spec", "pool", "name"]),
            age::of(object),
        ],
        ("resource.k8s.io", "resourceclaims") => {
            let state = match (
                fields::at(object, &["status", "allocation"]).is_some(),
                fields::list(object, &["status", "reservedFor"]).is_empty(),
            ) {
                (_, _) if fields::is_deleting(object) => "deleted",
                (false, _) => "pending",
                (true, true) => "allocated",
                (true, false) => "allocated,reserved",
            };
            vec![name, state.into(), age::of(object)]
        }
        ("apiregistration.k8s.io", "apiservices") => {
            let service = fields::at(object, &["spec", "service"]).map_or("Local".to_owned(), |one| {
                format!("{}/{}", fields::text(one, &["namespace"]), fields::text(one, &["name"]))
            });
            let available = fields::list(object, &["status", "conditions"])
                .iter()
                .find(|one| fields::text(one, &["type"]) == "Available")
                .map_or("Unknown", |one| fields::text(one, &["status"]));
            vec![name, service.into(), available.into(), age::of(object)]
        }
        ("node.k8s.io", "runtimeclasses") => vec![name, text(object, &["handler"]), age::of(object)],
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => vec![
            name,
            or_none(object, &["spec", "priorityLevelConfiguration", "name"]),
            number(object, &["spec", "matchingPrecedence"]).into(),
            or_none(object, &["spec", "distinguisherMethod", "type"]),
            age::of(object),
            "False".into(),
        ],
        _ => return None,
    })
}

/// Used and allowed amounts, requests and limits apart.
fn quota(object: &Value) -> (String, String) {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (key, hard) in
        fields::at(object, &["status", "hard"]).and_then(Value::as_object).into_iter().flatten()
    {
        let used = shown(object, &["status", "used", key], "0");
        let entry = format!("{key}: {used}/{}", hard.as_str().unwrap_or(""));
        if key.starts_with("limits") { limits.push(entry) } else { requests.push(entry) }
    }
    (requests.join(", "), limits.join(", "))
}

fn autoscaler(object: &Value) -> Vec<Value> {
    let target = ["spec", "scaleTargetRef"];
    let reference = format!(
        "{}/{}",
        fields::text(object, &[target[0], target[1], "kind"]),
        fields::text(object, &[target[0], target[1], "name"])
    );
    let mut targets: Vec<String> = fields::list(object, &["spec", "metrics"])
        .iter()
        .map(|metric| {
            let name = fields::text(metric, &["resource", "name"]);
            let wanted = shown(metric, &["resource", "target", "averageUtilization"], "");
            let current = fields::list(object, &["status", "currentMetrics"])
                .iter()
                .find(|one| fields::text(one, &["resource", "name"]) == name)
                .map_or("<unknown>".to_owned(), |one| {
                    format!("{}%", shown(one, &["resource", "current", "averageUtilization"], "0"))
                });
            if wanted.is_empty() {
                let amount = shown(metric, &["resource", "target", "averageValue"], "<auto>");
                format!("{name}: <unknown>/{amount}")
            } else {
                format!("{name}: {current}/{wanted}%")
            }
        })
        .collect();
    if let Some(cpu) = fields::at(object, &["spec", "targetCPUUtilizationPercentage"]) {
        let current = fields::at(object, &["status", "currentCPUUtilizationPercentage"]);
        let current = current.map_or("<unknown>".to_owned(), |now| format!("{now}%"));
        targets.push(format!("cpu: {current}/{cpu}%"));
    }
    let targets = if targets.is_empty() { "<none>".to_owned() } else { targets.join(", ") };
    vec![
        fields::name(object).into(),
        reference.into(),
        targets.into(),
        shown(object, &["spec", "minReplicas"], "<unset>").into(),
        number(object, &["spec", "maxReplicas"]).to_string().into(),
        number(object, &["status", "currentReplicas"]).to_string().into(),
        age::of(object),
    ]
}
