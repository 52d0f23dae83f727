//! From SOURCE arguments to renderers.

mod charts;
mod glob;
mod kustomizations;
mod manifests;
mod podfiles;
mod pods;
mod recognise;
mod remote;
mod templates;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use podsmith_engine::{
    Engine, EngineOptions, ReaderSource, RenderError, RenderOptions, Renderer, Source, Sources,
};
use podsmith_object::{Diagnostic, Diagnostics, Map, Object, Place, yaml};

use crate::cli::Global;
use crate::failure::Failure;
use crate::pipeline::{Pipeline, SourceEntry, SourceSpec};
use crate::values::GivenValues;

pub use recognise::{Input, recognise};

use charts::Charts;
use podfiles::Podfiles;
use pods::PodSource;

/// Flags for charts.
#[derive(Args, Clone, Debug, Default)]
pub struct ChartFlags {
    /// The release's name; default: the chart's name.
    #[arg(long, value_name = "NAME", help_heading = "Charts")]
    pub release: Option<String>,
    /// Also render the chart's CRDs.
    #[arg(long, help_heading = "Charts")]
    pub include_crds: bool,
    /// Leave out hooks.
    #[arg(long, help_heading = "Charts")]
    pub no_hooks: bool,
    /// Print the chart's notes on stderr.
    #[arg(long, help_heading = "Charts")]
    pub notes: bool,
    /// Only the objects of this template; may be given several times.
    #[arg(long, value_name = "FILE", help_heading = "Charts")]
    pub show_only: Vec<String>,
    /// Render as an upgrade instead of an install.
    #[arg(long, help_heading = "Charts")]
    pub is_upgrade: bool,
    /// The Kubernetes version that charts see.
    #[arg(long, value_name = "V", help_heading = "Charts")]
    pub kube_version: Option<String>,
    /// A further API that charts see; may be given several times.
    #[arg(long, value_name = "G/V[/K]", value_delimiter = ',', help_heading = "Charts")]
    pub api_versions: Vec<String>,
}

/// All sources of a command line, each with the level-2 filters and transformers of its own pipeline file.
#[derive(Default)]
pub struct Declared {
    engines: Vec<EngineOptions>,
    /// The package's name, if a pipeline file or a Podfile gives one.
    pub package: Option<String>,
    /// The package's default namespace, if a pipeline file or a Podfile gives one.
    pub namespace: Option<String>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Declared {
    /// Writes annotations of ours on every object.
    pub fn annotate(&mut self, source: bool, content_hash: bool) {
        for engine in &mut self.engines {
            engine.annotate.source |= source;
            engine.annotate.content_hash |= content_hash;
        }
    }

    /// The notes of the charts rendered so far; a handle that outlives the render.
    pub fn notes(&self) -> impl Fn() -> Vec<String> + use<> {
        let notes = self.notes.clone();
        move || std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Renders every source in order and gives out the objects one by one. Returns the warnings.
    ///
    /// # Errors
    ///
    /// The errors of the first source that fails, and those of `emit`.
    pub fn render_each(
        self,
        options: &RenderOptions,
        emit: &mut dyn FnMut(Object) -> Result<(), Failure>,
    ) -> Result<Vec<Diagnostic>, Failure> {
        let mut warnings = Vec::new();
        for engine in self.engines {
            let engine = Engine::new(engine).map_err(|error| Failure::message(error.to_string()))?;
            // An error of `emit` is kept aside: to the engine it is only a reason to stop.
            let mut stopped = None;
            let rendered = engine.render_each(options.clone(), &mut |object| {
                emit(object).map_err(|failure| {
                    stopped = Some(failure);
                    RenderError::new("the output was closed")
                })
            });
            match (rendered, stopped) {
                (_, Some(failure)) => return Err(failure),
                (Ok(more), None) => warnings.extend(more),
                (Err(error), None) => return Err(error.to_diagnostics().into()),
            }
        }
        Ok(warnings)
    }

    /// All objects at once, with the warnings.
    ///
    /// # Errors
    ///
    /// As [`render_each`](Self::render_each).
    pub fn render(self, options: &RenderOptions) -> Result<(Vec<Object>, Vec<Diagnostic>), Failure> {
        let mut objects = Vec::new();
        let warnings = self.render_each(options, &mut |object| {
            objects.push(object);
            Ok(())
        })?;
        Ok((objects, warnings))
    }
}

/// Recognises every SOURCE.
///
/// # Errors
///
/// All sources that cannot be understood.
pub fn declare(
    sources: &[String],
    flags: &ChartFlags,
    values: GivenValues,
    global: &Global,
) -> Result<Declared, Diagnostics> {
    let mut declared = Declared::default();
    let charts = Charts { flags, values, global, notes: declared.notes.clone() };
    let mut problems = Diagnostics::new();
    let mut inputs = Vec::new();
    for source in sources {
        match recognise(source) {
            Ok(found) => inputs.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    let mut plain = EngineOptions::default();
    for input in recognise::join_podfiles(inputs) {
        if let Input::Pipeline(path) = &input {
            declared.flush(&mut plain);
            match pipeline(path, &charts, &mut declared) {
                Ok(engine) => declared.engines.push(engine),
                Err(more) => problems.extend(more),
            }
            continue;
        }
        match renderer(&input, &charts, &mut declared) {
            Ok(renderer) => plain.renderers.push(renderer),
            Err(more) => problems.extend(more),
        }
    }
    declared.flush(&mut plain);
    problems.into_result(declared)
}

impl Declared {
    fn flush(&mut self, plain: &mut EngineOptions) {
        if !plain.renderers.is_empty() {
            self.engines.push(std::mem::take(plain));
        }
    }
}

/// A renderer with the filters and transformers of its entry in a pipeline file (level 1).
fn with_steps<S: Source>(mut sources: Sources<S>, entry: &SourceEntry) -> Arc<dyn Renderer> {
    for filter in &entry.filters {
        sources = sources.filter(filter.clone());
    }
    for transformer in &entry.transformers {
        sources = sources.transformer(transformer.clone());
    }
    Arc::new(sources)
}

fn renderer(
    input: &Input,
    charts: &Charts<'_>,
    declared: &mut Declared,
) -> Result<Arc<dyn Renderer>, Diagnostics> {
    match input {
        Input::Stdin => {
            let input = std::io::BufReader::new(std::io::stdin());
            Ok(Arc::new(Sources::new("stdin", [ReaderSource::new("<stdin>", input)])))
        }
        Input::Objects(paths) => Ok(Arc::new(manifests::files(paths)?)),
        Input::Podfiles(paths) => {
            let podfiles = Podfiles::read(paths, Map::new())?;
            if let Some((package, namespace)) = podfiles.identity() {
                declared.package.get_or_insert(package);
                declared.namespace = declared.namespace.take().or(namespace);
            }
            Ok(Arc::new(Sources::new("podfile", [podfiles])))
        }
        Input::ChartDirectory(path) => Ok(Arc::new(Sources::new("helm", [charts.directory(path)?]))),
        Input::ChartArchive(path) => Ok(Arc::new(Sources::new("helm", [charts.archive(path)?]))),
        Input::OciChart(reference) => Ok(Arc::new(Sources::new("helm", [charts.remote(reference)?]))),
        Input::Url(url) if is_archive(url) => Ok(Arc::new(Sources::new("helm", [charts.remote(url)?]))),
        Input::Kustomization(path) => {
            Ok(Arc::new(Sources::new("kustomize", [kustomizations::directory(path, Map::new())?])))
        }
        Input::PodSpec(path) => Ok(Arc::new(Sources::new("pod", [PodSource::new(path)]))),
        Input::Url(url) => Ok(Arc::new(remote::fetch(url)?)),
        Input::Pipeline(_) => Err(Diagnostic::error("a pipeline cannot be an entry of itself").into()),
    }
}

fn is_archive(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.ends_with(".tgz") || path.ends_with(".tar.gz")
}

fn pipeline(path: &Path, charts: &Charts<'_>, declared: &mut Declared) -> Result<EngineOptions, Diagnostics> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        Diagnostics::from(
            Diagnostic::error(format!("could not read the pipeline: {error}")).at(Place::file(name.as_str())),
        )
    };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let text = yaml::decode_text(&bytes).map_err(unreadable)?;
    let pipeline = Pipeline::parse(&name, &text)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut problems = Diagnostics::new();
    let mut engine = EngineOptions {
        filters: pipeline.filters,
        transformers: pipeline.transformers,
        ..Default::default()
    };
    for entry in &pipeline.sources {
        match entry_renderer(entry, directory, charts) {
            Ok(renderer) => engine.renderers.push(renderer),
            Err(more) => {
                problems.extend(more.into_iter().map(|problem| problem.or_at(Some(entry.place.clone()))))
            }
        }
    }
    declared.package = declared.package.take().or(pipeline.package);
    declared.namespace = declared.namespace.take().or(pipeline.namespace);
    problems.into_result(engine)
}

fn entry_renderer(
    entry: &SourceEntry,
    directory: &Path,
    charts: &Charts<'_>,
) -> Result<Arc<dyn Renderer>, Diagnostics> {
    Ok(match &entry.source {
        SourceSpec::Yaml { paths } => with_steps(manifests::globs(directory, paths)?, entry),
        SourceSpec::Podfile { paths, values } => {
            let files = glob::expand_all(directory, paths)?;
            with_steps(Sources::new("podfile", [Podfiles::read(&files, values.clone())?]), entry)
        }
        SourceSpec::Helm(helm) => with_steps(Sources::new("helm", [charts.entry(directory, helm)?]), entry),
        SourceSpec::Kustomize { path, values } => {
            let kustomization = kustomizations::directory(&directory.join(path), values.clone())?;
            with_steps(Sources::new("kustomize", [kustomization]), entry)
        }
        SourceSpec::GoTemplate { paths, values } => {
            with_steps(templates::globs(directory, paths, values)?, entry)
        }
        SourceSpec::Pod { path } => {
            with_steps(Sources::new("pod", [PodSource::new(&directory.join(path))]), entry)
        }
    })
}
