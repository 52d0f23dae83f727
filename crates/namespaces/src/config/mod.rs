//! The configuration: which keys are inherited, which kinds are propagated, and how conflicts are settled.

mod naming;
mod read;

use podsmith_object::GroupVersionKind;

use crate::glob::{self, Glob};
use crate::keys::Keys;

pub use naming::{NamingPolicy, NamingProblem};

/// What happens when an object of the same name stands where a copy belongs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnConflict {
    /// The object stays as it is and the conflict is reported.
    #[default]
    Keep,
    /// The copy replaces it, as Accurate does.
    Overwrite,
}

/// Everything that is set and does not change while we look at the cluster.
#[derive(Clone, Debug)]
pub struct Config {
    /// The labels and annotations that steer us.
    pub keys: Keys,
    /// Labels a namespace takes from its upstream.
    pub label_keys: Vec<Glob>,
    /// Annotations a namespace takes from its upstream.
    pub annotation_keys: Vec<Glob>,
    /// Labels a sub-namespace takes from its SubNamespace.
    pub sub_label_keys: Vec<Glob>,
    /// Annotations a sub-namespace takes from its SubNamespace.
    pub sub_annotation_keys: Vec<Glob>,
    /// The kinds that are propagated.
    pub watches: Vec<GroupVersionKind>,
    /// Labels that copies do not get.
    pub label_excludes: Vec<Glob>,
    /// Annotations that copies do not get.
    pub annotation_excludes: Vec<Glob>,
    /// What sub-namespaces may be called.
    pub naming_policies: Vec<NamingPolicy>,
    /// How conflicts are settled.
    pub on_conflict: OnConflict,
    /// Whether `propagate-generated` on an owner counts.
    pub propagate_generated: bool,
    /// Whether namespaces with children may be deleted in every tree.
    pub allow_cascading_deletion: bool,
    /// How many objects may be deleted in one tree within a minute before the rest is held back; 0 means no limit.
    pub max_deletes_per_minute: u32,
}

/// Enough for daily work; a retraction beyond it is more often a mistake than not.
pub const DEFAULT_MAX_DELETES: u32 = 1000;

impl Default for Config {
    fn default() -> Self {
        Self {
            keys: Keys::default(),
            label_keys: Vec::new(),
            annotation_keys: Vec::new(),
            sub_label_keys: Vec::new(),
            sub_annotation_keys: Vec::new(),
            watches: Vec::new(),
            label_excludes: Vec::new(),
            annotation_excludes: Vec::new(),
            naming_policies: Vec::new(),
            on_conflict: OnConflict::default(),
            propagate_generated: false,
            allow_cascading_deletion: false,
            max_deletes_per_minute: DEFAULT_MAX_DELETES,
        }
    }
}

impl Config {
    /// True when a namespace takes this label from its upstream.
    pub fn inherits_label(&self, key: &str) -> bool {
        !self.keys.is_ours(key) && glob::any(&self.label_keys, key)
    }

    /// True when a namespace takes this annotation from its upstream.
    pub fn inherits_annotation(&self, key: &str) -> bool {
        !self.keys.is_ours(key) && glob::any(&self.annotation_keys, key)
    }

    /// True when a sub-namespace takes this label from its SubNamespace.
    pub fn takes_label(&self, key: &str) -> bool {
        !self.keys.is_ours(key) && glob::any(&self.sub_label_keys, key)
    }

    /// True when a sub-namespace takes this annotation from its SubNamespace.
    pub fn takes_annotation(&self, key: &str) -> bool {
        !self.keys.is_ours(key) && glob::any(&self.sub_annotation_keys, key)
    }
}
