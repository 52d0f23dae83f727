//! The controller on real APIs: the embedded server always, the real one where its programs are.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use podsmith_apiserver::{Cluster, ClusterOptions};
use podsmith_namespaces::cluster::{self, namespaces, subnamespaces};
use podsmith_namespaces::config::OnConflict;
use podsmith_namespaces::controller::{self, Options, Progress};
use podsmith_namespaces::metrics::Metrics;
use podsmith_namespaces::{Config, desired_of, manifests, write};
use podsmith_object::{GroupVersionKind, Value, json};
use podsmith_testing::{ControlPlane, Parts, skip};
use tokio::sync::watch;

/// A running controller and the cluster it works on.
struct Running {
    client: Client,
    config: Arc<Config>,
    metrics: Arc<Metrics>,
    progress: watch::Receiver<Progress>,
    stop: watch::Sender<bool>,
    _settings: watch::Sender<Arc<Config>>,
    task: tokio::task::JoinHandle<Result<(), cluster::ClusterError>>,
}

fn settings() -> Config {
    let mut config = support::config(OnConflict::Keep);
    config.watches.push(GroupVersionKind::new("rbac.authorization.k8s.io", "v1", "RoleBinding"));
    config
}

async fn apply(client: &Client, value: Value) {
    let api_version = value["apiVersion"].as_str().unwrap();
    let gvk = GroupVersionKind::from_api_version(api_version, value["kind"].as_str().unwrap());
    let name = value["metadata"]["name"].as_str().unwrap().to_owned();
    let kind = kube::core::GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind);
    let mut waits = 0;
    let (resource, capabilities) = loop {
        match kube::discovery::pinned_kind(client, &kind).await {
            Ok(found) => break found,
            Err(error) if waits > 100 => panic!("{error}"),
            Err(_) => waits += 1,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let api: Api<DynamicObject> = match value["metadata"]["namespace"].as_str() {
        Some(namespace) if capabilities.scope == kube::discovery::Scope::Namespaced => {
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
        _ => Api::all_with(client.clone(), &resource),
    };
    api.patch(&name, &PatchParams::apply("person").force(), &Patch::Apply(&value)).await.unwrap();
}

impl Running {
    async fn start(client: Client) -> Self {
        let config = Arc::new(settings());
        apply(&client, manifests::definition(&config.keys)).await;
        let claims: Api<DynamicObject> = Api::all_with(client.clone(), &subnamespaces(&config.keys));
        while claims.list(&ListParams::default()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Self::again(client, config)
    }

    fn again(client: Client, config: Arc<Config>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (settings, received) = watch::channel(config.clone());
        let (sender, progress) = watch::channel(Progress::default());
        let metrics = Arc::new(Metrics::default());
        let task = tokio::spawn(controller::run(
            client.clone(),
            received,
            stopped,
            Options { rediscover: Duration::from_millis(200), ..Options::default() },
            metrics.clone(),
            sender,
        ));
        Self { client, config, metrics, progress, stop, _settings: settings, task }
    }

    /// Waits until the cluster is what the pure function says and the controller has nothing to do.
    async fn settled(&mut self) {
        let settled = async {
            loop {
                let (world, _) = cluster::read_all(&self.client, &self.config).await.unwrap();
                let left = write::all(&world, &self.config, &desired_of(&world, &self.config));
                if left.is_empty() && self.progress.borrow().idle {
                    return;
                }
                let _ = tokio::time::timeout(Duration::from_millis(50), self.progress.changed()).await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(60), settled).await.is_err() {
            let (world, _) = cluster::read_all(&self.client, &self.config).await.unwrap();
            let left = write::all(&world, &self.config, &desired_of(&world, &self.config));
            panic!("not settled, {:?}, left: {left:#?}\n{}", *self.progress.borrow(), self.metrics.render());
        }
    }

    async fn stop(self) -> Client {
        self.stop.send(true).unwrap();
        self.task.await.unwrap().unwrap();
        self.client
    }

    async fn labels(&self, name: &str) -> Option<std::collections::BTreeMap<String, String>> {
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &namespaces());
        Some(api.get_opt(name).await.unwrap()?.metadata.labels.unwrap_or_default())
    }

    async fn get(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<DynamicObject> {
        let kind = kube::core::GroupVersionKind::gvk(group, "v1", kind);
        let resource = kube::api::ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &resource);
        api.get_opt(name).await.unwrap()
    }

    async fn delete(&self, kind: &str, namespace: &str, name: &str) {
        let resource = match kind {
            "SubNamespace" => subnamespaces(&self.config.keys),
            kind => kube::api::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("", "v1", kind)),
        };
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &resource);
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

fn root(name: &str, labels: Value) -> Value {
    let mut all = json!({"innu.cybozu.com/type": "root"});
    all.as_object_mut().unwrap().extend(labels.as_object().unwrap().clone());
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": all}})
}

fn sub(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "innu.cybozu.com/v2", "kind": "SubNamespace", "metadata": {"name": name, "namespace": namespace}, "spec": {}})
}

fn map(namespace: &str, mode: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": "settings", "namespace": namespace, "annotations": {"innu.cybozu.com/propagate": mode}}})
}

fn binding(namespace: &str, role: &str) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "team", "namespace": namespace, "annotations": {"innu.cybozu.com/propagate": "update"}},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "a"}]})
}

/// A day in the life of a tree.
async fn story(client: Client) {
    let missing = cluster::missing_permissions(&client, &settings()).await.unwrap();
    assert_eq!(missing, Vec::<String>::new());
    let mut c = Running::start(client).await;
    apply(&c.client, root("shop", json!({"team": "a"}))).await;
    apply(&c.client, sub("shop", "web")).await;
    apply(&c.client, map("shop", "update", json!({"a": "1", "b": "2"}))).await;
    apply(&c.client, binding("shop", "view")).await;
    c.settled().await;
    apply(&c.client, sub("web", "web-dev")).await;
    c.settled().await;
    let labels = c.labels("web-dev").await.unwrap();
    assert_eq!(labels["innu.cybozu.com/parent"], "web");
    assert_eq!((labels["team"].as_str(), labels["app.kubernetes.io/created-by"].as_str()), ("a", "innu"));
    let copy = c.get("", "ConfigMap", "web-dev", "settings").await.unwrap();
    assert_eq!(copy.data["data"], json!({"a": "1", "b": "2"}));
    assert_eq!(copy.metadata.annotations.unwrap()["innu.cybozu.com/from"], "web");

    // A removed key goes, a changed role is replaced, an edited copy is repaired.
    apply(&c.client, map("shop", "update", json!({"a": "1"}))).await;
    let bindings: Api<DynamicObject> = Api::namespaced_with(
        c.client.clone(),
        "shop",
        &kube::api::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(
            "rbac.authorization.k8s.io",
            "v1",
            "RoleBinding",
        )),
    );
    bindings.delete("team", &DeleteParams::default()).await.unwrap();
    apply(&c.client, binding("shop", "edit")).await;
    apply(&c.client, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "web"}, "data": {"mine": "x"}})).await;
    c.settled().await;
    let copy = c.get("", "ConfigMap", "web", "settings").await.unwrap();
    assert_eq!(copy.data["data"], json!({"a": "1"}));
    let copy = c.get("rbac.authorization.k8s.io", "RoleBinding", "web-dev", "team").await.unwrap();
    assert_eq!(copy.data["roleRef"]["name"], "edit");

    // A restart in sync writes nothing.
    let config = c.config.clone();
    let client = c.stop().await;
    let mut c = Running::again(client, config);
    c.settled().await;
    assert_eq!(c.metrics.totals(), (0, 0, 0), "{}", c.metrics.render());

    // What changed while nobody looked is found; inherited labels go with their source.
    let config = c.config.clone();
    let client = c.stop().await;
    apply(&client, root("shop", json!({}))).await;
    apply(&client, map("shop", "create", json!({"a": "3"}))).await;
    bindings.delete("team", &DeleteParams::default()).await.unwrap();
    apply(&client, binding("shop", "view")).await;
    let mut c = Running::again(client, config);
    c.settled().await;
    // A role that cannot be changed in place: the copy is made anew.
    let copy = c.get("rbac.authorization.k8s.io", "RoleBinding", "web-dev", "team").await.unwrap();
    assert_eq!(copy.data["roleRef"]["name"], "view");
    assert!(!c.labels("web-dev").await.unwrap().contains_key("team"));
    let copy = c.get("", "ConfigMap", "web-dev", "settings").await.unwrap();
    assert_eq!(copy.metadata.annotations.unwrap()["innu.cybozu.com/propagate"], "create");

    // A foreign object is kept and told about.
    apply(&c.client, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own", "namespace": "web"}, "data": {"k": "mine"}})).await;
    let mut shared = map("shop", "update", json!({"k": "shared"}));
    shared["metadata"]["name"] = json!("own");
    apply(&c.client, shared).await;
    c.settled().await;
    let own = c.get("", "ConfigMap", "web", "own").await.unwrap();
    assert_eq!(own.data["data"], json!({"k": "mine"}));
    let claims: Api<DynamicObject> =
        Api::namespaced_with(c.client.clone(), "shop", &subnamespaces(&c.config.keys));
    let claim = claims.get("web").await.unwrap();
    assert_eq!(claim.data["status"]["conditions"][0]["type"], "PropagationConflict");

    // A SubNamespace that goes takes its namespace along.
    c.delete("SubNamespace", "web", "web-dev").await;
    c.settled().await;
    let gone = async {
        while c.labels("web-dev").await.is_some_and(|labels| !labels.is_empty()) {
            let api: Api<DynamicObject> = Api::all_with(c.client.clone(), &namespaces());
            if api.get("web-dev").await.is_ok_and(|found| found.metadata.deletion_timestamp.is_some()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the namespace goes away");
    c.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_on_the_embedded_server() {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    story(cluster.client()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_on_the_real_server() {
    let Some(plane) = ControlPlane::start(Parts::Server).unwrap() else {
        return skip("a_tree_on_the_real_server", "kube-apiserver or etcd is missing");
    };
    story(plane.client().await.unwrap()).await;
}

/// The commands, with the controller at work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_on_the_embedded_server() {
    use podsmith_namespaces::change::Change;
    use podsmith_namespaces::model::Kind;
    use podsmith_namespaces::ops;
    use podsmith_namespaces::tree::{self, Edges};

    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let mut c = Running::start(cluster.client()).await;
    let (client, config) = (c.client.clone(), c.config.clone());
    let run = async |change: Change| ops::apply(&client, &config, &change).await.map(|steps| steps.len());
    for name in ["shop", "bank"] {
        apply(&client, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
        assert_eq!(run(Change::SetType(name.into(), Some(Kind::Root))).await.unwrap(), 1);
        assert_eq!(run(Change::SetType(name.into(), Some(Kind::Root))).await.unwrap(), 0);
    }
    apply(&client, map("shop", "update", json!({"of": "shop"}))).await;
    run(Change::Create("web".into(), "shop".into(), Default::default(), Default::default())).await.unwrap();
    c.settled().await;
    run(Change::Create("web-dev".into(), "web".into(), Default::default(), Default::default()))
        .await
        .unwrap();
    c.settled().await;
    let shown = async || tree::draw(&ops::tree(&client, &config, Edges::Parents, None).await.unwrap());
    assert_eq!(shown().await, "bank\nshop\n└── web\n    └── web-dev\n");

    let change = Change::Move("web".into(), "bank".into());
    let plan = ops::plan(&client, &config, &change).await.unwrap();
    let deletes = plan.effects.iter().filter(|effect| effect.action == "delete").count();
    assert_eq!((plan.steps.len(), deletes), (3, 2), "{}", ops::plan_text(&plan));
    let uid = |ns: DynamicObject| ns.metadata.uid;
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &namespaces());
    let before = uid(api.get("web").await.unwrap());
    run(change).await.unwrap();
    c.settled().await;
    assert_eq!(shown().await, "bank\n└── web\n    └── web-dev\nshop\n");
    assert_eq!(uid(api.get("web").await.unwrap()), before, "a moved namespace is the same one");
    assert!(c.get("", "ConfigMap", "web-dev", "settings").await.is_none());
    assert!(run(Change::Move("web".into(), "web-dev".into())).await.is_err());

    run(Change::Cut("web".into())).await.unwrap();
    c.settled().await;
    assert_eq!(shown().await, "bank\nshop\nweb\n└── web-dev\n");
    run(Change::Cut("web-dev".into())).await.unwrap();
    run(Change::Graft("web-dev".into(), "shop".into())).await.unwrap();
    c.settled().await;
    let described = ops::describe(&client, &config, "web-dev").await.unwrap();
    assert_eq!(described.resources[0].state, "in sync", "{}", ops::describe_text(&described));
    run(Change::Delete("web-dev".into())).await.unwrap();
    c.settled().await;
    c.stop().await;
}

/// A change of which a step is refused leaves nothing behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_that_fails_is_undone() {
    use podsmith_namespaces::change::Change;
    use podsmith_namespaces::ops;

    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let mut c = Running::start(cluster.client()).await;
    for name in ["shop", "bank"] {
        apply(&c.client, root(name, json!({}))).await;
    }
    apply(&c.client, sub("shop", "web")).await;
    c.settled().await;
    // A policy that keeps the label as it is; the SubNamespace is made before that is found out.
    apply(&c.client, json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-moves"},
        "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["namespaces"]}]},
            "validations": [{"expression": "object.metadata.?labels['innu.cybozu.com/parent'].orValue('') == oldObject.metadata.?labels['innu.cybozu.com/parent'].orValue('')", "message": "no moves"}],
        },
    })).await;
    apply(&c.client, json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no-moves"},
        "spec": {"policyName": "no-moves", "validationActions": ["Deny"]},
    })).await;
    let error =
        ops::apply(&c.client, &c.config, &Change::Move("web".into(), "bank".into())).await.unwrap_err();
    assert!(error.to_string().ends_with("nothing was changed"), "{error}");
    c.settled().await;
    assert_eq!(c.labels("web").await.unwrap()["innu.cybozu.com/parent"], "shop");
    let claims: Api<DynamicObject> =
        Api::namespaced_with(c.client.clone(), "bank", &subnamespaces(&c.config.keys));
    assert!(claims.get_opt("web").await.unwrap().is_none());
    c.stop().await;
}

/// How it does with many namespaces: prints times and writes. `PODSMITH_SCALE` sets the number of namespaces.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_namespaces() {
    let wanted: usize =
        std::env::var("PODSMITH_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let mut c = Running::start(cluster.client()).await;
    apply(&c.client, root("r", json!({"team": "a"}))).await;
    for slot in 0..10 {
        let mut source = map("r", "update", json!({"k": "1"}));
        source["metadata"]["name"] = json!(format!("x{slot}"));
        apply(&c.client, source).await;
    }
    let middle = wanted.isqrt().max(1);
    let start = std::time::Instant::now();
    for at in 0..wanted {
        let parent = if at < middle { "r".to_owned() } else { format!("n{}", at % middle) };
        apply(
            &c.client,
            json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": format!("n{at}"), "labels": {"innu.cybozu.com/parent": parent}}}),
        )
        .await;
    }
    c.settled().await;
    println!("{wanted} namespaces made and {} copies in them: {:?}", wanted * 10, start.elapsed());

    let (config, client) = (c.config.clone(), c.client.clone());
    c.stop().await;
    let start = std::time::Instant::now();
    let mut c = Running::again(client, config);
    c.progress.wait_for(|progress| progress.idle).await.unwrap();
    println!("start in sync: {:?}", start.elapsed());
    assert_eq!(c.metrics.totals(), (0, 0, 0));

    let start = std::time::Instant::now();
    let mut source = map("r", "update", json!({"k": "2"}));
    source["metadata"]["name"] = json!("x0");
    apply(&c.client, source).await;
    let writes = wanted as u64;
    c.progress.wait_for(|progress| progress.writes >= writes && progress.idle).await.unwrap();
    println!("one source edited: {:?}", start.elapsed());
    assert_eq!(c.metrics.totals(), (writes, 0, 0), "exactly one write for each copy");
    c.settled().await;
    c.stop().await;
}

/// A kind that is defined after the controller started is propagated too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_appears_later_is_propagated() {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let client = cluster.client();
    let mut config = settings();
    config.watches.push(GroupVersionKind::new("example.com", "v1", "Widget"));
    apply(&client, manifests::definition(&config.keys)).await;
    let mut c = Running::again(client, Arc::new(config));
    apply(&c.client, root("shop", json!({}))).await;
    apply(&c.client, sub("shop", "web")).await;
    c.settled().await;
    apply(&c.client, json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })).await;
    apply(&c.client, json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 1},
        "metadata": {"name": "w", "namespace": "shop", "annotations": {"innu.cybozu.com/propagate": "update"}}})).await;
    c.settled().await;
    let copy = c.get("example.com", "Widget", "web", "w").await.unwrap();
    assert_eq!(copy.data["spec"], json!({"size": 1}));
    c.stop().await;
}

/// Of two that want to lead one does, and the other one takes over when it falls silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_leads_at_a_time() {
    use podsmith_namespaces::lease::{self, LeaseOptions};

    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let start = |identity: &str| {
        let options = LeaseOptions {
            namespace: "default".into(),
            name: "namespaces".into(),
            identity: identity.into(),
            lasts: Duration::from_millis(500),
        };
        let (leading, seen) = watch::channel(false);
        let (stop, stopped) = watch::channel(false);
        (tokio::spawn(lease::hold(cluster.client(), options, leading, stopped)), seen, stop)
    };
    let (first, mut first_leads, first_stop) = start("first");
    first_leads.wait_for(|leads| *leads).await.unwrap();
    let (_second, mut second_leads, _second_stop) = start("second");
    assert!(!*second_leads.borrow());
    first_stop.send(true).unwrap();
    first.await.unwrap();
    let taken = tokio::time::timeout(Duration::from_secs(20), second_leads.wait_for(|leads| *leads)).await;
    assert!(taken.is_ok_and(|leads| leads.is_ok()));
}
