//! Charts as a source of the render engine.

use std::sync::{Arc, OnceLock};

use podsmith_engine::{RenderCall, RenderError, Source, Values};
use podsmith_object::files::FileTree;
use podsmith_object::{Diagnostic, Object};
use thiserror::Error;

use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::error::HelmError;
use crate::reading::with_float_numbers;
use crate::render::render;
use crate::request::{Hooks, Release, RenderRequest, Strictness};
use crate::{Lookup, Rendered};

/// What whole numbers in the values of a source and of a call are to templates.
///
/// The engine's values do not tell where a number came from; Helm makes a difference.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum WholeNumbers {
    /// Floats, as from a values file: a million prints as `1e+06`.
    #[default]
    Floats,
    /// Integers, as from `--set`; the caller has made floats of those from files with
    /// [`with_float_numbers`](crate::values::with_float_numbers).
    Integers,
}

/// How a [`ChartSource`] is rendered, apart from the values of the call.
#[derive(Clone, Default)]
pub struct ChartOptions {
    /// The release; without one the chart's name and the namespace `default`.
    pub release: Option<Release>,
    /// The source's own values; those of the call win over them.
    pub values: Values,
    /// What whole numbers in values are.
    pub whole_numbers: WholeNumbers,
    /// What the cluster can do.
    pub capabilities: Capabilities,
    /// Answers `lookup`.
    pub lookup: Option<Arc<dyn Lookup + Send + Sync>>,
    /// Whether custom resource definitions from `crds/` come first.
    pub include_crds: bool,
    /// Hooks.
    pub hooks: Hooks,
    /// Only the output of these templates.
    pub show_only: Vec<String>,
    /// Missing values.
    pub strictness: Strictness,
    /// Whether schemas are not checked.
    pub skip_schema: bool,
    /// Makes random values reproducible.
    pub seed: Option<u64>,
}

enum Location {
    Loaded,
    Directory { tree: Arc<dyn FileTree>, path: String },
}

/// A chart for [`podsmith_engine::Sources`]. A chart in a directory is loaded at the first render and kept.
///
/// ```no_run
/// use std::sync::Arc;
/// use podsmith_engine::{Engine, Sources};
/// use podsmith_helm::{ChartOptions, ChartSource};
/// use podsmith_object::files::DiskFiles;
///
/// let source = ChartSource::directory(Arc::new(DiskFiles::new(".")), "chart", ChartOptions::default());
/// let engine = Engine::builder().renderer(Sources::new("helm", [source])).build().unwrap();
/// let objects = engine.call().render().unwrap().objects;
/// # let _ = objects;
/// ```
pub struct ChartSource {
    name: String,
    location: Location,
    chart: OnceLock<Arc<Chart>>,
    options: ChartOptions,
}

/// A chart that failed, with what to tell the user.
#[derive(Debug, Error)]
#[error("could not render chart {chart}")]
pub struct ChartFailure {
    /// The chart as the user named it.
    pub chart: String,
    /// What went wrong.
    pub error: HelmError,
    #[source]
    told: Diagnostic,
}

impl ChartSource {
    /// The chart in a directory of a tree.
    pub fn directory(tree: Arc<dyn FileTree>, path: &str, options: ChartOptions) -> Self {
        let location = Location::Directory { tree, path: path.to_owned() };
        Self { name: path.to_owned(), location, chart: OnceLock::new(), options }
    }

    /// A chart that is loaded already, under the name that messages use.
    pub fn loaded(name: impl Into<String>, chart: Arc<Chart>, options: ChartOptions) -> Self {
        Self { name: name.into(), location: Location::Loaded, chart: OnceLock::from(chart), options }
    }

    fn chart(&self) -> Result<Arc<Chart>, HelmError> {
        if let Some(chart) = self.chart.get() {
            return Ok(chart.clone());
        }
        match &self.location {
            Location::Directory { tree, path } => {
                let chart = Chart::load_dir(tree.as_ref(), path)?;
                Ok(self.chart.get_or_init(|| chart).clone())
            }
            Location::Loaded => Err(HelmError::NotAChart { path: self.name.clone() }),
        }
    }

    /// The whole result of a render: hooks, notes and warnings too.
    ///
    /// # Errors
    ///
    /// See [`HelmError`].
    pub fn render_all(&self, call: &RenderCall<'_>) -> Result<Rendered, HelmError> {
        let options = &self.options;
        let go_on = || call.check().is_ok();
        let mut values = call.values_over(&options.values);
        if options.whole_numbers == WholeNumbers::Floats {
            values = values.into_iter().map(|(key, value)| (key, with_float_numbers(value))).collect();
        }
        let request = RenderRequest {
            release: options.release.clone(),
            values,
            capabilities: options.capabilities.clone(),
            lookup: options.lookup.as_deref().map(|lookup| lookup as &dyn Lookup),
            include_crds: options.include_crds,
            hooks: options.hooks,
            show_only: options.show_only.clone(),
            strictness: options.strictness,
            skip_schema: options.skip_schema,
            seed: options.seed,
            go_on: Some(&go_on),
            ..RenderRequest::default()
        };
        render(&self.chart()?, &request)
    }
}

impl Source for ChartSource {
    fn kind(&self) -> &str {
        "helm"
    }

    fn path(&self) -> String {
        self.name.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        match self.render_all(call) {
            Ok(rendered) => {
                for warning in &rendered.warnings {
                    call.warn(Diagnostic::warning(format!("chart {}: {warning}", self.name)));
                }
                Ok(rendered.into_objects())
            }
            Err(HelmError::Cancelled) => {
                call.check()?;
                Err(RenderError::new(HelmError::Cancelled))
            }
            Err(error) => {
                let told = error.to_diagnostic();
                Err(RenderError::new(ChartFailure { chart: self.name.clone(), error, told }))
            }
        }
    }
}
