//! Kustomizations on disk.

use std::path::Path;
use std::sync::Arc;

use podsmith_engine::{RenderCall, RenderError, Source};
use podsmith_kustomize::{BuildOptions, build};
use podsmith_object::files::DiskFiles;
use podsmith_object::{Diagnostic, Diagnostics, Map, Object, Place, Value};

/// A directory with a kustomization. The tree starts at the root of the file system, because bases may lie beside or
/// above the directory; load restrictions keep files where they belong.
pub struct Kustomization {
    name: String,
    path: String,
    values: Map<String, Value>,
}

impl Kustomization {
    /// The kustomization in `directory`.
    ///
    /// # Errors
    ///
    /// When the directory is not there.
    pub fn new(directory: &Path, values: Map<String, Value>) -> Result<Self, Diagnostics> {
        let name = directory.display().to_string();
        let real = directory.canonicalize().map_err(|error| {
            Diagnostic::error(format!("could not read the kustomization: {error}"))
                .at(Place::file(name.as_str()))
        })?;
        let path = real.to_string_lossy().trim_start_matches('/').to_owned();
        Ok(Self { name, path, values })
    }
}

impl Source for Kustomization {
    fn kind(&self) -> &str {
        "kustomize"
    }

    fn path(&self) -> String {
        self.name.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        let options = BuildOptions { values: call.values_over(&self.values), ..BuildOptions::default() };
        let built = build(Arc::new(DiskFiles::new("/")), &self.path, &options)?;
        for warning in built.warnings {
            call.warn(warning);
        }
        Ok(built.objects)
    }
}
