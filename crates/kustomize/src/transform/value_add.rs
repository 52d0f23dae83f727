//! Adds a value to fields of selected objects.

use podsmith_object::{Diagnostics, Value};

use super::namespace::{NamespaceChange, move_resource};
use super::on_resource;
use super::select::Matcher;
use crate::config::{FieldError, split_path};
use crate::kustomization::Selector;
use crate::resources::{ResourceMap, text_of};

/// One field of some objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTarget {
    pub selector: Option<Selector>,
    pub field_path: String,
    /// Where the value goes in a path-like text, from 1; zero replaces the whole text.
    pub position: usize,
}

/// Sets or inserts `value` in all targets.
pub(crate) fn add_value(
    resources: &mut ResourceMap,
    value: &str,
    targets: &[ValueTarget],
) -> Result<(), Diagnostics> {
    for target in targets {
        let selected = match &target.selector {
            Some(selector) => Matcher::new(selector)?.select(resources),
            None => (0..resources.len()).collect(),
        };
        for index in selected {
            let Some(resource) = resources.get_mut(index) else { continue };
            if target.field_path == "metadata/namespace" {
                let change = NamespaceChange { namespace: value, ..NamespaceChange::default() };
                move_resource(resource, &change).map_err(|error| on_resource(resource, &error))?;
                continue;
            }
            let path = split_path(&target.field_path, '/');
            let mut body = Value::Object(std::mem::take(&mut resource.body));
            let result = set(&mut body, &path, value, target.position);
            if let Value::Object(map) = body {
                resource.body = map;
            }
            result.map_err(|error| on_resource(resource, &error))?;
        }
    }
    resources.forget();
    Ok(())
}

fn set(root: &mut Value, path: &[String], value: &str, position: usize) -> Result<(), FieldError> {
    let wrong = || FieldError(format!("field {}: a scalar is expected", path.join("/")));
    let mut here = root;
    for (index, step) in path.iter().enumerate() {
        let is_last = index + 1 == path.len();
        let Value::Object(map) = here else { return Err(wrong()) };
        here = map.entry(step.as_str()).or_insert_with(|| {
            if is_last { Value::from("") } else { Value::Object(podsmith_object::Map::new()) }
        });
    }
    if here.is_object() || here.is_array() {
        return Err(wrong());
    }
    let text = if position == 0 { value.to_owned() } else { insert(&text_of(here), position - 1, value) };
    *here = Value::String(text);
    Ok(())
}

/// Inserts a step into a slash-separated path.
fn insert(path: &str, position: usize, step: &str) -> String {
    if path.is_empty() {
        return step.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut steps: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    steps.insert(position.min(steps.len()), step);
    let joined = steps.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::insert;

    #[test]
    fn steps_are_inserted_into_paths() {
        assert_eq!(insert("a/b", 1, "x"), "a/x/b");
        assert_eq!(insert("/a/b", 0, "x"), "/x/a/b");
        assert_eq!(insert("a", 5, "x"), "a/x");
        assert_eq!(insert("", 0, "x"), "x");
    }
}
