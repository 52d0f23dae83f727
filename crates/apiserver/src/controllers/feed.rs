//! Everything that happens, in the order of each table.

use std::sync::Arc;

use crate::server::Server;
use crate::store::{Event, Stored};

/// A change of one object of one table.
pub struct Change {
    /// The table.
    pub table: Arc<str>,
    /// The object.
    pub key: Arc<str>,
    /// The state now; nothing when it is gone.
    pub now: Option<Arc<Stored>>,
    /// The state before, if it was there.
    pub before: Option<Arc<Stored>>,
}

/// A reader of all tables, or of some. It starts with what is there and never misses anything: if it falls behind
/// the history, it reads everything again.
pub struct Feed {
    server: Arc<Server>,
    cursor: Option<u64>,
    only: Option<&'static [&'static str]>,
    changed: tokio::sync::watch::Receiver<u64>,
}

impl Feed {
    /// A feed of these tables, or of all.
    pub fn new(server: Arc<Server>, only: Option<&'static [&'static str]>) -> Self {
        let changed = server.store.subscribe_all();
        Self { server, cursor: None, only, changed }
    }

    /// Waits until something may have happened.
    pub async fn wait(&mut self) {
        let _ = self.changed.changed().await;
    }

    /// What happened since the last call, in order. Empty when nothing did.
    pub fn take(&mut self) -> Vec<Change> {
        self.changed.mark_unchanged();
        let events =
            self.cursor.map(|cursor| self.server.store.all_events(cursor, |table| self.includes(table)));
        match events {
            Some(Ok((revision, events))) => {
                self.cursor = Some(revision);
                events.into_iter().map(|(table, event)| Self::change(table, event)).collect()
            }
            None | Some(Err(_)) => self.read_whole(),
        }
    }

    fn includes(&self, table: &str) -> bool {
        self.only.is_none_or(|names| names.contains(&table))
    }

    fn change(table: Arc<str>, event: Event) -> Change {
        let gone = event.change == crate::store::Change::Deleted;
        Change { table, key: event.key, now: (!gone).then_some(event.object), before: event.before }
    }

    fn read_whole(&mut self) -> Vec<Change> {
        let (revision, objects) = self.server.store.everything(|table| self.includes(table));
        self.cursor = Some(revision);
        let shown = |(table, key, stored)| Change { table, key, now: Some(stored), before: None };
        objects.into_iter().map(shown).collect()
    }
}
