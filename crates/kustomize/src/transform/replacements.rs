//! Values copied from one object into fields of others.

use podsmith_object::{Diagnostic, Diagnostics, Value};

use super::paths::{Age, Make, look_up, split_field_path, visit_matches};
use super::select::Matcher;
use super::structured::set_in_text;
use crate::kustomization::{Options, Replacement, Selector, Source, Target};
use crate::resources::{Gvk, Resource, ResourceMap, Step, resolve, text_of};

const DEFAULT_PATH: &str = "metadata.name";

/// A value on its way, and its text as written.
struct Moved {
    value: Value,
    text: String,
}

/// Carries out one replacement.
pub(crate) fn replace(resources: &mut ResourceMap, replacement: &Replacement) -> Result<(), Diagnostics> {
    let Some(targets) = replacement
        .targets
        .as_ref()
        .filter(|_| replacement.source.is_some() || replacement.source_value.is_some())
    else {
        return Err(Diagnostic::error("a replacement needs a source and at least one target").into());
    };
    let moved = match (&replacement.source, &replacement.source_value) {
        (Some(_), Some(_)) => {
            return Err(Diagnostic::error("a replacement cannot have both `source` and `sourceValue`").into());
        }
        (_, Some(text)) => Moved { value: resolve(text).unwrap_or_default(), text: text.clone() },
        (Some(source), None) => read_source(resources, source)?,
        (None, None) => return Ok(()),
    };
    targets.iter().try_for_each(|target| write_target(resources, target, &moved))
}

fn read_source(resources: &mut ResourceMap, source: &Source) -> Result<Moved, Diagnostics> {
    let candidates: Vec<usize> = if source.selector.name.is_empty() {
        (0..resources.len()).collect()
    } else {
        resources.find_by_name(&source.selector.name)
    };
    let found: Vec<usize> = candidates
        .into_iter()
        .filter(|index| resources.get(*index).is_some_and(|resource| is_source(resource, &source.selector)))
        .collect();
    let index = match found.as_slice() {
        [index] => *index,
        [] => return Err(Diagnostic::error(format!("no object is {}", describe(&source.selector))).into()),
        _ => {
            let message = format!("more than one object is {}", describe(&source.selector));
            return Err(Diagnostic::error(message).with_hint("say more about the source").into());
        }
    };
    let Some(resource) = resources.get(index) else {
        return Ok(Moved { value: Value::Null, text: String::new() });
    };
    let path = if source.field_path.is_empty() { DEFAULT_PATH } else { &source.field_path };
    let steps = split_field_path(path);
    let body = Value::Object(resource.body.clone());
    let on = |message: String| Diagnostics::from(Diagnostic::error(message).on(resource.id()));
    let value = look_up(&body, &steps)
        .map_err(|error| on(format!("source field {path}: {error}")))?
        .filter(|value| !is_nothing(value))
        .ok_or_else(|| on(format!("source field {path} is missing")))?;
    let text = written_text(resource, &steps, value);
    refine(&source.options, value.clone(), text).map_err(on)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The text as it stood in the file, when the value alone does not tell it.
fn written_text(resource: &Resource, steps: &[String], value: &Value) -> String {
    let written = resource.written.iter().find(|(path, _)| {
        path.len() == steps.len()
            && path.iter().zip(steps).all(|(step, wanted)| match step {
                Step::Key(key) => key == wanted,
                Step::Index(index) => index.to_string() == *wanted,
            })
    });
    match written {
        Some((_, text)) if resolve(text).as_ref() == Some(value) => text.clone(),
        _ => text_of(value).into_owned(),
    }
}

fn refine(options: &Options, value: Value, text: String) -> Result<Moved, String> {
    if options.delimiter.is_empty() {
        return Ok(Moved { value, text });
    }
    if value.is_object() || value.is_array() {
        return Err("`delimiter` can only split a scalar".into());
    }
    let part = usize::try_from(options.index)
        .ok()
        .and_then(|index| text.split(options.delimiter.as_str()).nth(index))
        .ok_or_else(|| format!("`{text}` has no part {}", options.index))?;
    let value = match &value {
        Value::String(_) => Value::from(part),
        _ => resolve(part).unwrap_or_default(),
    };
    Ok(Moved { value, text: part.to_owned() })
}

/// Every identity of a resource as type, namespace and name, the current one first. The current namespace stands as
/// written; earlier ones have their default spelled out.
fn identities(resource: &Resource) -> Vec<(Gvk, String, String)> {
    let api_version = resource.api_version();
    let mut all = vec![(resource.gvk(), resource.namespace().into_owned(), resource.name().into_owned())];
    all.extend(
        resource
            .previous
            .iter()
            .map(|id| (Gvk::of(&api_version, &id.kind), id.namespace.to_string(), id.name.to_string())),
    );
    all
}

fn is_source(resource: &Resource, selector: &Selector) -> bool {
    let effective =
        |namespace: &str| if namespace.is_empty() { "default".to_owned() } else { namespace.to_owned() };
    identities(resource).iter().any(|(gvk, namespace, name)| {
        (selector.name.is_empty() || selector.name == *name)
            && (selector.namespace.is_empty() || effective(&selector.namespace) == effective(namespace))
            && gvk.is_selected_by(&selector.gvk)
    })
}

fn describe(selector: &Selector) -> String {
    let mut words = Vec::new();
    for (key, text) in [
        ("group", &selector.gvk.group),
        ("version", &selector.gvk.version),
        ("kind", &selector.gvk.kind),
        ("name", &selector.name),
        ("namespace", &selector.namespace),
    ] {
        if !text.is_empty() {
            words.push(format!("{key} {text}"));
        }
    }
    if words.is_empty() { "selected".into() } else { format!("of {}", words.join(", ")) }
}

fn write_target(resources: &mut ResourceMap, target: &Target, moved: &Moved) -> Result<(), Diagnostics> {
    let Some(select) = &target.select else {
        return Err(Diagnostic::error("a replacement target must `select` objects").into());
    };
    let matcher = Matcher::new(select)?;
    let rejects = target
        .reject
        .iter()
        .map(|reject| Ok((Matcher::new(reject)?, reject.has_no_id())))
        .collect::<Result<Vec<_>, Diagnostics>>()?;
    let default_paths = [DEFAULT_PATH.to_owned()];
    let paths: &[String] = if target.field_paths.is_empty() { &default_paths } else { &target.field_paths };
    let paths: Vec<(&String, Vec<String>)> =
        paths.iter().map(|path| (path, split_field_path(path))).collect();
    let mut renamed = false;
    for index in matcher.candidates(resources) {
        let Some(resource) = resources.get_mut(index) else { continue };
        if !is_target(resource, &matcher, &rejects) {
            continue;
        }
        for (path, steps) in &paths {
            renamed |=
                steps.first().is_some_and(|step| matches!(step.as_str(), "metadata" | "kind" | "apiVersion"));
            write_field(resource, path, steps, moved, &target.options)?;
        }
    }
    if renamed {
        resources.forget();
    }
    Ok(())
}

fn is_target(resource: &Resource, matcher: &Matcher, rejects: &[(Matcher, bool)]) -> bool {
    if !matcher.matches_labels(resource) {
        return false;
    }
    let identities = identities(resource);
    let selects = |matcher: &Matcher| {
        identities.iter().any(|(gvk, namespace, name)| {
            matcher.matches_gvk(&gvk.group, &gvk.version, &gvk.kind)
                && matcher.matches_name(name)
                && matcher.matches_namespace(namespace)
        })
    };
    for (reject, has_no_id) in rejects {
        if reject.asks_for_labels() && reject.matches_labels(resource) {
            return false;
        }
        if !has_no_id && selects(reject) {
            return false;
        }
    }
    selects(matcher)
}

fn write_field(
    resource: &mut Resource,
    path: &str,
    steps: &[String],
    moved: &Moved,
    options: &Options,
) -> Result<(), Diagnostics> {
    let make = if options.create { Make::like(&moved.value) } else { Make::Nothing };
    let mut body = Value::Object(std::mem::take(&mut resource.body));
    let result = if steps.len() > 1
        && set_in_text(&mut body, steps, &moved.value, &moved.text, make).is_some()
    {
        Ok(1)
    } else {
        visit_matches(&mut body, steps, make, Age::Existing, &mut |leaf, age| set(leaf, age, moved, options))
    };
    if let Value::Object(map) = body {
        resource.body = map;
    }
    let on = |message: String| {
        Diagnostics::from(
            Diagnostic::error(message)
                .on(resource.id())
                .or_at(resource.origin.as_ref().map(|origin| origin.place())),
        )
    };
    match result {
        Ok(0) => Err(on(format!("target field {path} is missing"))).map_err(|mut problems| {
            for problem in &mut problems.0 {
                if !options.create {
                    problem.hint = Some("set `options.create: true` to make it".into());
                }
            }
            problems
        }),
        Ok(_) => Ok(()),
        Err(error) => Err(on(format!("target field {path}: {error}"))),
    }
}

/// Writes one field. A scalar keeps the type it has, a new one takes the type its text looks like.
fn set(leaf: &mut Value, age: Age, moved: &Moved, options: &Options) -> Result<(), String> {
    let is_scalar = !leaf.is_object() && !leaf.is_array();
    let mut text = moved.text.clone();
    if !options.delimiter.is_empty() {
        if !is_scalar {
            return Err("`delimiter` can only be used on a scalar".into());
        }
        let before = text_of(leaf).into_owned();
        let mut parts: Vec<&str> = before.split(options.delimiter.as_str()).collect();
        match usize::try_from(options.index) {
            Err(_) => parts.insert(0, &moved.text),
            Ok(index) => match parts.get_mut(index) {
                Some(part) => *part = &moved.text,
                None => parts.push(&moved.text),
            },
        }
        text = parts.join(&options.delimiter);
    }
    if !is_scalar {
        *leaf = moved.value.clone();
        return Ok(());
    }
    let looks_like = resolve(&text).unwrap_or_else(|| Value::from(text.as_str()));
    *leaf = match (&*leaf, age) {
        (_, Age::Created) => looks_like,
        (Value::String(_), _) => Value::String(text),
        (Value::Number(_), _) if looks_like.is_number() => looks_like,
        (Value::Bool(_), _) if looks_like.is_boolean() => looks_like,
        (Value::Null, _) if looks_like.is_null() => looks_like,
        (Value::Number(_), _) => return Err(format!("a number is expected here, not `{text}`")),
        (Value::Bool(_), _) => return Err(format!("true or false is expected here, not `{text}`")),
        _ => return Err(format!("nothing can be written over null, not even `{text}`")),
    };
    Ok(())
}
