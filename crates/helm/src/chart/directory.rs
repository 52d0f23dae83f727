//! Chart directories: the files below a path that `.helmignore` leaves in.

use podsmith_object::files::{FileKind, FileTree};

use super::archive::{LARGEST_CHART, LARGEST_FILE};
use super::file::ChartFile;
use super::ignore::IgnoreRules;
use crate::error::HelmError;

/// Deeper directories can only be a loop of links.
const DEEPEST: usize = 64;

/// Reads all files of a chart directory, in path order.
pub(super) fn read(tree: &dyn FileTree, path: &str) -> Result<Vec<ChartFile>, HelmError> {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let ignore_path = at(".helmignore");
    let rules = match tree.kind(&ignore_path) {
        Some(FileKind::File) => {
            let bytes = read_file(tree, &ignore_path)?;
            IgnoreRules::parse(&String::from_utf8_lossy(&bytes))
        }
        _ => IgnoreRules::parse(""),
    }
    .map_err(|source| HelmError::Ignore { chart: tree.display(path), source })?;
    let mut walk = Walk { tree, rules, found: Vec::new(), left: LARGEST_CHART };
    walk.directory(path, "", 0)?;
    Ok(walk.found)
}

struct Walk<'t> {
    tree: &'t dyn FileTree,
    rules: IgnoreRules,
    found: Vec<ChartFile>,
    left: u64,
}

impl Walk<'_> {
    fn directory(&mut self, path: &str, inner: &str, depth: usize) -> Result<(), HelmError> {
        if depth > DEEPEST {
            let limit = format!("nested deeper than {DEEPEST} directories");
            return Err(HelmError::TooLarge { path: self.tree.display(path), limit });
        }
        let entries = self
            .tree
            .list(path)
            .map_err(|source| HelmError::Read { path: self.tree.display(path), source })?;
        for entry in entries {
            let below = |parent: &str| {
                if parent.is_empty() { entry.name.clone() } else { format!("{parent}/{}", entry.name) }
            };
            let (path, inner) = (below(path), below(inner));
            match entry.kind {
                kind if self.rules.ignores(&inner, kind == FileKind::Directory) => {}
                FileKind::Directory => self.directory(&path, &inner, depth + 1)?,
                FileKind::File => self.file(&path, inner)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str, inner: String) -> Result<(), HelmError> {
        let content = read_file(self.tree, path)?;
        let size = content.len() as u64;
        if size > LARGEST_FILE {
            let limit = format!("larger than {LARGEST_FILE} bytes");
            return Err(HelmError::TooLarge { path: self.tree.display(path), limit });
        }
        self.left = self.left.checked_sub(size).ok_or_else(|| HelmError::TooLarge {
            path: self.tree.display(path),
            limit: format!("the chart is larger than {LARGEST_CHART} bytes"),
        })?;
        self.found.push(ChartFile::new(inner, content));
        Ok(())
    }
}

fn read_file(tree: &dyn FileTree, path: &str) -> Result<Vec<u8>, HelmError> {
    tree.read(path).map_err(|source| HelmError::Read { path: tree.display(path), source })
}
