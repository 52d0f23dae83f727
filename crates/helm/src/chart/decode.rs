//! Decoding into typed fields the way Go's JSON reader does: names ignore case, unknown fields are skipped, null leaves
//! a field alone, numbers and booleans become text where text is wanted.

use std::collections::BTreeMap;

use podsmith_object::Value;

/// A value of the wrong type.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mismatch {
    /// The field.
    pub field: String,
    /// What it must be.
    pub expected: &'static str,
    /// What it is.
    pub found: &'static str,
}

impl Mismatch {
    /// `field` should be `expected`.
    pub fn new(field: &str, expected: &'static str, found: &Value) -> Self {
        Self { field: field.to_owned(), expected, found: describe(found) }
    }
}

/// The type of a value in words.
pub fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// One field: its name in lower case, to be matched, and its value.
pub struct Field<'v> {
    lower: String,
    value: &'v Value,
}

impl<'v> IntoIterator for Fields<'v> {
    type Item = (String, &'v Value);
    type IntoIter = std::iter::Map<std::vec::IntoIter<Field<'v>>, fn(Field<'v>) -> (String, &'v Value)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|field| (field.lower, field.value))
    }
}

/// The fields of a mapping in byte order of their names, so that of two spellings the same one wins as in Go.
pub struct Fields<'v>(Vec<Field<'v>>);

/// The entries of a mapping that is decoded into named fields; null has none.
pub fn struct_entries<'v>(value: &'v Value, what: &str) -> Result<Fields<'v>, Mismatch> {
    match value {
        Value::Null => Ok(Fields(Vec::new())),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            Ok(Fields(
                entries
                    .into_iter()
                    .map(|(key, value)| Field { lower: key.to_ascii_lowercase(), value })
                    .collect(),
            ))
        }
        other => Err(Mismatch::new(what, "a mapping", other)),
    }
}

/// The text of a scalar; `None` for null.
pub fn text_of(value: &Value) -> Option<Result<String, ()>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Ok(text.clone())),
        Value::Bool(flag) => Some(Ok(flag.to_string())),
        Value::Number(number) if number.is_f64() => {
            #[expect(clippy::cast_possible_truncation, reason = "the original prints with 32-bit precision")]
            let short = number.as_f64().unwrap_or_default() as f32;
            Some(Ok(short.to_string()))
        }
        Value::Number(number) => Some(Ok(number.to_string())),
        _ => Some(Err(())),
    }
}

/// Sets a text field.
pub fn string(field: &mut String, key: impl AsRef<str>, value: &Value) -> Result<(), Mismatch> {
    match text_of(value) {
        None => {}
        Some(Ok(text)) => *field = text,
        Some(Err(())) => return Err(Mismatch::new(key.as_ref(), "a string", value)),
    }
    Ok(())
}

/// Sets a boolean field.
pub fn boolean(field: &mut bool, key: impl AsRef<str>, value: &Value) -> Result<(), Mismatch> {
    match value {
        Value::Null => Ok(()),
        Value::Bool(flag) => {
            *field = *flag;
            Ok(())
        }
        other => Err(Mismatch::new(key.as_ref(), "a boolean", other)),
    }
}

/// Reads a list; null is no list.
pub fn list<T>(
    key: impl AsRef<str>,
    value: &Value,
    read: impl Fn(&Value) -> Result<T, Mismatch>,
) -> Result<Option<Vec<T>>, Mismatch> {
    match value {
        Value::Null => Ok(None),
        Value::Array(items) => items.iter().map(read).collect::<Result<_, _>>().map(Some),
        other => Err(Mismatch::new(key.as_ref(), "a list", other)),
    }
}

/// Reads a list of texts.
pub fn string_list(key: impl AsRef<str>, value: &Value) -> Result<Option<Vec<String>>, Mismatch> {
    let key = key.as_ref();
    list(key, value, |item| {
        let mut text = String::new();
        string(&mut text, key, item)?;
        Ok(text)
    })
}

/// Reads a mapping of texts.
pub fn string_map(key: impl AsRef<str>, value: &Value) -> Result<Option<BTreeMap<String, String>>, Mismatch> {
    let key = key.as_ref();
    match value {
        Value::Null => Ok(None),
        Value::Object(map) => {
            let mut found = BTreeMap::new();
            for (name, value) in map {
                let mut text = String::new();
                string(&mut text, format!("{key}.{name}"), value)?;
                found.insert(name.clone(), text);
            }
            Ok(Some(found))
        }
        other => Err(Mismatch::new(key, "a mapping", other)),
    }
}
