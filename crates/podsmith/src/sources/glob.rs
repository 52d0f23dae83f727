//! Globs on the command line, for shells that do not expand them and for `**`.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use podsmith_object::{Diagnostic, Diagnostics};

/// All files that match, in path order. Directories never match.
///
/// # Errors
///
/// When the pattern is malformed.
pub fn expand(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| error.kind().to_string())?
        .compile_matcher();
    let mut found = Vec::new();
    walk(&fixed_part(pattern), pattern.contains("**"), pattern.matches('/').count(), &mut |path| {
        let candidate = path.strip_prefix("./").unwrap_or(path);
        if matcher.is_match(path) || (!pattern.starts_with("./") && matcher.is_match(candidate)) {
            found.push(if pattern.starts_with('.') { path.to_owned() } else { candidate.to_owned() });
        }
    });
    found.sort_unstable();
    Ok(found)
}

/// All files that the patterns of a pipeline file in `directory` name, in order.
///
/// # Errors
///
/// When a pattern is malformed or matches nothing.
pub fn expand_all(directory: &Path, patterns: &[String]) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut files = Vec::new();
    for pattern in patterns {
        let whole = directory.join(pattern);
        let found =
            if whole.is_file() { Ok(vec![whole.clone()]) } else { expand(&whole.display().to_string()) };
        match found {
            Ok(found) if !found.is_empty() => files.extend(found),
            Ok(_) => return Err(Diagnostic::error(format!("no file matches `{pattern}`")).into()),
            Err(reason) => return Err(Diagnostic::error(format!("bad glob `{pattern}`: {reason}")).into()),
        }
    }
    Ok(files)
}

/// The directory before the first step with a special character: where the search starts.
fn fixed_part(pattern: &str) -> PathBuf {
    let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        None => PathBuf::from("."),
        Some(0) => PathBuf::from("/"),
        Some(end) => PathBuf::from(&pattern[..end]),
    }
}

/// Visits files below `directory`; without `**` only as deep as the pattern has steps.
fn walk(directory: &Path, deep: bool, steps: usize, visit: &mut dyn FnMut(&Path)) {
    let depth_of_start = directory.components().count();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            // A link to a directory is not followed below `**`, so that a loop of links ends.
            if kind.is_dir() || (kind.is_symlink() && !deep && path.is_dir()) {
                if deep || path.components().count() <= depth_of_start + steps {
                    waiting.push(path);
                }
            } else if path.is_file() {
                visit(&path);
            }
        }
    }
}
