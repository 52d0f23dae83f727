//! Names, tags and digests of container images.

use podsmith_object::{Diagnostic, Diagnostics, Value};
use regex::Regex;

use super::on_resource;
use crate::config::{Create, FieldError, FieldSpec, FieldTable};
use crate::kustomization::Image;
use crate::resources::{ResourceMap, text_of};

/// Changes the images that the entries name, in their order.
pub(crate) fn set_images(
    resources: &mut ResourceMap,
    images: &[Image],
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    let mut compiled = Vec::with_capacity(images.len());
    for image in images {
        let pattern = format!("^{}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", image.name);
        let expression = Regex::new(&pattern).map_err(|error| {
            let reason = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
            Diagnostics::from(
                Diagnostic::error(format!("image name `{}` is not a regular expression", image.name))
                    .because(reason),
            )
        })?;
        compiled.push((image, expression));
    }
    let mut fields = FieldTable::new(specs);
    for resource in resources.values_mut().filter(|resource| resource.kind() != "CustomResourceDefinition") {
        for (image, expression) in &compiled {
            let mut set = |leaf: &mut Value| update(leaf, image, expression);
            let mut result =
                resource.body.iter_mut().try_for_each(|(key, value)| in_containers(key, value, &mut set));
            result = result.and_then(|()| fields.apply(resource, Create::Nothing, &mut set));
            result.map_err(|error| on_resource(resource, &error))?;
        }
    }
    Ok(())
}

/// Images of everything that looks like a list of containers, in any kind and at any depth.
fn in_containers(
    key: &str,
    value: &mut Value,
    set: &mut dyn FnMut(&mut Value) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    match value {
        Value::Object(map) => {
            map.iter_mut().try_for_each(|(key, value)| in_containers(key, value, set))?;
        }
        Value::Array(items) => {
            items.iter_mut().try_for_each(|item| in_containers("", item, set))?;
            if !matches!(key, "containers" | "initContainers") {
                return Ok(());
            }
            for item in items {
                match item {
                    Value::Null => {}
                    Value::Object(map) => {
                        if let Some(image) = map.get_mut("image") {
                            set(image)?;
                        }
                    }
                    _ => return Err(FieldError(format!("`{key}` must hold mappings"))),
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn update(leaf: &mut Value, image: &Image, expression: &Regex) -> Result<(), FieldError> {
    match leaf {
        Value::Null => return Ok(()),
        Value::Array(_) | Value::Object(_) => {
            return Err(FieldError("an image must be a text".into()));
        }
        _ => {}
    }
    let text = text_of(leaf);
    if !expression.is_match(&text) {
        return Ok(());
    }
    let (name, mut tag, mut digest) = split(&text);
    let name = if image.new_name.is_empty() { name } else { &image.new_name };
    let suffixed;
    match (image.new_tag.is_empty(), image.digest.is_empty()) {
        (false, false) => (tag, digest) = (&image.new_tag, &image.digest),
        (false, true) => (tag, digest) = (&image.new_tag, ""),
        (true, false) => (tag, digest) = ("", &image.digest),
        (true, true) if !image.tag_suffix.is_empty() => {
            suffixed = format!("{tag}{}", image.tag_suffix);
            (tag, digest) = (&suffixed, "");
        }
        (true, true) => {}
    }
    let mut result = name.to_owned();
    for (separator, part) in [(':', tag), ('@', digest)] {
        if !part.is_empty() {
            result.push(separator);
            result.push_str(part);
        }
    }
    *leaf = Value::String(result);
    Ok(())
}

/// Name, tag and digest. A colon before the first slash belongs to the registry's port.
fn split(image: &str) -> (&str, &str, &str) {
    let start = image.find('/').filter(|slash| *slash > 0).unwrap_or(0);
    let rest = &image[start..];
    let (colon, at) = (rest.find(':').map(|i| i + start), rest.find('@').map(|i| i + start));
    match (colon, at) {
        (None, None) => (image, "", ""),
        (colon, Some(at)) if colon.is_none_or(|colon| at < colon) => (&image[..at], "", &image[at + 1..]),
        (Some(colon), Some(at)) => (&image[..colon], &image[colon + 1..at], &image[at + 1..]),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
        (None, Some(at)) => (&image[..at], "", &image[at + 1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_split_at_the_right_places() {
        let cases = [
            ("nginx", ("nginx", "", "")),
            ("nginx:1", ("nginx", "1", "")),
            ("host:5000/a/nginx", ("host:5000/a/nginx", "", "")),
            ("host:5000/nginx:1@sha256:ab", ("host:5000/nginx", "1", "sha256:ab")),
            ("nginx@sha256:ab", ("nginx", "", "sha256:ab")),
        ];
        for (image, parts) in cases {
            assert_eq!(split(image), parts, "{image}");
        }
    }
}
