//! What identities may do, through `kube::Client` in this process.
#![allow(clippy::unwrap_used)]

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, ListParams, PostParams};
use podsmith_apiserver::auth::Identity;
use podsmith_apiserver::{Cluster, ClusterOptions};
use podsmith_object::{Value, json};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn code<T>(result: Result<T, kube::Error>) -> u16 {
    match result {
        Ok(_) => 200,
        Err(kube::Error::Api(status)) => status.code,
        Err(other) => panic!("{other}"),
    }
}

fn role(name: &str, resource: &str, verbs: &[&str]) -> Role {
    read(json!({
        "metadata": {"name": name}, "rules": [{"apiGroups": [""], "resources": [resource], "verbs": verbs}],
    }))
}

fn binding(role: &str, user: &str) -> RoleBinding {
    read(json!({
        "metadata": {"name": format!("{role}-{user}")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}],
    }))
}

#[tokio::test]
async fn roles_give_exactly_what_they_say_where_they_say() {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let alice = cluster.client_as(Identity::new("alice", &[]));
    let maps: Api<ConfigMap> = Api::namespaced(alice.clone(), "default");
    assert_eq!(code(maps.list(&ListParams::default()).await), 403);
    let roles: Api<Role> = Api::namespaced(cluster.client(), "default");
    let bindings: Api<RoleBinding> = Api::namespaced(cluster.client(), "default");
    roles.create(&PostParams::default(), &role("reader", "configmaps", &["get", "list"])).await.unwrap();
    bindings.create(&PostParams::default(), &binding("reader", "alice")).await.unwrap();
    assert_eq!(code(maps.list(&ListParams::default()).await), 200);
    let map: ConfigMap = read(json!({"metadata": {"name": "a"}}));
    assert_eq!(code(maps.create(&PostParams::default(), &map).await), 403);
    let elsewhere: Api<ConfigMap> = Api::namespaced(alice.clone(), "kube-system");
    assert_eq!(code(elsewhere.list(&ListParams::default()).await), 403);
    let secrets: Api<Secret> = Api::namespaced(alice, "default");
    assert_eq!(code(secrets.list(&ListParams::default()).await), 403);
}

#[tokio::test]
async fn nobody_hands_out_rights_they_do_not_have() {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let roles: Api<Role> = Api::namespaced(cluster.client(), "default");
    let bindings: Api<RoleBinding> = Api::namespaced(cluster.client(), "default");
    let manager: Role = read(json!({"metadata": {"name": "manager"}, "rules": [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    ]}));
    // Everything on roles includes `escalate` and `bind`; a manager without those must not get around them.
    let mut limited = manager.clone();
    limited.rules.as_mut().unwrap()[0].verbs = vec!["create".into(), "get".into()];
    roles.create(&PostParams::default(), &limited).await.unwrap();
    bindings.create(&PostParams::default(), &binding("manager", "bob")).await.unwrap();
    let bob: Api<Role> = Api::namespaced(cluster.client_as(Identity::new("bob", &[])), "default");
    assert_eq!(code(bob.create(&PostParams::default(), &role("same", "configmaps", &["get"])).await), 200);
    assert_eq!(code(bob.create(&PostParams::default(), &role("more", "configmaps", &["delete"])).await), 403);
    assert_eq!(code(bob.create(&PostParams::default(), &role("other", "secrets", &["get"])).await), 403);
}
