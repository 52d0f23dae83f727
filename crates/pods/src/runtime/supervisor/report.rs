//! The status as the supervisor sees it, written when it changes and now and then to show that somebody is alive.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::super::context::{Context, unix_seconds};
use super::super::create::blank_status;
use super::super::status::{State, Status};
use super::cell::{Cell, Phase};

/// How old the written status may become.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Report {
    earlier: Status,
    last: Status,
    written: Option<Instant>,
}

impl Report {
    pub fn new(context: &Context, interface: Option<IpAddr>) -> Self {
        let earlier = Status::read(&context.dir).unwrap_or_default();
        let created = if earlier.created > 0 { earlier.created } else { unix_seconds() };
        let last = Status {
            created,
            started: unix_seconds(),
            status: State::Starting,
            pid: std::process::id(),
            host_interface: interface.map(|address| address.to_string()),
            ..blank_status(context)
        };
        Self { earlier, last, written: None }
    }

    /// How often an earlier supervisor started a container.
    pub fn known_starts(&self, name: &str) -> u32 {
        self.earlier.containers.iter().find(|c| c.name == name).map_or(0, |c| c.start_count)
    }

    /// Writes the status if it differs from the last one, or that one is old.
    pub fn write(&mut self, context: &Context, cells: &[Cell]) {
        let state = if cells.iter().any(|cell| cell.downloading) {
            State::Downloading
        } else if cells.iter().all(|cell| cell.passed) {
            State::Running
        } else {
            State::Starting
        };
        self.fill(context, cells, state);
    }

    /// The pod is about to end: it must receive no more traffic.
    pub fn ending(&mut self, context: &Context, cells: &[Cell]) {
        self.fill(context, cells, State::Starting);
    }

    /// The pod has ended.
    pub fn ended(&mut self, context: &Context, cells: &mut [Cell]) {
        for cell in cells.iter_mut().filter(|cell| cell.phase != Phase::Pending) {
            cell.phase = Phase::Down;
            cell.ready = false;
        }
        self.last.pid = 0;
        self.fill(context, cells, State::Exited);
    }

    fn fill(&mut self, context: &Context, cells: &[Cell], state: State) {
        let mut next = self.last.clone();
        next.status = state;
        let mut ready = state == State::Running;
        for ((status, cell), container) in next.containers.iter_mut().zip(cells).zip(&context.spec.containers)
        {
            status.start_count = cell.starts;
            status.image_exists = cell.image_exists;
            status.status = cell.word().into();
            status.exit_code = cell.exit_code.filter(|_| !cell.runs());
            status.started = cell.passed;
            status.ready = cell.is_ready(container);
            status.liveness_failures = cell.liveness_failures;
            status.message.clone_from(&cell.message);
            ready &= status.ready;
        }
        next.readiness = ready;
        let failing = cells
            .iter()
            .any(|cell| cell.killed.is_some() || cell.liveness_failures > 0 && !cell.passed_again());
        next.liveness = state != State::Exited && !failing;
        let fresh = self.written.is_some_and(|at| at.elapsed() < HEARTBEAT);
        if next == self.last && fresh {
            return;
        }
        self.last = next;
        let written = Status { updated: unix_seconds(), ..self.last.clone() };
        // A full disk must not end the pod: the next round tries again.
        if written.write(&context.dir).is_ok() {
            self.written = Some(Instant::now());
        }
    }
}

impl Cell {
    /// Back on its feet after its liveness probe had stopped it.
    fn passed_again(&self) -> bool {
        self.phase == Phase::Up
    }
}
