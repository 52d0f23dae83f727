//! Charts: loaded once, never changed afterwards, rendered as often as needed.

mod archive;
mod decode;
mod directory;
mod file;
mod ignore;
mod load;
mod metadata;
mod pattern;

use std::sync::Arc;

use podsmith_object::files::FileTree;
use podsmith_object::{Map, Value};

pub use archive::{ArchiveError, LARGEST_CHART, LARGEST_FILE};
pub(crate) use decode::{Mismatch, describe, string, string_map, struct_entries};
pub use file::ChartFile;
pub use ignore::{IgnoreError, IgnoreRules};
pub use metadata::{Dependency, ImportValue, Lock, Maintainer, Metadata, MetadataError};
pub use pattern::{BadPattern, Pattern};

use crate::error::HelmError;
use crate::render::TemplateCache;
use crate::schema::CompiledSchema;

/// A chart with its subcharts.
#[derive(Debug)]
pub struct Chart {
    metadata: Metadata,
    lock: Option<Lock>,
    values: Map<String, Value>,
    schema: Option<ChartFile>,
    templates: Vec<ChartFile>,
    files: Vec<ChartFile>,
    subcharts: Vec<Arc<Chart>>,
    pub(crate) parsed: TemplateCache,
    pub(crate) compiled_schema: CompiledSchema,
}

impl Chart {
    /// Loads the chart in a directory of `tree`.
    ///
    /// Symbolic links are followed, as Helm does; what `.helmignore` names is left out.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, is too large, or breaks the rules of a chart.
    pub fn load_dir(tree: &dyn FileTree, path: &str) -> Result<Arc<Self>, HelmError> {
        load::from_files(directory::read(tree, path)?, &tree.display(path))
    }

    /// Loads a chart archive. `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// When the archive is refused (see [`ArchiveError`]) or its content breaks the rules of a chart.
    pub fn load_archive(name: &str, bytes: &[u8]) -> Result<Arc<Self>, HelmError> {
        let files =
            archive::unpack(bytes).map_err(|source| HelmError::Archive { name: name.to_owned(), source })?;
        load::from_files(files, name)
    }

    /// Loads a chart from files in memory.
    ///
    /// # Errors
    ///
    /// When the files break the rules of a chart.
    pub fn from_files(files: Vec<ChartFile>, name: &str) -> Result<Arc<Self>, HelmError> {
        load::from_files(files, name)
    }

    /// The same chart with other subcharts: those of the same name are replaced, new ones are added.
    #[must_use]
    pub fn with_subcharts(&self, more: Vec<Arc<Chart>>) -> Arc<Self> {
        let mut subcharts: Vec<Arc<Chart>> = self
            .subcharts
            .iter()
            .filter(|old| !more.iter().any(|new| new.name() == old.name()))
            .cloned()
            .collect();
        subcharts.extend(more);
        Arc::new(Self {
            metadata: self.metadata.clone(),
            lock: self.lock.clone(),
            values: self.values.clone(),
            schema: self.schema.clone(),
            templates: self.templates.clone(),
            files: self.files.clone(),
            subcharts,
            parsed: TemplateCache::default(),
            compiled_schema: CompiledSchema::default(),
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// What `Chart.yaml` says.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What `Chart.lock` says.
    pub fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    /// The default values.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// `values.schema.json`.
    pub fn schema(&self) -> Option<&ChartFile> {
        self.schema.as_ref()
    }

    /// Everything below `templates/`.
    pub fn templates(&self) -> &[ChartFile] {
        &self.templates
    }

    /// The files that templates can read with `.Files`.
    pub fn files(&self) -> &[ChartFile] {
        &self.files
    }

    /// The charts in `charts/`.
    pub fn subcharts(&self) -> &[Arc<Chart>] {
        &self.subcharts
    }

    /// The files of this chart that hold custom resource definitions.
    pub fn crds(&self) -> impl Iterator<Item = &ChartFile> {
        self.files.iter().filter(|file| {
            let extension = file.name().rsplit_once('.').map(|(_, extension)| extension);
            let is_manifest = extension.is_some_and(|extension| {
                ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
            });
            file.path().starts_with("crds/") && is_manifest
        })
    }
}
