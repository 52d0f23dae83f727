//! One change of a plan.

use podsmith_object::{Object, ObjectId, Place};

use crate::diff::FieldChange;

/// What must happen to an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Action {
    /// Make it.
    Create,
    /// Change it in place.
    Update,
    /// Delete it and make it again.
    Replace,
    /// Delete it.
    Delete,
    /// Nothing.
    Noop,
}

impl Action {
    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Noop => "noop",
        }
    }

    /// Reads the word used in JSON.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Create, Self::Update, Self::Replace, Self::Delete, Self::Noop]
            .into_iter()
            .find(|a| a.word() == word)
    }
}

/// The live object a change was planned for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// Its uid; deletes are bound to it.
    pub uid: String,
    /// Digest of everything that does not change by itself.
    pub digest: String,
}

/// How much the server could say before the write.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Checked {
    /// A dry run accepted exactly this.
    ByServer,
    /// Nothing changed since our last write; the server was not asked.
    ByDigest,
    /// The namespace is made by the same plan; the object was checked in another one.
    InOtherNamespace,
    /// The definition of the kind is made by the same plan; the object was checked against its schema.
    AgainstDefinition,
    /// The server could not check it; the reason is given.
    Not(String),
}

impl Checked {
    /// A note for people, when there is something to know.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::ByServer | Self::ByDigest => None,
            Self::InOtherNamespace => Some("after its namespace exists".into()),
            Self::AgainstDefinition => Some("after its definition is established".into()),
            Self::Not(why) => Some(format!("not checked: {why}")),
        }
    }
}

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which object.
    pub id: ObjectId,
    /// What happens.
    pub action: Action,
    /// The changed fields, secrets masked. Empty for creates, deletes and no-ops.
    pub fields: Vec<FieldChange>,
    /// Why, where that is not obvious: the reason of a replace, or why an object is kept.
    pub reason: Option<String>,
    /// What is worth knowing besides.
    pub notes: Vec<String>,
    /// The step; all changes of one step may run at once.
    pub step: usize,
    /// What to write; `None` for deletes.
    pub desired: Option<Object>,
    /// The live object; `None` when there is none.
    pub seen: Option<Seen>,
    /// How the change was checked.
    pub checked: Checked,
    /// True for an object that is written but not owned, such as a namespace that only had to exist.
    pub unowned: bool,
    /// True for an object that existed before and is taken over, with all the fields that others own.
    pub adopted: bool,
    /// Digest of the fields we own after this change, if it is known.
    pub fields_digest: Option<String>,
    /// Where the object was declared.
    pub place: Option<Place>,
    /// The resource the object belongs to, for grouping: `pod web`.
    pub resource: Option<String>,
}

impl Change {
    /// A change of `object`, with nothing else known.
    pub fn new(object: &Object, action: Action) -> Self {
        Self {
            id: object.id(),
            action,
            fields: Vec::new(),
            reason: None,
            notes: Vec::new(),
            step: 0,
            desired: (action != Action::Delete).then(|| object.clone()),
            seen: None,
            checked: Checked::ByServer,
            unowned: false,
            adopted: false,
            fields_digest: None,
            place: object.origin().map(podsmith_object::Origin::place),
            resource: object.label("podinate.com/pod").map(|pod| format!("pod {pod}")),
        }
    }

    /// True when something is written.
    pub fn writes(&self) -> bool {
        self.action != Action::Noop
    }
}

impl Seen {
    /// What to remember of a live object.
    pub fn of(live: &Object) -> Self {
        let uid = live.get(&["metadata", "uid"]).and_then(podsmith_object::Value::as_str).unwrap_or("");
        Self { uid: uid.to_owned(), digest: crate::digest::of_live(live) }
    }
}
