//! Why a command could not be carried out at all.

use podsmith_object::Diagnostic;
use podsmith_plan::inventory::InvalidInventory;
use thiserror::Error;

use crate::rest::CallError;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// The cluster could not be asked.
    #[error("could not {doing}")]
    Call {
        /// What we were doing: `list configmaps in shop`.
        doing: String,
        /// Why it failed.
        #[source]
        source: CallError,
    },
    /// A record of ours cannot be read.
    #[error(transparent)]
    Inventory(#[from] InvalidInventory),
    /// The plan has errors.
    #[error("the plan has errors, nothing was written")]
    PlanHasErrors(Vec<Diagnostic>),
    /// Objects must be replaced, and nobody agreed to that.
    #[error("{} must be replaced", .0.join(", "))]
    NeedsReplace(Vec<String>),
    /// The cluster moved since the plan was made.
    #[error("the cluster changed since the plan was made, nothing was written")]
    Stale(Vec<Diagnostic>),
    /// No such package is recorded in the cluster.
    #[error("package `{0}` is not applied here")]
    UnknownPackage(String),
    /// Two packages have the name.
    #[error("package `{0}` is applied in several namespaces: {1}")]
    AmbiguousPackage(String, String),
}

impl ApplyError {
    pub(crate) fn call(doing: impl Into<String>) -> impl FnOnce(CallError) -> Self {
        let doing = doing.into();
        move |source| Self::Call { doing, source }
    }

    /// What to do next, where there is something to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NeedsReplace(_) => Some("look at the plan, then allow it with --replace".into()),
            Self::Stale(_) => Some("run `podsmith plan` again to see the new difference".into()),
            Self::UnknownPackage(_) => Some("`podsmith status` lists the packages".into()),
            Self::AmbiguousPackage(..) => Some("choose one with -n NAMESPACE".into()),
            Self::Call { source, .. } => match source.code() {
                401 => Some("log in again: the cluster does not know you".into()),
                403 => Some("ask for the permission, or use another context".into()),
                _ => None,
            },
            Self::Inventory(_) | Self::PlanHasErrors(_) => None,
        }
    }

    /// The diagnostics behind the error: several for a plan with errors or a stale plan.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::PlanHasErrors(list) | Self::Stale(list) => list.clone(),
            Self::Call { source, .. } => {
                vec![Diagnostic::error(self.to_string()).because_of(source).with_hint_if(self.hint())]
            }
            other => vec![Diagnostic::error(other.to_string()).with_hint_if(self.hint())],
        }
    }
}
