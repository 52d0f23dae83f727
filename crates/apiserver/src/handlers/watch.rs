//! Watches. Each reads the history at its own pace, so a slow one holds up nobody.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use podsmith_object::{Value, json};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

use super::list;
use crate::output::WatchEncoder;
use crate::reply::Reply;
use crate::request::ListOptions;
use crate::select::Filter;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{Change, Draft, Event, Stored};

/// How many events are taken from the history at once.
const STEP: usize = 500;
/// A chunk is sent when it has grown to this.
const CHUNK: usize = 64 * 1024;
/// How long a watch lasts when the client does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(45 * 60);
/// How often bookmarks are sent.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

struct Watch {
    server: Arc<Server>,
    call: Call,
    filter: Filter,
    prefix: String,
    encoder: WatchEncoder,
    /// The present state, still to be sent.
    initial: VecDeque<Arc<Stored>>,
    /// A bookmark ends the present state.
    announce_end: bool,
    bookmarks: bool,
    /// Events up to here are sent.
    cursor: u64,
    changed: Receiver<u64>,
    deadline: Instant,
    next_bookmark: Instant,
    ended: bool,
}

/// Answers with a stream of events.
pub async fn watch(server: &Arc<Server>, call: Call) -> ApiResult<Reply> {
    super::require(&call, "watch")?;
    let options = ListOptions::read(&call.query)?;
    let options = ListOptions { watch: true, ..options };
    let revision = list::parse_revision(&options.resource_version)?;
    let initial_events = options.send_initial_events;
    let now = server.store.revision();
    if initial_events != Some(true) && revision > now {
        return Err(ApiError::revision_too_large(revision, now));
    }
    let changed = server.store.subscribe(&call.resource.table);
    let synthetic = match initial_events {
        Some(asked) => asked,
        None => revision == 0,
    };
    let (initial, cursor) = if synthetic {
        let everything = ListOptions {
            labels: options.labels.clone(),
            fields: options.fields.clone(),
            ..ListOptions::default()
        };
        let page = list::read(server, &call.resource, &call.target.namespace, &call.target.name, &everything)
            .await?;
        (page.items.into(), page.meta.revision)
    } else if revision == 0 {
        (VecDeque::new(), now)
    } else {
        (VecDeque::new(), revision)
    };
    let timeout = options.timeout_seconds.filter(|n| *n > 0).map_or(DEFAULT_TIMEOUT, Duration::from_secs);
    let started = Instant::now();
    let filter = Filter::new(&call.resource, &options, &call.target.name)?;
    let state = Watch {
        prefix: call.resource.prefix(&call.target.namespace),
        encoder: WatchEncoder::default(),
        server: server.clone(),
        filter,
        initial,
        announce_end: initial_events == Some(true),
        bookmarks: options.bookmarks,
        cursor,
        changed,
        deadline: started + timeout,
        // Also shortly before the end, so that a client resumes from where it was.
        next_bookmark: started + BOOKMARK_EVERY.min(timeout.saturating_sub(Duration::from_secs(2))),
        ended: false,
        call,
    };
    Ok(Reply::stream(futures::stream::unfold(state, |mut state| async move {
        let chunk = state.next_chunk().await?;
        Some((chunk, state))
    })))
}

impl Watch {
    /// The next bytes; nothing when the watch is over.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        let mut chunk = BytesMut::new();
        while !self.ended {
            self.send_initial(&mut chunk).await;
            if self.initial.is_empty() {
                self.send_events(&mut chunk).await;
            }
            if !chunk.is_empty() {
                return Some(chunk.freeze());
            }
            if self.ended {
                break;
            }
            self.wait(&mut chunk).await;
            if !chunk.is_empty() {
                return Some(chunk.freeze());
            }
        }
        None
    }

    async fn send_initial(&mut self, chunk: &mut BytesMut) {
        while let Some(stored) = self.initial.pop_front() {
            let object = self.encoder.object(&self.server, &self.call, &stored).await;
            push(chunk, "ADDED", &object);
            if chunk.len() >= CHUNK {
                return;
            }
        }
        if std::mem::take(&mut self.announce_end) {
            self.push_bookmark(chunk, true);
        }
    }

    async fn send_events(&mut self, chunk: &mut BytesMut) {
        self.changed.mark_unchanged();
        let events = match self.server.store.events(&self.call.resource.table, self.cursor, STEP) {
            Ok(events) => events,
            Err(gone) => {
                let message = format!("too old resource version: {} ({})", self.cursor, gone.oldest);
                let status = ApiError::expired(message).to_value();
                push(chunk, "ERROR", status.to_string().as_bytes());
                self.ended = true;
                return;
            }
        };
        for event in events {
            self.cursor = event.revision;
            if event.key.starts_with(&self.prefix) {
                self.send_event(chunk, &event).await;
            }
        }
    }

    async fn send_event(&mut self, chunk: &mut BytesMut, event: &Event) {
        let was_shown = event.before.as_ref().is_some_and(|before| self.filter.matches(&event.key, before));
        let is_shown = event.change != Change::Deleted && self.filter.matches(&event.key, &event.object);
        let (kind, stored) = match (was_shown, is_shown) {
            (false, false) => return,
            (false, true) => ("ADDED", event.object.clone()),
            (true, true) => ("MODIFIED", event.object.clone()),
            (true, false) if event.change == Change::Deleted => ("DELETED", event.object.clone()),
            (true, false) => {
                // It left the selection: clients get the state that was still in it, with the new revision.
                let before = event.before.as_ref().map_or(Value::Null, |before| before.value());
                ("DELETED", Arc::new(Draft::new(&before).finish(event.revision)))
            }
        };
        let object = self.encoder.object(&self.server, &self.call, &stored).await;
        push(chunk, kind, &object);
    }

    /// Waits for an event, for the time of a bookmark, or for the end.
    async fn wait(&mut self, chunk: &mut BytesMut) {
        let bookmark_at = if self.bookmarks { self.next_bookmark } else { self.deadline };
        tokio::select! {
            changed = self.changed.changed() => {
                if changed.is_err() {
                    self.ended = true;
                }
            }
            () = sleep_until(bookmark_at.min(self.deadline)) => {
                if Instant::now() >= self.deadline {
                    self.ended = true;
                } else {
                    // Nothing of ours happened up to here.
                    self.cursor = self.cursor.max(self.quiet_revision());
                    self.push_bookmark(chunk, false);
                    let remaining = self.deadline.saturating_duration_since(Instant::now());
                    let next = BOOKMARK_EVERY.min(remaining.saturating_sub(Duration::from_secs(2)));
                    self.next_bookmark = Instant::now() + next.max(Duration::from_secs(3));
                }
            }
        }
    }

    /// The newest revision, if no unsent event lies before it.
    fn quiet_revision(&self) -> u64 {
        let now = self.server.store.revision();
        match self.server.store.events(&self.call.resource.table, self.cursor, 1) {
            Ok(events) if events.is_empty() => now,
            _ => 0,
        }
    }

    fn push_bookmark(&mut self, chunk: &mut BytesMut, end_of_initial: bool) {
        let resource = &self.call.resource;
        let mut object = json!({
            "kind": resource.kind, "apiVersion": resource.api_version(),
            "metadata": {"resourceVersion": self.cursor.to_string()},
        });
        if end_of_initial {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = self.encoder.bookmark(&self.call, object);
        push(chunk, "BOOKMARK", &object);
    }
}

fn push(chunk: &mut BytesMut, kind: &str, object: &[u8]) {
    chunk.put_slice(b"{\"type\":\"");
    chunk.put_slice(kind.as_bytes());
    chunk.put_slice(b"\",\"object\":");
    chunk.put_slice(object);
    chunk.put_slice(b"}\n");
}
