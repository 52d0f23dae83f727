//! ResourceQuotas: what a namespace may use in all.

use std::collections::BTreeMap;
use std::sync::Arc;

use podsmith_object::Value;
use podsmith_object::quantity::Quantity;

use crate::fields::{self, list, text};
use crate::registry::Resource;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{Draft, Expect};

/// Amounts by the names quotas use.
type Usage = BTreeMap<String, Quantity>;

fn one() -> Option<Quantity> {
    Quantity::parse("1").ok()
}

fn add(usage: &mut Usage, key: impl Into<String>, amount: Option<Quantity>) {
    let Some(amount) = amount else { return };
    let key = key.into();
    let sum = usage.get(&key).and_then(|known| known.checked_add(amount)).unwrap_or(amount);
    usage.insert(key, sum);
}

/// What an object uses.
fn usage_of(resource: &Resource, object: &Value) -> Usage {
    let mut usage = Usage::new();
    let count = format!("count/{}", resource.qualified());
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => {
            if matches!(text(object, &["status", "phase"]), "Succeeded" | "Failed") {
                add(&mut usage, count, one());
                return usage;
            }
            add(&mut usage, "pods", one());
            for container in list(object, &["spec", "containers"]) {
                for (kind, prefix) in [("requests", "requests."), ("limits", "limits.")] {
                    let amounts = fields::at(container, &["resources", kind]).and_then(Value::as_object);
                    for (name, amount) in amounts.into_iter().flatten() {
                        let amount = amount.as_str().and_then(|text| Quantity::parse(text).ok());
                        add(&mut usage, format!("{prefix}{name}"), amount);
                        if kind == "requests"
                            && matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage")
                        {
                            add(&mut usage, name.clone(), amount);
                        }
                    }
                }
            }
        }
        ("", "services") => {
            add(&mut usage, "services", one());
            let ports = list(object, &["spec", "ports"]).len();
            match text(object, &["spec", "type"]) {
                "LoadBalancer" => {
                    add(&mut usage, "services.loadbalancers", one());
                    add(&mut usage, "services.nodeports", Quantity::parse(&ports.to_string()).ok());
                }
                "NodePort" => add(&mut usage, "services.nodeports", Quantity::parse(&ports.to_string()).ok()),
                _ => {}
            }
        }
        ("", "persistentvolumeclaims") => {
            add(&mut usage, "persistentvolumeclaims", one());
            let amount = Quantity::parse(text(object, &["spec", "resources", "requests", "storage"])).ok();
            add(&mut usage, "requests.storage", amount);
            let class = text(object, &["spec", "storageClassName"]);
            if !class.is_empty() {
                let prefix = format!("{class}.storageclass.storage.k8s.io/");
                add(&mut usage, format!("{prefix}requests.storage"), amount);
                add(&mut usage, format!("{prefix}persistentvolumeclaims"), one());
            }
        }
        ("", plural @ ("configmaps" | "secrets" | "resourcequotas" | "replicationcontrollers")) => {
            add(&mut usage, plural, one());
        }
        _ => {}
    }
    add(&mut usage, count, one());
    usage
}

/// True if a quota is about this object.
fn in_scope(quota: &Value, resource: &Resource, object: &Value) -> bool {
    let mut scopes: Vec<(String, String, Vec<String>)> = fields::texts(quota, &["spec", "scopes"])
        .into_iter()
        .map(|scope| (scope.to_owned(), "Exists".to_owned(), Vec::new()))
        .collect();
    for expression in list(quota, &["spec", "scopeSelector", "matchExpressions"]) {
        let values = fields::texts(expression, &["values"]).into_iter().map(str::to_owned).collect();
        scopes.push((
            text(expression, &["scopeName"]).to_owned(),
            text(expression, &["operator"]).to_owned(),
            values,
        ));
    }
    if scopes.is_empty() {
        return true;
    }
    if !resource.is("", "pods") {
        return false;
    }
    let best_effort = podsmith_schema::strategy::qos_class(object) == "BestEffort";
    let terminating = fields::at(object, &["spec", "activeDeadlineSeconds"]).is_some();
    let class = text(object, &["spec", "priorityClassName"]);
    scopes.iter().all(|(scope, operator, values)| match scope.as_str() {
        "BestEffort" => best_effort,
        "NotBestEffort" => !best_effort,
        "Terminating" => terminating,
        "NotTerminating" => !terminating,
        "PriorityClass" => match operator.as_str() {
            "In" => values.iter().any(|value| value == class),
            "NotIn" => !values.iter().any(|value| value == class),
            "DoesNotExist" => class.is_empty(),
            _ => !class.is_empty(),
        },
        _ => true,
    })
}

fn quotas(server: &Server, namespace: &str) -> Vec<Value> {
    match server.store.list("resourcequotas", &format!("{namespace}/"), None, None, None) {
        Ok(listing) => listing.items.iter().map(|(_, stored)| stored.value()).collect(),
        Err(_) => Vec::new(),
    }
}

/// What a namespace uses of what a quota bounds, read from what is there.
fn used(server: &Server, namespace: &str, quota: &Value) -> Usage {
    let mut total = Usage::new();
    let index = server.registry.index();
    let bounded: Vec<&String> = hard(quota).map(|(key, _)| key).collect();
    for resource in index.tables().iter().filter(|resource| resource.namespaced) {
        let counted = format!("count/{}", resource.qualified());
        let has_own = matches!(
            (resource.group.as_str(), resource.plural.as_str()),
            (
                "",
                "pods"
                    | "services"
                    | "persistentvolumeclaims"
                    | "configmaps"
                    | "secrets"
                    | "resourcequotas"
                    | "replicationcontrollers"
            )
        );
        if !has_own && !bounded.iter().any(|key| **key == counted) {
            continue;
        }
        let Ok(listing) = server.store.list(&resource.table, &format!("{namespace}/"), None, None, None)
        else {
            continue;
        };
        for (_, stored) in listing.items {
            let object = stored.value();
            if in_scope(quota, resource, &object) {
                for (key, amount) in usage_of(resource, &object) {
                    add(&mut total, key, Some(amount));
                }
            }
        }
    }
    total
}

fn hard(quota: &Value) -> impl Iterator<Item = (&String, &Value)> {
    fields::at(quota, &["spec", "hard"]).and_then(Value::as_object).into_iter().flatten()
}

/// Refuses a write that would use more than a quota allows; notes what is used otherwise.
///
/// # Errors
///
/// 403 naming the quota, what was asked for, what is used and what is allowed.
pub fn check(
    server: &Arc<Server>,
    call: &Call,
    object: &Value,
    old: Option<&Value>,
    dry_run: bool,
) -> ApiResult<()> {
    let (resource, namespace) = (&call.resource, call.target.namespace.as_str());
    if !resource.namespaced || !call.target.subresource.is_empty() || resource.is("", "resourcequotas") {
        return Ok(());
    }
    for quota in quotas(server, namespace) {
        if !in_scope(&quota, resource, object) {
            continue;
        }
        let wanted = usage_of(resource, object);
        let before = old.map(|old| usage_of(resource, old)).unwrap_or_default();
        let zero = Quantity::parse("0").ok();
        let concerned: Vec<(String, Quantity, Quantity)> = hard(&quota)
            .filter_map(|(key, bound)| {
                let bound = Quantity::parse(bound.as_str()?).ok()?;
                let (new, known) = (*wanted.get(key)?, before.get(key).copied().or(zero)?);
                let more = new.checked_sub(known)?;
                (!more.is_negative() && more.milli() > 0).then(|| (key.clone(), more, bound))
            })
            .collect();
        must_say(&quota, resource, object, &wanted, old)?;
        if concerned.is_empty() {
            continue;
        }
        let used = used(server, namespace, &quota);
        let mut over: Vec<[String; 4]> = Vec::new();
        for (key, more, bound) in concerned {
            let present = used.get(&key).copied().or(zero).unwrap_or(more);
            if present.checked_add(more).is_none_or(|sum| sum > bound) {
                over.push([key, more.to_string(), present.to_string(), bound.to_string()]);
            }
        }
        if !over.is_empty() {
            let join = |at: usize| {
                let shown = over.iter().map(|one| format!("{}={}", one[0], one[at]));
                shown.collect::<Vec<_>>().join(",")
            };
            let why = format!(
                "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                fields::name(&quota),
                join(1),
                join(2),
                join(3),
            );
            return Err(ApiError::forbidden(&resource.group, &resource.plural, fields::name(object), why));
        }
        if !dry_run {
            note(server, &quota, used, &wanted);
        }
    }
    Ok(())
}

/// A pod must say what it needs of what is bounded.
fn must_say(
    quota: &Value,
    resource: &Resource,
    pod: &Value,
    wanted: &Usage,
    old: Option<&Value>,
) -> ApiResult<()> {
    if !resource.is("", "pods") || old.is_some() {
        return Ok(());
    }
    let missing: Vec<&str> = hard(quota)
        .map(|(key, _)| key.as_str())
        .filter(|key| {
            matches!(
                *key,
                "cpu" | "memory" | "requests.cpu" | "requests.memory" | "limits.cpu" | "limits.memory"
            ) && !wanted.contains_key(*key)
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!("failed quota: {}: must specify {}", fields::name(quota), missing.join(","));
    Err(ApiError::forbidden("", "pods", fields::name(pod), why))
}

/// Writes what is used into the status of a quota.
fn note(server: &Arc<Server>, quota: &Value, mut used: Usage, more: &Usage) {
    for (key, amount) in more {
        add(&mut used, key.clone(), Some(*amount));
    }
    write_status(server, quota, &used);
}

/// Brings the status of the quotas of a namespace up to date.
pub fn refresh(server: &Arc<Server>, namespace: &str) {
    for quota in quotas(server, namespace) {
        let used = used(server, namespace, &quota);
        write_status(server, &quota, &used);
    }
}

/// Written straight into the store: the status of a quota concerns no other rule.
fn write_status(server: &Arc<Server>, quota: &Value, used: &Usage) {
    let key = format!("{}/{}", fields::namespace(quota), fields::name(quota));
    let Some(stored) = server.store.get("resourcequotas", &key) else { return };
    let old = stored.value();
    let shown: serde_json::Map<String, Value> = hard(&old)
        .map(|(key, _)| (key.clone(), used.get(key).map_or("0".to_owned(), ToString::to_string).into()))
        .collect();
    let mut new = old.clone();
    let bounds = fields::at(&old, &["spec", "hard"]).cloned().unwrap_or(Value::Null);
    fields::set(&mut new, &["status", "hard"], bounds);
    fields::set(&mut new, &["status", "used"], Value::Object(shown));
    if new != old {
        // Whoever wrote meanwhile counts again.
        let _ =
            server.store.put("resourcequotas", &key, Expect::Revision(stored.revision()), Draft::new(&new));
    }
}
