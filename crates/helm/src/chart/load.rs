//! Files into a chart.

use std::collections::BTreeMap;
use std::sync::Arc;

use podsmith_object::{Diagnostic, Map, Place, Value};

use super::file::ChartFile;
use super::metadata::{Lock, Metadata, MetadataError};
use super::{Chart, archive};
use crate::error::HelmError;
use crate::reading::first_document;
use crate::render::TemplateCache;
use crate::schema::CompiledSchema;

/// How deep charts may contain charts.
const DEEPEST: usize = 32;

/// Sorts files into the parts of a chart. `origin` is what messages call the chart.
pub(super) fn from_files(files: Vec<ChartFile>, origin: &str) -> Result<Arc<Chart>, HelmError> {
    nested(files, origin, 0)
}

fn nested(files: Vec<ChartFile>, origin: &str, depth: usize) -> Result<Arc<Chart>, HelmError> {
    if depth > DEEPEST {
        let limit = format!("charts nested deeper than {DEEPEST} levels");
        return Err(HelmError::TooLarge { path: origin.to_owned(), limit });
    }
    let mut metadata = read_metadata(&files, origin)?;
    let mut parts = Parts::default();
    for file in files {
        parts.take(file, &mut metadata, origin)?;
    }
    let Some(mut metadata) = metadata else {
        return Err(HelmError::NotAChart { path: origin.to_owned() });
    };
    metadata.validate().map_err(|error| refuse(origin, "Chart.yaml", &error))?;
    let subcharts = parts.subcharts(origin, depth)?;
    Ok(Arc::new(Chart {
        metadata,
        lock: parts.lock,
        values: parts.values,
        schema: parts.schema,
        templates: parts.templates,
        files: parts.files,
        subcharts,
        parsed: TemplateCache::default(),
        compiled_schema: CompiledSchema::default(),
    }))
}

fn read_metadata(files: &[ChartFile], origin: &str) -> Result<Option<Metadata>, HelmError> {
    let mut metadata: Option<Metadata> = None;
    for file in files.iter().filter(|file| file.path() == "Chart.yaml") {
        let found = metadata.get_or_insert_default();
        let document = document_of(file, origin)?;
        found.absorb(&document).map_err(|error| refuse(origin, file.path(), &error))?;
        if found.api_version.is_empty() {
            // Charts of Helm 2 had none.
            "v1".clone_into(&mut found.api_version);
        }
    }
    Ok(metadata)
}

#[derive(Default)]
struct Parts {
    lock: Option<Lock>,
    values: Map<String, Value>,
    schema: Option<ChartFile>,
    templates: Vec<ChartFile>,
    files: Vec<ChartFile>,
    nested: BTreeMap<String, Vec<ChartFile>>,
}

impl Parts {
    fn take(
        &mut self,
        file: ChartFile,
        metadata: &mut Option<Metadata>,
        origin: &str,
    ) -> Result<(), HelmError> {
        let is_v1 = metadata.as_ref().is_some_and(|metadata| metadata.api_version == "v1");
        match file.path() {
            "Chart.yaml" => {}
            "values.yaml" => self.values = values_of(&file, origin)?,
            "values.schema.json" => self.schema = Some(file),
            "Chart.lock" => self.lock = Some(lock_of(&file, origin)?),
            "requirements.yaml" => {
                let document = document_of(&file, origin)?;
                let metadata = metadata.get_or_insert_default();
                metadata.absorb(&document).map_err(|error| refuse(origin, file.path(), &error))?;
                if is_v1 {
                    self.files.push(file);
                }
            }
            "requirements.lock" => {
                self.lock = Some(lock_of(&file, origin)?);
                if is_v1 {
                    self.files.push(file);
                }
            }
            path if path.starts_with("templates/") => self.templates.push(file),
            path if path.starts_with("charts/") && !path.ends_with(".prov") => {
                if let Some(inner) = file.below("charts/") {
                    let name = inner.path().split('/').next().unwrap_or_default().to_owned();
                    self.nested.entry(name).or_default().push(inner);
                }
            }
            _ => self.files.push(file),
        }
        Ok(())
    }

    fn subcharts(&mut self, origin: &str, depth: usize) -> Result<Vec<Arc<Chart>>, HelmError> {
        let mut subcharts = Vec::new();
        for (name, files) in std::mem::take(&mut self.nested) {
            if name.starts_with(['_', '.']) {
                continue;
            }
            let origin = format!("{origin}/charts/{name}");
            let is_archive = name.ends_with(".tgz");
            let files = match files.as_slice() {
                [file] if is_archive && file.path() == name => archive::unpack(file.content())
                    .map_err(|source| HelmError::Archive { name: origin.clone(), source })?,
                files => files.iter().filter_map(|file| file.below(&format!("{name}/"))).collect(),
            };
            subcharts.push(nested(files, &origin, depth + 1)?);
        }
        Ok(subcharts)
    }
}

fn refuse(origin: &str, file: &str, error: &MetadataError) -> HelmError {
    let diagnostic = Diagnostic::error(error.to_string()).at(Place::file(format!("{origin}/{file}")));
    HelmError::File(Box::new(diagnostic))
}

fn text_of<'f>(file: &'f ChartFile, origin: &str) -> Result<&'f str, HelmError> {
    std::str::from_utf8(file.content()).map_err(|error| {
        let before = &file.content()[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let place = Place::new(format!("{origin}/{}", file.path()), line, 0);
        HelmError::File(Box::new(Diagnostic::error("this is not valid UTF-8").at(place)))
    })
}

fn document_of(file: &ChartFile, origin: &str) -> Result<Value, HelmError> {
    let text = text_of(file, origin)?;
    first_document(text).map_err(|error| {
        HelmError::File(Box::new(error.to_diagnostic(&format!("{origin}/{}", file.path()), text, 0)))
    })
}

fn lock_of(file: &ChartFile, origin: &str) -> Result<Lock, HelmError> {
    Lock::read(&document_of(file, origin)?).map_err(|error| refuse(origin, file.path(), &error))
}

fn values_of(file: &ChartFile, origin: &str) -> Result<Map<String, Value>, HelmError> {
    match document_of(file, origin)? {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        other => {
            let error = MetadataError::Type {
                field: "values".to_owned(),
                expected: "a mapping",
                found: super::describe(&other),
            };
            Err(refuse(origin, file.path(), &error))
        }
    }
}
