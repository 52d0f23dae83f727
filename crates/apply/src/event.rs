//! What happens while a command runs, for whoever wants to show it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use podsmith_object::ObjectId;
use podsmith_plan::Action;
use tokio::sync::Notify;

/// One thing that happened. Events of one step come in the order of the plan, whatever finished first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// A phase began: `checking 40 objects`.
    Phase(String),
    /// A write succeeded.
    Done {
        /// Which object.
        id: ObjectId,
        /// What was done.
        action: Action,
        /// How many changes are finished.
        finished: usize,
        /// How many there are.
        total: usize,
    },
    /// A write failed.
    Failed {
        /// Which object.
        id: ObjectId,
        /// What was tried.
        action: Action,
        /// Why it failed.
        message: String,
    },
    /// An object is not ready; sent when the reason changes.
    Waiting {
        /// Which object.
        id: ObjectId,
        /// What it waits for.
        message: String,
    },
    /// An object became ready.
    Ready {
        /// Which object.
        id: ObjectId,
    },
    /// The cluster has no nodes, so pods are not waited for.
    NoNodes,
    /// The user asked to stop.
    Interrupted,
}

/// Takes events.
pub trait Sink: Send + Sync {
    /// One more event.
    fn event(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> Sink for F {
    fn event(&self, event: Event) {
        self(event);
    }
}

/// Ignores events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Sink for Silent {
    fn event(&self, _: Event) {}
}

/// A request to stop. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    state: Arc<CancelState>,
}

#[derive(Debug, Default)]
struct CancelState {
    set: AtomicBool,
    notify: Notify,
}

impl Cancel {
    /// Not asked to stop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop: no new write starts, writes under way are finished.
    pub fn cancel(&self) {
        self.state.set.store(true, Ordering::SeqCst);
        self.state.notify.notify_waiters();
    }

    /// True when asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.state.set.load(Ordering::SeqCst)
    }

    /// Ends when asked to stop.
    pub async fn cancelled(&self) {
        loop {
            let notified = self.state.notify.notified();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }
}
