//! What a SOURCE argument is: decided by its spelling and by what lies on disk, never by guessing at content.

use std::path::{Path, PathBuf};

use podsmith_object::{Diagnostic, Place, suggest};

/// What a SOURCE argument names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// Kubernetes YAML and JSON files.
    Objects(Vec<PathBuf>),
    /// Podfiles.
    Podfiles(Vec<PathBuf>),
    /// A chart directory.
    ChartDirectory(PathBuf),
    /// A packed chart.
    ChartArchive(PathBuf),
    /// A chart in a registry.
    OciChart(String),
    /// Something to fetch.
    Url(String),
    /// A directory with a kustomization.
    Kustomization(PathBuf),
    /// A pipeline file.
    Pipeline(PathBuf),
    /// A pod spec.
    PodSpec(PathBuf),
}

const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
const PIPELINES: [&str; 2] = ["podsmith.yaml", "podsmith.yml"];
const POD_SPECS: [&str; 2] = ["pod.yaml", "pod.yml"];

/// Recognises one SOURCE. A mixed directory gives several inputs, in name order.
///
/// # Errors
///
/// When nothing is there, or nothing in it can be rendered.
pub fn recognise(source: &str) -> Result<Vec<Input>, Diagnostic> {
    if source == "-" {
        return Ok(vec![Input::Stdin]);
    }
    if source.starts_with("oci://") {
        return Ok(vec![Input::OciChart(source.to_owned())]);
    }
    if source.starts_with("https://") || source.starts_with("http://") {
        return Ok(vec![Input::Url(source.to_owned())]);
    }
    let path = Path::new(source.strip_prefix("file://").unwrap_or(source));
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => directory(path),
        Ok(_) => file(path, Named::Directly).map(|input| vec![input]),
        Err(_) if is_glob(source) => glob(source),
        Err(error) => Err(missing(path, &error)),
    }
}

fn missing(path: &Path, error: &std::io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("could not read the source: {error}")).at(place(path));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return diagnostic };
    let siblings = names_in(parent).unwrap_or_default();
    let near = suggest::nearest(name, siblings.iter().map(String::as_str));
    diagnostic.with_hint_if(near.map(|near| format!("did you mean `{}`?", parent.join(near).display())))
}

fn place(path: &Path) -> Place {
    Place::file(path.display().to_string())
}

fn names_in(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(directory)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// Whether the user named a file or it was found in a directory.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Named {
    Directly,
    InDirectory,
}

fn file(path: &Path, named: Named) -> Result<Input, Diagnostic> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parent = || path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    if named == Named::Directly {
        if KUSTOMIZATIONS.contains(&name) {
            return Ok(Input::Kustomization(parent()));
        }
        if PIPELINES.contains(&name) {
            return Ok(Input::Pipeline(path.to_owned()));
        }
        if POD_SPECS.contains(&name) {
            return Ok(Input::PodSpec(path.to_owned()));
        }
        if name == "Chart.yaml" {
            return Ok(Input::ChartDirectory(parent()));
        }
    }
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".pf") {
        return Ok(Input::Podfiles(vec![path.to_owned()]));
    }
    if lower.ends_with(".tgz") || lower.ends_with(".tar.gz") {
        return Ok(Input::ChartArchive(path.to_owned()));
    }
    Ok(Input::Objects(vec![path.to_owned()]))
}

/// True for the files that a directory of manifests consists of.
fn is_manifest(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.starts_with('.') && [".pf", ".yaml", ".yml", ".json"].iter().any(|ending| lower.ends_with(ending))
}

fn directory(path: &Path) -> Result<Vec<Input>, Diagnostic> {
    let names = names_in(path).map_err(|error| {
        Diagnostic::error(format!("could not read the directory: {error}")).at(place(path))
    })?;
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if has("Chart.yaml") {
        return Ok(vec![Input::ChartDirectory(path.to_owned())]);
    }
    if KUSTOMIZATIONS.iter().any(|name| has(name)) {
        return Ok(vec![Input::Kustomization(path.to_owned())]);
    }
    if let Some(name) = PIPELINES.iter().find(|name| has(name)) {
        return Ok(vec![Input::Pipeline(path.join(name))]);
    }
    if let Some(name) = POD_SPECS.iter().find(|name| has(name)) {
        return Ok(vec![Input::PodSpec(path.join(name))]);
    }
    let files: Vec<PathBuf> = names
        .iter()
        .filter(|name| is_manifest(name))
        .map(|name| path.join(name))
        .filter(|path| path.is_file())
        .collect();
    if files.is_empty() {
        let hint = "a directory needs a Chart.yaml, kustomization.yaml, podsmith.yaml or pod.yaml, or .pf, .yaml, .yml or .json files; for files further down write a glob such as 'dir/**/*.yaml'";
        return Err(Diagnostic::error("there is nothing to render in this directory")
            .at(place(path))
            .with_hint(hint));
    }
    collect(files)
}

/// Inputs in order; neighbours of one kind become one input, so that Podfiles see each other.
fn collect(files: Vec<PathBuf>) -> Result<Vec<Input>, Diagnostic> {
    let mut inputs: Vec<Input> = Vec::new();
    for path in files {
        match (inputs.last_mut(), file(&path, Named::InDirectory)?) {
            (Some(Input::Objects(list)), Input::Objects(more))
            | (Some(Input::Podfiles(list)), Input::Podfiles(more)) => {
                list.extend(more);
            }
            (_, input) => inputs.push(input),
        }
    }
    Ok(inputs)
}

/// Podfiles that follow each other become one input, so that they see each other's blocks.
pub(super) fn join_podfiles(inputs: Vec<Input>) -> Vec<Input> {
    let mut joined: Vec<Input> = Vec::with_capacity(inputs.len());
    for input in inputs {
        match (joined.last_mut(), input) {
            (Some(Input::Podfiles(list)), Input::Podfiles(more)) => list.extend(more),
            (_, input) => joined.push(input),
        }
    }
    joined
}

fn is_glob(source: &str) -> bool {
    source.contains(['*', '?', '[', '{'])
}

fn glob(pattern: &str) -> Result<Vec<Input>, Diagnostic> {
    let files = super::glob::expand(pattern)
        .map_err(|reason| Diagnostic::error(format!("bad glob: {reason}")).at(Place::file(pattern)))?;
    if files.is_empty() {
        return Err(Diagnostic::error("no file matches this glob").at(Place::file(pattern)));
    }
    collect(files)
}
