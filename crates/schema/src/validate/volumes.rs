//! The volumes of a pod.

use podsmith_object::quantity::Quantity;

use super::names;
use super::node::{At, Faults};

/// Checks all volumes; the names of those without a fault, with whether they are block devices' claims.
pub(super) fn check<'a>(list: &At<'a>, faults: &mut Faults) -> Vec<&'a str> {
    let mut known: Vec<&'a str> = Vec::new();
    for volume in list.items() {
        let before = faults.list.len();
        source(&volume, faults);
        let name = volume.child("name");
        if name.is_empty() {
            faults.required(&name, "");
        } else {
            faults.each(&name, names::dns_label(name.text()));
        }
        if known.contains(&name.text()) {
            faults.duplicate(&name);
        }
        if faults.list.len() == before {
            known.push(name.text());
        }
    }
    known
}

fn source(volume: &At<'_>, faults: &mut Faults) {
    let sources: Vec<&str> = volume
        .value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| *key != "name" && !value.is_null())
        .map(|(key, _)| key.as_str())
        .collect();
    let Some((first, more)) = sources.split_first() else {
        return faults.required(volume, "must specify a volume type");
    };
    for other in more {
        faults.forbidden(&volume.child(other), "may not specify more than 1 volume type");
    }
    let at = volume.child(first);
    let mut required = |keys: &[&str]| {
        for key in keys {
            if at.child(key).is_empty() {
                faults.required(&at.child(key), "");
            }
        }
    };
    match *first {
        "secret" => required(&["secretName"]),
        "configMap" => required(&["name"]),
        "persistentVolumeClaim" => required(&["claimName"]),
        "nfs" => required(&["server", "path"]),
        "csi" => required(&["driver"]),
        "hostPath" => required(&["path"]),
        "gitRepo" => required(&["repository"]),
        "iscsi" => required(&["targetPortal", "iqn"]),
        "cephfs" => required(&["monitors"]),
        "flexVolume" => required(&["driver"]),
        _ => {}
    }
    match *first {
        "emptyDir" => {
            let limit = at.child("sizeLimit");
            if Quantity::parse(limit.text()).is_ok_and(Quantity::is_negative) {
                faults.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
            }
        }
        "hostPath" if !at.child("path").is_empty() => {
            let backsteps = at.child("path").text().split('/').any(|part| part == "..");
            if backsteps {
                faults.invalid(&at.child("path"), "must not contain '..'");
            }
            let sort = at.child("type");
            let allowed = [
                "",
                "BlockDevice",
                "CharDevice",
                "Directory",
                "DirectoryOrCreate",
                "File",
                "FileOrCreate",
                "Socket",
            ];
            if sort.is_set() && !allowed.contains(&sort.text()) {
                faults.not_supported(&sort, &allowed);
            }
        }
        "nfs" if !at.child("path").is_empty() && !at.child("path").text().starts_with('/') => {
            faults.invalid(&at.child("path"), "must be an absolute path");
        }
        "secret" | "configMap" | "downwardAPI" | "projected" => {
            let mode = at.child("defaultMode");
            if mode.is_set() && !(0..=0o777).contains(&mode.int()) {
                faults.invalid(&mode, "must be a number between 0 and 0777 (octal), both inclusive");
            }
            items(&at.child("items"), faults);
        }
        _ => {}
    }
}

fn items(list: &At<'_>, faults: &mut Faults) {
    for item in list.items() {
        for key in ["key", "path"] {
            if key == "key" && item.child("fieldRef").is_set() || item.child("resourceFieldRef").is_set() {
                continue;
            }
            if item.child(key).is_empty() {
                faults.required(&item.child(key), "");
            }
        }
        let path = item.child("path");
        if path.text().starts_with('/') {
            faults.invalid(&path, "must be a relative path");
        }
        if path.text().split('/').any(|part| part == "..") {
            faults.invalid(&path, "must not contain '..'");
        }
    }
}
