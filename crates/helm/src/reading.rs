//! YAML as Helm reads it: the first document only, duplicate keys allowed, and numbers as floats where a value has no
//! declared type.

use podsmith_object::yaml::{self, DocumentSplitter, ReadOptions, YamlError};
use podsmith_object::{Map, Number, Value};

/// Reads the first document of a text; later documents are not even parsed. An empty text is null.
///
/// # Errors
///
/// On invalid YAML in the first document.
pub fn first_document(text: &str) -> Result<Value, YamlError> {
    let options = ReadOptions::lenient();
    let mut chunks = DocumentSplitter::new(text.as_bytes(), options.limits.document_bytes);
    let Some(chunk) = chunks.next() else { return Ok(Value::Null) };
    let chunk =
        chunk.map_err(|error| YamlError { message: error.to_string(), line: 1, column: 1, hint: None })?;
    let mut documents = yaml::read_document(&chunk.text, options)
        .map_err(|error| error.after_lines(chunk.lines_before))?
        .into_iter();
    Ok(documents.next().map_or(Value::Null, |(value, _)| value))
}

/// Turns every number into a float, as Go's JSON reader does for values without a declared type.
///
/// Templates see the difference: the float one million prints as `1e+06`, the integer as `1000000`.
pub fn with_float_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => float(number),
        Value::Array(items) => Value::Array(items.into_iter().map(with_float_numbers).collect()),
        Value::Object(map) => Value::Object(with_float_numbers_in(map)),
        other => other,
    }
}

fn with_float_numbers_in(map: Map<String, Value>) -> Map<String, Value> {
    map.into_iter().map(|(key, value)| (key, with_float_numbers(value))).collect()
}

fn float(number: Number) -> Value {
    number.as_f64().and_then(Number::from_f64).map_or(Value::Number(number), Value::Number)
}

/// Turns whole floats back into integers, for consumers that tell `1.0` from `1`.
pub fn with_whole_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number)),
        Value::Array(items) => Value::Array(items.iter().map(with_whole_numbers).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), with_whole_numbers(value))).collect())
        }
        other => other.clone(),
    }
}

fn whole(number: &Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
            Number::from(float as i64)
        }
        _ => number.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn only_the_first_document_counts_and_later_ones_may_be_broken() {
        assert_eq!(first_document("a: 1\n---\n{{ broken").unwrap(), json!({"a": 1}));
        assert_eq!(first_document("---\na: 1\na: 2\n").unwrap(), json!({"a": 2}));
        assert_eq!(first_document("# nothing\n").unwrap(), Value::Null);
        assert_eq!(first_document("# x\n---\na: ]\n").unwrap_err().line, 3);
    }

    #[test]
    fn numbers_change_their_kind_and_keep_their_value() {
        let floats = with_float_numbers(json!({"a": [1, 2.5]}));
        assert!(floats["a"][0].is_f64());
        assert_eq!(with_whole_numbers(&floats), json!({"a": [1, 2.5]}));
    }
}
