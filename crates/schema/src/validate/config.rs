//! ConfigMaps, Secrets, Nodes, quotas and limit ranges.

use podsmith_object::quantity::Quantity;
use podsmith_object::{Value, json};

use super::node::{At, Faults};
use super::{containers, names, networking};
use crate::fault::Fault;

/// The most a ConfigMap or Secret may hold.
const MAX_SIZE: usize = 1024 * 1024;

fn keys(map: &At<'_>, faults: &mut Faults) {
    for (key, at) in map.entries() {
        for text in names::config_key(key) {
            faults.push(Fault::invalid(at.path.as_str(), key, text));
        }
    }
}

/// Length of base64 content once decoded.
fn decoded_size(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|b| *b == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

fn sealed(object: &At<'_>, old: &At<'_>, fields: &[&str], faults: &mut Faults) {
    if !old.child("immutable").flag() {
        return;
    }
    let text = "field is immutable when `immutable` is set";
    if !object.child("immutable").flag() {
        faults.forbidden(&object.child("immutable"), text);
    }
    for field in fields {
        if object.child(field).value != old.child(field).value {
            faults.forbidden(&object.child(field), text);
        }
    }
}

/// Checks a ConfigMap.
pub(super) fn config_map(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    if let Some(old) = old {
        sealed(object, old, &["data", "binaryData"], faults);
    }
    let (data, binary) = (object.child("data"), object.child("binaryData"));
    keys(&data, faults);
    for (key, at) in data.entries() {
        if binary.child(key).is_set() {
            faults.push(Fault::invalid(at.path, key, "duplicate of key present in binaryData"));
        }
    }
    keys(&binary, faults);
    let size: usize = data.entries().iter().map(|(_, at)| at.text().len()).sum::<usize>()
        + binary.entries().iter().map(|(_, at)| decoded_size(at.text())).sum::<usize>();
    if size > MAX_SIZE {
        faults.push(Fault::too_long("[]", 1_048_576));
    }
}

/// Checks a Secret.
pub(super) fn secret(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    if let Some(old) = old {
        faults.immutable(&object.child("type"), &old.child("type"));
        sealed(object, old, &["data"], faults);
    }
    let data = object.child("data");
    keys(&data, faults);
    if data.entries().iter().map(|(_, at)| decoded_size(at.text())).sum::<usize>() > MAX_SIZE {
        faults.push(Fault::too_long("data", 1_048_576));
    }
    let has = |key: &str| data.value.get(key).is_some();
    let mut need = |key: &str| faults.push(Fault::required(format!("data[{key}]"), ""));
    match object.child("type").text() {
        "kubernetes.io/service-account-token" => {
            let account = object.at(&["metadata", "annotations", "kubernetes.io/service-account.name"]);
            if account.is_empty() {
                faults.push(Fault::required("metadata.annotations[kubernetes.io/service-account.name]", ""));
            }
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"] {
                if !has(key) {
                    need(key);
                }
            }
        }
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            need("username");
            need("password");
        }
        "kubernetes.io/ssh-auth" if data.child("ssh-privatekey").is_empty() => need("ssh-privatekey"),
        "kubernetes.io/dockercfg" => docker(&data, ".dockercfg", faults),
        "kubernetes.io/dockerconfigjson" => docker(&data, ".dockerconfigjson", faults),
        _ => {}
    }
}

fn docker(data: &At<'_>, key: &str, faults: &mut Faults) {
    use base64::Engine as _;
    let Some(text) = data.value.get(key).and_then(Value::as_str) else {
        return faults.push(Fault::required(format!("data[{key}]"), ""));
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    let reason = match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(_) => "json: cannot unmarshal into Go value of type map[string]interface {}".to_owned(),
        Err(error) if error.is_eof() => "unexpected end of JSON input".to_owned(),
        Err(error) => {
            let at = bytes.get(error.column().saturating_sub(1)).map_or(' ', |byte| char::from(*byte));
            let place = if error.to_string().contains("trailing") {
                "after top-level value"
            } else {
                "looking for beginning of value"
            };
            format!("invalid character '{at}' {place}")
        }
    };
    faults.push(Fault::invalid(format!("data[{key}]"), "<secret contents redacted>", reason));
}

/// Checks a Node.
pub(super) fn node(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    if let Some(old) = old {
        for (key, shown) in [("podCIDRs", "podCIDR"), ("providerID", "providerID")] {
            let (now, before) = (object.at(&["spec", key]), old.at(&["spec", key]));
            if !before.is_empty() && now.value != before.value {
                faults.forbidden(
                    &now,
                    format!("node updates may not change {shown} except from \"\" to valid"),
                );
            }
        }
    }
    let taints = At { path: "metadata.taints".to_owned(), value: object.at(&["spec", "taints"]).value };
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
        for text in names::qualified_name(key.text()) {
            faults.push(Fault::invalid(key.path.as_str(), key.text(), text));
        }
        faults.each(&value, names::label_value(value.text()));
        faults.one_of(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        if seen.contains(&(key.text(), effect.text())) {
            let shown =
                json!({"Key": key.text(), "Value": value.text(), "Effect": effect.text(), "TimeAdded": null});
            let mut fault = Fault::duplicate(taint.path.as_str(), shown);
            fault.detail = "taints must be unique by key and effect pair".to_owned();
            faults.push(fault);
        }
        seen.push((key.text(), effect.text()));
    }
    for range in object.at(&["spec", "podCIDRs"]).items() {
        networking::cidr(&range, faults);
    }
}

fn amounts(list: &At<'_>, faults: &mut Faults) {
    for (name, at) in list.entries() {
        let Ok(amount) = Quantity::parse(at.text()) else { continue };
        if amount.is_negative() {
            faults.invalid(&at, "must be greater than or equal to 0");
        }
        let counted = matches!(
            name,
            "pods"
                | "services"
                | "replicationcontrollers"
                | "resourcequotas"
                | "secrets"
                | "configmaps"
                | "persistentvolumeclaims"
                | "services.nodeports"
                | "services.loadbalancers"
        ) || name.starts_with("count/");
        if counted && amount.milli() % 1000 != 0 {
            faults.invalid(&at, "must be an integer");
        }
    }
}

/// Checks a ResourceQuota.
pub(super) fn quota(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    let hard = spec.child("hard");
    for (name, at) in hard.entries() {
        let named = |text: &str| Fault::invalid(at.path.as_str(), name, text);
        for text in names::qualified_name(name) {
            faults.push(named(&text));
        }
        if !name.contains('/') && !containers::is_known_resource(name) {
            faults.push(named("must be a standard resource type or fully qualified"));
            faults.push(named("must be a standard resource for quota"));
        }
    }
    amounts(&hard, faults);
    let scopes = spec.child("scopes");
    let known = [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    ];
    for scope in scopes.items() {
        if !known.contains(&scope.text()) {
            faults.invalid(&scopes, "unsupported scope");
        }
    }
    let given: Vec<&str> = scopes.items().iter().map(|scope| scope.text()).collect();
    for pair in [["Terminating", "NotTerminating"], ["BestEffort", "NotBestEffort"]] {
        if pair.iter().all(|scope| given.contains(scope)) {
            faults.invalid(&scopes, "conflicting scopes");
        }
    }
    for expression in spec.at(&["scopeSelector", "matchExpressions"]).items() {
        let list = "spec.scopeSelector.matchExpressions";
        let operator = expression.child("operator").text();
        if !matches!(operator, "In" | "NotIn" | "Exists" | "DoesNotExist") {
            faults.push(Fault::invalid(
                format!("{list}.operator"),
                operator,
                "not a valid selector operator",
            ));
        }
        let scope = expression.child("scopeName");
        if !known.contains(&scope.text()) {
            faults.push(Fault::invalid(format!("{list}.scopeName"), scope.text(), "unsupported scope"));
        }
    }
    if let Some(old) = old {
        faults.immutable(&scopes, &old.at(&["spec", "scopes"]));
    }
}

/// Checks a LimitRange.
pub(super) fn limit_range(object: &At<'_>, faults: &mut Faults) {
    let mut seen: Vec<&str> = Vec::new();
    for limit in object.at(&["spec", "limits"]).items() {
        let kind = limit.child("type");
        if seen.contains(&kind.text()) {
            faults.duplicate(&kind);
            continue;
        }
        seen.push(kind.text());
        if kind.is_empty() {
            faults.required(&kind, "");
        }
        let list = |key: &str| limit.child(key);
        let mut all: Vec<&str> = Vec::new();
        for key in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            for (name, _) in list(key).entries() {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
        }
        if kind.text() == "Pod" {
            for key in ["default", "defaultRequest"] {
                if !list(key).is_empty() {
                    faults.forbidden(&list(key), "may not be specified when `type` is 'Pod'");
                }
            }
        }
        if kind.text() == "PersistentVolumeClaim"
            && !list("min").child("storage").is_set()
            && !list("max").child("storage").is_set()
        {
            faults.required(
                &limit,
                "either minimum or maximum storage value is required, but neither was provided",
            );
        }
        for name in all {
            limit_amounts(&limit, name, faults);
        }
    }
}

fn limit_amounts(limit: &At<'_>, name: &str, faults: &mut Faults) {
    let at = |key: &str| At {
        path: format!("{}.{key}[{name}]", limit.path),
        value: limit.child(key).child(name).value,
    };
    let amount = |key: &str| Quantity::parse(at(key).text()).ok();
    let (max, min) = (amount("max"), amount("min"));
    let (default, request) = (amount("default"), amount("defaultRequest"));
    let mut too_big = |key: &str,
                       low: Option<Quantity>,
                       high: Option<Quantity>,
                       shown: Option<Quantity>,
                       texts: [&str; 2]| {
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            let value = shown.unwrap_or(low).to_string();
            faults.push(Fault::invalid(
                at(key).path,
                value,
                format!("{} value {low} is greater than {} value {high}", texts[0], texts[1]),
            ));
        }
    };
    too_big("min", min, max, None, ["min", "max"]);
    too_big("defaultRequest", min, request, request, ["min", "default request"]);
    too_big("defaultRequest", request, max, None, ["default request", "max"]);
    too_big("defaultRequest", request, default, None, ["default request", "default limit"]);
    too_big("default", min, default, min, ["min", "default"]);
    too_big("default", default, max, max, ["default", "max"]);
    let ratio = amount("maxLimitRequestRatio");
    if let Some(ratio) = ratio
        && ratio.milli() < 1000
    {
        faults.push(Fault::invalid(
            at("maxLimitRequestRatio").path,
            ratio.to_string(),
            format!("ratio {ratio} is less than 1"),
        ));
    }
}

/// Checks an Event of the core group.
pub(super) fn event(object: &At<'_>, faults: &mut Faults) {
    let involved = object.at(&["involvedObject", "namespace"]);
    let own = object.at(&["metadata", "namespace"]);
    if involved.text() != own.text() && !(involved.is_empty() && own.text() == "default") {
        faults.push(Fault::invalid(
            "involvedObject.namespace",
            involved.text(),
            "does not match event.namespace",
        ));
    }
}

/// Checks a Namespace.
pub(super) fn namespace(object: &At<'_>, faults: &mut Faults) {
    for finalizer in object.at(&["spec", "finalizers"]).items() {
        let here = At { path: "spec.finalizers".to_owned(), value: finalizer.value };
        faults.each(&here, names::qualified_name(finalizer.text()));
    }
}
