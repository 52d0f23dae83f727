//! Go-template files: `goTemplate:` of a pipeline file.

use std::path::Path;
use std::sync::Arc;

use podsmith_engine::{
    RenderCall, RenderError, Sources, TemplateEngine, TemplateFile, TemplateSource, Values,
};
use podsmith_gotemplate::{Functions, MissingKey, Options, Renderer, TemplateError, TemplateSet, Value};
use podsmith_object::files::DiskFiles;
use podsmith_object::{Diagnostic, Diagnostics};

/// Go templates with the functions of Helm. Templates see the values as `.` and as `.Values`; a missing key is an error.
struct GoTemplates;

impl TemplateEngine for GoTemplates {
    fn execute(
        &self,
        files: &[TemplateFile],
        values: &Values,
        call: &RenderCall<'_>,
    ) -> Result<Vec<String>, RenderError> {
        let mut set = TemplateSet::new(Functions::helm());
        let mut problems = Diagnostics::new();
        for file in files {
            if let Err(error) = set.parse(&file.display, &file.text) {
                problems.push(told(&error));
            }
        }
        problems.into_result(())?;
        let mut data = values.clone();
        data.entry("Values").or_insert_with(|| podsmith_object::Value::Object(values.clone()));
        let data = Value::values_from_json(&data);
        let mut renderer =
            Renderer::new(&set, Options { missing_key: MissingKey::Error, ..Options::default() });
        let mut outputs = Vec::with_capacity(files.len());
        for file in files {
            call.check()?;
            outputs.push(
                renderer.execute(&file.display, &data).map_err(|error| RenderError::from(told(&error)))?,
            );
        }
        Ok(outputs)
    }
}

fn told(error: &TemplateError) -> Diagnostic {
    error.to_diagnostic()
}

/// A renderer over the template files of a pipeline file in `directory`.
///
/// # Errors
///
/// When a pattern is malformed.
pub fn globs(
    directory: &Path,
    patterns: &[String],
    values: &Values,
) -> Result<Sources<TemplateSource>, Diagnostics> {
    let tree = Arc::new(DiskFiles::new(directory));
    let sources = patterns.iter().map(|pattern| {
        Ok(TemplateSource::parse(tree.clone(), pattern, Arc::new(GoTemplates))?.with_values(values.clone()))
    });
    let sources: Result<Vec<_>, podsmith_engine::InvalidPattern> = sources.collect();
    match sources {
        Ok(sources) => Ok(Sources::new("goTemplate", sources)),
        Err(error) => Err(Diagnostic::error(error.to_string()).into()),
    }
}
