//! `values.schema.json`: the values of every chart against that chart's own schema.

use std::sync::{Arc, OnceLock};

use jsonschema::{Retrieve, Uri, Validator};
use podsmith_gotemplate::{Map, Value};
use podsmith_object::Value as Json;

use crate::chart::{Chart, ChartFile};
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
        let found = check(&node.chart, schema, values, warnings);
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

/// A chart's schema, compiled when it is first needed and kept with the chart.
#[derive(Default)]
pub(crate) struct CompiledSchema(OnceLock<Compiled>);

impl std::fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CompiledSchema")
    }
}

struct Compiled {
    validator: Result<Validator, String>,
    /// Remote parts that were not fetched.
    skipped: Vec<String>,
}

fn compile(schema: &ChartFile) -> Compiled {
    let mut schema: Json = match serde_json::from_slice(schema.content()) {
        Ok(schema) => schema,
        Err(error) => return Compiled { validator: Err(error.to_string()), skipped: Vec::new() },
    };
    use_known_dialects(&mut schema, true);
    let offline = Arc::new(Offline::default());
    let validator = jsonschema::options()
        .with_retriever(OfflineRetriever(offline.clone()))
        .should_ignore_unknown_formats(true)
        .build(&schema)
        .map_err(|error| error.to_string());
    Compiled { validator, skipped: offline.take() }
}

/// Where and how the values break one schema.
fn check(chart: &Chart, schema: &ChartFile, values: &Map, warnings: &mut Warnings) -> Vec<(String, String)> {
    let compiled = chart.compiled_schema.0.get_or_init(|| compile(schema));
    warnings.extend(compiled.skipped.iter().map(|uri| {
        format!("values.schema.json refers to {uri}, which is not fetched; that part is not checked")
    }));
    let validator = match &compiled.validator {
        Ok(validator) => validator,
        Err(reason) => return vec![(String::new(), format!("values.schema.json: {reason}"))],
    };
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

/// Writes every `$schema` the way the specifications do: charts have it with `https`, without `#`, or made up. One
/// that names no known draft means the latest.
fn use_known_dialects(schema: &mut Json, is_root: bool) {
    const DRAFTS: [(&str, &str); 5] = [
        ("draft-04", "http://json-schema.org/draft-04/schema#"),
        ("draft-06", "http://json-schema.org/draft-06/schema#"),
        ("draft-07", "http://json-schema.org/draft-07/schema#"),
        ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ];
    match schema {
        Json::Object(map) => {
            if let Some(Json::String(dialect)) = map.get_mut("$schema") {
                match DRAFTS.iter().find(|(name, _)| dialect.contains(name)) {
                    Some((_, known)) => (*known).clone_into(dialect),
                    None if is_root => {
                        map.shift_remove("$schema");
                    }
                    None => {}
                }
            }
            map.values_mut().for_each(|inner| use_known_dialects(inner, false));
        }
        Json::Array(items) => items.iter_mut().for_each(|inner| use_known_dialects(inner, false)),
        _ => {}
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

struct OfflineRetriever(Arc<Offline>);

impl Retrieve for OfflineRetriever {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Json, Box<dyn std::error::Error + Send + Sync>> {
        if let Ok(mut asked) = self.0.asked.lock() {
            asked.push(uri.to_string());
        }
        Ok(Json::Bool(true))
    }
}
