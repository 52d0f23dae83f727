//! The store: one revision for everything, objects in memory, a durable log behind them.
//!
//! A write is prepared without the lock, checked and applied under it, and acknowledged when the log has it. Readers
//! and watches never see a write before that, so a crash cannot take back what anyone has seen.

mod log;
mod stored;
mod table;

use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use thiserror::Error;
use tokio::sync::watch;

pub use log::LogError;
use log::{Entry, Log, Progress};
pub use stored::{Draft, Stored};
use table::State;
pub use table::{Change, Compacted, Event};

/// Where objects live.
pub struct Store {
    state: RwLock<State>,
    log: Option<Log>,
    progress: watch::Sender<Progress>,
    any_change: Arc<watch::Sender<u64>>,
}

/// What a write expects to find.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Expect {
    /// No object of this name.
    Absent,
    /// The object at exactly this revision.
    Revision(u64),
}

/// Why a write did not happen.
#[derive(Debug, Error)]
pub enum CommitError {
    /// Someone else wrote first. Holds what is there now.
    #[error("the object has changed")]
    Changed(Option<Arc<Stored>>),
    /// The log failed before; see there.
    #[error("the cluster's database cannot be written: {0}")]
    Broken(Arc<str>),
}

/// A range of objects at one revision.
#[derive(Debug)]
pub struct Listing {
    /// The revision the list shows.
    pub revision: u64,
    /// The objects, in key order.
    pub items: Vec<(Arc<str>, Arc<Stored>)>,
}

/// Events with the tables they are of.
pub type TableEvents = Vec<(Arc<str>, Event)>;
/// Objects with their tables and keys.
pub type TableObjects = Vec<(Arc<str>, Arc<str>, Arc<Stored>)>;

/// How many events are remembered unless told otherwise.
pub const DEFAULT_HISTORY: usize = 10_000;

impl Store {
    /// A store that lives and dies with the process.
    pub fn in_memory(history: usize) -> Self {
        let progress = watch::Sender::new(Progress::default());
        let any_change = Arc::new(watch::Sender::new(0));
        Self { state: RwLock::new(State::new(0, history)), log: None, progress, any_change }
    }

    /// A store in a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened or is damaged.
    pub fn open(path: &Path, history: usize) -> Result<Self, LogError> {
        let progress = watch::Sender::new(Progress::default());
        let any_change = Arc::new(watch::Sender::new(0));
        let (log, state) = Log::open(path, history, progress.clone(), any_change.clone())?;
        Ok(Self { state: RwLock::new(state), log: Some(log), progress, any_change })
    }

    /// The newest revision that is durable.
    pub fn revision(&self) -> u64 {
        match self.log {
            None => self.state.read().revision,
            Some(_) => self.progress.borrow().revision,
        }
    }

    /// One object. What is returned may be newer than the log: see [`Store::settled`].
    pub fn get(&self, table: &str, key: &str) -> Option<Arc<Stored>> {
        self.state.read().table(table)?.objects.get(key).cloned()
    }

    /// Writes an object if it is as expected, and returns it with its revision.
    ///
    /// # Errors
    ///
    /// When something else is there.
    pub fn put(
        &self,
        table: &str,
        key: &str,
        expect: Expect,
        draft: Draft,
    ) -> Result<Arc<Stored>, CommitError> {
        self.commit(table, key, expect, draft, false)
    }

    /// Deletes an object; `last` is its final state.
    ///
    /// # Errors
    ///
    /// When something else is there.
    pub fn delete(
        &self,
        table: &str,
        key: &str,
        revision: u64,
        last: Draft,
    ) -> Result<Arc<Stored>, CommitError> {
        self.commit(table, key, Expect::Revision(revision), last, true)
    }

    fn commit(
        &self,
        name: &str,
        key: &str,
        expect: Expect,
        draft: Draft,
        gone: bool,
    ) -> Result<Arc<Stored>, CommitError> {
        if let Some(reason) = &self.progress.borrow().failed {
            return Err(CommitError::Broken(reason.clone()));
        }
        let mut state = self.state.write();
        let before = state.table(name).and_then(|table| table.objects.get_key_value(key));
        let (key, before) = match before {
            Some((key, before)) => (key.clone(), Some(before.clone())),
            None => (Arc::from(key), None),
        };
        let expected = match (expect, &before) {
            (Expect::Absent, None) => true,
            (Expect::Revision(revision), Some(before)) => before.revision() == revision,
            _ => false,
        };
        if !expected {
            return Err(CommitError::Changed(before));
        }
        state.revision += 1;
        let revision = state.revision;
        let object = Arc::new(draft.finish(revision));
        let change = match (gone, &before) {
            (true, _) => Change::Deleted,
            (false, None) => Change::Added,
            (false, Some(_)) => Change::Modified,
        };
        state.record(name, Event { revision, change, key: key.clone(), object: object.clone(), before });
        let changed = state.table_mut(name).changed.clone();
        match &self.log {
            // Queued under the lock, so the log has the order of the revisions.
            Some(log) => log.append(Entry {
                revision,
                table: Arc::from(name),
                key,
                json: (!gone).then(|| object.json().clone()),
                changed,
            }),
            None => {
                drop(state);
                changed.send_modify(|known| *known = (*known).max(revision));
                self.any_change.send_modify(|known| *known = (*known).max(revision));
            }
        }
        Ok(object)
    }

    /// Waits until the log has everything up to `revision`.
    ///
    /// # Errors
    ///
    /// When the log failed.
    pub async fn settled(&self, revision: u64) -> Result<(), CommitError> {
        if self.log.is_none() {
            return Ok(());
        }
        let mut progress = self.progress.subscribe();
        let reached = progress.wait_for(|now| now.revision >= revision || now.failed.is_some()).await;
        match reached.ok().and_then(|now| now.failed.clone()) {
            None => Ok(()),
            Some(reason) => Err(CommitError::Broken(reason)),
        }
    }

    /// Objects of a table below a key prefix, after a key, at most `limit`; as they were `at` a revision, or now.
    ///
    /// # Errors
    ///
    /// When the history does not reach back to `at`.
    pub fn list(
        &self,
        table: &str,
        prefix: &str,
        after: Option<&str>,
        limit: Option<usize>,
        at: Option<u64>,
    ) -> Result<Listing, Compacted> {
        let state = self.state.read();
        let most = limit.unwrap_or(usize::MAX);
        let now = state.revision;
        let Some(at) = at.filter(|at| *at < now) else {
            let items =
                state.range(table, prefix, after).take(most).map(|(k, v)| (k.clone(), v.clone())).collect();
            return Ok(Listing { revision: now, items });
        };
        let Some(known) = state.table(table) else { return Ok(Listing { revision: at, items: Vec::new() }) };
        let old = known.rollback(at)?;
        let mut past = old
            .iter()
            .filter(|(key, _)| key.starts_with(prefix) && after.is_none_or(|after| &***key > after))
            .peekable();
        let mut present = state.range(table, prefix, after).peekable();
        let mut items = Vec::new();
        while items.len() < most {
            // Both sides are in key order; where a key is on both, the past wins.
            let take_past = match (past.peek(), present.peek()) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((old_key, _)), Some((key, _))) => {
                    if old_key == key {
                        present.next();
                        true
                    } else {
                        old_key < key
                    }
                }
            };
            if take_past {
                if let Some((key, Some(object))) = past.next() {
                    items.push((key.clone(), object.clone()));
                }
            } else if let Some((key, object)) = present.next() {
                items.push((key.clone(), object.clone()));
            }
        }
        Ok(Listing { revision: at, items })
    }

    /// The durable events of a table after a revision, at most `most`.
    ///
    /// # Errors
    ///
    /// When the history does not reach back so far.
    pub fn events(&self, table: &str, after: u64, most: usize) -> Result<Vec<Event>, Compacted> {
        let until = self.revision();
        let state = self.state.read();
        match state.table(table) {
            None => Ok(Vec::new()),
            Some(table) => table.events(after, until, most),
        }
    }

    /// A channel that changes when the table does.
    pub fn subscribe(&self, table: &str) -> watch::Receiver<u64> {
        if let Some(table) = self.state.read().table(table) {
            return table.changed.subscribe();
        }
        self.state.write().table_mut(table).changed.subscribe()
    }

    /// A channel that changes when anything does.
    pub fn subscribe_all(&self) -> watch::Receiver<u64> {
        self.any_change.subscribe()
    }

    /// The durable events of several tables after a revision, in order, and the revision they reach to.
    ///
    /// # Errors
    ///
    /// When the history of one of them does not reach back so far.
    pub fn all_events(
        &self,
        after: u64,
        includes: impl Fn(&str) -> bool,
    ) -> Result<(u64, TableEvents), Compacted> {
        let state = self.state.read();
        let until = match self.log {
            None => state.revision,
            Some(_) => self.progress.borrow().revision,
        };
        let mut all = Vec::new();
        for (name, table) in state.tables().filter(|(name, _)| includes(name)) {
            if table.newest() > after {
                all.extend(
                    table.events(after, until, usize::MAX)?.into_iter().map(|event| (name.clone(), event)),
                );
            }
        }
        all.sort_by_key(|(_, event)| event.revision);
        Ok((until, all))
    }

    /// Every object of several tables, and the revision that shows.
    pub fn everything(&self, includes: impl Fn(&str) -> bool) -> (u64, TableObjects) {
        let state = self.state.read();
        let mut all = Vec::new();
        for (name, table) in state.tables().filter(|(name, _)| includes(name)) {
            all.extend(table.objects.iter().map(|(key, object)| (name.clone(), key.clone(), object.clone())));
        }
        (state.revision, all)
    }

    /// True if a table holds nothing.
    pub fn is_empty(&self, table: &str) -> bool {
        self.state.read().table(table).is_none_or(|table| table.objects.is_empty())
    }

    /// How many objects a table holds below a prefix.
    pub fn count(&self, table: &str, prefix: &str) -> usize {
        self.state.read().range(table, prefix, None).count()
    }

    /// Forgets the history: every older revision is expired.
    pub fn compact(&self) {
        self.state.write().compact();
    }
}

#[cfg(test)]
mod tests;
