//! `--values` and `--set`.

use std::path::{Path, PathBuf};

use podsmith_helm::values::{SetMode, set as set_value, with_float_numbers};
use podsmith_object::{Diagnostic, Diagnostics, Map, Place, Value, merge, yaml};

use crate::failure::Failure;

/// The values of a command line. Files and single values are kept apart, because charts see numbers from files as
/// floats and numbers from `--set` as integers.
#[derive(Clone, Debug, Default)]
pub struct GivenValues {
    files: Map<String, Value>,
    set: Vec<(String, SetMode)>,
}

impl GivenValues {
    /// Reads the files in order and checks the single values.
    ///
    /// # Errors
    ///
    /// Every file that cannot be read and every malformed `--set`.
    pub fn read(files: &[PathBuf], set: &[String], set_string: &[String]) -> Result<Self, Failure> {
        let mut problems = Diagnostics::new();
        let mut given = Self::default();
        for file in files {
            match read_file(file) {
                Ok(more) => merge::deep_merge_maps(&mut given.files, more),
                Err(problem) => problems.push(problem),
            }
        }
        given.set.extend(set.iter().map(|line| (line.clone(), SetMode::Typed)));
        given.set.extend(set_string.iter().map(|line| (line.clone(), SetMode::Text)));
        let mut values = given.files.clone();
        for (line, mode) in &given.set {
            if let Err(error) = set_value(&mut values, line, *mode) {
                let problem = Diagnostic::error(format!("--set {line}: {error}"));
                problems.push(problem.with_hint("write for example a.b=c"));
            }
        }
        Ok(problems.into_result(given)?)
    }

    /// All values together.
    pub fn merged(&self) -> Map<String, Value> {
        let mut values = self.files.clone();
        self.set_on(&mut values);
        values
    }

    /// The values over those of a chart's own entry, as Helm sees them.
    pub fn for_chart(&self, own: Map<String, Value>) -> Map<String, Value> {
        let mut values = own;
        merge::deep_merge_maps(&mut values, self.files.clone());
        let mut values = values.into_iter().map(|(key, value)| (key, with_float_numbers(value))).collect();
        self.set_on(&mut values);
        values
    }

    fn set_on(&self, values: &mut Map<String, Value>) {
        for (line, mode) in &self.set {
            // A line was tried when it was read; on other values it can only clash with their types, and then the
            // chart's own schema or templates say so.
            let _ = set_value(values, line, *mode);
        }
    }
}

/// Reads one file of values as Helm does; `-` is stdin.
fn read_file(file: &Path) -> Result<Map<String, Value>, Diagnostic> {
    let name = file.display().to_string();
    let read = if name == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let at_file = |message: String| Diagnostic::error(message).at(Place::file(name.as_str()));
    let bytes = read.map_err(|error| at_file(format!("could not read the values file: {error}")))?;
    let text = yaml::decode_text(&bytes).map_err(|error| at_file(error.to_string()))?;
    match yaml::read_values(&text, yaml::ReadOptions::lenient()).map(|documents| documents.into_iter().next())
    {
        Ok(Some(Value::Object(map))) => Ok(map),
        Ok(None | Some(Value::Null)) => Ok(Map::new()),
        Ok(Some(_)) => {
            Err(Diagnostic::error("a values file must be a mapping").at(Place::new(name.as_str(), 1, 1)))
        }
        Err(error) => Err(error.to_diagnostic(&name, &text, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn charts_see_numbers_from_files_as_floats_and_from_set_as_integers() {
        let given = GivenValues {
            files: json!({"a": 1_000_000, "b": 2}).as_object().cloned().unwrap(),
            set: vec![("b=3".to_owned(), SetMode::Typed)],
        };
        assert_eq!(Value::Object(given.merged()), json!({"a": 1_000_000, "b": 3}));
        let chart = given.for_chart(Map::new());
        assert!(chart["a"].is_f64() && chart["b"].is_i64(), "{chart:?}");
    }
}
