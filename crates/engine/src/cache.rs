//! Rendering the same thing once.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use podsmith_object::{Diagnostic, Object, Value, json};
use sha2::{Digest, Sha256};

use crate::{Cancel, RenderError};

/// A digest of everything that decides what a source renders: content of files, options, values.
///
/// Two sources with equal fingerprints must render equal objects, so leave nothing out. Parts are kept apart: `ab` and
/// `c` differ from `a` and `bc`.
///
/// ```
/// use podsmith_engine::Fingerprint;
/// let one = Fingerprint::of("yaml").text("a.yaml").bytes(b"a: 1").finish();
/// let two = Fingerprint::of("yaml").text("a.yam").bytes(b"la: 1").finish();
/// assert_ne!(one, two);
/// ```
#[derive(Clone, Copy, Eq, PartialEq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Starts with the kind of the source.
    pub fn of(kind: &str) -> FingerprintBuilder {
        FingerprintBuilder(Sha256::new()).text(kind)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// Collects the parts of a [`Fingerprint`].
#[derive(Clone)]
pub struct FingerprintBuilder(Sha256);

impl FingerprintBuilder {
    /// Adds bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes.len().to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a value; the order of keys does not count.
    #[must_use]
    pub fn value(self, value: &Value) -> Self {
        self.text(&json::canonical(value))
    }

    /// The digest.
    pub fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finalize().into())
    }
}

/// How much a [`RenderCache`] keeps.
///
/// ```
/// use podsmith_engine::{CacheLimits, RenderCache};
/// let cache = RenderCache::new(CacheLimits { entries: 16, ..CacheLimits::default() });
/// assert!(cache.is_empty());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheLimits {
    /// Renders.
    pub entries: usize,
    /// Objects in all of them together.
    pub objects: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { entries: 128, objects: 100_000 }
    }
}

/// Keeps what sources rendered, by fingerprint.
///
/// What was used longest ago goes first. If several threads want the same render at once, one does it and the others
/// wait. A failed render is not kept. Objects given out are copies on write: changing one does not change the cache.
///
/// ```
/// use podsmith_engine::{Engine, RenderCache, Sources, YamlSource};
/// use podsmith_object::files::MemoryFiles;
/// use std::sync::Arc;
/// let files = MemoryFiles::new().with("a.yaml", "{apiVersion: v1, kind: Service, metadata: {name: a}}");
/// let source = YamlSource::parse(Arc::new(files), "a.yaml")?;
/// let cache = Arc::new(RenderCache::default());
/// let engine = Engine::builder().renderer(Sources::new("yaml", [source])).cache(cache.clone()).build()?;
/// engine.render(Default::default())?;
/// engine.render(Default::default())?;
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct RenderCache {
    limits: CacheLimits,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Fingerprint, Entry>,
    running: HashSet<Fingerprint>,
    objects: usize,
    clock: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    objects: Vec<Object>,
    warnings: Vec<Diagnostic>,
    used: u64,
}

/// How often a waiting thread looks at its cancel switch.
const PATIENCE: Duration = Duration::from_millis(20);

impl RenderCache {
    /// A cache with these limits.
    pub fn new(limits: CacheLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// How many renders are kept now.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// True when nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept under `key`, or else what `render` gives, which is then kept.
    ///
    /// # Errors
    ///
    /// The error of `render`; cancellation while waiting for another thread.
    pub fn get_or_render(
        &self,
        key: Fingerprint,
        cancel: &Cancel,
        render: impl FnOnce() -> Result<(Vec<Object>, Vec<Diagnostic>), RenderError>,
    ) -> Result<(Vec<Object>, Vec<Diagnostic>), RenderError> {
        let mut state = self.lock();
        loop {
            state.clock += 1;
            let now = state.clock;
            if let Some(entry) = state.entries.get_mut(&key) {
                entry.used = now;
                return Ok((entry.objects.clone(), entry.warnings.clone()));
            }
            if state.running.insert(key) {
                break;
            }
            cancel.check()?;
            let waited = self.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        // Also after a panic somebody else must be able to try.
        let _running = Running { cache: self, key };
        let (objects, warnings) = render()?;
        self.keep(key, objects.clone(), warnings.clone());
        Ok((objects, warnings))
    }

    fn keep(&self, key: Fingerprint, objects: Vec<Object>, warnings: Vec<Diagnostic>) {
        let mut state = self.lock();
        if objects.len() > self.limits.objects || self.limits.entries == 0 {
            return;
        }
        state.objects += objects.len();
        let used = state.clock;
        state.entries.insert(key, Entry { objects, warnings, used });
        while state.entries.len() > self.limits.entries || state.objects > self.limits.objects {
            let others = state.entries.iter().filter(|(other, _)| **other != key);
            let Some(oldest) = others.min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key) else { break };
            if let Some(gone) = state.entries.remove(&oldest) {
                state.objects -= gone.objects.len();
            }
        }
    }
}

struct Running<'a> {
    cache: &'a RenderCache,
    key: Fingerprint,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.cache.lock().running.remove(&self.key);
        self.cache.changed.notify_all();
    }
}
