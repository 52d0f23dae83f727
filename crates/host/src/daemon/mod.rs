//! The daemon: what is wanted becomes actions of the pods, and ready pods become the port map.
//!
//! Pods supervise themselves, so the daemon may come and go. A round reads a few small files and, when nothing is to be
//! done, starts no process.

mod account;
mod action;
mod portmap;
mod report;

use std::collections::BTreeMap;
use std::fs::File;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use podsmith_pods::runtime::status::Status;
use thiserror::Error;
use tokio::task::JoinHandle;

use crate::layout::{Home, Release, Wanted, homes};
use account::Account;
pub use action::Rerun;
pub use report::{HostStatus, PodReport, status};

/// How the daemon works.
#[derive(Clone, Debug)]
pub struct Options {
    /// A home, or a directory with homes one or two levels below.
    pub dir: PathBuf,
    /// Time between rounds.
    pub round: Duration,
}

impl Options {
    /// The defaults for `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), round: Duration::from_secs(2) }
    }
}

/// Why the daemon cannot work.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// No home.
    #[error("{} is no home of a host: it has no cluster-id.txt with a directory `pods` beside it", dir.display())]
    NoHome {
        /// Where we looked.
        dir: PathBuf,
    },
    /// Another daemon works there.
    #[error("another daemon works in {}", dir.display())]
    Taken {
        /// The home.
        dir: PathBuf,
    },
    /// The operating system refuses.
    #[error("cannot {verb}")]
    System {
        /// What we did.
        verb: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Runs the daemon until SIGTERM, SIGINT or SIGHUP. Pods keep running.
///
/// # Errors
///
/// There is no home, or another daemon works there.
pub fn run(options: &Options) -> Result<(), DaemonError> {
    let system = |verb| move |source| DaemonError::System { verb, source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the event loop"))?;
    runtime.block_on(async {
        let stop = termination().map_err(system("listen for signals"))?;
        serve(options, stop).await
    })
}

/// Ends with the first of SIGTERM, SIGINT and SIGHUP.
pub(crate) fn termination() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Runs the daemon until `stop` ends. Actions that have begun are finished.
///
/// # Errors
///
/// As [`run`].
pub async fn serve(options: &Options, stop: impl Future<Output = ()>) -> Result<(), DaemonError> {
    if homes(&options.dir).is_empty() {
        return Err(DaemonError::NoHome { dir: options.dir.clone() });
    }
    let mut keepers: BTreeMap<PathBuf, Keeper> = BTreeMap::new();
    let mut timer = tokio::time::interval(options.round);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = timer.tick() => {}
        }
        for home in homes(&options.dir) {
            if !keepers.contains_key(home.path()) {
                keepers.insert(home.path().to_owned(), Keeper::new(home.clone())?);
            }
            if let Some(keeper) = keepers.get_mut(home.path()) {
                keeper.round().await;
            }
        }
    }
    for keeper in keepers.into_values() {
        keeper.finish().await;
    }
    Ok(())
}

/// What is known about one release.
#[derive(Debug, Default)]
struct Tracked {
    /// The wanted state that was acted upon.
    done: Option<Wanted>,
    worker: Option<JoinHandle<action::Outcome>>,
    failures: u32,
    retry_at: Option<Instant>,
    /// For pods that write no status: the last answer of `readiness`.
    ready: bool,
    asked: Option<Instant>,
}

/// Keeps the pods of one home in their wanted states.
struct Keeper {
    home: Home,
    account: Account,
    releases: BTreeMap<PathBuf, Tracked>,
    /// Two daemons would act against each other.
    _lock: File,
}

/// How often a pod that writes no status is run and asked.
const ASK: Duration = Duration::from_secs(6);

impl Keeper {
    fn new(home: Home) -> Result<Self, DaemonError> {
        use rustix::fs::{FlockOperation, flock};
        let system = |verb| move |source| DaemonError::System { verb, source };
        let path = home.path().join(".daemon.lock");
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(system("open the lock of the home"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| DaemonError::Taken { dir: home.path().to_owned() })?;
        let account = Account::owning(home.path()).map_err(system("find the owner of the home"))?;
        Ok(Self { home, account, releases: BTreeMap::new(), _lock: lock })
    }

    async fn round(&mut self) {
        let releases = self.home.releases();
        self.releases
            .retain(|dir, tracked| tracked.worker.is_some() || releases.iter().any(|r| r.dir == *dir));
        for release in &releases {
            let tracked = self.releases.entry(release.dir.clone()).or_default();
            if tracked.worker.as_ref().is_some_and(|worker| !worker.is_finished()) {
                continue;
            }
            if let Some(worker) = tracked.worker.take() {
                tracked.reap(worker.await.unwrap_or_default());
            }
            let calls = tracked.next(release, Instant::now());
            if !calls.is_empty() {
                let interface = self.home.interface();
                tracked.worker = Some(action::start(&self.account, release, calls, interface));
            }
        }
        let ready = releases.iter().filter(|release| self.is_ready(release));
        let lines = portmap::lines(ready);
        match portmap::write(&self.home, &lines) {
            Ok(true) => {
                tracing::info!(home = %self.home.path().display(), ports = lines.len(), "Wrote the port map")
            }
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "Cannot write the port map"),
        }
    }

    fn is_ready(&self, release: &Release) -> bool {
        if release.wanted() != Some(Wanted::Running) {
            return false;
        }
        match portmap::readiness(&release.dir) {
            Some(ready) => ready,
            None => self.releases.get(&release.dir).is_some_and(|tracked| tracked.ready),
        }
    }

    /// Lets actions that have begun come to their end.
    async fn finish(self) {
        for tracked in self.releases.into_values() {
            if let Some(worker) = tracked.worker {
                let _ = worker.await;
            }
        }
    }
}

impl Tracked {
    fn reap(&mut self, outcome: action::Outcome) {
        self.ready = outcome.ready;
        if outcome.success {
            self.failures = 0;
            self.retry_at = None;
        } else {
            let wait = 1_u64.checked_shl(self.failures).unwrap_or(64).min(64);
            self.failures = self.failures.saturating_add(1);
            self.retry_at = Some(Instant::now() + Duration::from_secs(wait));
        }
    }

    /// What to call now, if anything.
    fn next(&mut self, release: &Release, now: Instant) -> Vec<action::Call> {
        let Some(wanted) = release.wanted() else { return Vec::new() };
        let rerun = Rerun::take(&release.dir);
        if let Wanted::Unknown(word) = &wanted {
            if self.done.as_ref() != Some(&wanted) {
                tracing::warn!(pod = %release.id(), state = %word, "Unknown state, nothing is done");
                self.done = Some(wanted);
            }
            return Vec::new();
        }
        if self.done.as_ref() != Some(&wanted) {
            if rerun.is_some() {
                tracing::warn!(pod = %release.id(), "An action is ignored because the state changes too");
            }
            let calls = action::for_state(&wanted);
            self.done = Some(wanted);
            return calls;
        }
        if wanted != Wanted::Running {
            if rerun.is_some() {
                tracing::warn!(pod = %release.id(), "An action is ignored because the pod should not run");
            }
            // A stop or removal that failed is tried again; what worked is done.
            return if self.retry_due(now) { action::for_state(&wanted) } else { Vec::new() };
        }
        match rerun {
            Some(Ok(rerun)) => return vec![action::Call::Rerun(rerun)],
            Some(Err(text)) => {
                tracing::warn!(pod = %release.id(), action = %text, "Unknown action, nothing is done")
            }
            None => {}
        }
        self.keep_running(release, now)
    }

    fn retry_due(&self, now: Instant) -> bool {
        self.retry_at.is_some_and(|at| at <= now)
    }

    /// A pod that should run: failed before, lost its supervisor, or must be asked.
    fn keep_running(&mut self, release: &Release, now: Instant) -> Vec<action::Call> {
        if self.retry_at.is_some() {
            return if self.retry_due(now) { action::for_state(&Wanted::Running) } else { Vec::new() };
        }
        match Status::current(&release.dir) {
            Some(status) if status.status.is_supervised() => Vec::new(),
            // Its supervisor died, or somebody stopped it: what is wanted counts.
            Some(_) => action::for_state(&Wanted::Running),
            None if has_status_file(&release.dir) => Vec::new(),
            None if self.asked.is_none_or(|at| now.saturating_duration_since(at) >= ASK) => {
                self.asked = Some(now);
                vec![action::Call::Run, action::Call::Readiness]
            }
            None => Vec::new(),
        }
    }
}

fn has_status_file(dir: &Path) -> bool {
    dir.join(".pod.status").is_file()
}
