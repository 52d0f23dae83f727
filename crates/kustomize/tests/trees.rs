//! Small trees, one file each: every field, every directive, every error.
//!
//! A file in `tests/trees` holds files under `-- path --` lines and, last, what must come out under `-- expected --`:
//! objects, or `refused:` and our message. The directory to build is the first file's. With the real tool at hand the
//! expectation is checked against it too. Set `PODSMITH_WRITE_EXPECTED` to write the last part anew: objects come from
//! the real tool, messages from us.

mod oracle;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oracle::{Answer, Oracle, tree_hash};
use podsmith_kustomize::{BuildOptions, build};
use podsmith_object::files::MemoryFiles;
use podsmith_object::{Value, yaml};

struct Tree {
    files: Vec<(String, String)>,
    expected: String,
}

fn parse(text: &str) -> Tree {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let header = line.trim_end().strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
        match (header, files.last_mut()) {
            (Some(path), _) => files.push((path.to_owned(), String::new())),
            (None, Some((_, content))) => content.push_str(line),
            (None, None) => {}
        }
    }
    let last = files.pop().expect("a tree has an expectation");
    if last.0 == "expected" {
        return Tree { files, expected: last.1 };
    }
    files.push(last);
    Tree { files, expected: String::new() }
}

fn directory(tree: &Tree) -> &str {
    tree.files.first().and_then(|(path, _)| path.rsplit_once('/')).map_or("", |(directory, _)| directory)
}

fn ours(tree: &Tree) -> Result<Vec<Value>, String> {
    let mut files = MemoryFiles::new();
    for (path, content) in &tree.files {
        files.insert(path, content);
    }
    match build(Arc::new(files), directory(tree), &BuildOptions::default()) {
        Ok(built) => Ok(built.objects.into_iter().map(podsmith_object::Object::into_value).collect()),
        Err(problems) => Err(problems.to_string()),
    }
}

fn real(oracle: &Oracle, tree: &Tree) -> Result<Vec<Value>, String> {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let root = temporary.path().canonicalize().expect("a temporary directory");
    for (path, content) in &tree.files {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().expect("a file has a directory")).expect("writable");
        std::fs::write(file, content).expect("writable");
    }
    match oracle.answer(&tree_hash(&root), &root.join(directory(tree)), directory(tree)) {
        Answer::Objects(objects) => Ok(objects),
        Answer::Refused(reason) => Err(reason),
    }
}

fn show(result: &Result<Vec<Value>, String>) -> String {
    match result {
        Ok(objects) => {
            let mut out = String::new();
            for (index, object) in objects.iter().enumerate() {
                if index > 0 {
                    out.push_str("---\n");
                }
                out.push_str(&yaml::to_string(object));
            }
            out
        }
        Err(message) => format!("refused:\n{message}\n"),
    }
}

fn write_back(path: &Path, tree: &Tree, expected: &str) {
    let mut out = String::new();
    for (file, content) in &tree.files {
        let _ = write!(out, "-- {file} --\n{content}");
    }
    let _ = write!(out, "-- expected --\n{expected}");
    std::fs::write(path, out).expect("the tree can be written");
}

#[test]
fn small_trees_render_as_expected() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the trees are there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tree"))
        .collect();
    paths.sort();
    let oracle = Oracle::find("small_trees_render_as_expected (the comparison with the real tool)");
    let rewrite = std::env::var_os("PODSMITH_WRITE_EXPECTED").is_some();
    let mut wrong = Vec::new();
    for path in &paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let tree = parse(&std::fs::read_to_string(path).expect("a tree can be read"));
        let found = ours(&tree);
        if let Some(oracle) = &oracle {
            let real = real(oracle, &tree);
            match (&real, &found) {
                (Err(_), Err(_)) => {}
                (Ok(expected), Ok(found)) if expected == found => {}
                _ => wrong.push(format!(
                    "== {name}: the real tool gives\n{}\nwe give\n{}",
                    show(&real),
                    show(&found)
                )),
            }
        }
        if rewrite {
            write_back(path, &tree, &show(&found));
        } else if show(&found) != tree.expected {
            wrong.push(format!("== {name}: expected\n{}\nfound\n{}", tree.expected, show(&found)));
        }
    }
    assert!(paths.len() >= 5, "{} trees", paths.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), paths.len(), wrong.join("\n"));
}
