//! The durable side: one thread that writes batches into SQLite and says how far it got.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use bytes::Bytes;
use rusqlite::{Connection, params};
use thiserror::Error;
use tokio::sync::watch;

use super::stored::Stored;
use super::table::State;

/// How far the log got. Once `failed` is set nothing more is written: memory would run ahead of the disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub revision: u64,
    pub failed: Option<Arc<str>>,
}

/// One write on its way to the disk.
pub(super) struct Entry {
    pub revision: u64,
    pub table: Arc<str>,
    pub key: Arc<str>,
    /// The new state; nothing for a deletion.
    pub json: Option<Bytes>,
    /// Who waits for this table.
    pub changed: Arc<watch::Sender<u64>>,
}

/// Why a data directory cannot be used.
#[derive(Debug, Error)]
pub enum LogError {
    /// SQLite says no.
    #[error("the cluster's database {path} cannot be used: {source}")]
    Database {
        /// The file.
        path: String,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// An object in the file is damaged.
    #[error("the cluster's database {path} holds a damaged object, {table}/{key}: {source}")]
    Damaged {
        /// The file.
        path: String,
        /// The resource.
        table: String,
        /// The object.
        key: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The thread that writes could not be started.
    #[error("the thread that writes the cluster's database could not be started: {0}")]
    Thread(#[source] std::io::Error),
}

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS objects (
        resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (resource, key));
    CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL);
";

/// At most this many writes share one fsync.
const BATCH: usize = 1000;

/// The sending side of the log.
pub(super) struct Log {
    sender: Option<Sender<Entry>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Log {
    /// Opens the file, loads what it holds, and starts the writer.
    pub fn open(
        path: &Path,
        history: usize,
        progress: watch::Sender<Progress>,
        everything: Arc<watch::Sender<u64>>,
    ) -> Result<(Self, State), LogError> {
        let name = path.display().to_string();
        let database = |source| LogError::Database { path: name.clone(), source };
        let connection = Connection::open(path).map_err(database)?;
        connection
            .execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;")
            .and_then(|()| connection.execute_batch(SCHEMA))
            .map_err(database)?;
        let state = load(&connection, history, &name)?;
        progress.send_replace(Progress { revision: state.revision, failed: None });
        let (sender, receiver) = channel();
        let thread = thread::Builder::new()
            .name("podsmith-store".to_owned())
            .spawn(move || write_batches(connection, &receiver, &progress, &everything))
            .map_err(LogError::Thread)?;
        Ok((Self { sender: Some(sender), thread: Some(thread) }, state))
    }

    /// Queues one write. The caller waits for the progress to reach its revision.
    pub fn append(&self, entry: Entry) {
        if let Some(sender) = &self.sender {
            // The receiver only goes away after a failure, which `Progress::failed` reports to every waiter.
            let _ = sender.send(entry);
        }
    }
}

/// Waits for everything queued to reach the disk.
impl Drop for Log {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn load(connection: &Connection, history: usize, path: &str) -> Result<State, LogError> {
    let database = |source| LogError::Database { path: path.to_owned(), source };
    let revision = connection
        .query_row("SELECT revision FROM counter WHERE id = 1", [], |row| row.get::<_, i64>(0))
        .or_else(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => Ok(0),
            other => Err(other),
        })
        .map_err(database)?;
    let mut state = State::new(revision.unsigned_abs(), history);
    let mut statement =
        connection.prepare("SELECT resource, key, revision, body FROM objects").map_err(database)?;
    let mut rows = statement.query([]).map_err(database)?;
    while let Some(row) = rows.next().map_err(database)? {
        let read = || -> rusqlite::Result<(String, String, i64, Vec<u8>)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        };
        let (table, key, revision, body) = read().map_err(database)?;
        let object = Stored::from_log(revision.unsigned_abs(), body).map_err(|source| LogError::Damaged {
            path: path.to_owned(),
            table: table.clone(),
            key: key.clone(),
            source,
        })?;
        state.load(&table, &key, object);
    }
    Ok(state)
}

fn write_batches(
    mut connection: Connection,
    receiver: &Receiver<Entry>,
    progress: &watch::Sender<Progress>,
    everything: &watch::Sender<u64>,
) {
    while let Ok(first) = receiver.recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(next) = receiver.try_recv()
        {
            batch.push(next);
        }
        let last = batch.iter().map(|entry| entry.revision).max().unwrap_or(0);
        if let Err(error) = write_batch(&mut connection, &batch, last) {
            tracing::error!(%error, "the cluster's database cannot be written; no further change is accepted");
            progress.send_modify(|progress| progress.failed = Some(Arc::from(error.to_string())));
            return;
        }
        progress.send_modify(|progress| progress.revision = last);
        for entry in &batch {
            entry.changed.send_modify(|revision| *revision = (*revision).max(entry.revision));
        }
        everything.send_replace(last);
    }
    // A tidy end: the next start finds one file and nothing to replay.
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);");
}

fn write_batch(connection: &mut Connection, batch: &[Entry], last: u64) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut put = transaction.prepare_cached(
            "INSERT INTO objects (resource, key, revision, body) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (resource, key) DO UPDATE SET revision = excluded.revision, body = excluded.body",
        )?;
        let mut delete =
            transaction.prepare_cached("DELETE FROM objects WHERE resource = ?1 AND key = ?2")?;
        for entry in batch {
            match &entry.json {
                Some(json) => {
                    put.execute(params![&*entry.table, &*entry.key, entry.revision.cast_signed(), &json[..]])?
                }
                None => delete.execute(params![&*entry.table, &*entry.key])?,
            };
        }
        transaction
            .prepare_cached(
                "INSERT INTO counter (id, revision) VALUES (1, ?1)
                 ON CONFLICT (id) DO UPDATE SET revision = excluded.revision",
            )?
            .execute(params![last.cast_signed()])?;
    }
    transaction.commit()
}
