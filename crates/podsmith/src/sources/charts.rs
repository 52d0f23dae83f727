//! Helm charts: directories, archives, repositories and registries.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use podsmith_engine::{RenderCall, RenderError, Source, Values};
use podsmith_helm::repository::http::HttpClient;
use podsmith_helm::repository::{Credentials, DiskCache, Locator, Reference, RepositoryError};
use podsmith_helm::values::read_values;
use podsmith_helm::{Chart, ChartOptions, ChartSource, HelmError, Hooks, KubeVersion, Release, WholeNumbers};
use podsmith_object::files::{DiskFiles, MemoryFiles};
use podsmith_object::{Diagnostic, Diagnostics, Map, Object, Place, Value, merge};

use super::ChartFlags;
use crate::cli::Global;
use crate::pipeline::HelmSource;
use crate::values::GivenValues;

/// A chart as a source; its notes are kept for the end of the command.
pub struct ChartInput {
    inner: ChartSource,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Source for ChartInput {
    fn kind(&self) -> &str {
        self.inner.kind()
    }

    fn path(&self) -> String {
        self.inner.path()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        // The values of the call are among the chart's own already, numbers from files told from those of `--set`.
        let own = Values::new();
        let own_call = RenderCall::new(&own, *call.context());
        let rendered =
            self.inner.render_all(&own_call).map_err(|error| RenderError::from(error.to_diagnostic()))?;
        for warning in &rendered.warnings {
            call.warn(Diagnostic::warning(warning.clone()));
        }
        if let Some(notes) = &rendered.notes {
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(notes.clone());
        }
        Ok(rendered.into_objects())
    }
}

/// Makes chart sources with the flags of one command line.
pub struct Charts<'a> {
    /// The chart flags.
    pub flags: &'a ChartFlags,
    /// The values of the command line.
    pub values: GivenValues,
    /// The global flags.
    pub global: &'a Global,
    /// Where the notes of all charts go.
    pub notes: Arc<Mutex<Vec<String>>>,
}

impl Charts<'_> {
    /// A chart directory.
    ///
    /// # Errors
    ///
    /// When it is no chart, or a dependency cannot be found.
    pub fn directory(&self, path: &Path) -> Result<ChartInput, Diagnostics> {
        let chart = load_directory(path)?;
        self.input(&path.display().to_string(), chart, self.options(None)?)
    }

    /// A packed chart.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no chart.
    pub fn archive(&self, path: &Path) -> Result<ChartInput, Diagnostics> {
        let chart = load_archive(path)?;
        self.input(&path.display().to_string(), chart, self.options(None)?)
    }

    /// A chart in a registry, or an archive behind a URL.
    ///
    /// # Errors
    ///
    /// When it cannot be fetched or is no chart.
    pub fn remote(&self, reference: &str) -> Result<ChartInput, Diagnostics> {
        let chart = fetch(&Reference::parse(reference).map_err(told)?, "")?;
        self.input(reference, chart, self.options(None)?)
    }

    /// A `helm:` entry of a pipeline file in `directory`.
    ///
    /// # Errors
    ///
    /// When the chart or a values file cannot be read.
    pub fn entry(&self, directory: &Path, entry: &HelmSource) -> Result<ChartInput, Diagnostics> {
        let range = entry.version.as_deref().unwrap_or_default();
        let local = directory.join(&entry.chart);
        let chart = match &entry.repository {
            Some(url) => {
                fetch(&Reference::Repository { url: url.clone(), name: entry.chart.clone() }, range)?
            }
            None if entry.chart.contains("://") => {
                fetch(&Reference::parse(&entry.chart).map_err(told)?, range)?
            }
            None if local.is_dir() => load_directory(&local)?,
            None => load_archive(&local)?,
        };
        let mut values = Map::new();
        for file in &entry.values_files {
            merge::deep_merge_maps(&mut values, values_file(&directory.join(file))?);
        }
        merge::deep_merge_maps(&mut values, entry.values.clone());
        let mut options = self.options(Some(entry))?;
        options.values = self.values.for_chart(values);
        self.input(&entry.chart, chart, options)
    }

    fn options(&self, entry: Option<&HelmSource>) -> Result<ChartOptions, Diagnostics> {
        let flags = self.flags;
        let mut options = ChartOptions {
            include_crds: flags.include_crds || entry.and_then(|entry| entry.include_crds).unwrap_or(false),
            show_only: flags.show_only.clone(),
            values: self.values.for_chart(Map::new()),
            whole_numbers: WholeNumbers::Integers,
            ..ChartOptions::default()
        };
        if flags.no_hooks || entry.and_then(|entry| entry.no_hooks).unwrap_or(false) {
            options.hooks = Hooks::Leave;
        }
        let version =
            flags.kube_version.as_ref().or_else(|| entry.and_then(|entry| entry.kube_version.as_ref()));
        if let Some(version) = version {
            let version =
                KubeVersion::parse(version).map_err(|error| Diagnostic::error(error.to_string()))?;
            options.capabilities = options.capabilities.with_kube_version(version);
        }
        options.capabilities.api_versions.extend(flags.api_versions.iter().cloned());
        options
            .capabilities
            .api_versions
            .extend(entry.iter().flat_map(|entry| entry.api_versions.iter().cloned()));
        let name = entry.and_then(|entry| entry.release.clone()).or_else(|| flags.release.clone());
        let namespace =
            entry.and_then(|entry| entry.namespace.clone()).or_else(|| self.global.namespace.clone());
        // The name is filled in below, once the chart is known.
        let mut release =
            Release::new(name.unwrap_or_default(), namespace.unwrap_or_else(|| "default".to_owned()));
        release.is_upgrade = flags.is_upgrade;
        options.release = Some(release);
        Ok(options)
    }

    fn input(
        &self,
        name: &str,
        chart: Arc<Chart>,
        mut options: ChartOptions,
    ) -> Result<ChartInput, Diagnostics> {
        if let Some(release) = &mut options.release {
            if release.name.is_empty() {
                release.name = chart.metadata().name.clone();
            }
            release.validate().map_err(|error| error.to_diagnostic())?;
        }
        Ok(ChartInput { inner: ChartSource::loaded(name, chart, options), notes: self.notes.clone() })
    }
}

fn told(error: RepositoryError) -> Diagnostics {
    error.to_diagnostic().into()
}

fn refused(error: HelmError) -> Diagnostics {
    error.to_diagnostic().into()
}

fn load_directory(path: &Path) -> Result<Arc<Chart>, Diagnostics> {
    let tree = DiskFiles::new(path);
    let chart = Chart::load_dir(&tree, "").map_err(refused)?;
    let declared = chart.metadata().dependencies.as_deref().unwrap_or_default();
    if declared.is_empty() {
        return Ok(chart);
    }
    with_locator(|locator| locator.with_dependencies(&chart, &tree, "")).map_err(told)
}

fn load_archive(path: &Path) -> Result<Arc<Chart>, Diagnostics> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Diagnostic::error(format!("could not read the chart: {error}")).at(Place::file(name.as_str()))
    })?;
    let chart = Chart::load_archive(&name, &bytes).map_err(refused)?;
    with_locator(|locator| locator.with_dependencies(&chart, &MemoryFiles::new(), "")).map_err(told)
}

fn fetch(reference: &Reference, range: &str) -> Result<Arc<Chart>, Diagnostics> {
    let chart = with_locator(|locator| locator.locate(reference, range)?.load()).map_err(told)?;
    with_locator(|locator| locator.with_dependencies(&chart, &MemoryFiles::new(), "")).map_err(told)
}

/// A locator with the user's cache and logins.
fn with_locator<T>(
    work: impl FnOnce(&Locator<'_>) -> Result<T, RepositoryError>,
) -> Result<T, RepositoryError> {
    let client = HttpClient::new();
    let cache = DiskCache::new(cache_directory());
    let mut locator = Locator::new(&client, &cache);
    locator.credentials = credentials();
    work(&locator)
}

fn cache_directory() -> PathBuf {
    let base = match std::env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        Some(directory) => PathBuf::from(directory),
        None => std::env::home_dir().unwrap_or_default().join(".cache"),
    };
    base.join("podsmith/charts")
}

/// The logins of the Docker configuration; none if it is missing or not readable.
fn credentials() -> Credentials {
    let directory = match std::env::var_os("DOCKER_CONFIG") {
        Some(directory) => PathBuf::from(directory),
        None => std::env::home_dir().unwrap_or_default().join(".docker"),
    };
    std::fs::read_to_string(directory.join("config.json"))
        .ok()
        .and_then(|text| Credentials::from_docker_config(&text).ok())
        .unwrap_or_default()
}

fn values_file(path: &Path) -> Result<Map<String, Value>, Diagnostics> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Diagnostic::error(format!("could not read the values file: {error}")).at(Place::file(name.as_str()))
    })?;
    read_values(&name, &text).map_err(|error| error.to_diagnostic().into())
}
