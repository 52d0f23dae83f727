//! Clusters to test against, and a layer between us and them that counts requests and breaks some.

#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout, reason = "every test file uses a part of it")]

mod real;

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use podsmith_apiserver::{Cluster, ClusterOptions};
use podsmith_apply::{ApplyOptions, Cancel, PlanOptions, Report, Silent};
use podsmith_object::files::MemoryFiles;
use podsmith_object::{Object, Value, json, read_objects};
use podsmith_plan::{Package, Plan};
use podsmith_podfile::{Options, Podfile};

/// A cluster and a way to watch the requests to it.
pub struct World {
    pub name: &'static str,
    /// Straight to the cluster, for the test itself.
    pub client: Client,
    /// Through the layer, for what is tested.
    pub watched: Client,
    pub wire: Arc<Wire>,
    /// A namespace nobody else uses.
    pub namespace: String,
    _embedded: Option<Cluster>,
}

/// What goes over the wire.
#[derive(Default)]
pub struct Wire {
    log: Mutex<Vec<(Method, String)>>,
    faults: Mutex<Option<Faults>>,
    latency: Mutex<std::time::Duration>,
}

/// How to break writes.
pub struct Faults {
    /// The number of the first write to break, from 0.
    pub from: usize,
    /// How many to break.
    pub count: usize,
    pub kind: Fault,
    seen: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The server answers with this status, and does nothing.
    Status(u16),
    /// The connection is lost before the server sees the request.
    Lost,
    /// The server does the work, but the answer is lost.
    AnswerLost,
}

impl Wire {
    pub fn break_writes(&self, from: usize, count: usize, kind: Fault) {
        *self.faults.lock().unwrap() = Some(Faults { from, count, kind, seen: 0 });
    }

    /// Every request takes this much longer.
    pub fn slow_down(&self, latency: std::time::Duration) {
        *self.latency.lock().unwrap() = latency;
    }

    pub fn heal(&self) {
        *self.faults.lock().unwrap() = None;
    }

    pub fn clear(&self) {
        self.log.lock().unwrap().clear();
    }

    pub fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().iter().map(|(method, path)| format!("{method} {path}")).collect()
    }

    pub fn writes(&self) -> Vec<String> {
        let log = self.log.lock().unwrap();
        log.iter().filter(|(method, path)| is_write(method, path)).map(|(m, p)| format!("{m} {p}")).collect()
    }

    fn decide(&self, method: &Method, path: &str) -> Option<Fault> {
        self.log.lock().unwrap().push((method.clone(), path.to_owned()));
        let mut faults = self.faults.lock().unwrap();
        let faults = faults.as_mut()?;
        if !is_write(method, path) {
            return None;
        }
        let number = faults.seen;
        faults.seen += 1;
        (number >= faults.from && number < faults.from.saturating_add(faults.count)).then_some(faults.kind)
    }
}

fn is_write(method: &Method, path: &str) -> bool {
    *method != Method::GET && !path.contains("dryRun=All")
}

#[derive(Clone)]
struct Layer {
    inner: Client,
    wire: Arc<Wire>,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, tower::BoxError>> + Send>>;

impl tower::Service<Request<Body>> for Layer {
    type Response = Response<Body>;
    type Error = tower::BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let path = request.uri().to_string();
        let fault = self.wire.decide(request.method(), &path);
        let inner = self.inner.clone();
        let latency = *self.wire.latency.lock().unwrap();
        Box::pin(async move {
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
            }
            match fault {
                Some(Fault::Status(code)) => {
                    let reason = if code == 409 { "Conflict" } else { "InternalError" };
                    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": "broken on purpose"});
                    Ok(Response::builder().status(code).body(Body::from(status.to_string().into_bytes()))?)
                }
                Some(Fault::Lost) => Err("the connection broke on purpose".into()),
                Some(Fault::AnswerLost) => {
                    let _ = inner.send(request).await;
                    Err("the answer was lost on purpose".into())
                }
                None => Ok(inner.send(request).await?),
            }
        })
    }
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn world(name: &'static str, client: Client, embedded: Option<Cluster>) -> World {
    let wire = Arc::new(Wire::default());
    let watched = Client::new(Layer { inner: client.clone(), wire: wire.clone() }, "default");
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    World {
        name,
        client,
        watched,
        wire,
        namespace: format!("t{}-{number}", std::process::id()),
        _embedded: embedded,
    }
}

/// The embedded cluster, in memory.
pub async fn embedded() -> World {
    let cluster = Cluster::open(ClusterOptions::memory()).await.expect("an embedded cluster opens");
    let client = cluster.client();
    world("embedded", client, Some(cluster))
}

/// A real kube-apiserver; `None` when its program is not there.
pub async fn real(test: &str) -> Option<World> {
    match real::client().await {
        Some(client) => Some(world("real", client, None)),
        None => {
            println!(
                "skipped: {test}: no kube-apiserver and etcd in ~/.cache/podsmith-oracles (or PODSMITH_ORACLES)"
            );
            None
        }
    }
}

/// A real control plane with controllers and a node on which nothing runs; `None` when a program is not there.
pub async fn real_with_controllers(test: &str) -> Option<World> {
    match real::client_with_controllers().await {
        Some(client) => Some(world("real with controllers", client, None)),
        None => {
            println!(
                "skipped: {test}: no kube-controller-manager in ~/.cache/podsmith-oracles (or PODSMITH_ORACLES)"
            );
            None
        }
    }
}

/// Runs a test against every cluster there is.
#[macro_export]
macro_rules! on_every_cluster {
    ($(#[$meta:meta])* async fn $name:ident($world:ident: World) $body:block) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn check($world: World) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn embedded() {
                check(support::embedded().await).await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn real() {
                if let Some(world) = support::real(stringify!($name)).await {
                    check(world).await;
                }
            }
        }
    };
}

pub fn options() -> ApplyOptions {
    ApplyOptions {
        timeout: std::time::Duration::from_secs(20),
        patience: std::time::Duration::from_secs(1),
        retry_delay: std::time::Duration::from_millis(1),
        tries: 2,
        ..ApplyOptions::default()
    }
}

impl World {
    /// Objects from YAML in which `NS` stands for the test's namespace.
    pub fn yaml(&self, text: &str) -> Vec<Object> {
        read_objects("test.yaml", text.replace("NS", &self.namespace).as_bytes())
            .expect("the test's YAML is valid")
    }

    pub fn package(&self, name: &str, objects: Vec<Object>) -> Package {
        Package { name: name.into(), namespace: self.namespace.clone(), objects }
    }

    /// A package from a Podfile in which `NS` stands for the test's namespace.
    pub fn podfile(&self, text: &str) -> Package {
        let file = Podfile {
            name: "app.pf".into(),
            directory: String::new(),
            text: text.replace("NS", &self.namespace),
        };
        let output = podsmith_podfile::render(&[file], &MemoryFiles::new(), &Options::default());
        let output = output.unwrap_or_else(|problems| panic!("{problems}"));
        let package = output.packages.into_iter().next().expect("a package");
        Package { name: package.name, namespace: self.namespace.clone(), objects: package.objects }
    }

    pub async fn plan(&self, package: Package) -> Plan {
        self.plan_with(package, &PlanOptions::default()).await
    }

    pub async fn plan_with(&self, package: Package, options: &PlanOptions) -> Plan {
        podsmith_apply::plan(&self.watched, package, options, &Silent)
            .await
            .unwrap_or_else(|e| panic!("{e:?}"))
    }

    pub async fn run(&self, plan: &Plan) -> Report {
        self.run_with(plan, &options()).await
    }

    pub async fn run_with(&self, plan: &Plan, options: &ApplyOptions) -> Report {
        podsmith_apply::apply(&self.watched, plan, options, &Cancel::new(), &Silent).await.unwrap_or_else(
            |e| {
                let shown: Vec<String> = e.diagnostics().iter().map(ToString::to_string).collect();
                panic!("{}: {e}\n{}", self.name, shown.join("\n"))
            },
        )
    }

    /// Plans and applies; everything must succeed.
    pub async fn apply(&self, package: Package) -> Plan {
        let plan = self.plan(package).await;
        assert!(plan.errors.is_empty(), "{}: {:#?}", self.name, messages(&plan));
        let report = self.run(&plan).await;
        assert!(report.is_success(), "{}: {report:#?}", self.name);
        plan
    }

    pub async fn get(&self, path: &str) -> Option<Value> {
        let request = Request::get(path.replace("NS", &self.namespace)).body(Vec::new()).unwrap();
        match self.client.request::<Value>(request).await {
            Ok(value) => Some(value),
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("{path}: {error}"),
        }
    }

    /// A merge patch by another field manager.
    pub async fn edit(&self, path: &str, manager: &str, patch: Value) -> Value {
        let path = format!("{}?fieldManager={manager}", path.replace("NS", &self.namespace));
        let request = Request::patch(path)
            .header("content-type", "application/merge-patch+json")
            .body(patch.to_string().into_bytes())
            .unwrap();
        self.client.request::<Value>(request).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn create(&self, path: &str, object: Value) -> Value {
        let request = Request::post(path.replace("NS", &self.namespace))
            .header("content-type", "application/json")
            .body(object.to_string().replace("NS", &self.namespace).into_bytes())
            .unwrap();
        self.client.request::<Value>(request).await.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The changes as short lines: `create ConfigMap a`.
pub fn actions(plan: &Plan) -> Vec<String> {
    plan.changes
        .iter()
        .map(|change| format!("{} {} {}", change.action.word(), change.id.gvk.kind, change.id.name))
        .collect()
}

pub fn messages(plan: &Plan) -> Vec<String> {
    plan.errors
        .iter()
        .map(|error| {
            format!(
                "{}: {}",
                error.object.as_ref().map(ToString::to_string).unwrap_or_default(),
                error.message
            )
        })
        .collect()
}
