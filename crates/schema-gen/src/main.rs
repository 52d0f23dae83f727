//! Makes the schema table of `podsmith-schema` from the Kubernetes Go modules.
//!
//! ```text
//! podsmith-schema-gen OUTPUT-FOLDER            writes resources.txt and types.txt.gz
//! podsmith-schema-gen --check OUTPUT-FOLDER    fails when they differ from what would be written
//! ```
//!
//! Only facts are taken over: names, types, tags and markers. No text of the modules ends up in the table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod discovery;
mod golang;
mod modules;
mod packages;
mod render;

use modules::Failure;

/// The Kubernetes version the table describes.
const KUBERNETES: &str = "1.36.3";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.first().is_some_and(|first| first == "--check");
    if check {
        arguments.remove(0);
    }
    let [folder] = arguments.as_slice() else {
        return tell("usage: podsmith-schema-gen [--check] OUTPUT-FOLDER", 64);
    };
    match run(Path::new(folder), check) {
        Ok(summary) => tell(&summary, 0),
        Err(failure) => tell(&format!("error: {failure}"), 1),
    }
}

#[allow(clippy::print_stderr, reason = "this is the edge of a tool")]
fn tell(text: &str, code: u8) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(code)
}

fn run(folder: &Path, check: bool) -> Result<String, Failure> {
    let resources =
        discovery::resources(&modules::download("k8s.io/kubernetes", &format!("v{KUBERNETES}"))?)?;
    let packages = packages::read_all(&library_version())?;
    let types = render::types(&packages);
    let compressed = render::compress(&types)?;
    let files =
        [(folder.join("resources.txt"), resources.into_bytes()), (folder.join("types.txt.gz"), compressed)];
    for (path, bytes) in &files {
        if check { compare(path, bytes)? } else { write(path, bytes)? }
    }
    let sizes: Vec<String> =
        files.iter().map(|(path, bytes)| format!("{} {}", path.display(), bytes.len())).collect();
    Ok(format!("{} bytes of types; {}", types.len(), sizes.join(", ")))
}

/// The version of the library modules that belong to this Kubernetes.
fn library_version() -> String {
    format!("v0.{}", KUBERNETES.split_once('.').map_or(KUBERNETES, |(_, rest)| rest))
}

fn write(path: &PathBuf, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|source| Failure::File { path: path.clone(), source })
}

fn compare(path: &PathBuf, bytes: &[u8]) -> Result<(), Failure> {
    let found = std::fs::read(path).map_err(|source| Failure::File { path: path.clone(), source })?;
    if found == bytes { Ok(()) } else { Err(Failure::Stale { path: path.clone() }) }
}
