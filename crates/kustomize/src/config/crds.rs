//! What `crds` add: reference fields of custom kinds, from their OpenAPI definitions.

use podsmith_object::yaml::{ReadOptions, read_value};
use podsmith_object::{Diagnostic, Diagnostics, Place, Value};

use super::field::FieldSpec;
use super::table::{NameReference, TransformerConfig, merge_specs};
use crate::resources::Gvk;

/// Reads one file of `crds`: a mapping of type names to `{Schema, Dependencies}`.
pub(crate) fn config_from_crds(file: &str, text: &str) -> Result<TransformerConfig, Diagnostics> {
    let document = read_value(text, ReadOptions::lenient())
        .map_err(|error| Diagnostics::from(error.to_diagnostic(file, text, 0)))?;
    let definitions = match &document {
        Value::Object(definitions) => definitions,
        _ => {
            let message = "`crds` must name files with OpenAPI definitions, a mapping by type name";
            return Err(Diagnostic::error(message).at(Place::file(file)).into());
        }
    };
    let mut config = TransformerConfig::default();
    for (name, definition) in definitions {
        if !definition.is_object() {
            let message = format!("`{name}` is not an OpenAPI definition");
            let hint = "custom resource definitions themselves belong under `resources`";
            return Err(Diagnostic::error(message).at(Place::file(file)).with_hint(hint).into());
        }
        let Some(properties) = properties(definition) else { continue };
        if !["kind", "apiVersion", "metadata"].iter().all(|key| properties.contains_key(*key)) {
            continue;
        }
        let kind = name.rsplit('.').next().unwrap_or(name);
        let gvk = Gvk { kind: kind.to_owned(), ..Gvk::default() };
        add(&mut config, definitions, &gvk, name, &mut Vec::new())
            .map_err(|conflict| Diagnostics::from(conflict.to_diagnostic().at(Place::file(file))))?;
    }
    Ok(config)
}

fn properties(definition: &Value) -> Option<&serde_json::Map<String, Value>> {
    let field = |value: &'_ Value, name: &str| -> Option<String> {
        value.as_object()?.keys().find(|key| key.eq_ignore_ascii_case(name)).cloned()
    };
    let schema = definition.get(field(definition, "schema")?)?;
    schema.get("properties")?.as_object()
}

/// Types may refer to each other; a circle ends here.
const DEEPEST: usize = 32;

fn add(
    config: &mut TransformerConfig,
    definitions: &serde_json::Map<String, Value>,
    gvk: &Gvk,
    type_name: &str,
    path: &mut Vec<String>,
) -> Result<(), super::table::Conflict> {
    let Some(properties) = definitions.get(type_name).and_then(properties).filter(|_| path.len() < DEEPEST)
    else {
        return Ok(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        let spec = |more: Option<&str>| {
            let mut path = path.join("/");
            if let Some(more) = more {
                path.push('/');
                path.push_str(more);
            }
            FieldSpec { gvk: gvk.clone(), path, create: false }
        };
        let extension = |key: &str| property.get(key).and_then(Value::as_str);
        if extension("x-kubernetes-annotation").is_some() {
            merge_specs(&mut config.common_annotations, &[spec(None)])?;
        }
        if extension("x-kubernetes-label-selector").is_some() {
            merge_specs(&mut config.common_labels, &[spec(None)])?;
        }
        if extension("x-kubernetes-identity").is_some() {
            merge_specs(&mut config.name_prefix, &[spec(None)])?;
        }
        if let (Some(version), Some(kind)) =
            (extension("x-kubernetes-object-ref-api-version"), extension("x-kubernetes-object-ref-kind"))
        {
            let key = extension("x-kubernetes-object-ref-name-key").unwrap_or("name");
            let target = Gvk { group: String::new(), version: version.to_owned(), kind: kind.to_owned() };
            config.add_name_reference(&NameReference { target, referrers: vec![spec(Some(key))] })?;
        }
        if let Some(reference) = extension("$ref") {
            add(config, definitions, gvk, reference, path)?;
        }
        path.pop();
    }
    Ok(())
}
