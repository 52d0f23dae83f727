//! JSON patch (RFC 6902), with the habits of the API server.
//!
//! Three things differ from the letter of the standard: a key that is missing from an existing map counts as null for
//! `test` and `copy`, `replace` adds such a key, and an index may count from the end (`-1`).

use podsmith_object::Value;
use thiserror::Error;

/// The most operations the API server takes in one patch.
pub const MAX_OPERATIONS: usize = 10_000;

/// Why a JSON patch cannot be applied.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum JsonPatchError {
    /// The patch is no list of operations.
    #[error("a JSON patch is a list of operations")]
    NotAList,
    /// An operation lacks a field or has one of the wrong type.
    #[error("operation {index}: {problem}")]
    Malformed {
        /// Place in the list, from 0.
        index: usize,
        /// What is wrong.
        problem: String,
    },
    /// A path does not lead anywhere.
    #[error("operation {index}: {operation} {path}: there is no such place in the document")]
    Missing {
        /// Place in the list, from 0.
        index: usize,
        /// The operation.
        operation: String,
        /// The path.
        path: String,
    },
    /// A list index is beyond the end or no number.
    #[error("operation {index}: {operation} {path}: invalid index referenced")]
    BadIndex {
        /// Place in the list, from 0.
        index: usize,
        /// The operation.
        operation: String,
        /// The path.
        path: String,
    },
    /// A `test` did not hold.
    #[error("operation {index}: testing value {path} failed")]
    TestFailed {
        /// Place in the list, from 0.
        index: usize,
        /// The path.
        path: String,
    },
}

/// Applies all operations or none: on an error the document may be half changed, so work on a copy.
///
/// # Errors
///
/// On the first operation that is malformed or cannot be carried out.
///
/// ```
/// use podsmith_object::json;
/// use podsmith_schema::json_patch;
/// let mut value = json!({"metadata": {}});
/// let patch = json!([
///     {"op": "test", "path": "/metadata/finalizers", "value": null},
///     {"op": "add", "path": "/metadata/finalizers", "value": ["a/b"]}
/// ]);
/// json_patch::apply(&mut value, &patch).unwrap();
/// assert_eq!(value, json!({"metadata": {"finalizers": ["a/b"]}}));
/// ```
pub fn apply(document: &mut Value, patch: &Value) -> Result<(), JsonPatchError> {
    let operations = patch.as_array().ok_or(JsonPatchError::NotAList)?;
    for (index, operation) in operations.iter().enumerate() {
        Step::parse(index, operation)?.run(document)?;
    }
    Ok(())
}

struct Step<'a> {
    index: usize,
    name: &'a str,
    path: &'a str,
    from: Option<&'a str>,
    value: Option<&'a Value>,
}

impl<'a> Step<'a> {
    fn parse(index: usize, operation: &'a Value) -> Result<Self, JsonPatchError> {
        let text = |key: &str| operation.get(key).and_then(Value::as_str);
        let malformed = |problem: &str| JsonPatchError::Malformed { index, problem: problem.to_owned() };
        let name = text("op").ok_or_else(|| malformed("`op` is missing"))?;
        let path = text("path").ok_or_else(|| malformed("`path` is missing"))?;
        let step = Self { index, name, path, from: text("from"), value: operation.get("value") };
        match name {
            "add" | "replace" if step.value.is_none() => Err(malformed("`value` is missing")),
            "move" | "copy" if step.from.is_none() => Err(malformed("`from` is missing")),
            "add" | "replace" | "remove" | "move" | "copy" | "test" => Ok(step),
            _ => Err(JsonPatchError::Malformed { index, problem: format!("unexpected kind: {name}") }),
        }
    }

    fn run(&self, document: &mut Value) -> Result<(), JsonPatchError> {
        let value = || self.value.cloned().unwrap_or(Value::Null);
        match self.name {
            "add" => self.add(document, self.path, value()),
            "remove" => self.remove(document, self.path).map(|_| ()),
            "replace" => {
                // A key that is not there yet may be replaced too, as long as its map is there.
                match split(self.path).map(|(parent, last)| (self.find(document, parent), last)) {
                    None => *document = value(),
                    Some((Ok(Value::Object(map)), last)) => {
                        map.insert(last, value());
                    }
                    Some(_) => *self.find(document, self.path)? = value(),
                }
                Ok(())
            }
            "move" => {
                let from = self.from.unwrap_or("");
                let moved = self.remove(document, from)?;
                self.add(document, self.path, moved)
            }
            "copy" => {
                let copied = self.look(document, self.from.unwrap_or(""))?;
                self.add(document, self.path, copied)
            }
            _ => {
                let found = self.look(document, self.path)?;
                if crate::apply::same(&found, &value()) {
                    Ok(())
                } else {
                    Err(JsonPatchError::TestFailed { index: self.index, path: self.path.to_owned() })
                }
            }
        }
    }

    fn missing(&self, path: &str) -> JsonPatchError {
        JsonPatchError::Missing { index: self.index, operation: self.name.to_owned(), path: path.to_owned() }
    }

    fn bad_index(&self, path: &str) -> JsonPatchError {
        JsonPatchError::BadIndex { index: self.index, operation: self.name.to_owned(), path: path.to_owned() }
    }

    fn find<'d>(&self, document: &'d mut Value, path: &str) -> Result<&'d mut Value, JsonPatchError> {
        let mut at = document;
        for token in tokens(path) {
            at = match at {
                Value::Object(map) => map.get_mut(&token).ok_or_else(|| self.missing(path))?,
                Value::Array(items) => {
                    let index = list_index(&token, items.len()).ok_or_else(|| self.bad_index(path))?;
                    items.get_mut(index).ok_or_else(|| self.bad_index(path))?
                }
                _ => return Err(self.missing(path)),
            };
        }
        Ok(at)
    }

    /// A copy of what is at a path; null for a key that is missing from an existing map.
    fn look(&self, document: &mut Value, path: &str) -> Result<Value, JsonPatchError> {
        let Some((parent, last)) = split(path) else { return Ok(document.clone()) };
        match self.find(document, parent)? {
            Value::Object(map) => Ok(map.get(&last).cloned().unwrap_or(Value::Null)),
            _ => self.find(document, path).map(|found| found.clone()),
        }
    }

    fn add(&self, document: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
        let Some((parent, last)) = split(path) else {
            *document = value;
            return Ok(());
        };
        match self.find(document, parent)? {
            Value::Object(map) => {
                map.insert(last, value);
                Ok(())
            }
            Value::Array(items) if last == "-" => {
                items.push(value);
                Ok(())
            }
            Value::Array(items) => {
                let index = list_index(&last, items.len() + 1).ok_or_else(|| self.bad_index(path))?;
                items.insert(index, value);
                Ok(())
            }
            _ => Err(self.missing(path)),
        }
    }

    fn remove(&self, document: &mut Value, path: &str) -> Result<Value, JsonPatchError> {
        let Some((parent, last)) = split(path) else { return Ok(std::mem::take(document)) };
        match self.find(document, parent)? {
            Value::Object(map) => map.shift_remove(&last).ok_or_else(|| self.missing(path)),
            Value::Array(items) => {
                let index = list_index(&last, items.len()).ok_or_else(|| self.bad_index(path))?;
                Ok(items.remove(index))
            }
            _ => Err(self.missing(path)),
        }
    }
}

fn tokens(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split('/').skip(1).map(unescape)
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

fn split(path: &str) -> Option<(&str, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    Some((parent, unescape(last)))
}

/// An index below `length`; negative ones count from the end.
fn list_index(token: &str, length: usize) -> Option<usize> {
    let number: i64 = token.parse().ok()?;
    let length = i64::try_from(length).ok()?;
    let index = if number < 0 { number + length } else { number };
    (0..length).contains(&index).then(|| usize::try_from(index).ok()).flatten()
}
