//! Numbers about the controller, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::config::Config;
use crate::reconciler::Outcome;
use crate::write::Write;

/// Counts and states, shared by the controller and whoever serves them.
#[derive(Debug, Default)]
pub struct Metrics {
    writes: Mutex<BTreeMap<(String, &'static str, &'static str), u64>>,
    queue: AtomicU64,
    queue_age: AtomicU64,
    frozen: AtomicU64,
    held: AtomicU64,
    converged: AtomicU64,
    converged_total: AtomicU64,
    converged_last: AtomicU64,
}

impl Metrics {
    /// Counts a write.
    pub fn wrote(&self, config: &Config, write: &Write, outcome: &Outcome) {
        let kind = match write {
            Write::Create(key, _)
            | Write::Update(key, ..)
            | Write::Annotate(key, ..)
            | Write::Delete(key, _) => {
                config.watches.get(usize::from(key.slot.kind.0)).map_or("?", |gvk| &*gvk.kind)
            }
            Write::CreateNamespace(..) | Write::ChangeNamespace(..) | Write::DeleteNamespace(..) => {
                "Namespace"
            }
            _ => "SubNamespace",
        };
        let result = match outcome {
            Outcome::Stale => "stale",
            Outcome::Refused(_) => "refused",
            _ => "done",
        };
        if let Ok(mut writes) = self.writes.lock() {
            *writes.entry((kind.to_owned(), write.verb(), result)).or_default() += 1;
        }
    }

    pub(crate) fn state(&self, queue: usize, age: u64, frozen: usize, held: usize) {
        self.queue.store(queue as u64, Ordering::Relaxed);
        self.queue_age.store(age, Ordering::Relaxed);
        self.frozen.store(frozen as u64, Ordering::Relaxed);
        self.held.store(held as u64, Ordering::Relaxed);
    }

    pub(crate) fn converged(&self, took: Duration) {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.converged.fetch_add(1, Ordering::Relaxed);
        self.converged_total.fetch_add(millis, Ordering::Relaxed);
        self.converged_last.store(millis, Ordering::Relaxed);
    }

    /// Writes that were done, stale or refused, in that order.
    pub fn totals(&self) -> (u64, u64, u64) {
        let writes = self.writes.lock().map(|writes| writes.clone()).unwrap_or_default();
        let sum =
            |word: &str| writes.iter().filter(|((_, _, result), _)| *result == word).map(|(_, n)| n).sum();
        (sum("done"), sum("stale"), sum("refused"))
    }

    /// Everything as text.
    pub fn render(&self) -> String {
        let mut out = String::from("# TYPE podsmith_namespaces_writes_total counter\n");
        if let Ok(writes) = self.writes.lock() {
            for ((kind, verb, result), count) in &*writes {
                let _ = writeln!(
                    out,
                    "podsmith_namespaces_writes_total{{kind=\"{kind}\",verb=\"{verb}\",result=\"{result}\"}} {count}"
                );
            }
        }
        let read = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let seconds = |value: &AtomicU64| format!("{:.3}", Duration::from_millis(read(value)).as_secs_f64());
        for (name, kind, value) in [
            ("queue_length", "gauge", read(&self.queue).to_string()),
            ("queue_oldest_seconds", "gauge", seconds(&self.queue_age)),
            ("frozen_namespaces", "gauge", read(&self.frozen).to_string()),
            ("held_deletes", "gauge", read(&self.held).to_string()),
            ("converge_seconds_sum", "counter", seconds(&self.converged_total)),
            ("converge_seconds_count", "counter", read(&self.converged).to_string()),
            ("converge_seconds_last", "gauge", seconds(&self.converged_last)),
        ] {
            let _ =
                writeln!(out, "# TYPE podsmith_namespaces_{name} {kind}\npodsmith_namespaces_{name} {value}");
        }
        out
    }
}
