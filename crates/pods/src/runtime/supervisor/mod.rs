//! The supervisor: one process per pod that starts, watches, probes, restarts and signals its containers.
//!
//! A single loop owns all state. Everything that takes time (podman, probes, waiting for an end) happens in threads
//! that send [`Event`]s. An idle supervisor starts no process and wakes up a few times in ten seconds.

mod cell;
mod configs;
mod launch;
mod probes;
mod report;
mod requests;
mod restart;

use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use podsmith_podman::ContainerState;
use podsmith_podman::logs::{self, Bounds, Line, Stream};
use podsmith_podman::watch::Watch;

use super::channel::{self, Request};
use super::context::{CONFIG_LABEL, Context, unix_nanos, unix_seconds};
use super::{Failure, create, lock};
use crate::secrets::{self, keys};
use crate::spec::{Check, StartupCheck};
use cell::{Cell, Phase};
use configs::ConfigWatch;
use launch::Launched;
use probes::Kind;
use restart::Ended;

/// How often configs and logs are looked at.
const ROUND: Duration = Duration::from_secs(2);

/// What the threads of a supervisor share.
#[derive(Debug)]
struct Shared {
    context: Context,
    interface: Option<IpAddr>,
    /// The pod's address, if it has one.
    address: Option<IpAddr>,
    cancelled: AtomicBool,
    bounds: Bounds,
}

/// News from a thread.
#[derive(Debug)]
enum Event {
    Downloading { index: usize, generation: u64 },
    Launched { index: usize, generation: u64, result: Result<Launched, String> },
    Started { index: usize, generation: u64 },
    Probed { index: usize, generation: u64, kind: Kind, outcome: Result<(), String> },
    Exited { index: usize, generation: u64, code: i32 },
    Asked(Request, UnixStream),
    PodEnded,
}

/// Whether the loop goes on.
#[derive(Debug, Eq, PartialEq)]
enum Next {
    GoOn,
    End,
}

struct Supervisor {
    shared: Arc<Shared>,
    cells: Vec<Cell>,
    configs: Vec<ConfigWatch>,
    events: Sender<Event>,
    inbox: Receiver<Event>,
    report: report::Report,
    next_round: Instant,
}

/// Runs the supervisor until the pod is stopped.
pub(super) fn run(context: &Context, interface: Option<IpAddr>) -> Result<u8, Failure> {
    let Some(_lock) = lock::supervise(context)? else {
        context.console.data(&format!("pod {} has a supervisor already\n", context.pod()));
        return Ok(1);
    };
    // A session of our own: the end of the caller's terminal is not ours.
    let _ = rustix::process::setsid();
    let mut supervisor = match Supervisor::new(context, interface) {
        Ok(supervisor) => supervisor,
        Err(failure) => {
            context.console.data(&(failure.tell().replace('\n', " ") + "\n"));
            return Err(failure);
        }
    };
    supervisor.serve()?;
    context.console.data("ready\n");
    let nowhere = std::fs::File::options().write(true).open("/dev/null");
    if let Ok(nowhere) = nowhere {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
    }
    supervisor.go_on();
    let _ = std::fs::remove_file(channel::SOCKET);
    Ok(0)
}

impl Supervisor {
    /// Starts the pod's network and takes over the containers that run already.
    fn new(context: &Context, interface: Option<IpAddr>) -> Result<Self, Failure> {
        let context = Context::new(context.spec.clone())?;
        decrypt_all(&context)?;
        let mut found = create::find(&context)?;
        if !found.infra.as_ref().is_some_and(|infra| infra.state == ContainerState::Running) {
            context.podman.start_pod(&context.pod())?;
            found = create::find(&context)?;
        }
        let infra = found.infra.clone().unwrap_or_default();
        let address = match needs_address(&context) {
            true => context.podman.address(&infra.id).unwrap_or(None),
            false => None,
        };
        let (events, inbox) = channel();
        let configs = watched_configs(&context);
        let report = report::Report::new(&context, interface);
        let cells: Vec<Cell> = context.spec.containers.iter().map(|_| Cell::default()).collect();
        let shared =
            Shared { context, interface, address, cancelled: AtomicBool::new(false), bounds: bounds() };
        let mut supervisor = Self {
            shared: Arc::new(shared),
            cells,
            configs,
            events,
            inbox,
            report,
            next_round: Instant::now() + ROUND,
        };
        supervisor.watch_pod(infra.pid);
        supervisor.adopt(&found);
        Ok(supervisor)
    }

    fn watch_pod(&self, pid: u32) {
        let events = self.events.clone();
        std::thread::spawn(move || {
            if Watch::open(pid).and_then(|watch| watch.wait(None)).is_ok() {
                let _ = events.send(Event::PodEnded);
            }
        });
    }

    /// Takes over what an earlier supervisor started. A container made from something else is made anew.
    fn adopt(&mut self, found: &create::Found) {
        let shared = self.shared.clone();
        let spec = &shared.context.spec;
        let wanted: Vec<String> = spec.containers.iter().map(|c| spec.container_name(c)).collect();
        let foreign: Vec<&str> = found
            .containers
            .iter()
            .map(|c| c.name())
            .filter(|name| !wanted.iter().any(|w| w == name))
            .collect();
        let _ = shared.context.podman.remove(&foreign);
        for (index, container) in spec.containers.iter().enumerate() {
            let Some(listed) = wanted.get(index).and_then(|name| found.container(name)) else { continue };
            let plan = launch::plan(&shared.context, container, hard_bound(shared.bounds));
            let same = plan.is_ok_and(|(_, hash)| listed.label(CONFIG_LABEL) == Some(hash.as_str()));
            let known = self.report.known_starts(&container.name);
            let Some(cell) = self.cells.get_mut(index) else { continue };
            cell.starts = known;
            cell.image_exists = true;
            if !same {
                continue;
            }
            match listed.state {
                ContainerState::Running => {
                    cell.begin();
                    cell.launched_at = Some(Instant::now());
                    let generation = cell.generation;
                    self.log(&format!("Container {} runs already and is taken over", container.name));
                    self.running(index, generation, listed.pid);
                }
                ContainerState::Exited => {
                    cell.begin();
                    cell.phase = Phase::Starting;
                    cell.passed = !matches!(
                        container.startup.as_ref().map(|s| &s.until),
                        Some(StartupCheck::Exit | StartupCheck::Check(_))
                    );
                    let generation = cell.generation;
                    self.exited(index, generation, listed.exit_code);
                }
                _ => {}
            }
        }
    }

    /// Answers requests in a thread of its own.
    fn serve(&self) -> Result<(), Failure> {
        let listener = channel::listen()?;
        let events = self.events.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(request) = channel::read(&stream)
                    && events.send(Event::Asked(request, stream)).is_err()
                {
                    return;
                }
            }
        });
        Ok(())
    }

    fn go_on(&mut self) {
        loop {
            self.advance();
            let wait = self.next_wake().saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(wait) {
                Ok(event) => {
                    if self.handle(event) == Next::End {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// When something is due. A container that waits for an earlier one is woken by that one's news, not by the clock.
    fn next_wake(&self) -> Instant {
        let mut earliest = self.next_round;
        let mut earlier_started = true;
        for cell in &self.cells {
            let due = match cell.phase {
                Phase::Starting => cell.startup_deadline,
                Phase::Down if cell.passed || earlier_started => cell.next_start,
                _ => None,
            };
            earliest = due.map_or(earliest, |due| due.min(earliest));
            earlier_started &= cell.passed;
        }
        earliest
    }

    /// Does all that is due: starts in order of declaration, startup deadlines, configs, logs, the status.
    fn advance(&mut self) {
        let now = Instant::now();
        let mut earlier_started = true;
        for index in 0..self.cells.len() {
            let Some(cell) = self.cells.get(index) else { continue };
            let due = cell.next_start.is_some_and(|at| at <= now);
            let late = cell.startup_deadline.is_some_and(|at| at <= now);
            match cell.phase {
                Phase::Pending if earlier_started => self.launch(index),
                Phase::Down if due && (cell.passed || earlier_started) => self.launch(index),
                Phase::Starting if late => {
                    self.end(index, "its startup probe did not succeed in time".into());
                }
                _ => {}
            }
            earlier_started &= self.cells.get(index).is_some_and(|cell| cell.passed);
        }
        if now >= self.next_round {
            self.next_round = now + ROUND;
            self.check_configs();
            self.rotate_logs();
        }
        self.report.write(&self.shared.context, &self.cells);
    }

    fn launch(&mut self, index: usize) {
        let Some(cell) = self.cells.get_mut(index) else { return };
        cell.begin();
        let generation = cell.generation;
        let (shared, events) = (self.shared.clone(), self.events.clone());
        std::thread::spawn(move || {
            let result = launch::launch(&shared, index, &events, generation);
            let _ = events.send(Event::Launched { index, generation, result });
        });
    }

    fn handle(&mut self, event: Event) -> Next {
        match event {
            Event::Downloading { index, generation } => {
                if let Some(cell) = self.current(index, generation) {
                    cell.downloading = true;
                }
            }
            Event::Launched { index, generation, result } => self.launched(index, generation, result),
            Event::Started { index, generation } => {
                if self.current(index, generation).is_some_and(|cell| cell.phase == Phase::Starting) {
                    self.pass(index);
                }
            }
            Event::Probed { index, generation, kind, outcome } => {
                self.probed(index, generation, kind, outcome)
            }
            Event::Exited { index, generation, code } => self.exited(index, generation, code),
            Event::Asked(request, stream) => return self.answer(request, &stream),
            Event::PodEnded => {
                self.log("The pod was ended by somebody else");
                self.report.ended(&self.shared.context, &mut self.cells);
                return Next::End;
            }
        }
        Next::GoOn
    }

    /// The cell, if the news is about its present run.
    fn current(&mut self, index: usize, generation: u64) -> Option<&mut Cell> {
        self.cells.get_mut(index).filter(|cell| cell.generation == generation)
    }

    fn launched(&mut self, index: usize, generation: u64, result: Result<Launched, String>) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        let Some(cell) = self.current(index, generation) else { return };
        cell.downloading = false;
        match result {
            Ok(launched) => {
                cell.starts = cell.starts.saturating_add(1);
                cell.launched_at = Some(Instant::now());
                cell.image_exists = true;
                cell.exit_code = None;
                cell.ended = None;
                self.running(index, generation, launched.pid);
            }
            Err(message) => {
                // podman itself failed: always worth another try, later and later.
                let wait = restart::back_off(cell.restarts_in_row.saturating_add(2));
                cell.restarts_in_row = cell.restarts_in_row.saturating_add(1);
                cell.phase = Phase::Down;
                cell.ended = Some(Ended::Failure);
                cell.message = Some(message.clone());
                cell.next_start = Some(Instant::now() + wait);
                self.log(&format!("Container {} cannot be started: {message}", container.name));
            }
        }
    }

    /// A run has begun: watch it and wait for its startup probe.
    fn running(&mut self, index: usize, generation: u64, pid: u32) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        launch::watch(shared.clone(), index, generation, pid, self.events.clone());
        let events = self.events.clone();
        let Some(cell) = self.cells.get_mut(index) else { return };
        cell.phase = Phase::Starting;
        let Some(startup) = &container.startup else { return self.pass(index) };
        let deadline = Instant::now() + Duration::from_secs(startup.timeout);
        cell.startup_deadline = Some(deadline);
        match &startup.until {
            StartupCheck::Started => self.pass(index),
            StartupCheck::Exit => {}
            StartupCheck::Check(check) => {
                cell.probes.push(probes::startup(
                    shared.clone(),
                    index,
                    generation,
                    check.clone(),
                    deadline,
                    events,
                ));
            }
        }
    }

    /// The startup probe has succeeded: start the lasting probes and signal whom it may concern.
    fn pass(&mut self, index: usize) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        let events = self.events.clone();
        let Some(cell) = self.cells.get_mut(index) else { return };
        cell.passed = true;
        cell.startup_deadline = None;
        if cell.phase == Phase::Starting {
            cell.phase = Phase::Up;
            cell.probes.clear();
            cell.message = None;
            let generation = cell.generation;
            for (kind, probe) in
                [(Kind::Readiness, &container.readiness), (Kind::Liveness, &container.liveness)]
            {
                let Some(probe) = probe.clone() else { continue };
                cell.probes.push(probes::lasting(
                    shared.clone(),
                    index,
                    generation,
                    kind,
                    probe,
                    events.clone(),
                ));
            }
        }
        self.log(&format!("Container {} has started", container.name));
        for name in container.startup.iter().flat_map(|startup| &startup.signal) {
            if let Some((target, _)) = shared.context.container(name) {
                self.signal(target, |_, _| false);
            }
        }
    }

    fn probed(&mut self, index: usize, generation: u64, kind: Kind, outcome: Result<(), String>) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        let Some(cell) = self.current(index, generation).filter(|cell| cell.phase == Phase::Up) else {
            return;
        };
        match (kind, &container.readiness, &container.liveness) {
            (Kind::Readiness, Some(probe), _) => {
                let before = cell.ready;
                cell.count_readiness(probe, outcome.is_ok());
                let after = cell.ready;
                cell.message = outcome.err().map(|reason| format!("not ready: {reason}"));
                if before != after {
                    let word = if after { "ready" } else { "not ready" };
                    self.log(&format!("Container {} is {word}", container.name));
                }
            }
            (Kind::Liveness, _, Some(probe)) => {
                let dead = cell.count_liveness(probe, outcome.is_ok());
                if dead {
                    cell.liveness_failures = cell.liveness_failures.saturating_add(1);
                    let reason = outcome.err().unwrap_or_default();
                    self.end(index, format!("its liveness probe failed: {reason}"));
                }
            }
            _ => {}
        }
    }

    /// Ends a container because something is wrong with it; its policy decides what comes next.
    fn end(&mut self, index: usize, reason: String) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        self.log(&format!("Container {} is stopped: {reason}", container.name));
        let Some(cell) = self.cells.get_mut(index) else { return };
        cell.phase = Phase::Ending;
        cell.probes.clear();
        cell.startup_deadline = None;
        cell.ready = false;
        cell.message = Some(reason.clone());
        cell.killed = Some(reason);
        let name = shared.context.spec.container_name(container);
        std::thread::spawn(move || shared.context.podman.stop(&[&name], super::lifecycle::GRACE));
    }

    fn exited(&mut self, index: usize, generation: u64, code: i32) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        let Some(cell) = self.current(index, generation) else { return };
        if cell.phase == Phase::Down {
            return;
        }
        let killed = cell.killed.take();
        let until = container.startup.as_ref().map(|startup| &startup.until);
        let waits_for_exit = matches!(until, Some(StartupCheck::Exit));
        let mut ended = if code == 0 && killed.is_none() { Ended::Success } else { Ended::Failure };
        cell.startup_deadline = None;
        let passes = !cell.passed && waits_for_exit && ended == Ended::Success;
        if !cell.passed && !passes {
            ended = Ended::Failure;
        }
        cell.message = match (ended, killed) {
            (Ended::Success, _) => None,
            (Ended::Failure, Some(reason)) => Some(reason),
            (Ended::Failure, None) => Some(format!("ended with code {code}")),
        };
        cell.end(container, shared.context.spec.dialect, code, ended, Instant::now());
        self.log(&format!("Container {} has ended with code {code}", container.name));
        if passes {
            self.pass(index);
        }
    }

    /// Looks for configs whose content has changed, and tells their users once.
    fn check_configs(&mut self) {
        let changed: Vec<String> = self
            .configs
            .iter_mut()
            .filter_map(|config| config.changed().unwrap_or(false).then(|| config.name.clone()))
            .collect();
        if !changed.is_empty() {
            self.reload(&changed);
        }
    }

    fn rotate_logs(&self) {
        let context = &self.shared.context;
        for container in &context.spec.containers {
            let path = context.log_file(&container.name);
            if !logs::is_full(&path, self.shared.bounds) {
                continue;
            }
            let conmon = context.podman.conmon_directory(&context.spec.container_name(container)).ok();
            if let Err(error) = logs::rotate(&path, self.shared.bounds, unix_seconds(), conmon.as_deref()) {
                self.log(&format!("Cannot rotate the log of {}: {error}", container.name));
            }
        }
        let own = context.own_log_file();
        if logs::is_full(&own, self.shared.bounds) {
            let _ = logs::rotate(&own, self.shared.bounds, unix_seconds(), None);
        }
    }

    /// Writes to the supervisor's own log. A full disk must not end the pod.
    fn log(&self, message: &str) {
        let line = Line { time: unix_nanos(), stream: Stream::Stdout, text: message.to_owned() };
        let _ = logs::append(&self.shared.context.own_log_file(), &line);
    }
}

/// Decrypts every encrypted config, before any user starts.
fn decrypt_all(context: &Context) -> Result<(), Failure> {
    let names: Vec<&str> = context.spec.secrets().collect();
    names.into_iter().try_for_each(|name| decrypt(context, name))
}

fn decrypt(context: &Context, config: &str) -> Result<(), Failure> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| Failure::Secret {
        config: config.to_owned(),
        source,
    };
    let identities = keys::identities(&context.dir).map_err(|error| failed(error.into()))?;
    let store =
        secrets::store_for(&context.dir, &context.pod(), config).map_err(|error| failed(error.into()))?;
    let source = context.dir.join("config").join(config);
    secrets::decrypt_config(&source, &store, &identities).map_err(|error| failed(error.into()))
}

fn watched_configs(context: &Context) -> Vec<ConfigWatch> {
    let mut names: Vec<&str> =
        context.spec.containers.iter().flat_map(|c| context.spec.configs_of(c)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| ConfigWatch::new(name, context.dir.join("config").join(name))).collect()
}

fn needs_address(context: &Context) -> bool {
    let network = |check: &Check| matches!(check, Check::Http { .. } | Check::Tcp { .. });
    context.spec.containers.iter().any(|c| {
        c.readiness.iter().chain(&c.liveness).any(|probe| network(&probe.check))
            || matches!(c.startup.as_ref().map(|s| &s.until), Some(StartupCheck::Check(check)) if network(check))
    })
}

/// Bounds of the logs: 10 MiB and 5 rotated files, unless the environment says otherwise.
fn bounds() -> Bounds {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    Bounds {
        bytes: number("PODSMITH_LOG_BYTES").unwrap_or(10 << 20),
        files: number("PODSMITH_LOG_FILES").and_then(|n| usize::try_from(n).ok()).unwrap_or(5),
    }
}

/// conmon starts a log over after so many bytes. It counts everything it has written since the container started, also
/// what was rotated away meanwhile, and what the current file holds is then lost; so the bound is far off and only there
/// for a log that nobody rotates.
fn hard_bound(bounds: Bounds) -> u64 {
    bounds.bytes.saturating_mul(100)
}
