//! Replica counts by name.

use podsmith_object::{Diagnostic, Diagnostics, Value};

use super::on_resource;
use crate::config::{Create, FieldError, FieldSpec};
use crate::kustomization::Replica;
use crate::resources::{Gvk, Resource, ResourceMap};

/// Sets the replica count of everything that has, or once had, the name.
pub(crate) fn set_replicas(
    resources: &mut ResourceMap,
    replica: &Replica,
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    let mut found = false;
    let named = resources.find_by_name(&replica.name);
    for spec in specs {
        for index in &named {
            let Some(resource) = resources.get_mut(*index) else { continue };
            if !matches(resource, &replica.name, &spec.gvk) {
                continue;
            }
            found = true;
            if !spec.selects(resource) {
                continue;
            }
            spec.apply(resource, Create::Scalar, &mut |leaf| match leaf {
                Value::Array(_) | Value::Object(_) => {
                    Err(FieldError("a replica count must be a number".into()))
                }
                _ => {
                    *leaf = Value::from(replica.count);
                    Ok(())
                }
            })
            .map_err(|error| on_resource(resource, &error))?;
        }
    }
    if found {
        return Ok(());
    }
    let kinds: Vec<&str> = specs.iter().map(|spec| spec.gvk.kind.as_str()).collect();
    Err(Diagnostic::error(format!("nothing called `{}` has replicas", replica.name))
        .with_hint(format!("`replicas` changes objects of these kinds: {}", kinds.join(", ")))
        .into())
}

fn matches(resource: &Resource, name: &str, selector: &Gvk) -> bool {
    let api_version = resource.api_version();
    let now = resource.name() == name && resource.is_selected_by(selector);
    now || resource
        .previous
        .iter()
        .any(|id| &*id.name == name && Gvk::of(&api_version, &id.kind).is_selected_by(selector))
}
