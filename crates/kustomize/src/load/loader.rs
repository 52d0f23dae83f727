//! Reads files below one root.

use std::io;
use std::sync::Arc;

use podsmith_object::files::{FileKind, FileTree, join};
use podsmith_object::{Diagnostic, Diagnostics};

use super::address::RepositoryAddress;
use crate::options::{BuildOptions, LoadRestrictions};

/// Reads what one kustomization names, and opens the roots of others.
#[derive(Clone, Debug)]
pub(crate) struct Loader {
    tree: Arc<dyn FileTree>,
    /// The real path of the kustomization's directory in the tree.
    root: String,
    restrictions: LoadRestrictions,
    options: Arc<BuildOptions>,
    /// Who named this root, for circles.
    referrer: Option<Arc<Loader>>,
    /// The address this root was fetched from.
    address: Option<String>,
    /// The tree is a fetched copy, whose files show no path on this machine.
    fetched: bool,
}

fn refused(message: impl Into<String>) -> Diagnostics {
    Diagnostic::error(message).into()
}

impl Loader {
    /// The loader of the kustomization that is built.
    pub(crate) fn new(
        tree: Arc<dyn FileTree>,
        path: &str,
        options: &Arc<BuildOptions>,
    ) -> Result<Self, Diagnostics> {
        let root = join("", path)
            .filter(|root| tree.kind(root) == Some(FileKind::Directory))
            .and_then(|root| tree.real_path(&root))
            .ok_or_else(|| refused(format!("{} is not a directory", tree.display(path))))?;
        Ok(Self {
            tree,
            root,
            restrictions: options.load_restrictions,
            options: options.clone(),
            referrer: None,
            address: None,
            fetched: false,
        })
    }

    /// The directory of the kustomization.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn tree(&self) -> &Arc<dyn FileTree> {
        &self.tree
    }

    pub(crate) fn options(&self) -> &BuildOptions {
        &self.options
    }

    /// How to name a file of this root to the user.
    pub(crate) fn display(&self, path: &str) -> String {
        if is_remote_file(path) {
            return path.to_owned();
        }
        match join(&self.root, path) {
            Some(full) => match &self.address {
                Some(address) if self.fetched => format!("{address} {full}"),
                _ => show(self.tree.as_ref(), &full),
            },
            None => path.to_owned(),
        }
    }

    /// What a path names, seen from the root.
    pub(crate) fn kind(&self, path: &str) -> Option<FileKind> {
        if is_remote_file(path) {
            return None;
        }
        self.tree.kind(&join(&self.root, path)?)
    }

    /// The content of a file, if this root may read it.
    pub(crate) fn load(&self, path: &str) -> Result<Vec<u8>, Diagnostics> {
        if is_remote_file(path) {
            return self.fetch_file(path);
        }
        let full = join(&self.root, path)
            .ok_or_else(|| refused(format!("`{path}` lies outside the files that can be read")))?;
        let real = match self.tree.real_path(&full) {
            Some(real) => real,
            None if self.tree.kind(&full).is_some() => {
                return Err(refused(format!("`{path}` links to a place outside the files that can be read")));
            }
            None => return Err(missing(path)),
        };
        if self.tree.kind(&real) == Some(FileKind::Directory) {
            return Err(refused(format!("`{path}` is a directory, a file is needed")));
        }
        if self.restrictions == LoadRestrictions::RootOnly && !is_inside(&real, &self.root) {
            return Err(Diagnostic::error(format!(
                "`{path}` is not in or below the directory of the kustomization that names it"
            ))
            .with_hint("move the file, or build without load restrictions")
            .into());
        }
        self.tree.read(&real).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(path),
            _ => refused(format!("could not read `{path}`: {error}")),
        })
    }

    fn fetch_file(&self, url: &str) -> Result<Vec<u8>, Diagnostics> {
        match &self.options.remote {
            Some(remote) => remote
                .file(url)
                .map_err(|error| Diagnostic::error(format!("could not fetch {url}")).because(error).into()),
            None => Err(remote_refused(url)),
        }
    }

    /// The loader of another root that this one names.
    pub(crate) fn open(&self, path: &str) -> Result<Self, Diagnostics> {
        if path.is_empty() {
            return Err(refused("an empty path names nothing"));
        }
        if let Some(address) = RepositoryAddress::parse(path) {
            return self.open_repository(path, &address);
        }
        if path.starts_with('/') {
            return Err(refused(format!(
                "`{path}` is absolute; directories must be named relative to the kustomization"
            )));
        }
        let full = join(&self.root, path)
            .ok_or_else(|| refused(format!("`{path}` lies outside the files that can be read")))?;
        let root = match self.tree.kind(&full) {
            Some(FileKind::Directory) => self.tree.real_path(&full).ok_or_else(|| {
                refused(format!("`{path}` links to a place outside the files that can be read"))
            })?,
            Some(FileKind::File) => {
                return Err(refused(format!("`{path}` is a file, a directory is needed")));
            }
            None => return Err(missing(path)),
        };
        let mut visited = Some(self);
        while let Some(loader) = visited {
            if Arc::ptr_eq(&loader.tree, &self.tree) && is_inside(&loader.root, &root) {
                return Err(Diagnostic::error(format!(
                    "`{path}` leads back to a kustomization that is being built"
                ))
                .because(cycle_reason(
                    &show(self.tree.as_ref(), &root),
                    &show(self.tree.as_ref(), &loader.root),
                ))
                .into());
            }
            visited = loader.referrer.as_deref();
        }
        Ok(Self { root, referrer: Some(Arc::new(self.clone())), ..self.clone() })
    }

    fn open_repository(&self, text: &str, address: &RepositoryAddress) -> Result<Self, Diagnostics> {
        let mut visited = Some(self);
        while let Some(loader) = visited {
            if loader.address.as_ref().is_some_and(|visited| visited.starts_with(text)) {
                return Err(refused(format!("`{text}` leads back to a repository that is being built")));
            }
            visited = loader.referrer.as_deref();
        }
        let Some(remote) = &self.options.remote else { return Err(remote_refused(text)) };
        let tree = remote.repository(address).map_err(|error| {
            Diagnostics::from(Diagnostic::error(format!("could not fetch {text}")).because(error))
        })?;
        let root = join("", &address.path)
            .filter(|root| tree.kind(root) == Some(FileKind::Directory))
            .ok_or_else(|| refused(format!("{text} names no directory of the repository")))?;
        Ok(Self {
            tree,
            root,
            restrictions: LoadRestrictions::RootOnly,
            options: self.options.clone(),
            referrer: Some(Arc::new(self.clone())),
            address: Some(text.to_owned()),
            fetched: true,
        })
    }
}

/// The root of a tree in memory has no name of its own.
fn show(tree: &dyn FileTree, path: &str) -> String {
    let shown = tree.display(path);
    if shown.is_empty() { ".".to_owned() } else { shown }
}

fn cycle_reason(candidate: &str, visited: &str) -> String {
    if candidate == visited {
        format!("{visited} is on the way here")
    } else {
        format!("{candidate} contains {visited}, which is on the way here")
    }
}

fn missing(path: &str) -> Diagnostics {
    refused(format!("there is no file or directory `{path}`"))
}

fn remote_refused(address: &str) -> Diagnostics {
    Diagnostic::error(format!("{address} is not fetched"))
        .with_hint("copy it beside the kustomization, or allow remote bases")
        .into()
}

pub(crate) fn is_remote_file(path: &str) -> bool {
    let scheme = path.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

fn is_inside(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path == directory
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}
