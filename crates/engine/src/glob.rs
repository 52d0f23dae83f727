//! Paths and globs over a tree of files.

use globset::{GlobBuilder, GlobMatcher};
use podsmith_object::files::{FileKind, FileTree, normalize};
use podsmith_object::{Diagnostic, suggest};
use thiserror::Error;

use crate::{RenderCall, RenderError};

/// A path or glob that cannot be used.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{pattern}` is no valid path pattern: {reason}")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a user may name: a file, a directory, or a glob with `*`, `?`, `[a-z]`, `{a,b}` and `**`.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// A path without glob characters.
    Path(String),
    /// A glob, and the directory that all its matches lie below.
    Glob { base: String, matcher: Box<GlobMatcher>, deep: bool },
}

impl Pattern {
    /// Reads a pattern relative to the root of a tree.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let invalid = |reason: String| InvalidPattern { pattern: text.to_owned(), reason };
        let path =
            normalize(text).ok_or_else(|| invalid("it leaves the directory it is relative to".into()))?;
        let is_glob = |step: &str| step.contains(['*', '?', '[', '{']);
        let steps: Vec<&str> = path.split('/').collect();
        let Some(first) = steps.iter().position(|step| is_glob(step)) else {
            return Ok(Self::Path(path));
        };
        let glob = GlobBuilder::new(&path)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| invalid(error.kind().to_string()))?;
        let base = steps.iter().take(first).copied().collect::<Vec<_>>().join("/");
        // A `{a,b/c}` may contain a slash, so only a glob without braces has a fixed depth.
        let deep = path.contains("**") || path.contains('{') || steps.len() > first + 1;
        Ok(Self::Glob { base, matcher: Box::new(glob.compile_matcher()), deep })
    }
}

/// How much of a directory a plain path to it means.
///
/// ```
/// use podsmith_engine::{Directories, YamlSource};
/// use podsmith_object::files::MemoryFiles;
/// use std::sync::Arc;
/// let source = YamlSource::parse(Arc::new(MemoryFiles::new()), "manifests")?.with_directories(Directories::Recursive);
/// # let _ = source;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Directories {
    /// The files directly in it, as `kubectl apply -f` does.
    #[default]
    Direct,
    /// The files below it, at any depth.
    Recursive,
}

/// The extensions that hold objects.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

fn holds_objects(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// Walks a tree and collects the files a pattern names, in the byte order of their paths.
pub(crate) struct Walk<'a> {
    pub files: &'a dyn FileTree,
    pub directories: Directories,
    pub call: &'a RenderCall<'a>,
}

impl Walk<'_> {
    /// The files that hold objects, or an error if there is none. Files of other types are left out of directories and
    /// globs; a file named by its path is read whatever it is called.
    pub fn find(&self, text: &str, pattern: &Pattern) -> Result<Vec<String>, RenderError> {
        let mut found = self.find_all(text, pattern)?;
        if let (Pattern::Path(path), [only]) = (pattern, found.as_slice())
            && path == only
        {
            return Ok(found);
        }
        let all = found.len();
        found.retain(|path| holds_objects(path));
        if found.is_empty() {
            let message = format!("`{text}` names {all} files, none of which ends in .yaml, .yml or .json");
            return Err(Diagnostic::error(message).into());
        }
        Ok(found)
    }

    /// All files, whatever they are called, or an error if there is none.
    pub fn find_all(&self, text: &str, pattern: &Pattern) -> Result<Vec<String>, RenderError> {
        let mut found = Vec::new();
        match pattern {
            Pattern::Path(path) => match self.files.kind(path) {
                Some(FileKind::File) => return Ok(vec![path.clone()]),
                Some(FileKind::Directory) => {
                    self.walk(path, self.directories == Directories::Recursive, &mut found)?;
                }
                None => return Err(self.missing(text, path).into()),
            },
            Pattern::Glob { base, matcher, deep } => {
                if self.files.kind(base) == Some(FileKind::Directory) {
                    self.walk(base, *deep, &mut found)?;
                }
                found.retain(|path| matcher.is_match(path));
                if found.is_empty() {
                    let error = Diagnostic::error(format!("no file matches `{text}`"));
                    return Err(error.with_hint("`*` stays within one directory; `**` spans several").into());
                }
            }
        }
        if found.is_empty() {
            return Err(Diagnostic::error(format!("the directory `{text}` holds no files")).into());
        }
        found.sort_unstable();
        Ok(found)
    }

    fn missing(&self, text: &str, path: &str) -> Diagnostic {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let siblings = self.files.list(parent).unwrap_or_default();
        let hint = suggest::hint(name, siblings.iter().map(|entry| entry.name.as_str()));
        Diagnostic::error(format!("`{text}` does not exist")).with_hint_if(hint)
    }

    fn walk(&self, base: &str, deep: bool, found: &mut Vec<String>) -> Result<(), RenderError> {
        // Each waiting directory carries the real paths above it, so that a link to one of them ends there.
        let real = |path: &str| self.files.real_path(path);
        let mut waiting = vec![(base.to_owned(), vec![real(base)])];
        while let Some((directory, above)) = waiting.pop() {
            self.call.check()?;
            let entries = self.files.list(&directory).map_err(|error| {
                Diagnostic::error(format!("could not list `{}`", self.files.display(&directory)))
                    .because(error.to_string())
            })?;
            for entry in entries {
                let path =
                    if directory.is_empty() { entry.name } else { format!("{directory}/{}", entry.name) };
                match entry.kind {
                    FileKind::File => found.push(path),
                    FileKind::Directory if deep => {
                        let here = real(&path);
                        if here.is_none() || !above.contains(&here) {
                            let mut above = above.clone();
                            above.push(here);
                            waiting.push((path, above));
                        }
                    }
                    FileKind::Directory => {}
                }
            }
        }
        Ok(())
    }
}
