//! What is known about a cluster: namespaces, SubNamespaces, and as little as possible of every watched object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use podsmith_object::{Object, Value};

use crate::config::Config;
use crate::keys::Keys;

/// The name of a namespace or an object, shared by everything that mentions it.
pub type Name = Arc<str>;

/// Labels or annotations.
pub type StringMap = BTreeMap<String, String>;

/// How a resource is propagated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Mode {
    /// Copies are made where they are missing, and never touched again.
    Create,
    /// Copies are kept equal, and go away with their source.
    Update,
}

impl Mode {
    /// The mode an annotation asks for; other words mean no propagation.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "create" => Some(Self::Create),
            "update" => Some(Self::Update),
            _ => None,
        }
    }

    /// The annotation's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The type of a namespace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The top of a tree of sub-namespaces.
    Root,
    /// A namespace that others copy from.
    Template,
}

impl Kind {
    /// The label's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Template => "template",
        }
    }
}

/// A namespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace {
    /// Its name.
    pub name: Name,
    /// `metadata.uid`.
    pub uid: Name,
    /// `metadata.resourceVersion`.
    pub version: Name,
    /// All labels.
    pub labels: StringMap,
    /// All annotations.
    pub annotations: StringMap,
    /// Labels that our field manager wrote last.
    pub owned_labels: BTreeSet<String>,
    /// Annotations that our field manager wrote last.
    pub owned_annotations: BTreeSet<String>,
    /// True once it is being deleted.
    pub deleting: bool,
    parent: Option<Name>,
    template: Option<Name>,
}

impl Namespace {
    /// A namespace with these labels; the rest is empty.
    pub fn new(name: impl Into<Name>, labels: StringMap, keys: &Keys) -> Self {
        let mut out = Self { name: name.into(), ..Self::default() };
        out.set_labels(labels, keys);
        out
    }

    /// Replaces the labels, and with them the place in the tree.
    pub fn set_labels(&mut self, labels: StringMap, keys: &Keys) {
        // An empty value means the same as no label, everywhere.
        let upstream = |key: &str| labels.get(key).filter(|v| !v.is_empty()).map(|v| Name::from(v.as_str()));
        self.parent = upstream(&keys.parent);
        self.template = upstream(&keys.template);
        self.labels = labels;
    }

    /// Reads a Namespace object.
    pub fn read(object: &Object, keys: &Keys) -> Self {
        let map = |entries: &mut dyn Iterator<Item = (&str, &str)>| -> StringMap {
            entries.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
        };
        let mut out = Self::new(object.name(), map(&mut object.labels()), keys);
        out.annotations = map(&mut object.annotations());
        out.uid = metadata(object, "uid");
        out.version = metadata(object, "resourceVersion");
        out.deleting = object.get(&["metadata", "deletionTimestamp"]).is_some();
        let entries = object.get(&["metadata", "managedFields"]).and_then(Value::as_array);
        for entry in entries.into_iter().flatten() {
            if entry.get("manager").and_then(Value::as_str) != Some(&keys.manager) {
                continue;
            }
            let fields = |field: &str| {
                let fields =
                    entry.pointer(&format!("/fieldsV1/f:metadata/f:{field}")).and_then(Value::as_object);
                fields.into_iter().flatten().filter_map(|(key, _)| key.strip_prefix("f:")).map(str::to_owned)
            };
            out.owned_labels.extend(fields("labels"));
            out.owned_annotations.extend(fields("annotations"));
        }
        out
    }

    /// The parent of a sub-namespace.
    pub fn parent(&self) -> Option<&Name> {
        self.parent.as_ref()
    }

    /// The template named by the label, whether or not it counts.
    pub fn template(&self) -> Option<&Name> {
        self.template.as_ref()
    }

    /// Where it inherits from: the parent, else the template.
    pub fn upstream(&self) -> Option<&Name> {
        self.parent.as_ref().or(self.template.as_ref())
    }

    /// Its type.
    pub fn kind(&self, keys: &Keys) -> Option<Kind> {
        match self.labels.get(&keys.kind).map(String::as_str) {
            Some("root") => Some(Kind::Root),
            Some("template") => Some(Kind::Template),
            _ => None,
        }
    }
}

/// A text of an object's metadata.
pub(crate) fn metadata(object: &Object, key: &str) -> Name {
    Name::from(object.get(&["metadata", key]).and_then(Value::as_str).unwrap_or(""))
}

/// Which watched kind, as an index into [`Config::watches`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct KindIndex(pub u16);

impl KindIndex {
    /// The index of an object's kind, if it is watched. Any served version will do.
    pub fn of(object: &Object, config: &Config) -> Option<Self> {
        let gvk = object.gvk();
        let at = config.watches.iter().position(|w| w.group == gvk.group && w.kind == gvk.kind)?;
        u16::try_from(at).ok().map(Self)
    }
}

/// A kind and a name: which object, whatever the namespace.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Slot {
    /// The kind.
    pub kind: KindIndex,
    /// The object's name.
    pub name: Name,
}

/// One watched object.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Key {
    /// The namespace.
    pub namespace: Name,
    /// The kind and the name.
    pub slot: Slot,
}

impl Key {
    /// A key from its parts.
    pub fn new(namespace: impl Into<Name>, kind: KindIndex, name: impl Into<Name>) -> Self {
        Self { namespace: namespace.into(), slot: Slot { kind, name: name.into() } }
    }

    /// `Secret shop/web`.
    pub fn describe(&self, config: &Config) -> String {
        let kind = config.watches.get(usize::from(self.slot.kind.0)).map_or("?", |gvk| &*gvk.kind);
        format!("{kind} {}/{}", self.namespace, self.slot.name)
    }
}
