//! Why a chart could not be fetched.

use podsmith_object::Diagnostic;
use thiserror::Error;

use super::fetch::FetchError;
use crate::error::HelmError;

/// Why a chart could not be found or fetched.
#[derive(Debug, Error)]
pub enum RepositoryError {
    /// The reference means nothing.
    #[error("`{text}` is not a chart reference: {problem}")]
    Reference {
        /// The reference.
        text: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The network gave no answer.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The server refused.
    #[error("{address} answered with status {status}")]
    Status {
        /// Where.
        address: String,
        /// The status.
        status: u16,
    },
    /// Working offline and never fetched before.
    #[error("{address} is not in the cache, and work is offline")]
    Offline {
        /// What is missing.
        address: String,
    },
    /// An answer that cannot be understood.
    #[error("could not understand the answer of {address}: {reason}")]
    Malformed {
        /// Where.
        address: String,
        /// Why.
        reason: String,
    },
    /// The index does not have the chart.
    #[error("repository {repository} has no chart `{name}`")]
    NoChart {
        /// The repository.
        repository: String,
        /// The chart.
        name: String,
    },
    /// No version fits.
    #[error("{repository}: no version of `{name}` fits `{range}`")]
    NoVersion {
        /// The repository.
        repository: String,
        /// The chart.
        name: String,
        /// The range.
        range: String,
    },
    /// Not what was promised.
    #[error("{address} has digest {found}, expected {expected}")]
    Digest {
        /// Where.
        address: String,
        /// What was promised.
        expected: String,
        /// What came.
        found: String,
    },
    /// The lock file belongs to other dependencies.
    #[error("the lock file of chart {chart} does not fit its dependencies")]
    LockOutOfSync {
        /// The chart.
        chart: String,
    },
    /// The cache cannot be read or written.
    #[error("could not use the cache at {path}")]
    Cache {
        /// Where.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// What came is not a chart.
    #[error(transparent)]
    Chart(#[from] HelmError),
}

impl RepositoryError {
    /// The error for the user.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let hint = match self {
            Self::Chart(error) => return error.to_diagnostic(),
            Self::Status { status: 401 | 403, .. } => {
                Some("log in to the repository first, or check the name of the chart")
            }
            Self::Offline { .. } => Some("fetch the chart once while online"),
            Self::NoVersion { .. } => Some("pre-releases need a range such as `>=1.0.0-0`"),
            Self::LockOutOfSync { .. } => {
                Some("update the dependencies of the chart, or remove its lock file")
            }
            Self::Digest { .. } => Some("the file was changed on its way or on the server; do not use it"),
            _ => None,
        };
        let mut diagnostic = Diagnostic::error(self.to_string());
        if let Some(source) = std::error::Error::source(self) {
            diagnostic = diagnostic.because_of(source);
        }
        diagnostic.with_hint_if(hint.map(str::to_owned))
    }
}
