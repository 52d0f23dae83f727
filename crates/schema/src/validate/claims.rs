//! Persistent volumes, claims and storage classes.

use podsmith_object::Value;
use podsmith_object::quantity::Quantity;

use super::node::{At, Faults};
use super::{names, selector};
use crate::fault::Fault;

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

fn access_modes(modes: &At<'_>, faults: &mut Faults) {
    let mut once_pod = false;
    let mut other = false;
    for mode in modes.items() {
        if !MODES.contains(&mode.text()) {
            faults.push(Fault::not_supported(modes.path.as_str(), mode.value.clone(), &MODES));
        } else if mode.text() == "ReadWriteOncePod" {
            once_pod = true;
        } else {
            other = true;
        }
    }
    if once_pod && other {
        faults.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
    }
}

/// Checks the spec of a claim.
pub(super) fn spec(spec: &At<'_>, faults: &mut Faults) {
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        faults.required(&modes, "at least 1 access mode is required");
    }
    if spec.child("selector").is_set() {
        selector::check(&spec.child("selector"), faults);
    }
    access_modes(&modes, faults);
    let storage = spec.at(&["resources", "requests", "storage"]);
    let shown = At { path: format!("{}.resources[storage]", spec.path), value: storage.value };
    match Quantity::parse(storage.text()) {
        Err(_) => faults.required(&shown, ""),
        Ok(amount) if amount.is_negative() || amount.milli() == 0 => {
            faults.invalid(&shown, "must be greater than zero")
        }
        Ok(_) => {}
    }
    let class = spec.child("storageClassName");
    if !class.is_empty() {
        faults.each(&class, names::dns_subdomain(class.text()));
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() && !matches!(mode.text(), "Block" | "Filesystem") {
        faults.not_supported(&mode, &["Block", "Filesystem"]);
    }
}

/// Checks a claim, and what a change may touch.
pub(super) fn claim(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let now = object.child("spec");
    spec(&now, faults);
    let Some(old) = old else { return };
    let before = old.child("spec");
    let bound = object.at(&["status", "phase"]).text() == "Bound";
    if frozen(now.value, before.value, bound) != *before.value {
        faults.forbidden(
            &now,
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        );
    }
    let size = |at: &At<'_>| Quantity::parse(at.at(&["resources", "requests", "storage"]).text()).ok();
    if let (Some(wanted), Some(had)) = (size(&now), size(&before))
        && wanted < had
    {
        let capacity = Quantity::parse(old.at(&["status", "capacity", "storage"]).text()).ok();
        if capacity.is_some_and(|capacity| wanted <= capacity) {
            faults.push(Fault::forbidden(
                "spec.resources.requests.storage",
                "field can not be less than status.capacity",
            ));
        }
    }
    let (mode, mode_before) = (now.child("volumeMode"), before.child("volumeMode"));
    if mode.value != mode_before.value {
        faults.push(Fault::invalid("volumeMode", mode.value.clone(), "field is immutable"));
    }
}

fn frozen(new: &Value, old: &Value, bound: bool) -> Value {
    let mut new = new.clone();
    let Value::Object(map) = &mut new else { return new };
    let mut restore = |key: &str| {
        match old.get(key) {
            Some(value) => map.insert(key.to_owned(), value.clone()),
            None => map.shift_remove(key),
        };
    };
    if old.get("volumeName").and_then(Value::as_str).is_none_or(str::is_empty) {
        restore("volumeName");
    }
    if old.get("storageClassName").is_none() {
        restore("storageClassName");
    }
    if bound {
        restore("volumeAttributesClassName");
        if let (Some(slot), Some(before)) =
            (new.pointer_mut("/resources/requests/storage"), old.pointer("/resources/requests/storage"))
        {
            *slot = before.clone();
        }
    }
    new
}

/// The fields of a volume spec that are no source.
const NO_SOURCE: [&str; 10] = [
    "capacity",
    "accessModes",
    "claimRef",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "mountOptions",
    "volumeMode",
    "nodeAffinity",
    "volumeAttributesClassName",
    "",
];

fn sources(spec: &At<'_>) -> Vec<(String, Value)> {
    let entries = spec.value.as_object().into_iter().flatten();
    let sources = entries.filter(|(key, value)| !NO_SOURCE.contains(&key.as_str()) && !value.is_null());
    sources.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Checks a volume; its source never changes.
pub(super) fn volume(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        faults.required(&modes, "");
    }
    access_modes(&modes, faults);
    let capacity = spec.child("capacity");
    if capacity.is_empty() {
        faults.required(&capacity, "");
    }
    if !capacity.child("storage").is_set() || capacity.count() > 1 {
        faults.not_supported(&capacity, &["storage"]);
    }
    for (_, at) in capacity.entries() {
        if Quantity::parse(at.text()).is_ok_and(|amount| amount.is_negative() || amount.milli() == 0) {
            faults.invalid(&at, "must be greater than zero");
        }
    }
    let policy = spec.child("persistentVolumeReclaimPolicy");
    if !policy.is_empty() && !matches!(policy.text(), "Delete" | "Recycle" | "Retain") {
        faults.not_supported(&policy, &["Delete", "Recycle", "Retain"]);
    }
    let given = sources(&spec);
    match given.as_slice() {
        [] => faults.required(&spec, "must specify a volume type"),
        [_] => {}
        [_, more @ ..] => {
            for (key, _) in more {
                faults.forbidden(&spec.child(key), "may not specify more than 1 volume type");
            }
        }
    }
    if spec.child("local").is_set() && !spec.child("nodeAffinity").is_set() {
        faults.required(&spec.child("nodeAffinity"), "Local volume requires node affinity");
    }
    if policy.text() == "Recycle" && spec.at(&["hostPath", "path"]).text() == "/" {
        faults.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() && !matches!(mode.text(), "Block" | "Filesystem") {
        faults.not_supported(&mode, &["Block", "Filesystem"]);
    }
    let Some(old) = old.map(|old| old.child("spec")) else { return };
    if given != sources(&old) {
        faults.push(Fault::forbidden(
            "spec.persistentvolumesource",
            "spec.persistentvolumesource is immutable after creation",
        ));
    }
    if mode.value != old.child("volumeMode").value {
        faults.push(Fault::invalid("volumeMode", mode.value.clone(), "field is immutable"));
    }
}

/// Checks a StorageClass; most of it never changes.
pub(super) fn storage_class(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    if let Some(old) = old {
        for key in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
            faults.immutable(&object.child(key), &old.child(key));
        }
    }
    let provisioner = object.child("provisioner");
    if provisioner.is_empty() {
        faults.required(&provisioner, "");
    } else {
        faults.each(&provisioner, names::qualified_name(&provisioner.text().to_lowercase()));
    }
    let policy = object.child("reclaimPolicy");
    if !matches!(policy.text(), "Delete" | "Retain") {
        faults.not_supported(&policy, &["Delete", "Retain"]);
    }
    let mode = object.child("volumeBindingMode");
    if !mode.is_set() {
        faults.required(&mode, "");
    } else if !matches!(mode.text(), "Immediate" | "WaitForFirstConsumer") {
        faults.not_supported(&mode, &["Immediate", "WaitForFirstConsumer"]);
    }
}
