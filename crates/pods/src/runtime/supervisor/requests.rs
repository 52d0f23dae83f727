//! What the supervisor does when it is asked.

use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::super::channel::{self, Request};
use super::super::lifecycle::{GRACE, Manner, end_containers};
use super::cell::Phase;
use super::{Event, Next, Supervisor, decrypt, restart};
use crate::spec::{Dialect, Restart, Signal};

/// Whether a container that does not run is started.
type Revives = fn(Restart, Dialect) -> bool;

/// How long a command that stands for a signal may take.
const SIGNAL_LIMIT: Duration = Duration::from_secs(60);

impl Supervisor {
    pub(super) fn answer(&mut self, request: Request, stream: &UnixStream) -> Next {
        match request {
            Request::Stop => return self.stop(Manner::Graceful, stream),
            Request::Kill => return self.stop(Manner::Forced, stream),
            Request::Detach => {
                self.drain();
                self.log("The supervisor is replaced");
                channel::answer(stream, None);
                return Next::End;
            }
            Request::Rerun { containers } => channel::answer(stream, self.rerun(&containers)),
            Request::Signal { containers } => {
                let shared = self.shared.clone();
                for (index, container) in shared.context.spec.containers.iter().enumerate() {
                    if containers.is_empty() || containers.contains(&container.name) {
                        self.signal(index, restart::on_signal);
                    }
                }
                channel::answer(stream, None);
            }
            Request::Reload { configs } => {
                // What is told now must not be told again by the next look.
                for watch in self.configs.iter_mut().filter(|watch| configs.contains(&watch.name)) {
                    let _ = watch.changed();
                }
                channel::answer(stream, self.reload(&configs));
            }
        }
        Next::GoOn
    }

    /// Signals the users of configs, each once; encrypted ones are decrypted first.
    pub(super) fn reload(&mut self, configs: &[String]) -> Option<String> {
        let shared = self.shared.clone();
        let spec = &shared.context.spec;
        let mut problem = None;
        let mut fresh: Vec<&String> = Vec::new();
        for config in configs {
            if spec.secrets().any(|name| name == config)
                && let Err(failure) = decrypt(&shared.context, config)
            {
                self.log(&failure.tell());
                problem = Some(failure.tell());
                continue;
            }
            self.log(&format!("Config {config} is told to its users"));
            fresh.push(config);
        }
        for (index, container) in spec.containers.iter().enumerate() {
            if spec.configs_of(container).any(|name| fresh.iter().any(|config| *config == name)) {
                self.signal(index, restart::on_config);
            }
        }
        problem
    }

    /// Signals one container. One that does not run is started if its policy says so.
    pub(super) fn signal(&mut self, index: usize, revives: Revives) {
        let shared = self.shared.clone();
        let Some(container) = shared.context.spec.containers.get(index) else { return };
        let Some(cell) = self.cells.get_mut(index) else { return };
        if cell.phase == Phase::Down && revives(container.restart, shared.context.spec.dialect) {
            cell.next_start = Some(Instant::now());
            return;
        }
        if !matches!(cell.phase, Phase::Starting | Phase::Up) {
            return;
        }
        let name = shared.context.spec.container_name(container);
        match container.signal.clone() {
            None => {}
            Some(Signal::Sig(signal)) => {
                if let Err(error) = shared.context.podman.kill(&name, &signal) {
                    self.log(&format!("Container {} could not be signalled: {error}", container.name));
                }
            }
            Some(Signal::Cmd(command)) => {
                let shared = shared.clone();
                std::thread::spawn(move || shared.context.podman.exec(&name, &command, SIGNAL_LIMIT));
            }
        }
    }

    /// Makes containers anew, and only them.
    fn rerun(&mut self, names: &[String]) -> Option<String> {
        let shared = self.shared.clone();
        for name in names {
            let Some((index, container)) = shared.context.container(name) else { continue };
            let full = shared.context.spec.container_name(container);
            let Some(cell) = self.cells.get_mut(index) else { continue };
            if cell.phase == Phase::Launching {
                return Some(format!("container {name} is being started, try again"));
            }
            // News about the old run is no longer wanted.
            cell.begin();
            cell.restarts_in_row = 0;
            let generation = cell.generation;
            if let Err(error) = shared.context.podman.stop(&[&full], GRACE) {
                self.log(&format!("Container {name} could not be stopped: {error}"));
            }
            let result = super::launch::launch(&shared, index, &self.events, generation);
            let problem = result.as_ref().err().cloned();
            self.launched(index, generation, result);
            if let Some(problem) = problem {
                return Some(format!("container {name} cannot be started: {problem}"));
            }
        }
        None
    }

    /// Waits for containers that podman is about to start, so that none appears after the end.
    fn drain(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
        let end = Instant::now() + Duration::from_secs(60);
        while self.cells.iter().any(|cell| cell.phase == Phase::Launching) {
            let left = end.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(Event::Launched { index, generation, result }) => {
                    if let Some(cell) = self.current(index, generation) {
                        cell.phase = if result.is_ok() { Phase::Up } else { Phase::Down };
                        cell.starts += u32::from(result.is_ok());
                    }
                }
                Ok(Event::Asked(_, stream)) => {
                    channel::answer(&stream, Some("the pod is being stopped".into()))
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    fn stop(&mut self, manner: Manner, stream: &UnixStream) -> Next {
        for cell in &mut self.cells {
            cell.probes.clear();
            cell.ready = false;
        }
        self.drain();
        self.report.ending(&self.shared.context, &self.cells);
        let result = end_containers(&self.shared.context, manner);
        // The ends of the containers carry their exit codes.
        let end = Instant::now() + Duration::from_secs(5);
        while self.cells.iter().any(super::cell::Cell::runs) {
            let left = end.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(Event::Exited { index, generation, code }) => {
                    if let Some(cell) = self.current(index, generation) {
                        cell.phase = Phase::Down;
                        cell.exit_code = Some(code);
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        self.log("The pod was stopped");
        self.report.ended(&self.shared.context, &mut self.cells);
        channel::answer(stream, result.err().map(|failure| failure.tell()));
        Next::End
    }
}
