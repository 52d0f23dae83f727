//! LimitRanges: defaults and bounds for containers, pods and claims.

use std::sync::Arc;

use podsmith_object::Value;
use podsmith_object::quantity::Quantity;

use crate::fields::{self, list, text};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

fn ranges(server: &Server, namespace: &str) -> Vec<Value> {
    match server.store.list("limitranges", &format!("{namespace}/"), None, None, None) {
        Ok(listing) => listing
            .items
            .iter()
            .flat_map(|(_, stored)| list(&stored.value(), &["spec", "limits"]).to_vec())
            .collect(),
        Err(_) => Vec::new(),
    }
}

fn amounts<'v>(range: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    fields::at(range, &[key]).and_then(Value::as_object).into_iter().flatten()
}

/// Gives containers the default requests and limits of their namespace.
pub fn set_defaults(server: &Arc<Server>, call: &Call, pod: &mut Value) {
    let ranges = ranges(server, &call.target.namespace);
    for list in ["containers", "initContainers"] {
        let Some(Value::Array(containers)) = pod.get_mut("spec").and_then(|spec| spec.get_mut(list)) else {
            continue;
        };
        for container in containers {
            for range in ranges.iter().filter(|range| text(range, &["type"]) == "Container") {
                for (source, target) in [("default", "limits"), ("defaultRequest", "requests")] {
                    for (resource, amount) in amounts(range, source) {
                        if fields::at(container, &["resources", target, resource]).is_none() {
                            fields::set(container, &["resources", target, resource], amount.clone());
                        }
                    }
                }
            }
        }
    }
}

fn parse(text: &str) -> Option<Quantity> {
    Quantity::parse(text).ok()
}

fn amount_at(object: &Value, path: &[&str]) -> Option<Quantity> {
    parse(fields::text(object, path))
}

/// Refuses what is outside of the bounds of its namespace.
///
/// # Errors
///
/// 403 with every bound that is broken.
pub fn check(server: &Arc<Server>, call: &Call, object: &Value) -> ApiResult<()> {
    let mut faults = Vec::new();
    let plural = call.resource.plural.as_str();
    for range in ranges(server, &call.target.namespace) {
        match (text(&range, &["type"]), plural) {
            ("Container", "pods") => {
                for container in list(object, &["spec", "containers"]) {
                    check_one(
                        &range,
                        "Container",
                        &|kind, resource| amount_at(container, &["resources", kind, resource]),
                        &mut faults,
                    );
                }
            }
            ("Pod", "pods") => {
                let sum = |kind: &str, resource: &str| {
                    let parts = list(object, &["spec", "containers"]).iter();
                    let parts: Vec<Quantity> =
                        parts.filter_map(|one| amount_at(one, &["resources", kind, resource])).collect();
                    parts.into_iter().reduce(|a, b| a.checked_add(b).unwrap_or(a))
                };
                check_one(&range, "Pod", &sum, &mut faults);
            }
            ("PersistentVolumeClaim", "persistentvolumeclaims") => {
                let request =
                    |_: &str, resource: &str| amount_at(object, &["spec", "resources", "requests", resource]);
                check_one(&range, "PersistentVolumeClaim", &request, &mut faults);
            }
            _ => {}
        }
    }
    match faults.as_slice() {
        [] => Ok(()),
        [one] => Err(ApiError::forbidden("", plural, fields::name(object), one)),
        many => Err(ApiError::forbidden("", plural, fields::name(object), format!("[{}]", many.join(", ")))),
    }
}

fn check_one(
    range: &Value,
    kind: &str,
    amount: &dyn Fn(&str, &str) -> Option<Quantity>,
    faults: &mut Vec<String>,
) {
    let shown = |value: &Value| value.as_str().unwrap_or("").to_owned();
    for (resource, least) in amounts(range, "min") {
        let Some(bound) = parse(&shown(least)) else { continue };
        match amount("requests", resource) {
            None => faults
                .push(format!("minimum {resource} usage per {kind} is {bound}.  No request is specified")),
            Some(request) if request < bound => {
                faults.push(format!(
                    "minimum {resource} usage per {kind} is {bound}, but request is {request}"
                ));
            }
            Some(_) => {}
        }
    }
    for (resource, most) in amounts(range, "max") {
        let Some(bound) = parse(&shown(most)) else { continue };
        let (request, limit) = (amount("requests", resource), amount("limits", resource));
        if kind == "PersistentVolumeClaim" {
            if let Some(request) = request.filter(|request| *request > bound) {
                faults.push(format!(
                    "maximum {resource} usage per {kind} is {bound}, but request is {request}"
                ));
            }
            continue;
        }
        match limit {
            None => {
                faults.push(format!("maximum {resource} usage per {kind} is {bound}.  No limit is specified"))
            }
            Some(limit) if limit > bound => {
                faults.push(format!("maximum {resource} usage per {kind} is {bound}, but limit is {limit}"));
            }
            Some(_) => {}
        }
    }
    for (resource, ratio) in amounts(range, "maxLimitRequestRatio") {
        let Some(bound) = parse(&shown(ratio)) else { continue };
        if let (Some(request), Some(limit)) = (amount("requests", resource), amount("limits", resource))
            && request.milli() > 0
            && limit.milli() * 1000 / request.milli() > bound.milli()
        {
            faults.push(format!(
                "{resource} max limit to request ratio per {kind} is {bound}, but provided ratio is larger"
            ));
        }
    }
}
