//! What the server adds to pods: their account, its token, tolerations, priority.

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::fields;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Completes a new pod.
///
/// # Errors
///
/// 403 when its account or its priority class is not there.
pub fn complete(server: &Arc<Server>, call: &Call, pod: &mut Value) -> ApiResult<()> {
    service_account(server, call, pod)?;
    tolerations(pod);
    priority(server, pod)
}

/// Completes a changed pod: what was worked out when it was made stays.
pub fn keep(old: &Value, pod: &mut Value) {
    tolerations(pod);
    for key in ["priority", "preemptionPolicy"] {
        if fields::at(pod, &["spec", key]).is_none() {
            fields::copy(old, pod, &["spec", key]);
        }
    }
}

fn refuse(pod: &Value, why: impl std::fmt::Display) -> ApiError {
    ApiError::forbidden("", "pods", fields::name(pod), why)
}

fn service_account(server: &Arc<Server>, call: &Call, pod: &mut Value) -> ApiResult<()> {
    // The pod of a kubelet's own manifest has no account.
    if fields::at(pod, &["metadata", "annotations", "kubernetes.io/config.mirror"]).is_some() {
        return Ok(());
    }
    let given = fields::text(pod, &["spec", "serviceAccountName"]);
    let name = if given.is_empty() { "default".to_owned() } else { given.to_owned() };
    fields::set(pod, &["spec", "serviceAccountName"], name.as_str().into());
    fields::set(pod, &["spec", "serviceAccount"], name.as_str().into());
    let namespace = call.target.namespace.as_str();
    let Some(account) = server.store.get("serviceaccounts", &format!("{namespace}/{name}")) else {
        let why = format!(
            "error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"
        );
        return Err(refuse(pod, why));
    };
    let account = account.value();
    let secrets = fields::list(&account, &["imagePullSecrets"]);
    if fields::list(pod, &["spec", "imagePullSecrets"]).is_empty() && !secrets.is_empty() {
        fields::set(pod, &["spec", "imagePullSecrets"], secrets.to_vec().into());
    }
    let wish = |object: &Value, path: &[&str]| fields::at(object, path).and_then(Value::as_bool);
    let mounts = wish(pod, &["spec", "automountServiceAccountToken"])
        .or(wish(&account, &["automountServiceAccountToken"]))
        .unwrap_or(true);
    if mounts {
        mount_token(pod);
    }
    Ok(())
}

fn mount_token(pod: &mut Value) {
    let volume = crate::handlers::create::generate_name("kube-api-access-");
    let mount = json!({"name": volume, "readOnly": true, "mountPath": TOKEN_PATH});
    let mut mounted = false;
    for list in ["initContainers", "containers"] {
        let Some(Value::Array(containers)) = pod.get_mut("spec").and_then(|spec| spec.get_mut(list)) else {
            continue;
        };
        for container in containers {
            let mut mounts: Vec<Value> = fields::list(container, &["volumeMounts"]).to_vec();
            if mounts.iter().all(|one| fields::text(one, &["mountPath"]) != TOKEN_PATH) {
                mounts.push(mount.clone());
                fields::set(container, &["volumeMounts"], mounts.into());
                mounted = true;
            }
        }
    }
    if mounted {
        let mut volumes: Vec<Value> = fields::list(pod, &["spec", "volumes"]).to_vec();
        volumes.push(json!({"name": volume, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
            ]}},
        ]}}));
        fields::set(pod, &["spec", "volumes"], volumes.into());
    }
}

fn tolerations(pod: &mut Value) {
    let mut all: Vec<Value> = fields::list(pod, &["spec", "tolerations"]).to_vec();
    let before = all.len();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = all.iter().any(|one| {
            let (known, effect) = (fields::text(one, &["key"]), fields::text(one, &["effect"]));
            (known == key || known.is_empty()) && matches!(effect, "" | "NoExecute")
        });
        if !tolerated {
            all.push(
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}),
            );
        }
    }
    if all.len() > before {
        fields::set(pod, &["spec", "tolerations"], all.into());
    }
}

fn priority(server: &Arc<Server>, pod: &mut Value) -> ApiResult<()> {
    const TABLE: &str = "scheduling.k8s.io/priorityclasses";
    let named = fields::text(pod, &["spec", "priorityClassName"]).to_owned();
    let class = if named.is_empty() {
        let all =
            server.store.list(TABLE, "", None, None, None).map(|listing| listing.items).unwrap_or_default();
        let defaults = all.iter().map(|(_, stored)| stored.value());
        defaults
            .filter(|class| class.get("globalDefault") == Some(&Value::Bool(true)))
            .min_by_key(|class| class.get("value").and_then(Value::as_i64))
    } else {
        let Some(stored) = server.store.get(TABLE, &named) else {
            return Err(refuse(pod, format!("no PriorityClass with name {named} was found")));
        };
        Some(stored.value())
    };
    let value = class.as_ref().and_then(|class| class.get("value")).and_then(Value::as_i64).unwrap_or(0);
    if let Some(given) = fields::at(pod, &["spec", "priority"]).and_then(Value::as_i64)
        && given != value
    {
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
        );
        return Err(refuse(pod, why));
    }
    if let Some(class) = &class {
        fields::set(pod, &["spec", "priorityClassName"], fields::name(class).into());
    }
    let policy = class.as_ref().map(|class| fields::text(class, &["preemptionPolicy"])).unwrap_or("");
    let policy = if policy.is_empty() { "PreemptLowerPriority" } else { policy };
    fields::set(pod, &["spec", "priority"], value.into());
    fields::set(pod, &["spec", "preemptionPolicy"], policy.into());
    Ok(())
}
