//! Prefixes and suffixes of names.

use std::sync::Arc;

use podsmith_object::{Diagnostics, Value};

use super::on_resource;
use crate::config::{Create, FieldSpec};
use crate::resources::{Gvk, Resource, ResourceMap, text_of};

/// Puts `prefix` before all names.
pub(crate) fn add_prefix(
    resources: &mut ResourceMap,
    prefix: &str,
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    change(
        resources,
        specs,
        |resource| resource.prefixes.push(Arc::from(prefix)),
        prefix,
        |name| format!("{prefix}{name}"),
    )
}

/// Puts `suffix` after all names.
pub(crate) fn add_suffix(
    resources: &mut ResourceMap,
    suffix: &str,
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    change(
        resources,
        specs,
        |resource| resource.suffixes.push(Arc::from(suffix)),
        suffix,
        |name| format!("{name}{suffix}"),
    )
}

/// Definitions, API services and namespaces keep their names.
fn keeps_its_name(gvk: &Gvk) -> bool {
    matches!(gvk.kind.as_str(), "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}

fn change(
    resources: &mut ResourceMap,
    specs: &[FieldSpec],
    note: impl Fn(&mut Resource),
    text: &str,
    rename: impl Fn(&str) -> String,
) -> Result<(), Diagnostics> {
    for resource in resources.all_mut() {
        let gvk = resource.original_gvk();
        if keeps_its_name(&gvk) {
            continue;
        }
        for spec in specs.iter().filter(|spec| gvk.is_selected_by(&spec.gvk)) {
            if spec.path == "metadata/name" && !text.is_empty() {
                note(resource);
                resource.remember_identity();
            }
            if !spec.selects(resource) {
                continue;
            }
            spec.apply(resource, Create::Scalar, &mut |leaf| match leaf {
                Value::Array(_) | Value::Object(_) => {
                    Err(crate::config::FieldError("a name must be a text".into()))
                }
                _ => {
                    *leaf = Value::String(rename(&text_of(leaf)));
                    Ok(())
                }
            })
            .map_err(|error| on_resource(resource, &error))?;
        }
    }
    Ok(())
}
