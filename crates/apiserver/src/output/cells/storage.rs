//! Volumes, claims and classes.

use podsmith_object::Value;

use super::super::age;
use super::{or_none, shown, text};
use crate::fields;
use crate::registry::Resource;

/// The cells of a storage object.
pub fn cells(resource: &Resource, object: &Value) -> Option<Vec<Value>> {
    let name = Value::from(fields::name(object));
    Some(match resource.plural.as_str() {
        "persistentvolumes" => {
            let claim = fields::at(object, &["spec", "claimRef"]).map_or(String::new(), |claim| {
                format!("{}/{}", fields::text(claim, &["namespace"]), fields::text(claim, &["name"]))
            });
            vec![
                name,
                text(object, &["spec", "capacity", "storage"]),
                modes(fields::texts(object, &["spec", "accessModes"])).into(),
                text(object, &["spec", "persistentVolumeReclaimPolicy"]),
                phase(object),
                claim.into(),
                text(object, &["spec", "storageClassName"]),
                shown(object, &["spec", "volumeAttributesClassName"], "<unset>").into(),
                text(object, &["status", "reason"]),
                age::of(object),
                shown(object, &["spec", "volumeMode"], "<unset>").into(),
            ]
        }
        "persistentvolumeclaims" => vec![
            name,
            phase(object),
            text(object, &["spec", "volumeName"]),
            text(object, &["status", "capacity", "storage"]),
            modes(fields::texts(object, &["status", "accessModes"])).into(),
            text(object, &["spec", "storageClassName"]),
            shown(object, &["spec", "volumeAttributesClassName"], "<unset>").into(),
            age::of(object),
            shown(object, &["spec", "volumeMode"], "<unset>").into(),
        ],
        "storageclasses" => {
            let default = [
                "storageclass.kubernetes.io/is-default-class",
                "storageclass.beta.kubernetes.io/is-default-class",
            ]
            .iter()
            .any(|mark| fields::text(object, &["metadata", "annotations", mark]) == "true");
            let shown_name = if default {
                format!("{} (default)", fields::name(object))
            } else {
                fields::name(object).to_owned()
            };
            vec![
                shown_name.into(),
                text(object, &["provisioner"]),
                shown(object, &["reclaimPolicy"], "Delete").into(),
                shown(object, &["volumeBindingMode"], "Immediate").into(),
                Value::from(fields::at(object, &["allowVolumeExpansion"]) == Some(&Value::Bool(true))),
                age::of(object),
            ]
        }
        "csidrivers" => {
            let flag = |key: &str, missing: bool| {
                Value::from(fields::at(object, &["spec", key]).and_then(Value::as_bool).unwrap_or(missing))
            };
            let tokens: Vec<&str> = fields::list(object, &["spec", "tokenRequests"])
                .iter()
                .map(|one| fields::text(one, &["audience"]))
                .collect();
            let tokens = if tokens.is_empty() { "<unset>".to_owned() } else { tokens.join(",") };
            let modes = fields::texts(object, &["spec", "volumeLifecycleModes"]).join(",");
            vec![
                name,
                flag("attachRequired", true),
                flag("podInfoOnMount", false),
                flag("storageCapacity", false),
                tokens.into(),
                flag("requiresRepublish", false),
                modes.into(),
                age::of(object),
            ]
        }
        "csinodes" => vec![name, fields::list(object, &["spec", "drivers"]).len().into(), age::of(object)],
        "volumeattributesclasses" => vec![name, text(object, &["driverName"]), age::of(object)],
        "volumeattachments" => vec![
            name,
            text(object, &["spec", "attacher"]),
            or_none(object, &["spec", "source", "persistentVolumeName"]),
            text(object, &["spec", "nodeName"]),
            Value::from(fields::at(object, &["status", "attached"]) == Some(&Value::Bool(true))),
            age::of(object),
        ],
        _ => return None,
    })
}

fn phase(object: &Value) -> Value {
    if fields::is_deleting(object) { "Terminating".into() } else { text(object, &["status", "phase"]) }
}

fn modes(all: Vec<&str>) -> String {
    let short: Vec<&str> = all
        .into_iter()
        .map(|mode| match mode {
            "ReadWriteOnce" => "RWO",
            "ReadOnlyMany" => "ROX",
            "ReadWriteMany" => "RWX",
            "ReadWriteOncePod" => "RWOP",
            other => other,
        })
        .collect();
    short.join(",")
}
