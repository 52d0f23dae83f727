//! A cluster used through `kube::Client` in this process.
#![allow(clippy::unwrap_used)]

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use podsmith_apiserver::{Cluster, ClusterOptions, OpenError};
use podsmith_object::json;

async fn open() -> (Cluster, kube::Client) {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let client = cluster.client();
    (cluster, client)
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"v": value}}, "data": {"a": value}}))
        .unwrap()
}

fn secret(name: &str, value: &str) -> Secret {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"v": value}}})).unwrap()
}

#[tokio::test]
async fn objects_are_created_read_changed_and_deleted() {
    let (_cluster, client) = open().await;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let made = maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    assert!(made.metadata.uid.is_some());
    let again = maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap_err();
    assert!(
        matches!(again, kube::Error::Api(status) if status.code == 409 && status.reason == "AlreadyExists")
    );
    let patch = json!({"data": {"b": "2"}});
    let patched = maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    assert_eq!(patched.data.unwrap().len(), 2);
    let stale = maps.replace("a", &PostParams::default(), &made).await.unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.code == 409 && status.reason == "Conflict"));
    assert!(maps.delete("a", &DeleteParams::default()).await.unwrap().is_right());
    assert!(maps.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn lists_are_selected_and_paged_from_one_snapshot() {
    let (_cluster, client) = open().await;
    let maps: Api<Secret> = Api::namespaced(client.clone(), "kube-public");
    for index in 0..5 {
        maps.create(&PostParams::default(), &secret(&format!("m{index}"), &(index % 2).to_string()))
            .await
            .unwrap();
    }
    let odd = maps.list(&ListParams::default().labels("v=1")).await.unwrap();
    assert_eq!(odd.items.len(), 2);
    let first = maps.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    maps.delete("m3", &DeleteParams::default()).await.unwrap();
    let token = first.metadata.continue_.clone().unwrap();
    let rest = maps.list(&ListParams::default().limit(5).continue_token(&token)).await.unwrap();
    let names: Vec<_> = rest.items.iter().filter_map(|map| map.metadata.name.as_deref()).collect();
    assert_eq!(names, ["m2", "m3", "m4"], "the page shows the first page's moment");
    assert_eq!(rest.metadata.resource_version, first.metadata.resource_version);
}

#[tokio::test]
async fn watches_follow_changes_and_selector_transitions() {
    let (_cluster, client) = open().await;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let start = maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut stream = maps.watch(&WatchParams::default().labels("v=1"), &start).await.unwrap().boxed();
    maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    maps.create(&PostParams::default(), &config_map("b", "2")).await.unwrap();
    let away = json!({"metadata": {"labels": {"v": "2"}}});
    maps.patch("a", &PatchParams::default(), &Patch::Merge(&away)).await.unwrap();
    let back = json!({"metadata": {"labels": {"v": "1"}}});
    maps.patch("b", &PatchParams::default(), &Patch::Merge(&back)).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        match stream.try_next().await.unwrap().unwrap() {
            WatchEvent::Added(map) => seen.push(format!("added {}", map.metadata.name.unwrap())),
            WatchEvent::Deleted(map) => {
                assert_eq!(map.metadata.labels.unwrap()["v"], "1", "the state that was still selected");
                seen.push(format!("deleted {}", map.metadata.name.unwrap()));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, ["added a", "deleted a", "added b"]);
}

#[tokio::test]
async fn both_ways_of_starting_a_watcher_work() {
    let (_cluster, client) = open().await;
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let mut stream = watcher(namespaces, config).applied_objects().boxed();
        let mut names = Vec::new();
        while names.len() < 4 {
            names.push(stream.try_next().await.unwrap().unwrap().metadata.name.unwrap());
        }
        names.sort();
        assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
    }
}

#[tokio::test]
async fn finalizers_hold_an_object_until_the_last_is_gone() {
    let (_cluster, client) = open().await;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let mut held = config_map("held", "1");
    held.metadata.finalizers = Some(vec!["example.com/hold".into()]);
    maps.create(&PostParams::default(), &held).await.unwrap();
    let left = maps.delete("held", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert!(left.metadata.deletion_timestamp.is_some());
    let free = json!({"metadata": {"finalizers": null}});
    maps.patch("held", &PatchParams::default(), &Patch::Merge(&free)).await.unwrap();
    assert!(maps.get_opt("held").await.unwrap().is_none());
}

#[tokio::test]
async fn a_cluster_in_a_directory_comes_back_and_has_one_owner() {
    let dir = tempfile::tempdir().unwrap();
    let first = Cluster::open(ClusterOptions::directory(dir.path())).await.unwrap();
    let second = Cluster::open(ClusterOptions::directory(dir.path())).await;
    assert!(matches!(second, Err(OpenError::InUse { running: None, .. })));
    let served = first.serve(Default::default()).await.unwrap();
    match Cluster::open(ClusterOptions::directory(dir.path())).await {
        Err(OpenError::InUse { running: Some(running), .. }) => assert_eq!(running.server, served.url),
        other => panic!("{:?}", other.err()),
    }
    let maps: Api<ConfigMap> = Api::namespaced(first.client(), "default");
    maps.create(&PostParams::default(), &config_map("kept", "1")).await.unwrap();
    served.stop().await;
    drop(maps);
    first.shutdown().await;
    let again = Cluster::open(ClusterOptions::directory(dir.path())).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(again.client(), "default");
    assert!(maps.get_opt("kept").await.unwrap().is_some());
}

/// Waits until a condition holds; the test's own time limit ends what never comes true.
async fn until<F, T>(mut condition: F)
where
    F: FnMut() -> T,
    T: Future<Output = bool>,
{
    while !condition().await {
        tokio::task::yield_now().await;
    }
}

fn owned(name: &str, owner: &ConfigMap, blocks: bool) -> ConfigMap {
    let mut map = config_map(name, "1");
    map.metadata.owner_references = Some(vec![
        serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "name": owner.metadata.name, "uid": owner.metadata.uid,
            "blockOwnerDeletion": blocks,
        }))
        .unwrap(),
    ]);
    map
}

#[tokio::test]
async fn dependents_go_with_their_owner_unless_they_are_orphaned() {
    let (_cluster, client) = open().await;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for (policy, stays) in [("background", false), ("foreground", false), ("orphan", true)] {
        let owner = maps.create(&PostParams::default(), &config_map("owner", "1")).await.unwrap();
        maps.create(&PostParams::default(), &owned("child", &owner, true)).await.unwrap();
        let parameters = match policy {
            "background" => DeleteParams::background(),
            "foreground" => DeleteParams::foreground(),
            _ => DeleteParams::orphan(),
        };
        maps.delete("owner", &parameters).await.unwrap();
        until(|| async { maps.get_opt("owner").await.unwrap().is_none() }).await;
        if stays {
            let child = maps.get("child").await.unwrap();
            assert!(child.metadata.owner_references.unwrap_or_default().is_empty());
        } else {
            until(|| async { maps.get_opt("child").await.unwrap().is_none() }).await;
        }
    }
}

#[tokio::test]
async fn a_namespace_takes_everything_in_it_along() {
    let (_cluster, client) = open().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "gone"}})).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client, "gone");
    until(|| async { maps.get_opt("kube-root-ca.crt").await.unwrap().is_some() }).await;
    maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let terminating = namespaces.delete("gone", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(terminating.status.unwrap().phase.as_deref(), Some("Terminating"));
    until(|| async { namespaces.get_opt("gone").await.unwrap().is_none() }).await;
    assert!(maps.list(&ListParams::default()).await.unwrap().items.is_empty());
    let late = maps.create(&PostParams::default(), &config_map("b", "1")).await.unwrap_err();
    assert!(matches!(late, kube::Error::Api(status) if status.code == 404));
}

#[tokio::test]
async fn a_custom_resource_is_served_at_once_and_goes_with_its_definition() {
    let (_cluster, client) = open().await;
    let definition: kube::core::DynamicObject = serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": {
                    "size": {"type": "integer", "default": 3, "minimum": 1},
                }}},
            }}}],
        },
    }))
    .unwrap();
    let kind = |group: &str, kind: &str| {
        kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(group, "v1", kind))
    };
    let definitions: Api<kube::core::DynamicObject> =
        Api::all_with(client.clone(), &kind("apiextensions.k8s.io", "CustomResourceDefinition"));
    definitions.create(&PostParams::default(), &definition).await.unwrap();
    let things: Api<kube::core::DynamicObject> =
        Api::namespaced_with(client, "default", &kind("example.com", "Thing"));
    let thing = |name: &str, spec: podsmith_object::Value| -> kube::core::DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec,
        }))
        .unwrap()
    };
    let made = things.create(&PostParams::default(), &thing("a", json!({"unknown": 1}))).await.unwrap();
    assert_eq!(made.data["spec"], json!({"size": 3}), "unknown fields go, defaults come");
    let wrong = things.create(&PostParams::default(), &thing("b", json!({"size": 0}))).await.unwrap_err();
    assert!(matches!(wrong, kube::Error::Api(status) if status.code == 422));
    let live = definitions.get("things.example.com").await.unwrap();
    assert_eq!(live.data["status"]["conditions"][1]["type"], "Established");
    definitions.delete("things.example.com", &DeleteParams::default()).await.unwrap();
    until(|| async { definitions.get_opt("things.example.com").await.unwrap().is_none() }).await;
    assert!(matches!(things.get("a").await.unwrap_err(), kube::Error::Api(status) if status.code == 404));
}

#[tokio::test]
async fn a_thousand_watches_on_one_kind_all_see_everything() {
    let (_cluster, client) = open().await;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let start = maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut watches = Vec::new();
    for _ in 0..1000 {
        watches.push(maps.watch(&WatchParams::default(), &start).await.unwrap().boxed());
    }
    for name in ["a", "b", "c"] {
        maps.create(&PostParams::default(), &config_map(name, "1")).await.unwrap();
    }
    for watch in &mut watches {
        for name in ["a", "b", "c"] {
            match watch.try_next().await.unwrap().unwrap() {
                WatchEvent::Added(map) => assert_eq!(map.metadata.name.as_deref(), Some(name)),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_forgotten_revision_is_expired_and_a_list_goes_on() {
    let options = ClusterOptions { history: 5, ..ClusterOptions::memory() };
    let cluster = Cluster::open(options).await.unwrap();
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), "default");
    for index in 0..10 {
        secrets.create(&PostParams::default(), &secret(&format!("s{index}"), "1")).await.unwrap();
    }
    let mut stream = secrets.watch(&WatchParams::default(), "1").await.unwrap().boxed();
    let expired = stream.try_next().await.unwrap().unwrap();
    assert!(matches!(expired, WatchEvent::Error(status) if status.code == 410 && status.reason == "Expired"));
    let page = secrets.list(&ListParams::default().limit(2)).await.unwrap();
    for index in 0..10 {
        secrets.delete(&format!("s{index}"), &DeleteParams::default()).await.unwrap();
    }
    let token = page.metadata.continue_.unwrap();
    let gone = secrets.list(&ListParams::default().limit(2).continue_token(&token)).await.unwrap_err();
    assert!(matches!(gone, kube::Error::Api(status) if status.code == 410));
}
