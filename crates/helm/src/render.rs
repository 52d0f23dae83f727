//! The way from a chart and values to manifests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use podsmith_gotemplate::{Functions, Map, MapKind, MissingKey, Options, Renderer, TemplateSet, Value};
use podsmith_object::yaml::{self, DocumentSplitter, ReadOptions};
use podsmith_object::{Object, Origin, Value as Json};

use crate::chart::{Chart, Pattern};
use crate::context::{self, Template};
use crate::dependencies::Node;
use crate::error::{HelmError, OutputError};
use crate::manifest::{Head, excerpt, install_rank, split_documents};
use crate::rendered::{Hook, HookEvent, Manifest, Rendered};
use crate::request::{Hooks, Release, RenderRequest, Strictness};
use crate::schema;
use crate::values::coalesce::coalesce;
use crate::values::tables::Nulls;
use crate::version::is_compatible;

/// Renders a chart.
///
/// The chart is not changed: one chart can be rendered by many threads at once, with different values.
///
/// # Errors
///
/// See [`HelmError`]; nothing is returned in part.
pub fn render(chart: &Arc<Chart>, request: &RenderRequest<'_>) -> Result<Rendered, HelmError> {
    let release = match &request.release {
        Some(release) => release.clone(),
        None => Release::new(chart.name(), "default"),
    };
    release.validate()?;
    check_chart(chart, request)?;

    let mut warnings = Vec::new();
    let user_values = user_values(&request.values);
    let mut node = Node::new(chart);
    node.resolve(&user_values, &mut warnings)?;
    // The first pass saw charts that are switched off; what counts is the last one.
    warnings.clear();
    let values = coalesce(&node, &user_values, Nulls::Delete, &mut warnings)?;
    if !request.skip_schema {
        schema::validate(&node, &values, &mut warnings)?;
    }
    check_kube_version(&node, request)?;

    let templates = context::templates(&node, &values, &release, &request.capabilities);
    let set = chart.parsed.get(&templates)?;
    let mut files = execute(&set, &templates, request)?;
    let notes = take_notes(&mut files, &node.metadata.name, request.subchart_notes);
    let crds = if request.include_crds { crds(&node)? } else { Vec::new() };
    // The objects take the room of what is no longer needed.
    drop((templates, values, user_values, node));
    let mut rendered = sort(files)?;
    rendered.crds = crds;
    rendered.notes = notes;
    warnings.append(&mut rendered.warnings);
    rendered.warnings = warnings;
    rendered.apply(request.hooks);
    show_only(rendered, &request.show_only)
}

fn check_chart(chart: &Chart, request: &RenderRequest<'_>) -> Result<(), HelmError> {
    let metadata = chart.metadata();
    if metadata.is_library() {
        return Err(HelmError::Library { chart: chart.name().to_owned() });
    }
    let declared = metadata.dependencies.iter().flatten();
    let missing: Vec<String> = declared
        .filter(|dependency| !chart.subcharts().iter().any(|child| child.name() == dependency.name))
        .map(|dependency| dependency.name.clone())
        .collect();
    if missing.is_empty() || request.allow_missing_dependencies {
        return Ok(());
    }
    Err(HelmError::MissingDependency { chart: chart.name().to_owned(), missing })
}

fn check_kube_version(node: &Node, request: &RenderRequest<'_>) -> Result<(), HelmError> {
    let (range, version) = (&node.metadata.kube_version, &request.capabilities.kube_version.version);
    if range.is_empty() || is_compatible(range, version) {
        return Ok(());
    }
    Err(HelmError::Incompatible {
        chart: node.metadata.name.clone(),
        range: range.clone(),
        version: version.clone(),
    })
}

/// The user's values as templates see them: whole numbers are integers, as `--set` makes them; numbers from files
/// arrive as floats already.
fn user_values(values: &podsmith_object::Map<String, Json>) -> Map {
    let entries = values.iter().map(|(key, value)| (Arc::from(key.as_str()), template_value(value)));
    Map::from_entries(MapKind::Any, entries.collect())
}

fn template_value(value: &Json) -> Value {
    match value {
        Json::Number(number) if !number.is_f64() => match number.as_i64() {
            Some(number) => Value::int64(number),
            None => Value::from_json(value),
        },
        Json::Array(items) => Value::list(items.iter().map(template_value).collect()),
        Json::Object(map) => Value::Map(user_values(map)),
        other => Value::from_json(other),
    }
}

/// Parsed templates of a chart, kept for the next render. Which templates take part depends on conditions, so a set is
/// found again by the paths of its templates.
#[derive(Debug, Default)]
pub(crate) struct TemplateCache {
    sets: Mutex<Vec<CachedSet>>,
}

struct CachedSet {
    paths: Vec<String>,
    set: Arc<TemplateSet>,
}

impl std::fmt::Debug for CachedSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedSet").field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl TemplateCache {
    /// How many combinations of subcharts are kept.
    const LARGEST: usize = 8;

    fn get(&self, templates: &[Template]) -> Result<Arc<TemplateSet>, HelmError> {
        let same = |cached: &&CachedSet| {
            cached.paths.len() == templates.len()
                && cached.paths.iter().zip(templates).all(|(path, template)| *path == template.path)
        };
        if let Ok(sets) = self.sets.lock()
            && let Some(found) = sets.iter().find(same)
        {
            return Ok(found.set.clone());
        }
        let mut set = TemplateSet::new(Functions::helm());
        for template in templates {
            set.parse(&template.path, &String::from_utf8_lossy(&template.text))?;
        }
        let set = Arc::new(set);
        if let Ok(mut sets) = self.sets.lock() {
            if sets.len() >= Self::LARGEST {
                sets.remove(0);
            }
            let paths = templates.iter().map(|template| template.path.clone()).collect();
            sets.push(CachedSet { paths, set: set.clone() });
        }
        Ok(set)
    }
}

/// Executes every template that is not a helper. The result is in path order.
fn execute(
    set: &TemplateSet,
    templates: &[Template],
    request: &RenderRequest<'_>,
) -> Result<BTreeMap<String, String>, HelmError> {
    let missing_key = match request.strictness {
        Strictness::Lenient => MissingKey::Helm,
        Strictness::Strict => MissingKey::Error,
    };
    let options = Options { missing_key, lookup: request.lookup, seed: request.seed, ..Options::default() };
    let mut renderer = Renderer::new(set, options);
    let mut files = BTreeMap::new();
    for template in templates {
        if template.path.rsplit('/').next().is_some_and(|name| name.starts_with('_')) {
            continue;
        }
        if request.go_on.is_some_and(|go_on| !go_on()) {
            return Err(HelmError::Cancelled);
        }
        let about = Map::of_kind(MapKind::Values);
        about.insert("Name", template.path.as_str());
        about.insert("BasePath", template.base.as_str());
        template.root.insert("Template", about);
        let text = renderer.execute(&template.path, &Value::Map(template.root.clone()))?;
        files.insert(template.path.clone(), text);
    }
    Ok(files)
}

/// Takes the notes out of the rendered files: those of the chart itself, and on request those of subcharts.
fn take_notes(files: &mut BTreeMap<String, String>, chart: &str, subcharts: bool) -> Option<String> {
    let own = format!("{chart}/templates/NOTES.txt");
    let paths: Vec<String> = files.keys().filter(|path| path.ends_with("NOTES.txt")).cloned().collect();
    let mut notes: Option<String> = None;
    for path in paths {
        let Some(text) = files.remove(&path) else { continue };
        if subcharts || path == own {
            match &mut notes {
                Some(notes) if !notes.is_empty() => {
                    notes.push('\n');
                    notes.push_str(&text);
                }
                _ => notes = Some(text),
            }
        }
    }
    notes
}

/// Cuts files into manifests, tells hooks apart, and sorts both in install order.
fn sort(files: BTreeMap<String, String>) -> Result<Rendered, HelmError> {
    let mut rendered = Rendered::default();
    for (path, text) in files {
        let template: Arc<str> = Arc::from(path.as_str());
        for (index, (text, lines_before)) in split_documents(&text).into_iter().enumerate() {
            let (head, value) =
                Head::read(&path, text, lines_before).map_err(|error| HelmError::Output(Box::new(error)))?;
            let manifest = Manifest {
                template: template.clone(),
                kind: head.kind.clone(),
                text: text.to_owned(),
                object: object(value, &template, index, lines_before + 1),
            };
            match head.annotations.get("helm.sh/hook") {
                None => rendered.manifests.push(manifest),
                Some(events) => match hook(manifest, &head, events) {
                    Some(hook) => rendered.hooks.push(hook),
                    None => rendered
                        .warnings
                        .push(format!("{path}: unknown hook `{events}`, the object is left out")),
                },
            }
        }
    }
    rendered.manifests.sort_by(|a, b| install_rank(&a.kind).cmp(&install_rank(&b.kind)));
    rendered.hooks.sort_by(|a, b| install_rank(&a.manifest.kind).cmp(&install_rank(&b.manifest.kind)));
    Ok(rendered)
}

fn object(value: Json, template: &Arc<str>, document: usize, line: usize) -> Option<Object> {
    let origin = Origin { file: template.clone(), document, line };
    Object::from_value(value).ok().map(|object| object.with_origin(origin))
}

/// A hook, unless one of its events is unknown.
fn hook(manifest: Manifest, head: &Head, events: &str) -> Option<Hook> {
    let events: Option<Vec<HookEvent>> = events.split(',').map(HookEvent::parse).collect();
    let list = |key: &str| {
        let text = head.annotations.get(key);
        text.into_iter().flat_map(|text| text.split(',')).map(|item| item.trim().to_lowercase()).collect()
    };
    let weight = head.annotations.get("helm.sh/hook-weight").and_then(|text| text.parse().ok()).unwrap_or(0);
    Some(Hook {
        name: head.name.clone(),
        events: events?,
        weight,
        delete_policies: list("helm.sh/hook-delete-policy"),
        output_log_policies: list("helm.sh/hook-output-log-policy"),
        manifest,
    })
}

/// The custom resource definitions of a chart, then those of its subcharts.
fn crds(node: &Node) -> Result<Vec<Manifest>, HelmError> {
    let path = node.path();
    let mut found = Vec::new();
    for file in node.chart.crds() {
        let template: Arc<str> = Arc::from(format!("{path}/{}", file.path()));
        let text = String::from_utf8_lossy(file.content());
        crd_documents(&text, &template, &mut found)?;
    }
    for child in &node.subcharts {
        found.extend(crds(child)?);
    }
    Ok(found)
}

fn crd_documents(text: &str, template: &Arc<str>, found: &mut Vec<Manifest>) -> Result<(), HelmError> {
    let options = ReadOptions::lenient();
    let broken = |message: String, line, column, excerpt| {
        let template = template.to_string();
        HelmError::Output(Box::new(OutputError { template, message, line, column, excerpt }))
    };
    for chunk in DocumentSplitter::new(text.as_bytes(), options.limits.document_bytes) {
        let chunk = chunk.map_err(|error| broken(error.to_string(), 0, 0, String::new()))?;
        let documents = yaml::read_document(&chunk.text, options).map_err(|error| {
            let shown = excerpt(&chunk.text, error.line, chunk.lines_before);
            broken(error.message.clone(), error.line + chunk.lines_before, error.column, shown)
        })?;
        for (index, (value, line)) in documents.into_iter().enumerate() {
            let object = object(value, template, index, line + chunk.lines_before);
            let Some(object) = object else { continue };
            found.push(Manifest {
                template: template.clone(),
                kind: object.kind().to_owned(),
                text: chunk.text.trim_start_matches("---").trim().to_owned(),
                object: Some(object),
            });
        }
    }
    Ok(())
}

/// Keeps what the patterns name, in the order of the patterns. All of it becomes manifests, whatever it was.
fn show_only(rendered: Rendered, patterns: &[String]) -> Result<Rendered, HelmError> {
    if patterns.is_empty() {
        return Ok(rendered);
    }
    let mut shown = Vec::new();
    for pattern in patterns {
        let missing = || HelmError::NothingToShow { pattern: pattern.clone() };
        let compiled = Pattern::parse(pattern).map_err(|_| missing())?;
        let before = shown.len();
        shown.extend(rendered.documents().filter(|manifest| {
            manifest.template.split_once('/').is_some_and(|(_, inner)| compiled.matches(inner))
        }));
        if shown.len() == before {
            return Err(missing());
        }
    }
    let manifests = shown.into_iter().cloned().collect();
    Ok(Rendered { crds: Vec::new(), manifests, hooks: Vec::new(), ..rendered })
}

impl Rendered {
    fn apply(&mut self, hooks: Hooks) {
        match hooks {
            Hooks::Include => {}
            Hooks::WithoutTests => self.hooks.retain(|hook| !hook.events.contains(&HookEvent::Test)),
            Hooks::Leave => self.hooks.clear(),
        }
    }
}
