//! What can go wrong with a chart, told so that the user can act on it.

use podsmith_gotemplate::TemplateError;
use podsmith_object::{Diagnostic, Place};
use thiserror::Error;

use crate::capabilities::InvalidKubeVersion;
use crate::chart::{ArchiveError, IgnoreError};
use crate::values::ValuesError;

/// Why a chart could not be loaded or rendered.
#[derive(Debug, Error)]
pub enum HelmError {
    /// A file or directory could not be read.
    #[error("could not read {path}")]
    Read {
        /// The path.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no `Chart.yaml`.
    #[error("{path} is not a chart: there is no Chart.yaml in it")]
    NotAChart {
        /// The directory or archive.
        path: String,
    },
    /// An archive was refused.
    #[error("could not unpack {name}")]
    Archive {
        /// The archive.
        name: String,
        /// Why.
        #[source]
        source: ArchiveError,
    },
    /// A bound was reached.
    #[error("{path}: {limit}")]
    TooLarge {
        /// The file or directory.
        path: String,
        /// The bound.
        limit: String,
    },
    /// A `.helmignore` was refused.
    #[error("could not read the ignore rules of {chart}")]
    Ignore {
        /// The chart.
        chart: String,
        /// Why.
        #[source]
        source: IgnoreError,
    },
    /// A file of the chart is malformed.
    #[error("{0}")]
    File(Box<Diagnostic>),
    /// The user's values were refused.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// A subchart's values are not a table.
    #[error("the values at {path} must be a mapping for the subchart of that name, this is {found}")]
    SubchartValues {
        /// Where.
        path: String,
        /// The type found.
        found: String,
    },
    /// The release name breaks the rules.
    #[error("release name `{name}` {problem}")]
    ReleaseName {
        /// The name.
        name: String,
        /// Which rule.
        problem: &'static str,
    },
    /// Not a Kubernetes version.
    #[error(transparent)]
    KubeVersion(#[from] InvalidKubeVersion),
    /// The chart does not accept this Kubernetes version.
    #[error("chart {chart} requires Kubernetes {range}, this is {version}")]
    Incompatible {
        /// The chart.
        chart: String,
        /// What it accepts.
        range: String,
        /// What there is.
        version: String,
    },
    /// Values break the schemas of one or more charts.
    #[error("the values break the schema of {}", charts(.0))]
    Schema(Vec<SchemaProblem>),
    /// A declared dependency is not in `charts/`.
    #[error("chart {chart} needs {}, which is not in its charts/ directory", .missing.join(", "))]
    MissingDependency {
        /// The chart.
        chart: String,
        /// The names.
        missing: Vec<String>,
    },
    /// A library chart has nothing of its own to render.
    #[error("chart {chart} is a library chart, it can only be used by other charts")]
    Library {
        /// The chart.
        chart: String,
    },
    /// A template failed.
    #[error("{0}")]
    Template(Box<TemplateError>),
    /// The output of a template is not a Kubernetes manifest.
    #[error("{}", .0.message)]
    Output(Box<OutputError>),
    /// The caller asked to stop.
    #[error("the render was cancelled")]
    Cancelled,
    /// `--show-only` names a template that gave nothing.
    #[error("there is no output of a template `{pattern}` in this chart")]
    NothingToShow {
        /// The pattern.
        pattern: String,
    },
}

/// One violation of a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaProblem {
    /// The chart whose schema it is.
    pub chart: String,
    /// Where in that chart's values, dotted; empty for the top.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Output that is not valid, with the lines around the problem.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutputError {
    /// The template.
    pub template: String,
    /// What is wrong.
    pub message: String,
    /// The line of the rendered text, from 1; 0 when the whole document is meant.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The rendered lines around it, numbered.
    pub excerpt: String,
}

fn charts(problems: &[SchemaProblem]) -> String {
    let mut names: Vec<&str> = problems.iter().map(|problem| problem.chart.as_str()).collect();
    names.dedup();
    format!("chart {}", names.join(", "))
}

impl From<TemplateError> for HelmError {
    fn from(error: TemplateError) -> Self {
        Self::Template(Box::new(error))
    }
}

impl HelmError {
    /// The error for the user, with place, excerpt, causes and a hint.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Self::File(diagnostic) => diagnostic.as_ref().clone(),
            Self::Values(error) => error.to_diagnostic(),
            Self::Template(error) => error.to_diagnostic(),
            Self::Output(error) => {
                let mut diagnostic =
                    Diagnostic::error(format!("the rendered output is not valid: {}", error.message))
                        .at(Place::new(error.template.as_str(), error.line, error.column));
                if !error.excerpt.is_empty() {
                    diagnostic = diagnostic.because(format!("the rendered lines are\n{}", error.excerpt));
                }
                diagnostic.with_hint("the line counts in the rendered text, not in the template")
            }
            Self::Schema(problems) => {
                let mut diagnostic = Diagnostic::error(self.to_string());
                for problem in problems {
                    let at = if problem.path.is_empty() { "(top)" } else { &problem.path };
                    diagnostic = diagnostic.because(format!("{}: {at}: {}", problem.chart, problem.message));
                }
                diagnostic.with_hint("the rules are in values.schema.json of that chart")
            }
            Self::MissingDependency { .. } => Diagnostic::error(self.to_string())
                .with_hint("download the dependencies first, or put the charts into charts/"),
            Self::Incompatible { .. } => Diagnostic::error(self.to_string())
                .with_hint("set another version with --kube-version if your cluster has one"),
            Self::NothingToShow { .. } => Diagnostic::error(self.to_string())
                .with_hint("give the path inside the chart, such as templates/service.yaml"),
            Self::NotAChart { .. } => Diagnostic::error(self.to_string())
                .with_hint("give the directory that holds Chart.yaml, or a .tgz made from it"),
            other => {
                let mut diagnostic = Diagnostic::error(other.to_string());
                if let Some(source) = std::error::Error::source(other) {
                    diagnostic = diagnostic.because_of(source);
                }
                diagnostic
            }
        }
    }
}

impl From<HelmError> for Diagnostic {
    fn from(error: HelmError) -> Self {
        error.to_diagnostic()
    }
}
