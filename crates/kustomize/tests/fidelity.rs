//! The same result as the real tool, directory by directory.

mod oracle;

use std::path::{Path, PathBuf};

use oracle::{Oracle, difference, kustomizations, tree_hash};

fn shared_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}

/// Compares every kustomization below `root` and reports all differences at once.
fn compare_all(oracle: &Oracle, root: &Path) -> (usize, Vec<String>) {
    let root = root.canonicalize().expect("the directory is there");
    let tree = tree_hash(&root);
    let directories = kustomizations(&root);
    let different = directories
        .iter()
        .filter_map(|directory| {
            let found = difference(oracle, &tree, &root, directory)?;
            Some(format!("{}: {found}", directory.strip_prefix(&root).unwrap_or(directory).display()))
        })
        .collect();
    (directories.len(), different)
}

#[test]
fn public_tree_renders_like_the_real_tool() {
    let test = "public_tree_renders_like_the_real_tool";
    let root = shared_data().join("kustomize");
    if !root.is_dir() {
        println!("skipped: {test}: there is no data");
        return;
    }
    let Some(oracle) = Oracle::find(test) else { return };
    let (count, different) = compare_all(&oracle, &root);
    assert!(count > 200, "{count} directories");
    assert!(different.is_empty(), "{} of {count} differ:\n{}", different.len(), different.join("\n"));
}

/// Compares the trees that `PODSMITH_KUSTOMIZE_TREES` names, separated by colons.
#[test]
fn trees_of_your_own_render_like_the_real_tool() {
    let test = "trees_of_your_own_render_like_the_real_tool";
    let Some(trees) = std::env::var_os("PODSMITH_KUSTOMIZE_TREES") else {
        println!("skipped: {test}: PODSMITH_KUSTOMIZE_TREES is not set");
        return;
    };
    let Some(oracle) = Oracle::find(test) else { return };
    let (mut count, mut different) = (0, Vec::new());
    for root in std::env::split_paths(&trees) {
        let (more, found) = compare_all(&oracle, &root);
        count += more;
        different.extend(found);
    }
    assert!(different.is_empty(), "{} of {count} differ:\n{}", different.len(), different.join("\n"));
}
