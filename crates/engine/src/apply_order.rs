//! Sorting objects into the order in which a cluster can take them.

use std::cmp::Ordering;
use std::collections::HashMap;

use podsmith_object::{Object, suggest};
use thiserror::Error;

use crate::{BoxError, Context, PostRenderer};

/// Kinds that come before all unknown ones, in their order: the order of Kustomize.
pub const FIRST_KINDS: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// Kinds that come after all unknown ones, in their order.
pub const LAST_KINDS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Why a custom order is not possible.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum InvalidOrder {
    /// No kinds were given.
    #[error("there is no kind to place")]
    NoKinds,
    /// One of the kinds is blank.
    #[error("kind {} to place is blank", index + 1)]
    BlankKind {
        /// Its place in the list, from 0.
        index: usize,
    },
    /// The kind to place the others at has no place itself.
    #[error("`{kind}` has no place in the order{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    UnknownReference {
        /// The kind.
        kind: String,
        /// The kind that may have been meant.
        hint: Option<String>,
    },
}

/// A post-renderer that sorts objects by kind: namespaces and definitions first, what needs them later, webhooks last.
///
/// The order of kinds is Kustomize's. Kinds without a place come in the middle. Objects of one kind are sorted by
/// group and version, namespace and name; equal ones keep their order. Custom kinds can be placed before or after
/// others; each value has its own order.
///
/// ```
/// use podsmith_engine::ApplyOrder;
/// let order = ApplyOrder::new().after("Service", ["Gateway", "HTTPRoute"])?.before("Deployment", ["Certificate"])?;
/// # let _ = order;
/// # Ok::<(), podsmith_engine::InvalidOrder>(())
/// ```
#[derive(Clone, Debug)]
pub struct ApplyOrder {
    /// All placed kinds in order; the empty string stands for those without a place.
    kinds: Vec<String>,
    ranks: HashMap<String, usize>,
    /// For each kind that was placed after another, that other.
    behind: HashMap<String, String>,
}

/// Stands for every kind without a place.
const OTHERS: &str = "";

impl Default for ApplyOrder {
    fn default() -> Self {
        Self::new()
    }
}

impl ApplyOrder {
    /// The built-in order.
    pub fn new() -> Self {
        let kinds =
            FIRST_KINDS.iter().chain(&[OTHERS]).chain(&LAST_KINDS).map(|kind| (*kind).to_owned()).collect();
        Self { kinds, ranks: HashMap::new(), behind: HashMap::new() }.ranked()
    }

    /// Places kinds directly after `reference`, in the order given, behind kinds placed after it earlier.
    ///
    /// # Errors
    ///
    /// When a name is blank, or `reference` has no place.
    pub fn after<K: Into<String>>(
        self,
        reference: &str,
        kinds: impl IntoIterator<Item = K>,
    ) -> Result<Self, InvalidOrder> {
        self.place(reference, kinds, Side::After)
    }

    /// Places kinds directly before `reference`, in the order given, behind kinds placed before it earlier.
    ///
    /// # Errors
    ///
    /// When a name is blank, or `reference` has no place.
    pub fn before<K: Into<String>>(
        self,
        reference: &str,
        kinds: impl IntoIterator<Item = K>,
    ) -> Result<Self, InvalidOrder> {
        self.place(reference, kinds, Side::Before)
    }

    fn place<K: Into<String>>(
        mut self,
        reference: &str,
        kinds: impl IntoIterator<Item = K>,
        side: Side,
    ) -> Result<Self, InvalidOrder> {
        let kinds: Vec<String> = kinds.into_iter().map(Into::into).collect();
        if kinds.is_empty() {
            return Err(InvalidOrder::NoKinds);
        }
        if let Some(index) = kinds.iter().position(|kind| kind.trim().is_empty()) {
            return Err(InvalidOrder::BlankKind { index });
        }
        let unknown = || InvalidOrder::UnknownReference {
            kind: reference.to_owned(),
            hint: suggest::hint(reference, FIRST_KINDS.into_iter().chain(LAST_KINDS)),
        };
        if reference.trim().is_empty() || kinds.iter().any(|kind| kind == reference) {
            return Err(unknown());
        }
        // A kind has one place: the last one it was given.
        self.kinds.retain(|known| !kinds.contains(known));
        let at = self.kinds.iter().position(|kind| kind == reference).ok_or_else(unknown)?;
        let at = match side {
            Side::Before => at,
            // Behind the kinds that were placed after the reference earlier.
            Side::After => {
                let behind = |kind: &&String| self.is_behind(kind, reference);
                at + 1 + self.kinds.iter().skip(at + 1).take_while(behind).count()
            }
        };
        for kind in &kinds {
            match side {
                Side::After => self.behind.insert(kind.clone(), reference.to_owned()),
                Side::Before => self.behind.remove(kind),
            };
        }
        self.kinds.splice(at..at, kinds);
        Ok(self.ranked())
    }

    /// True if `kind` was placed after `reference`, or after a kind that was. Each step leads to a kind that was
    /// placed earlier, and a kind placed again loses its old place, so a chain longer than the list is a circle.
    fn is_behind(&self, kind: &str, reference: &str) -> bool {
        let mut current = kind;
        for _ in 0..=self.kinds.len() {
            match self.behind.get(current) {
                Some(next) if next == reference => return true,
                Some(next) => current = next,
                None => return false,
            }
        }
        false
    }

    fn ranked(mut self) -> Self {
        self.ranks = self.kinds.iter().enumerate().map(|(rank, kind)| (kind.clone(), rank)).collect();
        self
    }

    fn rank(&self, kind: &str) -> usize {
        self.ranks.get(kind).or_else(|| self.ranks.get(OTHERS)).copied().unwrap_or(usize::MAX)
    }

    /// How two objects stand to each other.
    pub fn compare(&self, a: &Object, b: &Object) -> Ordering {
        self.rank(a.kind())
            .cmp(&self.rank(b.kind()))
            .then_with(|| a.api_version().cmp(b.api_version()))
            .then_with(|| a.kind().cmp(b.kind()))
            .then_with(|| a.namespace().cmp(b.namespace()))
            .then_with(|| a.name().cmp(b.name()))
    }
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

impl PostRenderer for ApplyOrder {
    fn process(&self, mut objects: Vec<Object>, _: &Context<'_>) -> Result<Vec<Object>, BoxError> {
        objects.sort_by(|a, b| self.compare(a, b));
        Ok(objects)
    }
}
