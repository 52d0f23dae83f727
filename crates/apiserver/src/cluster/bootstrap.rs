//! The objects every cluster has from the start.

use std::sync::Arc;

use podsmith_object::{Value, json};

use super::policy;
use crate::clock;
use crate::registry::Resource;
use crate::server::Server;
use crate::store::{Draft, Expect};
use crate::strategy::services::FIRST_ADDRESS;

/// Makes what is missing.
pub async fn run(server: &Arc<Server>) -> Result<(), String> {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let labels = json!({"kubernetes.io/metadata.name": name});
        ensure(server, "", "namespaces", "", name, json!({"metadata": {"labels": labels}}))?;
        for (plural, name_inside, body) in namespace_objects(server) {
            ensure(server, "", plural, name, name_inside, body)?;
        }
    }
    ensure(server, "", "services", "default", "kubernetes", kubernetes_service())?;
    for (plural, namespace, name, body) in policy::all() {
        ensure(server, "rbac.authorization.k8s.io", plural, namespace, name, body)?;
    }
    let authority = json!({"data": {"client-ca-file": server.pki.ca_pem}});
    ensure(server, "", "configmaps", "kube-system", "extension-apiserver-authentication", authority)?;
    for (name, value, description) in [
        (
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
        (
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
    ] {
        let body =
            json!({"value": value, "description": description, "preemptionPolicy": "PreemptLowerPriority"});
        ensure(server, "scheduling.k8s.io", "priorityclasses", "", name, body)?;
    }
    Ok(())
}

/// What every namespace has: an account, and the certificate of the authority.
pub fn namespace_objects(server: &Server) -> [(&'static str, &'static str, Value); 2] {
    let about = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
    [
        ("serviceaccounts", "default", json!({})),
        (
            "configmaps",
            "kube-root-ca.crt",
            json!({
                "metadata": {"annotations": {"kubernetes.io/description": about}},
                "data": {"ca.crt": server.pki.ca_pem},
            }),
        ),
    ]
}

fn kubernetes_service() -> Value {
    let address = FIRST_ADDRESS.to_string();
    json!({
        "metadata": {"labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": address, "clusterIPs": [address], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
    })
}

/// Writes an object unless it is there.
pub fn ensure(
    server: &Server,
    group: &str,
    plural: &str,
    namespace: &str,
    name: &str,
    body: Value,
) -> Result<(), String> {
    let index = server.registry.index();
    let Some(resource) = index.by_group_plural(group, plural) else {
        return Err(format!("there is no resource {plural}"));
    };
    let key = resource.key(namespace, name);
    if server.store.get(&resource.table, &key).is_some() {
        return Ok(());
    }
    let object = complete(resource, namespace, name, body);
    match server.store.put(&resource.table, &key, Expect::Absent, Draft::new(&object)) {
        Ok(_) | Err(crate::store::CommitError::Changed(_)) => {
            if plural == "services" {
                server.addresses.note(&object, false);
            }
            Ok(())
        }
        Err(error) => Err(format!("{plural} {key}: {error}")),
    }
}

fn complete(resource: &Resource, namespace: &str, name: &str, mut object: Value) -> Value {
    let uid = uuid::Uuid::new_v4().to_string();
    let now = clock::now();
    crate::fields::set(&mut object, &["apiVersion"], resource.api_version().into());
    crate::fields::set(&mut object, &["kind"], resource.kind.as_str().into());
    let metadata = crate::fields::metadata(&mut object);
    metadata.insert("name".into(), name.into());
    if resource.namespaced {
        metadata.insert("namespace".into(), namespace.into());
    }
    metadata.insert("uid".into(), uid.as_str().into());
    metadata.insert("creationTimestamp".into(), now.as_str().into());
    crate::rules::set_defaults(resource, &mut object);
    let birth = podsmith_schema::strategy::Birth { uid: &uid, now: &now };
    podsmith_schema::strategy::prepare_create(&resource.gvk(), &mut object, birth);
    object
}
