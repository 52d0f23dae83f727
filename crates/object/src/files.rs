//! Trees of files that a renderer may read: on disk, in memory, or one laid over another.
//!
//! Paths are relative to the tree's root, use `/`, and never contain `.` or `..` steps: see [`normalize`].

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a path names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// A regular file (or a link to one).
    File,
    /// A directory (or a link to one).
    Directory,
}

/// One name in a directory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The name, without its directory.
    pub name: String,
    /// File or directory.
    pub kind: FileKind,
}

/// A read-only tree of files.
pub trait FileTree: Send + Sync + fmt::Debug {
    /// The content of a file.
    ///
    /// # Errors
    ///
    /// `NotFound`, `IsADirectory`, or whatever the tree's medium reports.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The entries of a directory in name order. The root is the empty path.
    ///
    /// # Errors
    ///
    /// `NotFound`, `NotADirectory`, or whatever the tree's medium reports.
    fn list(&self, path: &str) -> io::Result<Vec<Entry>>;

    /// What the path names, or `None` if there is nothing.
    fn kind(&self, path: &str) -> Option<FileKind>;

    /// The path with every symbolic link resolved, if the result is still inside the tree; else `None`.
    fn real_path(&self, path: &str) -> Option<String> {
        self.kind(path).map(|_| path.to_owned())
    }

    /// How to name a path to the user.
    fn display(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// Removes `.` steps, resolves `..` steps and double slashes. `None` if the path leaves the root.
///
/// ```
/// use podsmith_object::files::normalize;
/// assert_eq!(normalize("a/./b/../c"), Some("a/c".into()));
/// assert_eq!(normalize("../x"), None);
/// ```
pub fn normalize(path: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

/// `directory` and `path` joined and normalized; an absolute `path` starts again at the root.
pub fn join(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') { normalize(path) } else { normalize(&format!("{directory}/{path}")) }
}

/// Files below a directory on disk.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    root: PathBuf,
}

impl DiskFiles {
    /// The tree below `root`. Nothing is read yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn on_disk(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }
}

impl FileTree for DiskFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.on_disk(path))
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.on_disk(path))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(metadata) = std::fs::metadata(entry.path()) else { continue };
            let kind = if metadata.is_dir() { FileKind::Directory } else { FileKind::File };
            entries.push(Entry { name, kind });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        let metadata = std::fs::metadata(self.on_disk(path)).ok()?;
        Some(if metadata.is_dir() { FileKind::Directory } else { FileKind::File })
    }

    fn real_path(&self, path: &str) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        let real = self.on_disk(path).canonicalize().ok()?;
        real.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned)
    }

    fn display(&self, path: &str) -> String {
        if path.is_empty() {
            self.root.display().to_string()
        } else {
            self.on_disk(path).display().to_string()
        }
    }
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryFiles {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. A path that leaves the root is ignored by making it relative to the root.
    #[must_use]
    pub fn with(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.insert(path, content);
        self
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: &str, content: impl AsRef<[u8]>) {
        let path = normalize(path).unwrap_or_else(|| path.replace("../", ""));
        self.files.insert(path, Arc::from(content.as_ref()));
    }

    /// All files, in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_ref()))
    }
}

impl FileTree for MemoryFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.files.get(path) {
            Some(content) => Ok(content.to_vec()),
            None if self.kind(path).is_some() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        match self.kind(path) {
            None => return Err(io::Error::from(io::ErrorKind::NotFound)),
            Some(FileKind::File) => return Err(io::Error::from(io::ErrorKind::NotADirectory)),
            Some(FileKind::Directory) => {}
        }
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut entries: BTreeMap<&str, FileKind> = BTreeMap::new();
        for file in
            self.files.range(prefix.clone()..).map(|(file, _)| file).take_while(|f| f.starts_with(&prefix))
        {
            match file[prefix.len()..].split_once('/') {
                None => entries.insert(&file[prefix.len()..], FileKind::File),
                Some((directory, _)) => entries.insert(directory, FileKind::Directory),
            };
        }
        Ok(entries.into_iter().map(|(name, kind)| Entry { name: name.to_owned(), kind }).collect())
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        if self.files.contains_key(path) {
            return Some(FileKind::File);
        }
        let prefix = format!("{path}/");
        let inside = path.is_empty()
            || self.files.range(prefix.clone()..).next().is_some_and(|(file, _)| file.starts_with(&prefix));
        inside.then_some(FileKind::Directory)
    }
}

/// One tree laid over another: a file of the upper tree hides the file of the lower one.
#[derive(Clone, Debug)]
pub struct OverlayFiles {
    upper: Arc<dyn FileTree>,
    lower: Arc<dyn FileTree>,
}

impl OverlayFiles {
    /// `upper` over `lower`.
    pub fn new(upper: Arc<dyn FileTree>, lower: Arc<dyn FileTree>) -> Self {
        Self { upper, lower }
    }
}

impl FileTree for OverlayFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.upper.kind(path) {
            Some(FileKind::File) => self.upper.read(path),
            _ => self.lower.read(path),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let (upper, lower) = (self.upper.list(path), self.lower.list(path));
        let mut entries: BTreeMap<String, FileKind> = BTreeMap::new();
        match (upper, lower) {
            (Err(_), Err(error)) => return Err(error),
            (upper, lower) => {
                for entry in lower.unwrap_or_default().into_iter().chain(upper.unwrap_or_default()) {
                    entries.insert(entry.name, entry.kind);
                }
            }
        }
        Ok(entries.into_iter().map(|(name, kind)| Entry { name, kind }).collect())
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        self.upper.kind(path).or_else(|| self.lower.kind(path))
    }

    fn real_path(&self, path: &str) -> Option<String> {
        if self.upper.kind(path).is_some() { self.upper.real_path(path) } else { self.lower.real_path(path) }
    }

    fn display(&self, path: &str) -> String {
        if self.upper.kind(path).is_some() { self.upper.display(path) } else { self.lower.display(path) }
    }
}
