//! Kubernetes YAML and JSON files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podsmith_engine::{InvalidPattern, Sources, YamlSource};
use podsmith_object::files::DiskFiles;
use podsmith_object::{Diagnostic, Diagnostics};

/// A renderer over exactly these files, in this order.
///
/// # Errors
///
/// When a path cannot be used as a pattern.
pub fn files(paths: &[PathBuf]) -> Result<Sources<YamlSource>, Diagnostics> {
    let sources = paths.iter().map(|path| {
        let parent = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().map(|name| escape(&name.to_string_lossy())).unwrap_or_default();
        YamlSource::parse(Arc::new(DiskFiles::new(parent)), &name)
    });
    named(sources.collect())
}

/// A renderer over the globs of a pipeline file, relative to its directory.
///
/// # Errors
///
/// When a pattern is malformed.
pub fn globs(directory: &Path, patterns: &[String]) -> Result<Sources<YamlSource>, Diagnostics> {
    let tree = Arc::new(DiskFiles::new(directory));
    let sources = patterns.iter().map(|pattern| YamlSource::parse(tree.clone(), pattern));
    named(sources.collect())
}

fn named(sources: Result<Vec<YamlSource>, InvalidPattern>) -> Result<Sources<YamlSource>, Diagnostics> {
    match sources {
        Ok(sources) => Ok(Sources::new("yaml", sources)),
        Err(error) => Err(Diagnostic::error(error.to_string()).into()),
    }
}

/// A pattern that matches only `name` itself.
fn escape(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}') {
            pattern.extend(['[', c, ']']);
        } else {
            pattern.push(c);
        }
    }
    pattern
}
