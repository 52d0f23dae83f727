//! What the supervisor remembers about one container.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::restart::{self, Ended};
use crate::spec::{Container, Probe, Restart};

/// Where a container is in its life.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Phase {
    /// Never started; waits for the containers before it.
    #[default]
    Pending,
    /// podman is asked to start it.
    Launching,
    /// Runs; its startup probe has not succeeded.
    Starting,
    /// Runs and has started.
    Up,
    /// Told to end by us.
    Ending,
    /// Has ended.
    Down,
}

/// One container.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub phase: Phase,
    /// Counts runs, so that late news about an earlier run is recognised.
    pub generation: u64,
    /// The startup probe succeeded once: later containers may start.
    pub passed: bool,
    pub starts: u32,
    pub restarts_in_row: u32,
    pub launched_at: Option<Instant>,
    pub startup_deadline: Option<Instant>,
    /// When it is started again.
    pub next_start: Option<Instant>,
    pub exit_code: Option<i32>,
    pub ended: Option<Ended>,
    /// Why we ended it.
    pub killed: Option<String>,
    pub ready: bool,
    streak: i64,
    liveness_streak: u32,
    pub liveness_failures: u32,
    pub downloading: bool,
    pub image_exists: bool,
    pub message: Option<String>,
    /// Probes of this run end when these are dropped.
    pub probes: Vec<Sender<()>>,
}

impl Cell {
    pub fn runs(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Up | Phase::Ending)
    }

    /// Begins a new run.
    pub fn begin(&mut self) {
        self.phase = Phase::Launching;
        self.generation += 1;
        self.next_start = None;
        self.killed = None;
        self.probes.clear();
        self.ready = false;
        self.streak = 0;
        self.liveness_streak = 0;
    }

    /// Counts a result of the readiness probe.
    pub fn count_readiness(&mut self, probe: &Probe, success: bool) {
        self.streak = match (success, self.streak) {
            (true, streak) if streak > 0 => streak + 1,
            (false, streak) if streak < 0 => streak - 1,
            (true, _) => 1,
            (false, _) => -1,
        };
        if self.streak >= i64::from(probe.successes) {
            self.ready = true;
        } else if -self.streak >= i64::from(probe.failures) {
            self.ready = false;
        }
    }

    /// Counts a result of the liveness probe; true means that the container must be ended.
    pub fn count_liveness(&mut self, probe: &Probe, success: bool) -> bool {
        self.liveness_streak = if success { 0 } else { self.liveness_streak + 1 };
        self.liveness_streak >= probe.failures
    }

    /// Records an end and decides when to start again.
    pub fn end(
        &mut self,
        container: &Container,
        dialect: crate::spec::Dialect,
        code: i32,
        ended: Ended,
        now: Instant,
    ) {
        self.phase = Phase::Down;
        self.probes.clear();
        self.exit_code = Some(code);
        self.ended = Some(ended);
        self.ready = false;
        let ran = self.launched_at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        if ran >= restart::HEALTHY {
            self.restarts_in_row = 0;
        }
        let wait = restart::after_end(container.restart, dialect, ended, self.restarts_in_row);
        self.next_start = wait.and_then(|wait| now.checked_add(wait));
        let interval = matches!(container.restart, Restart::OnInterval(_)) && ended == Ended::Success;
        if wait.is_some() && !interval {
            self.restarts_in_row = self.restarts_in_row.saturating_add(1);
        }
    }

    /// True if the container may receive traffic, or rests as it should.
    pub fn is_ready(&self, container: &Container) -> bool {
        match self.phase {
            Phase::Up => container.readiness.is_none() || self.ready,
            Phase::Down => {
                self.passed && self.ended.is_some_and(|ended| restart::rests_well(container.restart, ended))
            }
            _ => false,
        }
    }

    /// podman's word for the state.
    pub fn word(&self) -> &'static str {
        match self.phase {
            Phase::Pending => "non-existent",
            // podman could not even make it.
            Phase::Down if self.starts == 0 => "non-existent",
            Phase::Launching => "created",
            Phase::Starting | Phase::Up | Phase::Ending => "running",
            Phase::Down => "exited",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Check;

    fn probe(failures: u32, successes: u32) -> Probe {
        Probe { check: Check::Tcp { port: 1 }, timeout: 1, period: 1, failures, successes }
    }

    #[test]
    fn readiness_follows_its_thresholds() {
        let mut cell = Cell::default();
        let results = [true, true, false, true, false, false, true, true];
        let ready: Vec<bool> = results
            .iter()
            .map(|result| {
                cell.count_readiness(&probe(2, 2), *result);
                cell.ready
            })
            .collect();
        assert_eq!(ready, [false, true, true, true, true, false, false, true]);
    }

    #[test]
    fn liveness_needs_failures_in_a_row() {
        let mut cell = Cell::default();
        let results = [false, true, false, false];
        let killed: Vec<bool> =
            results.iter().map(|result| cell.count_liveness(&probe(2, 1), *result)).collect();
        assert_eq!(killed, [false, false, false, true]);
    }
}
