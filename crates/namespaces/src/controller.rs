//! Drives the reconciler over a real API: streams in, a bounded number of writes at a time out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered, SelectAll, StreamExt as _};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event};
use podsmith_object::{Object, json};
use tokio::sync::watch;

use crate::claim::Claim;
use crate::cluster::{self, ClusterError, namespaces, served, subnamespaces, to_object, to_request};
use crate::config::Config;
use crate::executor::Executor;
use crate::metrics::Metrics;
use crate::model::{Key, KindIndex, Namespace};
use crate::reconciler::{Notice, Outcome, Reconciler, Stream, Task};
use crate::resource::Resource;
use crate::write::Write;

/// How the controller runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many writes may be under way at a time.
    pub writes: usize,
    /// How often the cluster is asked for kinds it did not know.
    pub rediscover: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { writes: 64, rediscover: Duration::from_secs(10) }
    }
}

/// What can be seen of a running controller.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// True once the tree and every served kind are known.
    pub synced: bool,
    /// True when everything is as it must be, as far as is known.
    pub idle: bool,
    /// How many writes were done.
    pub writes: u64,
}

type Heard = (Stream, Result<Event<DynamicObject>, watcher::Error>);
type Done = BoxFuture<'static, (Task, Write, Outcome)>;

/// Runs until `stop` becomes true or its sender is gone. A new configuration takes effect at once, without a restart.
///
/// # Errors
///
/// When a watched kind cannot be propagated at all. What the cluster refuses later is tried again.
pub async fn run(
    client: Client,
    mut config: watch::Receiver<Arc<Config>>,
    mut stop: watch::Receiver<bool>,
    options: Options,
    metrics: Arc<Metrics>,
    progress: watch::Sender<Progress>,
) -> Result<(), ClusterError> {
    loop {
        let current = config.borrow_and_update().clone();
        let session = Session::start(client.clone(), current, options.clone(), metrics.clone()).await?;
        let reload = async {
            // When nobody is left to change it, go on with what there is.
            if config.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let stopped = async {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            result = session.work(&progress) => return result,
            () = reload => {}
            () = stopped => return Ok(()),
        }
    }
}

/// One run with one configuration.
struct Session {
    client: Client,
    config: Arc<Config>,
    options: Options,
    metrics: Arc<Metrics>,
    reconciler: Reconciler,
    kinds: Vec<Option<ApiResource>>,
    streams: SelectAll<BoxStream<'static, Heard>>,
    listing: BTreeMap<Stream, Vec<Object>>,
    started: Instant,
    busy_since: Option<u64>,
    told: BTreeSet<Notice>,
    writes: u64,
}

impl Session {
    async fn start(
        client: Client,
        config: Arc<Config>,
        options: Options,
        metrics: Arc<Metrics>,
    ) -> Result<Self, ClusterError> {
        let mut out = Self {
            reconciler: Reconciler::new(config.clone()),
            kinds: vec![None; config.watches.len()],
            client,
            config,
            options,
            metrics,
            streams: SelectAll::new(),
            listing: BTreeMap::new(),
            started: Instant::now(),
            busy_since: None,
            told: BTreeSet::new(),
            writes: 0,
        };
        out.listen(Stream::Namespaces, &namespaces());
        out.listen(Stream::Claims, &subnamespaces(&out.config.keys.clone()));
        out.find_kinds().await?;
        // What the cluster does not know has no objects.
        for at in 0..out.kinds.len() {
            if let (None, Ok(at)) = (&out.kinds[at], u16::try_from(at)) {
                out.reconciler.list_objects(KindIndex(at), Vec::new(), 0);
            }
        }
        Ok(out)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn listen(&mut self, stream: Stream, resource: &ApiResource) {
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), resource);
        let events = watcher::watcher(api, watcher::Config::default()).default_backoff();
        self.streams.push(events.map(move |event| (stream, event)).boxed());
    }

    async fn find_kinds(&mut self) -> Result<(), ClusterError> {
        for at in 0..self.kinds.len() {
            if self.kinds[at].is_some() {
                continue;
            }
            let Some(gvk) = self.config.watches.get(at).cloned() else { continue };
            if let (Some(resource), Ok(index)) = (served(&self.client, &gvk).await?, u16::try_from(at)) {
                let stream = Stream::Kind(KindIndex(index));
                self.reconciler.begin_list(stream);
                self.listen(stream, &resource);
                self.kinds[at] = Some(resource);
            }
        }
        Ok(())
    }

    fn resource(&self, stream: Stream) -> ApiResource {
        match stream {
            Stream::Namespaces => namespaces(),
            Stream::Claims => subnamespaces(&self.config.keys),
            Stream::Kind(kind) => {
                self.kinds.get(usize::from(kind.0)).cloned().flatten().unwrap_or_else(namespaces)
            }
        }
    }

    async fn work(mut self, progress: &watch::Sender<Progress>) -> Result<(), ClusterError> {
        let mut running: FuturesUnordered<Done> = FuturesUnordered::new();
        let mut rediscover = tokio::time::interval(self.options.rediscover);
        rediscover.tick().await;
        loop {
            self.begin_writes(&mut running);
            self.tell();
            self.show(running.len(), progress);
            let due = self.reconciler.next_due().map(|due| due.saturating_sub(self.now()).max(1));
            tokio::select! {
                Some((stream, event)) = self.streams.next() => self.hear(stream, event),
                Some((task, write, outcome)) = running.next() => {
                    self.metrics.wrote(&self.config, &write, &outcome);
                    self.writes += 1;
                    let now = self.now();
                    self.reconciler.finish(&task, &write, outcome, now);
                }
                () = tokio::time::sleep(Duration::from_millis(due.unwrap_or(60_000))) => {}
                _ = rediscover.tick() => {
                    if self.kinds.iter().any(Option::is_none)
                        && let Err(error) = self.find_kinds().await
                    {
                        tracing::warn!("{error}");
                    }
                }
            }
        }
    }

    fn begin_writes(&mut self, running: &mut FuturesUnordered<Done>) {
        while running.len() < self.options.writes {
            let now = self.now();
            let Some((task, write)) = self.reconciler.next(now) else { return };
            let (client, config, kinds) = (self.client.clone(), self.config.clone(), self.kinds.clone());
            running.push(Box::pin(async move {
                let executor = Executor { client: &client, config: &config, kinds: &kinds };
                let outcome = executor.perform(&write).await;
                (task, write, outcome)
            }));
        }
    }

    fn show(&mut self, running: usize, progress: &watch::Sender<Progress>) {
        let (queued, oldest) = self.reconciler.backlog();
        let now = self.now();
        let idle = queued == 0 && running == 0;
        match (idle, self.busy_since) {
            (false, None) => self.busy_since = Some(now),
            (true, Some(since)) => {
                self.metrics.converged(Duration::from_millis(now - since));
                self.busy_since = None;
            }
            _ => {}
        }
        let age = oldest.map_or(0, |oldest| now.saturating_sub(oldest));
        let held = self.reconciler.held().map(|(_, count)| count).sum();
        self.metrics.state(queued, age, self.reconciler.frozen().len(), held);
        let synced = self.synced();
        let next = Progress { synced, idle: synced && idle, writes: self.writes };
        progress.send_if_modified(|shown| {
            let changed = (shown.synced, shown.idle, shown.writes) != (next.synced, next.idle, next.writes);
            *shown = next;
            changed
        });
    }

    fn synced(&self) -> bool {
        self.reconciler.is_ready()
            && self.listing.is_empty()
            && (0..self.kinds.len())
                .filter_map(|at| u16::try_from(at).ok())
                .all(|at| self.reconciler.has_listed(Stream::Kind(KindIndex(at))))
    }

    fn hear(&mut self, stream: Stream, event: Result<Event<DynamicObject>, watcher::Error>) {
        let now = self.now();
        let resource = self.resource(stream);
        match event {
            Err(error) => tracing::warn!("watching {}: {error}", resource.plural),
            Ok(Event::Init) => {
                self.reconciler.begin_list(stream);
                self.listing.insert(stream, Vec::new());
            }
            Ok(Event::InitApply(object)) => {
                if let Ok(object) = to_object(object, &resource) {
                    let reduced = reduce(object, stream, &self.config);
                    self.listing.entry(stream).or_default().push(reduced);
                }
            }
            Ok(Event::InitDone) => {
                let all = self.listing.remove(&stream).unwrap_or_default();
                self.listed(stream, &all, now);
            }
            Ok(Event::Apply(object)) => {
                if let Ok(object) = to_object(object, &resource) {
                    self.changed(stream, &object, now);
                }
            }
            Ok(Event::Delete(object)) => {
                if let Ok(object) = to_object(object, &resource) {
                    self.gone(stream, &object, now);
                }
            }
        }
    }

    fn listed(&mut self, stream: Stream, all: &[Object], now: u64) {
        match stream {
            Stream::Namespaces => {
                let all = all.iter().map(|object| Namespace::read(object, &self.config.keys)).collect();
                self.reconciler.list_namespaces(all, now);
            }
            Stream::Claims => self.reconciler.list_claims(all.iter().map(Claim::read).collect(), now),
            Stream::Kind(kind) => {
                let all = all.iter().map(|object| {
                    (Key::new(object.namespace(), kind, object.name()), Resource::read(object, &self.config))
                });
                self.reconciler.list_objects(kind, all.collect(), now);
            }
        }
    }

    fn changed(&mut self, stream: Stream, object: &Object, now: u64) {
        match stream {
            Stream::Namespaces => self.reconciler.namespace(Namespace::read(object, &self.config.keys), now),
            Stream::Claims => self.reconciler.claim(Claim::read(object), now),
            Stream::Kind(kind) => {
                let key = Key::new(object.namespace(), kind, object.name());
                self.reconciler.object(&key, Resource::read(object, &self.config), now);
            }
        }
    }

    fn gone(&mut self, stream: Stream, object: &Object, now: u64) {
        match stream {
            Stream::Namespaces => {
                let gone = Namespace::read(object, &self.config.keys);
                self.reconciler.namespace_gone(&gone.name, &gone.uid, now);
            }
            Stream::Claims => {
                let gone = Claim::read(object);
                self.reconciler.claim_gone(&gone.namespace, &gone.name, &gone.uid, now);
            }
            Stream::Kind(kind) => {
                let key = Key::new(object.namespace(), kind, object.name());
                let uid = Resource::read(object, &self.config).uid;
                self.reconciler.object_gone(&key, &uid, now);
            }
        }
    }

    /// Tells people through Events on the namespace. Each thing is told once as long as this session runs.
    fn tell(&mut self) {
        for notice in self.reconciler.take_notices() {
            if !self.told.insert(notice.clone()) {
                continue;
            }
            tracing::info!(namespace = &*notice.namespace, reason = notice.reason, "{}", notice.message);
            let client = self.client.clone();
            let manager = self.config.keys.manager.clone();
            tokio::spawn(async move { announce(&client, &manager, &notice).await });
        }
    }
}

/// Of an object that is listed, only what will be read is held until the list is complete.
fn reduce(mut object: Object, stream: Stream, config: &Config) -> Object {
    if let Stream::Kind(_) = stream {
        object.metadata_mut().shift_remove("managedFields");
        let keys = &config.keys;
        let wanted = [&keys.propagate, &keys.from, &keys.propagate_generated];
        if !config.propagate_generated && wanted.iter().all(|key| object.annotation(key).is_none()) {
            let kept: Vec<String> =
                object.body().keys().filter(|k| *k != "data" && *k != "binaryData").cloned().collect();
            object.body_mut().retain(|key, _| kept.contains(key));
        }
    }
    object
}

async fn announce(client: &Client, manager: &str, notice: &Notice) {
    let resource = ApiResource {
        group: String::new(),
        version: "v1".into(),
        api_version: "v1".into(),
        kind: "Event".into(),
        plural: "events".into(),
    };
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let event = Object::from_value(json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"generateName": format!("{}.", notice.namespace), "namespace": &*notice.namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Namespace", "name": &*notice.namespace},
        "reason": notice.reason, "message": notice.message, "type": "Warning", "count": 1,
        "source": {"component": manager}, "firstTimestamp": now, "lastTimestamp": now,
    }));
    let Ok(Ok(request)) = event.map(|event| to_request(&event)) else { return };
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &notice.namespace, &resource);
    if let Err(error) = api.create(&PostParams::default(), &request).await {
        tracing::debug!("an event could not be written: {}", cluster::reason(&error));
    }
}
