//! Kustomizations on disk.

use std::path::Path;
use std::sync::Arc;

use podsmith_kustomize::{BuildOptions, KustomizeSource};
use podsmith_object::files::DiskFiles;
use podsmith_object::{Diagnostic, Diagnostics, Map, Place, Value};

/// The kustomization in `directory`. The tree starts at the root of the file system, because bases may lie beside or
/// above the directory; load restrictions keep files where they belong.
///
/// # Errors
///
/// When the directory is not there.
pub fn directory(directory: &Path, values: Map<String, Value>) -> Result<KustomizeSource, Diagnostics> {
    let real = directory.canonicalize().map_err(|error| {
        let place = Place::file(directory.display().to_string());
        Diagnostic::error(format!("could not read the kustomization: {error}")).at(place)
    })?;
    let path = real.to_string_lossy().trim_start_matches('/').to_owned();
    let options = BuildOptions { values, ..BuildOptions::default() };
    Ok(KustomizeSource::new(Arc::new(DiskFiles::new("/")), &path, options))
}
