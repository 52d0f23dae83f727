//! `--values` and `--set`.

use std::path::PathBuf;

use podsmith_helm::values::{SetMode, set as set_value};
use podsmith_object::{Diagnostic, Diagnostics, Map, Place, Value, merge, yaml};

use crate::failure::Failure;

/// Merges the files in order, then the single values.
///
/// # Errors
///
/// Every file that cannot be read and every malformed `--set`.
pub fn read(files: &[PathBuf], set: &[String], set_string: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut problems = Diagnostics::new();
    let mut values = Map::new();
    for file in files {
        match read_file(file) {
            Ok(more) => merge::deep_merge_maps(&mut values, more),
            Err(problem) => problems.push(problem),
        }
    }
    let lines = set
        .iter()
        .map(|line| (line, SetMode::Typed))
        .chain(set_string.iter().map(|line| (line, SetMode::Text)));
    for (line, mode) in lines {
        if let Err(error) = set_value(&mut values, line, mode) {
            problems.push(
                Diagnostic::error(format!("--set {line}: {error}")).with_hint("write for example a.b=c"),
            );
        }
    }
    Ok(problems.into_result(values)?)
}

/// Reads one file of values; `-` is stdin.
fn read_file(file: &std::path::Path) -> Result<Map<String, Value>, Diagnostic> {
    let name = file.display().to_string();
    let read = if name == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = read.map_err(|error| {
        Diagnostic::error(format!("could not read the values file: {error}")).at(Place::file(name.as_str()))
    })?;
    let text = yaml::decode_text(&bytes)
        .map_err(|error| Diagnostic::error(error.to_string()).at(Place::file(name.as_str())))?;
    match yaml::read_value(&text, yaml::ReadOptions::default()) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => {
            Err(Diagnostic::error("a values file must be a mapping").at(Place::new(name.as_str(), 1, 1)))
        }
        Err(error) => Err(error.to_diagnostic(&name, &text, 0)),
    }
}
