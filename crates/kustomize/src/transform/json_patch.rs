//! JSON patches (RFC 6902), with the liberties of the library the original uses: `replace` adds a missing key, and
//! negative list positions count from the end.

use std::fmt;

use podsmith_object::yaml::{ReadOptions, read_value};
use podsmith_object::{Map, Value};

/// The operations of one patch.
#[derive(Clone, Debug)]
pub(crate) struct JsonPatch {
    operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
struct Operation {
    kind: Kind,
    path: String,
    from: String,
    value: Value,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}

/// Why a patch cannot be read or does not apply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct JsonPatchError(pub String);

impl fmt::Display for JsonPatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn fail<T>(message: impl Into<String>) -> Result<T, JsonPatchError> {
    Err(JsonPatchError(message.into()))
}

impl JsonPatch {
    /// Reads a list of operations in JSON or YAML. Nothing at all is an empty patch.
    pub(crate) fn parse(text: &str) -> Result<Self, JsonPatchError> {
        if text.is_empty() {
            return fail("the patch is empty");
        }
        let document = if text.starts_with('[') {
            serde_json::from_str(text).map_err(|error| JsonPatchError(error.to_string()))?
        } else {
            read_value(text, ReadOptions::lenient()).map_err(|error| JsonPatchError(error.to_string()))?
        };
        match document {
            Value::Null => Ok(Self { operations: Vec::new() }),
            Value::Array(items) => {
                Ok(Self { operations: items.into_iter().map(read_operation).collect::<Result<_, _>>()? })
            }
            _ => fail("a JSON patch is a list of operations"),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies all operations or stops at the first that does not fit.
    pub(crate) fn apply(&self, body: &mut Map<String, Value>) -> Result<(), JsonPatchError> {
        let mut root = Value::Object(std::mem::take(body));
        let result = self.operations.iter().try_for_each(|operation| {
            operation.apply(&mut root).map_err(|JsonPatchError(reason)| {
                JsonPatchError(format!("operation {} {}: {reason}", operation.kind.word(), operation.path))
            })
        });
        match root {
            Value::Object(map) => *body = map,
            _ => return fail("the patch turns the object into something else"),
        }
        result
    }
}

fn read_operation(item: Value) -> Result<Operation, JsonPatchError> {
    let Value::Object(mut item) = item else { return fail("an operation of a JSON patch is a mapping") };
    let text = |key: &str| match item.get(key) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    };
    let (op, path, from) = (text("op"), text("path"), text("from"));
    let kind = match op.as_str() {
        "add" => Kind::Add,
        "remove" => Kind::Remove,
        "replace" => Kind::Replace,
        "move" => Kind::Move,
        "copy" => Kind::Copy,
        "test" => Kind::Test,
        other => return fail(format!("`{other}` is not an operation of a JSON patch")),
    };
    let value = item.shift_remove("value").unwrap_or(Value::Null);
    Ok(Operation { kind, path, from, value })
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Replace => "replace",
            Self::Move => "move",
            Self::Copy => "copy",
            Self::Test => "test",
        }
    }
}

impl Operation {
    fn apply(&self, root: &mut Value) -> Result<(), JsonPatchError> {
        match self.kind {
            Kind::Add => add(root, &self.path, self.value.clone()),
            Kind::Remove => remove(root, &self.path).map(drop),
            Kind::Replace => replace(root, &self.path, self.value.clone()),
            Kind::Move => {
                let moved = remove(root, &self.from)?;
                add(root, &self.path, moved)
            }
            Kind::Copy => {
                let (parent, key) = find(root, &self.from)?;
                let copied = get(parent, &key)?.cloned().unwrap_or(Value::Null);
                add(root, &self.path, copied)
            }
            Kind::Test => self.test(root),
        }
    }

    fn test(&self, root: &mut Value) -> Result<(), JsonPatchError> {
        let found = if self.path.is_empty() {
            Some(&*root)
        } else {
            let (parent, key) = find(root, &self.path)?;
            get(parent, &key)?
        };
        if *found.unwrap_or(&Value::Null) == self.value {
            return Ok(());
        }
        let shown = |value: &Value| value.to_string().chars().take(60).collect::<String>();
        fail(format!("the value is {}, not {}", shown(found.unwrap_or(&Value::Null)), shown(&self.value)))
    }
}

/// The container that holds the last step of a path, and that step.
fn find<'v>(root: &'v mut Value, path: &str) -> Result<(&'v mut Value, String), JsonPatchError> {
    let mut steps: Vec<String> =
        path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let Some(last) = steps.pop() else { return fail("the path must start with `/`") };
    let mut here = root;
    for step in steps {
        let next = match here {
            Value::Object(map) => map.get_mut(&step),
            Value::Array(items) => position(&step, items.len()).ok().and_then(|index| items.get_mut(index)),
            _ => None,
        };
        match next {
            Some(next @ (Value::Object(_) | Value::Array(_))) => here = next,
            _ => return fail(format!("the object has no `{step}` on the way there")),
        }
    }
    Ok((here, last))
}

fn position(step: &str, length: usize) -> Result<usize, JsonPatchError> {
    let Ok(index) = step.parse::<i64>() else { return fail(format!("`{step}` is no position in a list")) };
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let index = if index < 0 { index + length } else { index };
    usize::try_from(index).map_err(|_| JsonPatchError(format!("the list has no position {step}")))
}

fn get<'v>(parent: &'v Value, key: &str) -> Result<Option<&'v Value>, JsonPatchError> {
    match parent {
        Value::Object(map) => Ok(map.get(key)),
        Value::Array(items) => match items.get(position(key, items.len())?) {
            Some(found) => Ok(Some(found)),
            None => fail(format!("the list has no position {key}")),
        },
        _ => Ok(None),
    }
}

fn add(root: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
    let (parent, key) = find(root, path)?;
    match parent {
        Value::Object(map) => {
            map.insert(key, value);
            Ok(())
        }
        Value::Array(items) if key == "-" => {
            items.push(value);
            Ok(())
        }
        Value::Array(items) => {
            let index = position(&key, items.len() + 1)?;
            if index > items.len() {
                return fail(format!("the list has no position {key}"));
            }
            items.insert(index, value);
            Ok(())
        }
        _ => fail("nothing can be added to a scalar"),
    }
}

fn remove(root: &mut Value, path: &str) -> Result<Value, JsonPatchError> {
    let (parent, key) = find(root, path)?;
    match parent {
        Value::Object(map) => {
            map.shift_remove(&key).ok_or_else(|| JsonPatchError(format!("the object has no `{key}` there")))
        }
        Value::Array(items) => {
            let index = position(&key, items.len())?;
            if index >= items.len() {
                return fail(format!("the list has no position {key}"));
            }
            Ok(items.remove(index))
        }
        _ => fail("nothing can be removed from a scalar"),
    }
}

fn replace(root: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
    if path.is_empty() {
        *root = value;
        return Ok(());
    }
    let (parent, key) = find(root, path)?;
    match parent {
        Value::Object(map) => {
            map.insert(key, value);
            Ok(())
        }
        Value::Array(items) => {
            let index = position(&key, items.len())?;
            match items.get_mut(index) {
                Some(slot) => {
                    *slot = value;
                    Ok(())
                }
                None => fail(format!("the list has no position {key}")),
            }
        }
        _ => fail("nothing can be replaced in a scalar"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json as value;

    fn apply(patch: &str, body: Value) -> Result<Value, String> {
        let Value::Object(mut body) = body else { panic!("a mapping") };
        let patch = JsonPatch::parse(patch).map_err(|error| error.to_string())?;
        patch.apply(&mut body).map_err(|error| error.to_string())?;
        Ok(Value::Object(body))
    }

    #[test]
    fn operations_change_the_object() {
        let cases = [
            ("- {op: add, path: /a, value: 1}", value!({}), value!({"a": 1})),
            ("- {op: replace, path: /missing, value: 1}", value!({}), value!({"missing": 1})),
            ("- {op: add, path: /a/-, value: 3}", value!({"a": [1]}), value!({"a": [1, 3]})),
            ("- {op: add, path: /a/0, value: 3}", value!({"a": [1]}), value!({"a": [3, 1]})),
            ("- {op: add, path: /a/-1, value: 3}", value!({"a": [1]}), value!({"a": [1, 3]})),
            ("- {op: remove, path: /a/-1}", value!({"a": [1, 2]}), value!({"a": [1]})),
            ("- {op: move, from: /a, path: /b}", value!({"a": 1}), value!({"b": 1})),
            ("- {op: copy, from: /a, path: /b}", value!({"a": 1}), value!({"a": 1, "b": 1})),
            ("- {op: test, path: /a, value: 1}\n- {op: remove, path: /a}", value!({"a": 1}), value!({})),
            ("- {op: add, path: /a~1b/c~0d, value: 1}", value!({"a/b": {}}), value!({"a/b": {"c~d": 1}})),
        ];
        for (patch, before, after) in cases {
            assert_eq!(apply(patch, before), Ok(after), "{patch}");
        }
    }

    #[test]
    fn operations_that_do_not_fit_are_told() {
        let cases = [
            ("- {op: remove, path: /a}", "operation remove /a: the object has no `a` there"),
            (
                "- {op: add, path: /a/b, value: 1}",
                "operation add /a/b: the object has no `a` on the way there",
            ),
            ("- {op: replace, path: /l/5, value: 1}", "operation replace /l/5: the list has no position 5"),
            ("- {op: test, path: /n, value: 1}", "operation test /n: the value is null, not 1"),
            ("- {op: ad, path: /n}", "`ad` is not an operation of a JSON patch"),
            ("a: b", "a JSON patch is a list of operations"),
        ];
        for (patch, message) in cases {
            assert_eq!(apply(patch, value!({"l": []})), Err(message.to_owned()), "{patch}");
        }
    }
}
