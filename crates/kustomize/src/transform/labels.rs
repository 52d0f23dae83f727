//! Labels and annotations on objects, templates and selectors.

use podsmith_object::{Diagnostics, Map, Value};

use super::on_resource;
use crate::config::{Create, FieldError, FieldSpec, FieldTable};
use crate::resources::ResourceMap;

/// Sets labels in all the fields of `specs`.
pub(crate) fn set_labels(
    resources: &mut ResourceMap,
    pairs: &[(String, String)],
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    set_entries(resources, pairs, specs)
}

/// Sets annotations in all the fields of `specs`.
pub(crate) fn set_annotations(
    resources: &mut ResourceMap,
    pairs: &[(String, String)],
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    set_entries(resources, pairs, specs)
}

fn set_entries(
    resources: &mut ResourceMap,
    pairs: &[(String, String)],
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    if pairs.is_empty() {
        return Ok(());
    }
    let mut fields = FieldTable::new(specs);
    for resource in resources.values_mut() {
        fields
            .apply(resource, Create::Mapping, &mut |leaf| set(leaf, pairs))
            .map_err(|error| on_resource(resource, &error))?;
    }
    Ok(())
}

fn set(leaf: &mut Value, pairs: &[(String, String)]) -> Result<(), FieldError> {
    match leaf {
        // Null where nothing may be created stays null.
        Value::Null => Ok(()),
        Value::Object(map) => {
            insert(map, pairs);
            Ok(())
        }
        _ => Err(FieldError("a mapping is expected here".into())),
    }
}

fn insert(map: &mut Map<String, Value>, pairs: &[(String, String)]) {
    for (key, value) in pairs {
        map.insert(key.clone(), Value::from(value.as_str()));
    }
}
