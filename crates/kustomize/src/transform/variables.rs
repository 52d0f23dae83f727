//! `vars`: `$(NAME)` in some fields becomes a value of another object.

use std::collections::BTreeMap;

use podsmith_object::{Diagnostic, Diagnostics, Value};

use super::on_resource;
use super::paths::{look_up, split_field_path};
use crate::config::{Create, FieldError, FieldSpec, FieldTable};
use crate::kustomization::Variable;
use crate::resources::{ResourceMap, text_of};

/// All vars of a build by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    by_name: BTreeMap<String, Variable>,
}

impl Variables {
    /// Adds a var and marks the object it reads from.
    pub(crate) fn add(
        &mut self,
        resources: &mut ResourceMap,
        variable: &Variable,
    ) -> Result<(), Diagnostics> {
        let matches: Vec<usize> = resources
            .find_by_name(&variable.object_name)
            .into_iter()
            .filter(|index| resources.get(*index).is_some_and(|resource| reads_from(variable, resource)))
            .collect();
        match matches.as_slice() {
            [] => {}
            [index] => {
                if let Some(resource) = resources.get_mut(*index) {
                    resource.variables.push(variable.name.clone());
                }
            }
            _ => {
                let message = format!("var `{}` could read from {} objects", variable.name, matches.len());
                return Err(Diagnostic::error(message).with_hint("give its `objref` a namespace").into());
            }
        }
        self.insert(variable.clone())
    }

    fn insert(&mut self, variable: Variable) -> Result<(), Diagnostics> {
        let name = variable.name.clone();
        match self.by_name.insert(name.clone(), variable) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::error(format!("var `{name}` is declared twice")).into()),
        }
    }

    /// Adds the vars of another part of the build.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), Diagnostics> {
        other.by_name.into_values().try_for_each(|variable| self.insert(variable))
    }
}

fn reads_from(variable: &Variable, resource: &crate::resources::Resource) -> bool {
    let api_version = resource.api_version();
    let own = crate::resources::Gvk::of(&api_version, &resource.kind());
    let namespace_matches =
        |namespace: &str| variable.namespace.is_empty() || variable.namespace == namespace;
    let now = own == variable.gvk
        && resource.name() == variable.object_name
        && namespace_matches(&resource.effective_namespace());
    now || resource.previous.iter().any(|id| {
        crate::resources::Gvk::of(&api_version, &id.kind) == variable.gvk
            && *id.name == *variable.object_name
            && namespace_matches(&id.namespace)
    })
}

/// Replaces all vars. Returns warnings about those nobody used.
pub(crate) fn resolve_variables(
    resources: &mut ResourceMap,
    variables: &Variables,
    specs: &[FieldSpec],
) -> Result<Vec<Diagnostic>, Diagnostics> {
    if variables.by_name.is_empty() {
        return Ok(Vec::new());
    }
    let mut values: BTreeMap<&str, (Value, usize)> = BTreeMap::new();
    for (name, variable) in &variables.by_name {
        values.insert(name, (find_value(resources, variable)?, 0));
    }
    let mut fields = FieldTable::new(specs);
    for resource in resources.values_mut() {
        fields
            .apply(resource, Create::Nothing, &mut |leaf| set(leaf, &mut values))
            .map_err(|error| on_resource(resource, &error))?;
    }
    resources.forget();
    let unused: Vec<&str> =
        values.iter().filter(|(_, (_, count))| *count == 0).map(|(name, _)| *name).collect();
    if unused.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Diagnostic::warning(format!("these vars were never used: {}", unused.join(", ")))])
}

fn find_value(resources: &ResourceMap, variable: &Variable) -> Result<Value, Diagnostics> {
    let marked = resources.iter().find(|resource| resource.variables.contains(&variable.name));
    let Some(resource) = marked else {
        return Err(
            Diagnostic::error(format!("var `{}` names no object of this build", variable.name)).into()
        );
    };
    let body = Value::Object(resource.body.clone());
    let steps = expand_positions(split_field_path(&variable.field_path));
    match look_up(&body, &steps) {
        Ok(Some(Value::Null)) => Ok(Value::from("null")),
        Ok(Some(value)) => Ok(value.clone()),
        _ => Err(Diagnostic::error(format!(
            "field {} that var `{}` reads is missing",
            variable.field_path, variable.name
        ))
        .on(resource.id())
        .into()),
    }
}

/// `a[0]` means the steps `a` and `0`.
fn expand_positions(steps: Vec<String>) -> Vec<String> {
    let mut result = Vec::with_capacity(steps.len());
    for step in steps {
        let split = step.strip_suffix(']').and_then(|step| step.rsplit_once('['));
        match split {
            Some((name, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
                if !name.is_empty() {
                    result.push(name.to_owned());
                }
                result.push(index.to_owned());
            }
            _ => result.push(step),
        }
    }
    result
}

type Values<'v> = BTreeMap<&'v str, (Value, usize)>;

fn set(leaf: &mut Value, values: &mut Values<'_>) -> Result<(), FieldError> {
    match leaf {
        Value::String(text) => *leaf = expand(text, values),
        Value::Object(map) => {
            for value in map.values_mut() {
                if let Value::String(text) = value {
                    *value = expand(text, values);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let Value::String(text) = item else {
                    return Err(FieldError("a list of texts is expected here".into()));
                };
                *item = expand(text, values);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// Replaces every `$(NAME)`; a text that is nothing else takes the value's type. `$$` is a dollar sign.
fn expand(text: &str, values: &mut Values<'_>) -> Value {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, after) = rest.split_at(dollar);
        let after = &after[1..];
        if after.is_empty() {
            break;
        }
        out.push_str(before);
        if let Some(more) = after.strip_prefix('$') {
            out.push('$');
            rest = more;
        } else if let Some((name, more)) = after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            let whole = name.len() + 3 == text.len();
            match values.get_mut(name) {
                Some((value @ (Value::String(_) | Value::Number(_) | Value::Bool(_)), count)) => {
                    *count += 1;
                    if whole {
                        return value.clone();
                    }
                    out.push_str(&text_of(value));
                }
                _ => {
                    out.push_str("$(");
                    out.push_str(name);
                    out.push(')');
                }
            }
            rest = more;
        } else {
            let next = after.chars().next().map_or(0, char::len_utf8);
            out.push('$');
            out.push_str(&after[..next]);
            rest = &after[next..];
        }
    }
    out.push_str(rest);
    Value::String(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn references_are_expanded_like_the_original_does() {
        let cases = [
            ("$(A)", json!("a")),
            ("$(N)", json!(8)),
            ("$(N)-x", json!("8-x")),
            ("$$(A)_$(A)", json!("$(A)_a")),
            ("$(missing)", json!("$(missing)")),
            ("$A", json!("$A")),
            ("x$", json!("x$")),
            ("$(A", json!("$(A")),
            ("$$$$$$$(A)", json!("$$$a")),
            ("$(A$(A))", json!("$(A$(A))")),
            ("--$($($($($--", json!("--$($($($($--")),
        ];
        for (text, expected) in cases {
            let mut values = BTreeMap::from([("A", (json!("a"), 0)), ("N", (json!(8), 0))]);
            assert_eq!(expand(text, &mut values), expected, "{text}");
        }
    }
}
