//! Stopping early: cancellation by hand and by deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use thiserror::Error;

/// Why the work stopped before its end.
///
/// ```
/// use podsmith_engine::{Cancel, Cancelled};
/// use std::time::Instant;
/// assert_eq!(Cancel::new().with_deadline(Instant::now()).check(), Err(Cancelled::DeadlinePassed));
/// ```
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
pub enum Cancelled {
    /// Somebody called [`Cancel::cancel`].
    #[error("the render was cancelled")]
    ByCaller,
    /// The deadline passed.
    #[error("the render ran past its deadline")]
    DeadlinePassed,
}

/// A switch that stops a render, and optionally a deadline.
///
/// Clones share the switch. A [`child`](Cancel::child) stops when its parent stops, not the other way round.
///
/// ```
/// use podsmith_engine::{Cancel, Cancelled};
/// let cancel = Cancel::new();
/// let child = cancel.child();
/// assert!(child.check().is_ok());
/// cancel.cancel();
/// assert_eq!(child.check(), Err(Cancelled::ByCaller));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    switch: Arc<Switch>,
    deadline: Option<Instant>,
}

#[derive(Debug, Default)]
struct Switch {
    off: AtomicBool,
    parents: Vec<Arc<Switch>>,
}

impl Switch {
    fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed) || self.parents.iter().any(|parent| parent.is_off())
    }
}

impl Cancel {
    /// A switch that nobody has thrown, without a deadline.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same switch that also stops at `deadline`. An earlier deadline stays.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(self.deadline.map_or(deadline, |known| known.min(deadline)));
        self
    }

    /// A switch of its own that also stops when this one does.
    #[must_use]
    pub fn child(&self) -> Self {
        let switch = Switch { off: AtomicBool::new(false), parents: vec![self.switch.clone()] };
        Self { switch: Arc::new(switch), deadline: self.deadline }
    }

    /// A switch of its own that stops when this one or the other does.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let parents = vec![self.switch.clone(), other.switch.clone()];
        let switch = Switch { off: AtomicBool::new(false), parents };
        let both = Self { switch: Arc::new(switch), deadline: self.deadline };
        match other.deadline {
            Some(deadline) => both.with_deadline(deadline),
            None => both,
        }
    }

    /// Throws the switch. Work stops at its next [`check`](Cancel::check).
    pub fn cancel(&self) {
        self.switch.off.store(true, Ordering::Relaxed);
    }

    /// `Ok` while the work may go on. Call it between sources, files and objects.
    ///
    /// # Errors
    ///
    /// When the switch was thrown or the deadline passed.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.switch.is_off() {
            return Err(Cancelled::ByCaller);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Cancelled::DeadlinePassed),
            _ => Ok(()),
        }
    }

    /// True when [`check`](Cancel::check) would fail.
    pub fn is_cancelled(&self) -> bool {
        self.check().is_err()
    }
}
