//! `values.schema.json`: the values of every chart against that chart's own schema.

use jsonschema::{Retrieve, Uri};
use podsmith_gotemplate::{Map, Value};
use podsmith_object::Value as Json;

use crate::chart::ChartFile;
use crate::dependencies::Node;
use crate::error::{HelmError, SchemaProblem};
use crate::reading::with_whole_numbers;
use crate::values::tables::Warnings;

/// Checks the values of a chart and of its subcharts.
pub(crate) fn validate(node: &Node, values: &Map, warnings: &mut Warnings) -> Result<(), HelmError> {
    let mut problems = Vec::new();
    collect(node, values, &mut problems, warnings);
    if problems.is_empty() { Ok(()) } else { Err(HelmError::Schema(problems)) }
}

fn collect(node: &Node, values: &Map, problems: &mut Vec<SchemaProblem>, warnings: &mut Warnings) {
    let name = &node.metadata.name;
    if let Some(schema) = node.chart.schema() {
        let found = check(schema, values, warnings);
        problems.extend(found.into_iter().map(|(path, message)| SchemaProblem {
            chart: name.clone(),
            path,
            message,
        }));
    }
    for child in &node.subcharts {
        match values.get(&child.metadata.name) {
            None | Some(Value::Nil) => {}
            Some(Value::Map(inner)) => collect(child, &inner, problems, warnings),
            Some(other) => problems.push(SchemaProblem {
                chart: child.metadata.name.clone(),
                path: String::new(),
                message: format!("the values must be a mapping, this is {}", other.type_name()),
            }),
        }
    }
}

/// Where and how the values break one schema.
fn check(schema: &ChartFile, values: &Map, warnings: &mut Warnings) -> Vec<(String, String)> {
    let broken = |reason: String| vec![(String::new(), format!("values.schema.json: {reason}"))];
    let mut schema: Json = match serde_json::from_slice(schema.content()) {
        Ok(schema) => schema,
        Err(error) => return broken(error.to_string()),
    };
    use_known_dialect(&mut schema);
    let offline = std::sync::Arc::new(Offline::default());
    let validator = jsonschema::options()
        .with_retriever(OfflineRetriever(offline.clone()))
        .should_ignore_unknown_formats(true)
        .build(&schema);
    let validator = match validator {
        Ok(validator) => validator,
        Err(error) => return broken(error.to_string()),
    };
    warnings.extend(offline.take().into_iter().map(|uri| {
        format!("values.schema.json refers to {uri}, which is not fetched; that part is not checked")
    }));
    let values = with_whole_numbers(&Value::Map(values.clone()).to_json());
    validator
        .iter_errors(&values)
        .map(|error| (dotted(&error.instance_path().to_string()), error.to_string()))
        .collect()
}

/// `/a/0/b` as `a[0].b`.
fn dotted(pointer: &str) -> String {
    let mut out = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if step.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&format!("[{step}]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&step);
        }
    }
    out
}

/// A `$schema` that names no known draft means the latest one.
fn use_known_dialect(schema: &mut Json) {
    let known = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"];
    if let Json::Object(map) = schema
        && let Some(Json::String(dialect)) = map.get("$schema")
        && !known.iter().any(|draft| dialect.contains(draft))
    {
        map.shift_remove("$schema");
    }
}

/// Remote schemas that were asked for.
#[derive(Default)]
struct Offline {
    asked: std::sync::Mutex<Vec<String>>,
}

impl Offline {
    fn take(&self) -> Vec<String> {
        self.asked.lock().map(|mut asked| std::mem::take(&mut *asked)).unwrap_or_default()
    }
}

struct OfflineRetriever(std::sync::Arc<Offline>);

impl Retrieve for OfflineRetriever {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Json, Box<dyn std::error::Error + Send + Sync>> {
        if let Ok(mut asked) = self.0.asked.lock() {
            asked.push(uri.to_string());
        }
        Ok(Json::Bool(true))
    }
}
