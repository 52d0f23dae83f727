//! Podfiles on disk.

use std::path::{Path, PathBuf};

use podsmith_engine::{RenderCall, RenderError, Source};
use podsmith_object::files::DiskFiles;
use podsmith_object::{Diagnostic, Diagnostics, Map, Object, Place, Value};
use podsmith_podfile::{Options, Podfile, PodfileOutput, render};

/// Podfiles that are rendered together, so that they see each other's blocks.
pub struct Podfiles {
    name: String,
    files: Vec<Podfile>,
    values: Map<String, Value>,
}

impl Podfiles {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// Every file that cannot be read.
    pub fn read(paths: &[PathBuf], values: Map<String, Value>) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut files = Vec::new();
        for path in paths {
            let name = path.display().to_string();
            match std::fs::read_to_string(path) {
                Ok(text) => {
                    let real = path.parent().unwrap_or(Path::new("")).to_owned();
                    let real = std::path::absolute(if real.as_os_str().is_empty() {
                        Path::new(".").to_owned()
                    } else {
                        real
                    });
                    let directory =
                        real.map(|real| real.to_string_lossy().trim_start_matches('/').to_owned());
                    files.push(Podfile { name, directory: directory.unwrap_or_default(), text });
                }
                Err(error) => problems.push(
                    Diagnostic::error(format!("could not read the Podfile: {error}")).at(Place::file(name)),
                ),
            }
        }
        let name = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        problems.into_result(Self { name, files, values })
    }

    /// Renders with these values over the entry's own.
    ///
    /// # Errors
    ///
    /// Every problem of every file.
    pub fn packages(&self, values: Map<String, Value>) -> Result<PodfileOutput, Diagnostics> {
        let environment = |name: &str| std::env::var(name).ok();
        let options = Options { values, environment: &environment, package: None };
        render(&self.files, &DiskFiles::new("/"), &options)
    }

    /// The package's name and namespace, as far as the files say them without values.
    pub fn identity(&self) -> Option<(String, Option<String>)> {
        let output = self.packages(self.values.clone()).ok()?;
        let package = output.packages.first()?;
        Some((package.name.clone(), package.namespace.clone()))
    }
}

impl Source for Podfiles {
    fn kind(&self) -> &str {
        "podfile"
    }

    fn path(&self) -> String {
        self.name.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        let output = self.packages(call.values_over(&self.values))?;
        for warning in output.warnings {
            call.warn(warning);
        }
        Ok(output.packages.into_iter().flat_map(|package| package.objects).collect())
    }
}
