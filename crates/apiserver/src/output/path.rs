//! The JSONPaths of printer columns: keys, indices, `[*]` and simple filters.

use podsmith_object::Value;

/// The value a path leads to; several are joined.
pub fn find(object: &Value, path: &str) -> Option<Value> {
    let steps = parse(path)?;
    let mut found = vec![object];
    let mut many = false;
    for step in &steps {
        many |= matches!(step, Step::All | Step::Filter(..));
        found = found.into_iter().flat_map(|value| step.follow(value)).collect();
    }
    match found.as_slice() {
        [] => None,
        [one] if !many => Some((*one).clone()).filter(|value| !value.is_null()),
        several => {
            let texts: Vec<String> = several.iter().map(|value| show(value)).collect();
            Some(texts.first().cloned().unwrap_or_default().into())
        }
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

enum Step {
    Key(String),
    Index(i64),
    All,
    /// `?(@.key=="value")`
    Filter(Vec<String>, String),
}

impl Step {
    fn follow<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(map)) => map.get(key).into_iter().collect(),
            (Self::Index(index), Value::Array(items)) => {
                let length = i64::try_from(items.len()).unwrap_or(0);
                let at = if *index < 0 { length + index } else { *index };
                usize::try_from(at).ok().and_then(|at| items.get(at)).into_iter().collect()
            }
            (Self::All, Value::Array(items)) => items.iter().collect(),
            (Self::All, Value::Object(map)) => map.values().collect(),
            (Self::Filter(keys, wanted), Value::Array(items)) => items
                .iter()
                .filter(|item| {
                    let found = keys.iter().try_fold(*item, |value, key| value.get(key));
                    found.is_some_and(|found| show(found) == *wanted)
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}

fn parse(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            // A backslash keeps a dot in a key.
            let mut key = String::new();
            let mut end = after.len();
            let mut escaped = false;
            for (at, character) in after.char_indices() {
                match character {
                    '\\' if !escaped => escaped = true,
                    '.' | '[' if !escaped => {
                        end = at;
                        break;
                    }
                    other => {
                        key.push(other);
                        escaped = false;
                    }
                }
            }
            rest = after.get(end..)?;
            match key.as_str() {
                "" => {}
                "*" => steps.push(Step::All),
                _ => steps.push(Step::Key(key)),
            }
        } else if let Some(after) = rest.strip_prefix('[') {
            let end = after.find(']')?;
            let inside = after.get(..end)?;
            rest = after.get(end + 1..)?;
            steps.push(bracket(inside)?);
        } else {
            return None;
        }
    }
    Some(steps)
}

fn bracket(inside: &str) -> Option<Step> {
    if inside == "*" {
        return Some(Step::All);
    }
    if let Some(condition) = inside.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        let (left, right) = condition.split_once("==")?;
        let keys = left.trim().strip_prefix("@.")?.split('.').map(str::to_owned).collect();
        let wanted = right.trim().trim_matches(|c| c == '\'' || c == '"').to_owned();
        return Some(Step::Filter(keys, wanted));
    }
    let quoted = inside.trim_matches(|c| c == '\'' || c == '"');
    if quoted.len() < inside.len() {
        return Some(Step::Key(quoted.to_owned()));
    }
    inside.parse().ok().map(Step::Index)
}

#[cfg(test)]
mod tests {
    use podsmith_object::json;

    use super::*;

    #[test]
    fn paths_lead_to_values() {
        let object = json!({
            "a": {"b.c": 1, "l": [{"type": "x", "s": "one"}, {"type": "y", "s": "two"}]}, "e": null,
        });
        for (path, expected) in [
            (".a.b\\.c", Some(json!(1))),
            (".a['b.c']", Some(json!(1))),
            (".a.l[1].s", Some(json!("two"))),
            (".a.l[-1].s", Some(json!("two"))),
            (".a.l[?(@.type==\"y\")].s", Some(json!("two"))),
            (".a.l[*].s", Some(json!("one"))),
            (".a.nope", None),
            (".e", None),
            ("nonsense", None),
        ] {
            assert_eq!(find(&object, path), expected, "{path}");
        }
    }
}
