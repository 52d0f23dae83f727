//! Fields that another manager owns with another value.

use std::collections::BTreeMap;
use std::fmt;

use super::path::{PathElement, display};

/// One field somebody else owns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Conflict {
    pub(super) identity: String,
    /// The owner as messages name it: `"kubectl-edit" using apps/v1`.
    pub manager: String,
    /// The field.
    pub path: Vec<PathElement>,
}

impl Conflict {
    /// The field as causes name it: `.spec.ports[port=80,protocol="TCP"].targetPort`.
    pub fn field(&self) -> String {
        display(&self.path)
    }

    /// The message of its cause.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// All fields of one apply that other managers own. Its text is the message of the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Conflicts {
    /// The conflicts, by manager, a node's members before what is below them.
    pub list: Vec<Conflict>,
}

impl std::error::Error for Conflicts {}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.list.as_slice() {
            return write!(f, "Apply failed with 1 conflict: {}: {}", only.message(), only.field());
        }
        let mut managers: BTreeMap<&str, Vec<&Conflict>> = BTreeMap::new();
        for conflict in &self.list {
            managers.entry(&conflict.identity).or_default().push(conflict);
        }
        write!(f, "Apply failed with {} conflicts: ", self.list.len())?;
        let mut lines = Vec::new();
        for conflicts in managers.values() {
            let manager = conflicts.first().map_or("", |first| first.manager.as_str());
            lines.push(format!("conflicts with {manager}:"));
            lines.extend(conflicts.iter().map(|conflict| format!("- {}", conflict.field())));
        }
        f.write_str(&lines.join("\n"))
    }
}
