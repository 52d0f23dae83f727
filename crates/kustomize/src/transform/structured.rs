//! Values inside texts: a field path may lead into JSON or YAML that a ConfigMap holds as one string.

use podsmith_object::{Value, yaml};

use super::paths::{Age, Make, look_up, visit_matches};
use crate::resources::{parse_text, resolve, text_of};

/// Sets `value` at `path`, part of which leads through a text. `None` if the path does not, or nothing is there.
pub(crate) fn set_in_text(
    root: &mut Value,
    path: &[String],
    value: &Value,
    text: &str,
    make: Make,
) -> Option<()> {
    let split = (1..path.len()).find(|length| {
        matches!(
            look_up(root, &path[..*length]),
            Ok(Some(Value::String(_) | Value::Number(_) | Value::Bool(_)))
        )
    })?;
    let (outer, inner) = path.split_at(split);
    let before = look_up(root, outer).ok()??.as_str()?.to_owned();
    let mut document = parse_text(&before)?;
    let count = visit_matches(&mut document, inner, make, Age::Existing, &mut |leaf, _| {
        *leaf = match leaf {
            Value::Object(_) | Value::Array(_) => value.clone(),
            Value::String(_) => Value::from(text),
            _ => resolve(text).unwrap_or_else(|| text.into()),
        };
        Ok(())
    })
    .ok()?;
    if count == 0 {
        return None;
    }
    let after = write(document, &before);
    let slot = outer.iter().try_fold(root, |here, step| match here {
        Value::Array(items) => {
            let index = step.parse::<usize>().ok().or_else(|| {
                let (key, wanted) = step.strip_prefix('[')?.strip_suffix(']')?.split_once('=')?;
                items.iter().position(|item| item.get(key).is_some_and(|found| text_of(found) == wanted))
            })?;
            items.get_mut(index)
        }
        Value::Object(map) => map.get_mut(step),
        _ => None,
    })?;
    *slot = Value::String(after);
    Some(())
}

/// Writes the document in the format it had: compact or indented JSON, or YAML.
fn write(mut document: Value, before: &str) -> String {
    if !before.trim_start().starts_with(['{', '[']) {
        return yaml::to_string(&document).trim().to_owned();
    }
    crate::sort_keys(&mut document);
    let pretty = before.contains('\n') && before.contains("  ");
    if pretty { serde_json::to_string_pretty(&document).unwrap_or_default() } else { document.to_string() }
}
