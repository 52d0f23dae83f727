//! Server-side apply and the ownership of fields.
//!
//! [`apply`] merges a configuration into the live object and records its manager; [`update`] records any other write.
//! Both work on whole objects and keep `metadata.managedFields` in them. The clock is an argument.
//!
//! Objects of built-in kinds must be in the stored form ([`crate::canonical`]); an applied configuration is taken as
//! it was sent.

mod check;
mod collect;
mod compare;
mod conflict;
mod engine;
mod managed;
mod merge;
mod path;
mod reconcile;
mod remove;
mod scale;
mod set;
mod shape;

use std::sync::OnceLock;

use podsmith_object::{GroupVersionKind, Map, Value};
use thiserror::Error;

pub use collect::field_set;
pub use compare::{Comparison, compare};
pub use conflict::{Conflict, Conflicts};
pub use managed::{Entry, Operation};
pub use path::PathElement;
pub(crate) use path::same;
pub use scale::{parent_managers, scale_managers};
pub use set::FieldSet;

use engine::Engine;
use managed::Managed;

use crate::canonical;
use crate::types::Type;

/// More update entries than this are merged into one.
const MAX_UPDATERS: usize = 10;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The versions a kind is served in, and how its objects convert between them.
pub trait Versions {
    /// The type of the kind in a version (`apps/v1`); `None` if the version is not served any more.
    fn type_at(&self, api_version: &str) -> Option<Type>;
    /// The object in another version.
    fn convert(&self, object: &Value, api_version: &str) -> Option<Value>;
    /// The fields this endpoint does not let a client write: `status`, or `spec` on the status subresource.
    fn reset_fields(&self, api_version: &str) -> FieldSet;
}

/// A kind with one version.
#[derive(Clone, Debug)]
pub struct OneVersion {
    /// The version: `apps/v1`.
    pub api_version: String,
    /// Its type.
    pub ty: Type,
    /// The fields the endpoint does not let a client write.
    pub reset: FieldSet,
}

impl Versions for OneVersion {
    fn type_at(&self, api_version: &str) -> Option<Type> {
        (self.api_version == api_version).then(|| self.ty.clone())
    }
    fn convert(&self, object: &Value, api_version: &str) -> Option<Value> {
        (self.api_version == api_version).then(|| object.clone())
    }
    fn reset_fields(&self, api_version: &str) -> FieldSet {
        if self.api_version == api_version { self.reset.clone() } else { FieldSet::default() }
    }
}

/// One write: where, by whom, when.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// Group, version and kind of the endpoint.
    pub gvk: &'a GroupVersionKind,
    /// The subresource written through; empty for the object itself.
    pub subresource: &'a str,
    /// The field manager.
    pub manager: &'a str,
    /// Now, in whole seconds: `2026-01-02T03:04:05Z`.
    pub now: &'a str,
    /// The versions of the kind.
    pub versions: &'a dyn Versions,
}

/// Why an apply was refused.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum ApplyError {
    /// Others own what the configuration changes: 409.
    #[error(transparent)]
    Conflicts(#[from] Conflicts),
    /// The request makes no sense: 400.
    #[error("{0}")]
    BadRequest(String),
    /// The configuration does not fit the type: 500.
    #[error("{0}")]
    Untyped(String),
}

/// The outcome of an apply.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object with its new `managedFields`, not yet defaulted.
    pub object: Value,
    /// False when nothing but `managedFields` may differ from the live object.
    pub changed: bool,
}

impl<'a> Write<'a> {
    fn api_version(&self) -> String {
        self.gvk.api_version()
    }

    fn entry(&self, operation: Operation, manager: &str) -> Entry {
        Entry {
            manager: if manager.is_empty() { "unknown".to_owned() } else { manager.to_owned() },
            operation,
            api_version: self.api_version(),
            subresource: self.subresource.to_owned(),
            time: None,
            set: FieldSet::default(),
        }
    }

    fn ty(&self) -> Result<Type, ApplyError> {
        let version = self.api_version();
        let missing = || ApplyError::BadRequest(format!("no type for {version}, Kind={}", self.gvk.kind));
        self.versions.type_at(&version).ok_or_else(missing)
    }

    /// The object in which nothing is set, what a create starts from.
    fn empty(&self, ty: &Type) -> Value {
        let mut object = canonical::zero(ty);
        if let Value::Object(map) = &mut object {
            map.insert("apiVersion".to_owned(), Value::from(self.api_version()));
            map.insert("kind".to_owned(), Value::from(&*self.gvk.kind));
        }
        object
    }
}

/// Applies a configuration to the live object; without one it is created.
///
/// # Errors
///
/// [`ApplyError::Conflicts`] when others own what would change and `force` is off; the other variants when the
/// configuration cannot be applied at all.
pub fn apply(
    live: Option<&Value>,
    config: &Value,
    write: &Write<'_>,
    force: Force,
) -> Result<Applied, ApplyError> {
    check_config(config, write)?;
    let ty = write.ty()?;
    let live = live.cloned().unwrap_or_else(|| write.empty(&ty));
    let managed = managed::decode(&live)
        .map_err(|error| ApplyError::Untyped(format!("failed to decode managed fields: {error}")))?;
    let attempt = |force: bool| apply_once(&live, config, write, &ty, managed.clone(), force);
    let outcome = match attempt(force == Force::Yes) {
        Err(ApplyError::Conflicts(conflicts)) if write.manager == "kubectl" => {
            match allowed_by_last_applied(&live, write, &ty) {
                None => Err(ApplyError::Conflicts(conflicts)),
                Some(allowed) => {
                    let left: Vec<Conflict> =
                        conflicts.list.into_iter().filter(|conflict| !allowed.has(&conflict.path)).collect();
                    if left.is_empty() { attempt(true) } else { Err(Conflicts { list: left }.into()) }
                }
            }
        }
        other => other,
    };
    let mut applied = outcome?;
    if write.manager == "kubectl" && annotation(&applied.object).is_some_and(|text| !text.is_empty()) {
        rewrite_last_applied(&mut applied.object, config);
    }
    Ok(applied)
}

/// Whether an apply takes over what others own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Force {
    /// It is refused with conflicts.
    No,
    /// It takes them over.
    Yes,
}

fn check_config(config: &Value, write: &Write<'_>) -> Result<(), ApplyError> {
    let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or("");
    let given = GroupVersionKind::from_api_version(text("apiVersion"), text("kind"));
    if given != *write.gvk {
        let described = format!(
            "{}, Kind={}",
            if given.group.is_empty() { format!("/{}", given.version) } else { given.api_version() },
            given.kind
        );
        return Err(ApplyError::BadRequest(format!("invalid object type: {described}")));
    }
    if config.pointer("/metadata/managedFields").is_some_and(|value| !value.is_null()) {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    Ok(())
}

fn apply_once(
    live: &Value,
    config: &Value,
    write: &Write<'_>,
    ty: &Type,
    mut managed: Managed,
    force: bool,
) -> Result<Applied, ApplyError> {
    let engine = Engine { versions: write.versions, version: &write.api_version(), ty };
    let mut live = live.clone();
    managed::strip(&mut live);
    if managed.is_empty() {
        track_update(&engine, write.empty(ty), &live, &mut managed, write, "before-first-apply");
    }
    let faults = check::faults(ty, config, false);
    if !faults.is_empty() {
        let name =
            |key: &str| config.pointer(&format!("/metadata/{key}")).and_then(Value::as_str).unwrap_or("");
        let gvk = write.gvk;
        let version = if gvk.group.is_empty() { format!("/{}", gvk.version) } else { gvk.api_version() };
        return Err(ApplyError::Untyped(format!(
            "failed to create typed patch object ({}/{}; {version}, Kind={}): {}",
            name("namespace"),
            name("name"),
            gvk.kind,
            check::joined(&faults)
        )));
    }
    let entry = write.entry(Operation::Apply, write.manager);
    let identity = entry.identity();
    let outcome = engine.apply(&live, config, &mut managed, entry, force)?;
    if outcome.is_some()
        && let Some(entry) = managed.get_mut(&identity)
    {
        entry.time = Some(write.now.to_owned());
    }
    strip_metadata(&mut managed, &identity);
    let changed = outcome.is_some();
    let mut object = outcome.unwrap_or(live);
    managed::encode(&mut object, &managed);
    Ok(Applied { object, changed })
}

static NOBODYS: OnceLock<FieldSet> = OnceLock::new();

/// Fields that describe the object itself belong to nobody.
fn strip_metadata(managed: &mut Managed, identity: &str) {
    let strip = NOBODYS.get_or_init(|| {
        FieldSet::of_fields(&[
            &["apiVersion"],
            &["kind"],
            &["metadata"],
            &["metadata", "name"],
            &["metadata", "namespace"],
            &["metadata", "creationTimestamp"],
            &["metadata", "selfLink"],
            &["metadata", "uid"],
            &["metadata", "clusterName"],
            &["metadata", "generation"],
            &["metadata", "managedFields"],
            &["metadata", "resourceVersion"],
        ])
    });
    if let Some(entry) = managed.get_mut(identity) {
        entry.set = entry.set.difference(strip);
        if entry.set.is_empty() {
            managed.remove(identity);
        }
    }
}

/// Records an ordinary write. `live` is the object before (`None` for a create), `new` the object as it will be
/// stored, both in the stored form. The result is `new` with its `managedFields`.
pub fn update(live: Option<&Value>, mut new: Value, write: &Write<'_>) -> Value {
    let Ok(ty) = write.ty() else { return new };
    let old = live.cloned().unwrap_or_else(|| write.empty(&ty));
    let of_live = || managed::decode(&old).unwrap_or_default();
    let mut managed = if !write.subresource.is_empty() {
        of_live()
    } else if managed::is_reset(&new) {
        Managed::new()
    } else {
        match managed::decode(&new) {
            Ok(managed) if !managed.is_empty() => managed,
            _ => of_live(),
        }
    };
    managed::strip(&mut new);
    // An object nobody tracked from its creation on is not tracked before its first apply.
    let created = old.pointer("/metadata/uid").and_then(Value::as_str).is_none_or(str::is_empty);
    if managed.is_empty() && !created {
        return new;
    }
    let mut old = old;
    managed::strip(&mut old);
    let engine = Engine { versions: write.versions, version: &write.api_version(), ty: &ty };
    track_update(&engine, old, &new, &mut managed, write, write.manager);
    cap_updaters(&mut managed);
    managed::encode(&mut new, &managed);
    new
}

fn track_update(
    engine: &Engine<'_>,
    old: Value,
    new: &Value,
    managed: &mut Managed,
    write: &Write<'_>,
    manager: &str,
) {
    const CURRENT: &str = "current-operation";
    let entry = write.entry(Operation::Update, manager);
    let identity = entry.identity();
    engine.update(old, new, managed, CURRENT, entry);
    strip_metadata(managed, CURRENT);
    if let Some(mut current) = managed.remove(CURRENT) {
        if let Some(previous) = managed.get(&identity) {
            current.set = current.set.union(&previous.set);
        }
        current.time = Some(write.now.to_owned());
        managed.insert(identity, current);
    }
}

/// Merges the oldest update entries of a version into one when there are too many.
fn cap_updaters(managed: &mut Managed) {
    let mut updaters: Vec<(String, String)> = managed
        .iter()
        .filter(|(_, entry)| entry.operation == Operation::Update)
        .map(|(identity, entry)| (entry.time.clone().unwrap_or_default(), identity.clone()))
        .collect();
    let mut count = updaters.len();
    updaters.sort();
    let mut first_of_version: Map<String, Value> = Map::new();
    for (_, identity) in updaters {
        if count <= MAX_UPDATERS {
            break;
        }
        let Some(entry) = managed.get(&identity).cloned() else { continue };
        let bucket =
            Entry { manager: "ancient-changes".to_owned(), subresource: String::new(), ..entry.clone() };
        let bucket_id = bucket.identity();
        match first_of_version.get(&entry.api_version).and_then(Value::as_str) {
            None => {
                first_of_version.insert(entry.api_version.clone(), Value::from(identity));
            }
            Some(first) => {
                if !managed.contains_key(&bucket_id)
                    && let Some(first) = managed.remove(first)
                {
                    managed.insert(bucket_id.clone(), Entry { set: first.set, ..bucket.clone() });
                }
                managed.remove(&identity);
                count -= 1;
                if let Some(bucket) = managed.get_mut(&bucket_id) {
                    bucket.set = bucket.set.union(&entry.set);
                    bucket.time = entry.time;
                }
            }
        }
    }
}

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(LAST_APPLIED)?.as_str()
}

/// What client-side apply wrote and nobody changed since: kubectl may take it over when it starts to apply here.
fn allowed_by_last_applied(live: &Value, write: &Write<'_>, ty: &Type) -> Option<FieldSet> {
    let last: Value = serde_json::from_str(annotation(live).filter(|text| !text.is_empty())?).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(write.api_version().as_str()) {
        return None;
    }
    let fits = |value: &Value| check::faults(ty, value, false).is_empty();
    if !fits(&last) || !fits(live) {
        return None;
    }
    let changes = compare(ty, &last, live);
    Some(
        field_set(ty, &last)
            .difference(&changes.modified)
            .difference(&changes.added)
            .difference(&changes.removed),
    )
}

fn rewrite_last_applied(object: &mut Value, config: &Value) {
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.pointer_mut("/metadata/annotations") {
        annotations.shift_remove(LAST_APPLIED);
        if annotations.is_empty()
            && let Some(Value::Object(metadata)) = config.get_mut("metadata")
        {
            metadata.shift_remove("annotations");
        }
    }
    let text = format!("{}\n", podsmith_object::json::canonical(&config));
    if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
        let size: usize =
            annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
        if size > MAX_ANNOTATIONS {
            annotations.shift_remove(LAST_APPLIED);
        }
    }
}

/// True when two objects differ in nothing but the times in their `managedFields`.
pub fn equal_but_times(a: &Value, b: &Value) -> bool {
    same_but(a, b, "metadata", |a, b| same_but(a, b, "managedFields", same_entries))
}

/// Compares two maps, one of their fields by a rule of its own.
fn same_but(a: &Value, b: &Value, key: &str, rule: impl Fn(&Value, &Value) -> bool) -> bool {
    let (Value::Object(left), Value::Object(right)) = (a, b) else { return same(a, b) };
    left.len() == right.len()
        && left.iter().all(|(name, value)| {
            right
                .get(name)
                .is_some_and(|other| if name == key { rule(value, other) } else { same(value, other) })
        })
}

fn same_entries(a: &Value, b: &Value) -> bool {
    let (Value::Array(left), Value::Array(right)) = (a, b) else { return same(a, b) };
    let without_time =
        |entry: &Value| entry.as_object().map_or(0, |map| map.keys().filter(|key| *key != "time").count());
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            without_time(left) == without_time(right)
                && left.as_object().into_iter().flatten().all(|(key, value)| {
                    key == "time" || right.get(key).is_some_and(|other| same(value, other))
                })
        })
}
