//! One object under construction.

use std::borrow::Cow;
use std::sync::Arc;

use podsmith_object::{Map, Object, ObjectId, Origin, Value};

use super::id::{Gvk, IdKey, NOT_NAMESPACED, split_api_version};
use super::scalar::text_of;
use super::scope::is_cluster_scoped;
use crate::provenance::Provenance;

/// What a generated object does when one with its name exists.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Behavior {
    /// Nothing was said; the same as create.
    #[default]
    Unspecified,
    Create,
    Replace,
    Merge,
}

/// An identity the object had before a rename.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PreviousId {
    /// Effective namespace: `default` for none, [`NOT_NAMESPACED`] for kinds outside namespaces.
    pub namespace: Arc<str>,
    pub name: Arc<str>,
    pub kind: Arc<str>,
}

/// One step of a path into a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// An object with everything that must be remembered about it until the build ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    pub body: Map<String, Value>,
    /// Every identity before the current one, oldest first.
    pub previous: Vec<PreviousId>,
    pub prefixes: Vec<Arc<str>>,
    pub suffixes: Vec<Arc<str>>,
    pub needs_hash: bool,
    /// Made by a generator.
    pub generated: bool,
    pub behavior: Behavior,
    /// Names of the vars that read from this object.
    pub variables: Vec<String>,
    pub provenance: Option<Provenance>,
    pub transformations: Vec<Provenance>,
    /// Came out of a chart, whose namespace is left alone.
    pub from_chart: bool,
    /// Where a field was written with nothing after its colon. A strategic merge drops these.
    pub blanks: Vec<Vec<Step>>,
    /// Scalars whose text cannot be told from their value, such as `1.10`.
    pub written: Vec<(Vec<Step>, String)>,
    pub origin: Option<Arc<Origin>>,
}

impl Resource {
    fn text(&self, key: &str) -> Cow<'_, str> {
        self.body.get(key).map_or(Cow::Borrowed(""), text_of)
    }

    fn metadata(&self, key: &str) -> Cow<'_, str> {
        match self.body.get("metadata").and_then(|metadata| metadata.get(key)) {
            Some(value) => text_of(value),
            None => Cow::Borrowed(""),
        }
    }

    pub(crate) fn api_version(&self) -> Cow<'_, str> {
        self.text("apiVersion")
    }

    pub(crate) fn kind(&self) -> Cow<'_, str> {
        self.text("kind")
    }

    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.metadata("name")
    }

    pub(crate) fn namespace(&self) -> Cow<'_, str> {
        self.metadata("namespace")
    }

    pub(crate) fn gvk(&self) -> Gvk {
        Gvk::of(&self.api_version(), &self.kind())
    }

    /// True if the current type is one that `selector` selects.
    pub(crate) fn is_selected_by(&self, selector: &Gvk) -> bool {
        if !selector.kind.is_empty() && self.kind() != selector.kind {
            return false;
        }
        let api_version = self.api_version();
        let (group, version) = split_api_version(&api_version);
        (selector.group.is_empty() || selector.group == group)
            && (selector.version.is_empty() || selector.version == version)
    }

    pub(crate) fn is_cluster_scoped(&self) -> bool {
        is_cluster_scoped(&self.api_version(), &self.kind())
    }

    /// The namespace with its default spelled out.
    pub(crate) fn effective_namespace(&self) -> Cow<'_, str> {
        if self.is_cluster_scoped() {
            return Cow::Borrowed(NOT_NAMESPACED);
        }
        let namespace = self.namespace();
        if namespace.is_empty() { Cow::Borrowed("default") } else { namespace }
    }

    /// The name before any rename.
    pub(crate) fn original_name(&self) -> Cow<'_, str> {
        self.previous.first().map_or_else(|| self.name(), |id| Cow::Borrowed(&id.name))
    }

    /// The effective namespace before any change.
    pub(crate) fn original_namespace(&self) -> Cow<'_, str> {
        self.previous.first().map_or_else(|| self.effective_namespace(), |id| Cow::Borrowed(&id.namespace))
    }

    /// The type before any change of kind; group and version are always the current ones.
    pub(crate) fn original_gvk(&self) -> Gvk {
        match self.previous.first() {
            Some(id) => Gvk::of(&self.api_version(), &id.kind),
            None => self.gvk(),
        }
    }

    pub(crate) fn key(&self) -> IdKey {
        let (api_version, kind) = (self.api_version(), self.kind());
        let metadata = self.body.get("metadata");
        let text =
            |key: &str| metadata.and_then(|metadata| metadata.get(key)).map(text_of).unwrap_or_default();
        let namespace = if is_cluster_scoped(&api_version, &kind) {
            Cow::Borrowed(NOT_NAMESPACED)
        } else {
            match text("namespace") {
                namespace if namespace.is_empty() => Cow::Borrowed("default"),
                namespace => namespace,
            }
        };
        IdKey::new(&api_version, &kind, &namespace, &text("name"))
    }

    /// The keys of all identities, previous ones first.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = IdKey> {
        let api_version = self.api_version();
        self.previous
            .iter()
            .map(move |id| IdKey::new(&api_version, &id.kind, &id.namespace, &id.name))
            .chain(std::iter::once(self.key()))
    }

    /// Remembers the current identity as a previous one.
    pub(crate) fn remember_identity(&mut self) {
        let (name, kind) = (self.name(), self.kind());
        if name.is_empty() || kind.is_empty() {
            return;
        }
        let id = PreviousId {
            namespace: Arc::from(&*self.effective_namespace()),
            name: Arc::from(&*name),
            kind: Arc::from(&*kind),
        };
        self.previous.push(id);
    }

    /// True if the build has something to remember about the object.
    pub(crate) fn has_notes(&self) -> bool {
        !self.previous.is_empty()
            || !self.prefixes.is_empty()
            || !self.suffixes.is_empty()
            || self.generated
            || self.from_chart
            || self.provenance.is_some()
    }

    pub(crate) fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        mapping_at(&mut self.body, "metadata")
    }

    pub(crate) fn set_name(&mut self, name: &str) {
        self.metadata_mut().insert("name".into(), Value::from(name));
    }

    /// Sets the namespace; nothing removes the field.
    pub(crate) fn set_namespace(&mut self, namespace: &str) {
        if namespace.is_empty() {
            if let Some(Value::Object(metadata)) = self.body.get_mut("metadata") {
                metadata.shift_remove("namespace");
            }
        } else {
            self.metadata_mut().insert("namespace".into(), Value::from(namespace));
        }
    }

    /// One label or annotation as text.
    pub(crate) fn metadata_entry(&self, field: &str, key: &str) -> Option<Cow<'_, str>> {
        self.body.get("metadata")?.get(field)?.get(key).map(text_of)
    }

    /// The identity for messages.
    pub(crate) fn id(&self) -> ObjectId {
        ObjectId::new(self.gvk().to_public(), &*self.namespace(), &*self.name())
    }

    /// Adopts an object made elsewhere.
    pub(crate) fn from_object(object: Object) -> Self {
        let origin = object.origin().cloned().map(Arc::new);
        let body = match object.into_value() {
            Value::Object(body) => body,
            _ => Map::new(),
        };
        Self { body, origin, ..Self::default() }
    }

    pub(crate) fn into_object(self) -> Object {
        let object = Object::new(self.body);
        match self.origin {
            Some(origin) => object.with_origin(Arc::unwrap_or_clone(origin)),
            None => object,
        }
    }
}

/// The mapping under `key`, made if there is none.
pub(crate) fn mapping_at<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let slot = map.entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(inner) => inner,
        _ => unreachable!("the slot was made a mapping above"),
    }
}
