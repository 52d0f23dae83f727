//! The user's values: files in order, then `--set` lines in order.

use podsmith_object::merge::deep_merge_maps;
use podsmith_object::{Diagnostic, Map, Place, Value};
use thiserror::Error;

use super::set::{SetError, SetMode, set};
use crate::reading::{first_document, with_float_numbers};

/// Why values were refused.
#[derive(Debug, Error)]
pub enum ValuesError {
    /// A values file that is not YAML, or whose document is not a mapping.
    #[error("{0}")]
    File(Box<Diagnostic>),
    /// A `--set` line.
    #[error("could not apply `{line}`")]
    Set {
        /// The line.
        line: String,
        /// Why.
        #[source]
        source: SetError,
    },
}

impl ValuesError {
    /// The error for the user.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Self::File(diagnostic) => diagnostic.as_ref().clone(),
            Self::Set { line, source } => Diagnostic::error(format!("could not apply `{line}`"))
                .because_of(source)
                .with_hint("write `--set name=value`, `a.b=value`, `list[0]=value` or `list={x,y}`"),
        }
    }
}

/// Reads the text of a values file as Helm does: its first document, with every number as a float.
///
/// # Errors
///
/// When it is not YAML, or not a mapping.
pub fn read_values(file: &str, text: &str) -> Result<Map<String, Value>, ValuesError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match first_document(text) {
        Ok(Value::Null) => Ok(Map::new()),
        Ok(document @ Value::Object(_)) => match with_float_numbers(document) {
            Value::Object(map) => Ok(map),
            _ => Ok(Map::new()),
        },
        Ok(other) => {
            let message = format!("values must be a mapping, this is {}", crate::chart::describe(&other));
            Err(ValuesError::File(Box::new(Diagnostic::error(message).at(Place::new(file, 1, 1)))))
        }
        Err(error) => Err(ValuesError::File(Box::new(error.to_diagnostic(file, text, 0)))),
    }
}

/// Collects the user's values. Later files win over earlier ones, `--set` lines win over files.
///
/// An explicit null is kept: it deletes a chart's default when the chart is rendered.
#[derive(Clone, Debug, Default)]
pub struct UserValues {
    values: Map<String, Value>,
}

impl UserValues {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lays a values file over what is there.
    ///
    /// # Errors
    ///
    /// As [`read_values`].
    pub fn add_file(&mut self, file: &str, text: &str) -> Result<(), ValuesError> {
        deep_merge_maps(&mut self.values, read_values(file, text)?);
        Ok(())
    }

    /// Lays values over what is there. Whole numbers stay integers, as with `--set`.
    pub fn add_values(&mut self, values: Map<String, Value>) {
        deep_merge_maps(&mut self.values, values);
    }

    /// Applies one `--set`, `--set-string`, `--set-json` or `--set-literal` line.
    ///
    /// # Errors
    ///
    /// When the line breaks the grammar.
    pub fn add_set(&mut self, line: &str, mode: SetMode) -> Result<(), ValuesError> {
        set(&mut self.values, line, mode).map_err(|source| ValuesError::Set { line: line.to_owned(), source })
    }

    /// The values.
    pub fn into_values(self) -> Map<String, Value> {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn later_files_and_set_lines_win_and_nulls_stay() {
        let mut values = UserValues::new();
        values.add_file("a.yaml", "a: {x: 1, z: 2}\nb: [1]\n").unwrap();
        values.add_file("b.yaml", "a: {z: null}\nb: [2]\n---\nignored: true\n").unwrap();
        values.add_set("a.x=3", SetMode::Typed).unwrap();
        assert_eq!(Value::Object(values.into_values()), json!({"a": {"x": 3, "z": null}, "b": [2.0]}));
    }

    #[test]
    fn a_file_that_is_no_mapping_is_named() {
        let error = read_values("v.yaml", "- a\n").unwrap_err();
        assert_eq!(
            error.to_diagnostic().to_string(),
            "error: v.yaml:1:1: values must be a mapping, this is a list"
        );
        assert!(read_values("v.yaml", "").unwrap().is_empty());
    }
}
