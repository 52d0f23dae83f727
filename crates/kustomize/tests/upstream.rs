//! The trees that the original tool's own end-to-end tests write, built by both tools.
//!
//! The trees are read from the Go module cache when it is there; nothing of them is kept here.

mod oracle;

use std::path::{Path, PathBuf};

use oracle::go_source::{self, Step};
use oracle::{Oracle, difference, tree_hash};

fn module() -> Option<PathBuf> {
    let cache = std::env::var_os("GOMODCACHE")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join("go/pkg/mod")))?;
    let directory = cache.join("sigs.k8s.io/kustomize");
    let mut versions: Vec<PathBuf> = std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("api@")))
        .collect();
    versions.sort();
    versions.pop()
}

fn sources(directory: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with("_test.go"))
        .collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

/// Differences that are known and explained in the design note.
const EXPLAINED: [&str; 0] = [];

#[test]
fn trees_of_the_original_tests_render_the_same() {
    let test = "trees_of_the_original_tests_render_the_same";
    let Some(module) = module() else {
        println!("skipped: {test}: the Go module cache has no kustomize");
        return;
    };
    let Some(oracle) = Oracle::find(test) else { return };
    let (mut compared, mut different) = (0, Vec::new());
    for directory in ["krusty", "internal/target"] {
        for (name, steps) in go_source::tests(&sources(&module.join(directory))) {
            let temporary = tempfile::tempdir().expect("a temporary directory");
            let root = temporary.path().canonicalize().expect("a temporary directory");
            for step in steps {
                match step {
                    Step::Write { path, content } => {
                        let file = root.join(path.trim_start_matches('/'));
                        std::fs::create_dir_all(file.parent().expect("a file has a directory")).ok();
                        std::fs::write(&file, content).ok();
                    }
                    Step::Build { path } => {
                        let target = root.join(path.trim_start_matches('/'));
                        compared += 1;
                        if let Some(found) = difference(&oracle, &tree_hash(&root), &root, &target)
                            && !EXPLAINED.contains(&name.as_str())
                        {
                            different.push(format!("{name} {path}: {found}"));
                        }
                    }
                    Step::Unknown => {}
                }
            }
        }
    }
    assert!(compared > 200, "{compared} builds");
    assert!(different.is_empty(), "{} of {compared} differ:\n{}", different.len(), different.join("\n"));
}
