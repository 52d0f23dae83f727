//! CEL over requests: the expressions of policies and of match conditions.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, Program, Value as Cel};
use podsmith_object::{Map as JsonMap, Number, Value};

/// What expressions can refer to.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    variables: Vec<(&'static str, Value)>,
}

impl Scope {
    /// Adds a name.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.variables.push((name, value));
        self
    }

    /// The value of an expression.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let program = Program::compile(expression).map_err(|error| format!("compilation failed: {error}"))?;
        let mut context = Context::default();
        context.register_all();
        for (name, value) in &self.variables {
            context.add_variable_from_value(*name, to_cel(value));
        }
        let result = program.execute(&context).map_err(|error| error.to_string())?;
        Ok(to_json(&result))
    }

    /// Whether a condition holds.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn holds(&self, expression: &str) -> Result<bool, String> {
        match self.evaluate(expression)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(format!("expression `{expression}` gives {other}, not true or false")),
        }
    }
}

fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        // Whole numbers are of one type, however they are written.
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Cel::Int(whole),
            (None, Some(large)) => Cel::UInt(large),
            (None, None) => Cel::Float(number.as_f64().unwrap_or(0.0)),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(map) => {
            let entries: HashMap<Key, Cel> =
                map.iter().map(|(key, value)| (Key::from(key.as_str()), to_cel(value))).collect();
            Cel::Map(Map { map: Arc::new(entries) })
        }
    }
}

fn to_json(value: &Cel) -> Value {
    match value {
        Cel::Bool(flag) => Value::Bool(*flag),
        Cel::Int(number) => Value::from(*number),
        Cel::UInt(number) => Value::from(*number),
        Cel::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Cel::String(text) => Value::from(text.as_str()),
        Cel::List(items) => items.iter().map(to_json).collect(),
        Cel::Map(map) => {
            let mut entries: Vec<(String, Value)> =
                map.map.iter().map(|(key, value)| (key.to_string(), to_json(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect::<JsonMap<_, _>>())
        }
        _ => Value::Null,
    }
}

/// Rewrites typed objects as plain maps: `Object{spec: Object.spec{replicas: 3}}` becomes
/// `{"spec": {"replicas": 3}}`. Text in quotes is left alone.
pub fn plain_maps(expression: &str) -> String {
    let mut out = String::with_capacity(expression.len());
    // For each open brace: whether its keys are names, and whether a key may come next.
    let mut braces: Vec<(bool, bool)> = Vec::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        if first == '"' || first == '\'' {
            let end = quoted_end(rest, first);
            let (text, after) = rest.split_at(end);
            out.push_str(text);
            rest = after;
            continue;
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let typed = word == "JSONPatch" || word == "Object" || word.starts_with("Object.");
            if typed && after.trim_start().starts_with('{') {
                rest = after.trim_start().get(1..).unwrap_or("");
                out.push('{');
                braces.push((true, true));
                continue;
            }
            let is_key = matches!(braces.last(), Some((true, true))) && after.trim_start().starts_with(':');
            if is_key {
                out.push_str(&format!("\"{word}\""));
                if let Some(last) = braces.last_mut() {
                    last.1 = false;
                }
            } else {
                out.push_str(word);
            }
            rest = after;
            continue;
        }
        match first {
            '{' | '(' | '[' => braces.push((false, false)),
            '}' | ')' | ']' => {
                braces.pop();
            }
            ',' => {
                if let Some(last) = braces.last_mut() {
                    last.1 = last.0;
                }
            }
            _ => {}
        }
        out.push(first);
        rest = rest.get(first.len_utf8()..).unwrap_or("");
    }
    out
}

fn quoted_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\\' if !escaped => escaped = true,
            c if c == quote && !escaped => return at + c.len_utf8(),
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use podsmith_object::json;

    use super::*;

    #[test]
    fn expressions_see_whole_numbers_lists_and_maps() {
        let scope = Scope::default().with("object", json!({"spec": {"replicas": 3, "names": ["a", "b"]}}));
        assert_eq!(scope.holds("object.spec.replicas > 2 && 'a' in object.spec.names"), Ok(true));
        assert_eq!(scope.holds("has(object.spec.nope)"), Ok(false));
        assert!(scope.holds("object.spec.replicas").is_err());
        assert!(scope.holds("object.").is_err());
        assert_eq!(scope.evaluate("{'n': object.spec.replicas + 1}"), Ok(json!({"n": 4})));
    }

    #[test]
    fn typed_objects_become_maps() {
        let text = r#"Object{spec: Object.spec{replicas: object.spec.replicas > 1 ? 1 : 2, x: "a: b{"}}"#;
        let plain = plain_maps(text);
        assert_eq!(plain, r#"{"spec": {"replicas": object.spec.replicas > 1 ? 1 : 2, "x": "a: b{"}}"#);
        assert_eq!(
            plain_maps(r#"[JSONPatch{op: "add", path: "/a", value: {"k": v}}]"#),
            r#"[{"op": "add", "path": "/a", "value": {"k": v}}]"#
        );
    }
}
