//! What the paths of an object's parts let a client change.

use podsmith_object::Value;

use crate::fields;

/// Leaves only those changes that the path of a part allows.
pub fn restrict(subresource: &str, old: &Value, new: &mut Value) {
    let mut kept = old.clone();
    match subresource {
        "finalize" => fields::copy(new, &mut kept, &["spec", "finalizers"]),
        "approval" => fields::copy(new, &mut kept, &["status", "conditions"]),
        "ephemeralcontainers" => fields::copy(new, &mut kept, &["spec", "ephemeralContainers"]),
        "resize" => resize(new, &mut kept),
        // The scale of an object was already written into its own fields.
        _ => return,
    }
    copy_managers(new, &mut kept);
    *new = kept;
}

fn copy_managers(from: &Value, to: &mut Value) {
    fields::copy(from, to, &["metadata", "managedFields"]);
}

/// The resources of containers, by name.
fn resize(from: &Value, to: &mut Value) {
    for list in ["containers", "initContainers"] {
        let wanted: Vec<Value> = fields::list(from, &["spec", list]).to_vec();
        let Some(Value::Array(present)) = to.get_mut("spec").and_then(|spec| spec.get_mut(list)) else {
            continue;
        };
        for container in present {
            let name = fields::text(container, &["name"]).to_owned();
            if let Some(source) = wanted.iter().find(|one| fields::text(one, &["name"]) == name) {
                fields::copy(source, container, &["resources"]);
                fields::copy(source, container, &["resizePolicy"]);
            }
        }
    }
}
