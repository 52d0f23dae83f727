//! The real tool as judge: runs it, remembers its answers, compares.

#![allow(dead_code, clippy::print_stdout, reason = "each test file uses a part, and skipped tests say so")]

pub mod go_source;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use podsmith_kustomize::{BuildOptions, build};
use podsmith_object::files::DiskFiles;
use podsmith_object::{Value, yaml};
use sha2::{Digest, Sha256};

/// What the real tool says about a directory.
pub enum Answer {
    Objects(Vec<Value>),
    Refused(String),
}

/// The real tool with a memory of its answers, keyed by the content of the tree.
pub struct Oracle {
    binary: PathBuf,
    memory: PathBuf,
}

impl Oracle {
    /// Finds the tool, or says why a test is skipped.
    pub fn find(test: &str) -> Option<Self> {
        let home = std::env::var_os("PODSMITH_ORACLES").map(PathBuf::from).or_else(|| {
            std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/podsmith-oracles"))
        })?;
        let binary = home.join("kubectl");
        if !binary.is_file() {
            println!("skipped: {test}: there is no kubectl to compare with");
            return None;
        }
        let memory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kustomize-oracle");
        std::fs::create_dir_all(&memory).expect("the target directory can be written");
        Some(Self { binary, memory })
    }

    /// The answer for `directory`; `tree` identifies the content it depends on.
    pub fn answer(&self, tree: &str, directory: &Path, relative: &str) -> Answer {
        let key = format!("{:x}", Sha256::digest(format!("{tree}\0{relative}")));
        let (good, bad) = (self.memory.join(format!("{key}.yaml")), self.memory.join(format!("{key}.error")));
        if !good.exists() && !bad.exists() {
            // Without a home and with a dead proxy nothing remote is fetched.
            let output = Command::new(&self.binary)
                .arg("kustomize")
                .arg(directory)
                .env("HTTPS_PROXY", "http://127.0.0.1:9")
                .env("HTTP_PROXY", "http://127.0.0.1:9")
                .env("GIT_SSH_COMMAND", "false")
                .env("GIT_TERMINAL_PROMPT", "0")
                .output()
                .expect("the tool starts");
            let (file, content) =
                if output.status.success() { (&good, output.stdout) } else { (&bad, output.stderr) };
            let temporary = self.memory.join(format!("{key}.{}", std::process::id()));
            std::fs::write(&temporary, content).expect("an answer can be kept");
            std::fs::rename(&temporary, file).expect("an answer can be kept");
        }
        match std::fs::read(&good) {
            Ok(text) => {
                let text = String::from_utf8(text).expect("the tool prints UTF-8");
                let values = yaml::read_values(&text, yaml::ReadOptions::default());
                let values = values.unwrap_or_else(|error| panic!("the tool prints readable YAML: {error}"));
                Answer::Objects(values.into_iter().filter(|value| !value.is_null()).collect())
            }
            Err(_) => Answer::Refused(std::fs::read_to_string(bad).unwrap_or_default()),
        }
    }
}

/// A hash over names and contents of all files below a directory.
pub fn tree_hash(root: &Path) -> String {
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(file.strip_prefix(root).unwrap_or(&file).to_string_lossy().as_bytes());
        hasher.update([0]);
        hasher.update(std::fs::read(&file).unwrap_or_default());
        hasher.update([0]);
    }
    format!("{:x}", hasher.finalize())
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Directories below `root` that hold a kustomization.
pub fn kustomizations(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(root, &mut files);
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    let mut found: Vec<PathBuf> = files
        .iter()
        .filter(|file| file.file_name().and_then(|name| name.to_str()).is_some_and(|n| names.contains(&n)))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// `None` if both agree, else what differs.
pub fn difference(oracle: &Oracle, tree: &str, root: &Path, directory: &Path) -> Option<String> {
    let relative = directory.strip_prefix(root).unwrap_or(directory).to_string_lossy().into_owned();
    let expected = oracle.answer(tree, directory, &relative);
    let files = DiskFiles::new("/");
    let path = directory.to_string_lossy();
    let found = build(Arc::new(files), path.trim_start_matches('/'), &BuildOptions::default());
    match (expected, found) {
        (Answer::Refused(_), Err(_)) => None,
        (Answer::Refused(reason), Ok(_)) => Some(format!("only the real tool refuses: {}", reason.trim())),
        (Answer::Objects(_), Err(problems)) => Some(format!("only we refuse: {problems}")),
        (Answer::Objects(expected), Ok(found)) => {
            let found: Vec<Value> =
                found.objects.into_iter().map(podsmith_object::Object::into_value).collect();
            compare(&expected, &found)
        }
    }
}

fn compare(expected: &[Value], found: &[Value]) -> Option<String> {
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        if expected != found {
            let (a, b) = (yaml::to_string(expected), yaml::to_string(found));
            let line = a.lines().zip(b.lines()).position(|(x, y)| x != y).unwrap_or(0);
            let cut = |text: &str| {
                text.lines().skip(line.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n    ")
            };
            let name = format!("{} {}", expected["kind"], expected["metadata"]["name"]);
            return Some(format!(
                "object {index} ({name}):\n  real:\n    {}\n  ours:\n    {}",
                cut(&a),
                cut(&b)
            ));
        }
    }
    (expected.len() != found.len()).then(|| format!("{} objects, we give {}", expected.len(), found.len()))
}
