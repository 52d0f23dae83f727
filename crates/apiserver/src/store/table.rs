//! The state in memory: for each resource its objects and the events that led to them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use tokio::sync::watch;

use super::stored::Stored;

/// What a write did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// The object is new.
    Added,
    /// The object was there before.
    Modified,
    /// The object is gone.
    Deleted,
}

/// One write, as watches see it.
#[derive(Clone, Debug)]
pub struct Event {
    /// The revision of the write.
    pub revision: u64,
    /// What it did.
    pub change: Change,
    /// Which object of the resource.
    pub key: Arc<str>,
    /// The state after the write; for a deletion the last state, with the revision of the deletion.
    pub object: Arc<Stored>,
    /// The state before the write.
    pub before: Option<Arc<Stored>>,
}

/// The asked revision is older than the history.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Compacted {
    /// The oldest revision that can still be asked for.
    pub oldest: u64,
}

/// One resource: a name such as `apps/deployments`, its objects by `namespace/name` or `name`, and its history.
#[derive(Debug)]
pub(super) struct Table {
    pub objects: BTreeMap<Arc<str>, Arc<Stored>>,
    events: VecDeque<Event>,
    /// Events up to here are forgotten.
    compacted: u64,
    pub changed: Arc<watch::Sender<u64>>,
}

impl Table {
    fn new(compacted: u64) -> Self {
        Self {
            objects: BTreeMap::new(),
            events: VecDeque::new(),
            compacted,
            changed: Arc::new(watch::Sender::new(0)),
        }
    }

    /// The events after `after`, up to and including `until`.
    pub fn events(&self, after: u64, until: u64, most: usize) -> Result<Vec<Event>, Compacted> {
        if after < self.compacted {
            return Err(Compacted { oldest: self.compacted });
        }
        let start = self.events.partition_point(|event| event.revision <= after);
        Ok(self.events.range(start..).take_while(|e| e.revision <= until).take(most).cloned().collect())
    }

    /// The revision of the last event.
    pub fn newest(&self) -> u64 {
        self.events.back().map_or(0, |event| event.revision)
    }

    /// The states that differ now from what they were at `revision`.
    pub fn rollback(&self, revision: u64) -> Result<BTreeMap<Arc<str>, Option<Arc<Stored>>>, Compacted> {
        if revision < self.compacted {
            return Err(Compacted { oldest: self.compacted });
        }
        let mut old = BTreeMap::new();
        for event in self.events.iter().rev().take_while(|event| event.revision > revision) {
            old.insert(event.key.clone(), event.before.clone());
        }
        Ok(old)
    }
}

/// Everything, under one lock.
#[derive(Debug)]
pub(super) struct State {
    pub revision: u64,
    /// Where the history of tables that appear later begins.
    born: u64,
    tables: HashMap<Arc<str>, Table>,
    /// Which table each remembered event belongs to, oldest first: the bound on history is for all tables together.
    order: VecDeque<Arc<str>>,
    history: usize,
}

impl State {
    pub fn new(revision: u64, history: usize) -> Self {
        Self {
            revision,
            born: revision,
            tables: HashMap::new(),
            order: VecDeque::new(),
            history: history.max(1),
        }
    }

    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    pub fn table_mut(&mut self, name: &str) -> &mut Table {
        if !self.tables.contains_key(name) {
            self.tables.insert(Arc::from(name), Table::new(self.born));
        }
        self.tables.entry(Arc::from(name)).or_insert_with(|| Table::new(0))
    }

    pub fn tables(&self) -> impl Iterator<Item = (&Arc<str>, &Table)> {
        self.tables.iter()
    }

    /// Puts an object in place while loading: no event.
    pub fn load(&mut self, table: &str, key: &str, object: Stored) {
        self.table_mut(table).objects.insert(Arc::from(key), Arc::new(object));
    }

    /// Applies one write and forgets the oldest events beyond the bound.
    pub fn record(&mut self, name: &str, event: Event) {
        let table = self.table_mut(name);
        match event.change {
            Change::Deleted => {
                table.objects.remove(&event.key);
            }
            Change::Added | Change::Modified => {
                table.objects.insert(event.key.clone(), event.object.clone());
            }
        }
        table.events.push_back(event);
        let name =
            self.tables.get_key_value(name).map_or_else(|| Arc::from(name), |(known, _)| known.clone());
        self.order.push_back(name);
        while self.order.len() > self.history {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(name) = self.order.pop_front()
            && let Some(table) = self.tables.get_mut(&name)
            && let Some(event) = table.events.pop_front()
        {
            table.compacted = event.revision;
        }
    }

    /// Forgets all events.
    pub fn compact(&mut self) {
        while !self.order.is_empty() {
            self.forget_oldest();
        }
    }

    /// Objects of a table below a key prefix, in key order, after `after`.
    pub fn range<'s>(
        &'s self,
        name: &str,
        prefix: &'s str,
        after: Option<&str>,
    ) -> impl Iterator<Item = (&'s Arc<str>, &'s Arc<Stored>)> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.tables
            .get(name)
            .map(|table| table.objects.range::<str, _>((start, Bound::Unbounded)))
            .into_iter()
            .flatten()
            .take_while(move |(key, _)| key.starts_with(prefix))
    }
}
