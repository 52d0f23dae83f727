//! Restarts pods when configuration they use changes: the pod template carries a checksum of it.

use std::collections::{BTreeSet, HashMap};

use podsmith_object::{Map, Object, Value, json};

use crate::{digest, names};

/// Where each kind keeps its pod template.
pub(crate) fn template_path(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => Some(&["spec", "template"]),
        _ => None,
    }
}

/// Puts the checksum of the ConfigMaps and Secrets of `objects` that each workload uses on its pod template.
///
/// Jobs are left alone: their template cannot change, and a finished job must not run again.
pub fn stamp(objects: &mut [Object]) {
    let mut data: HashMap<(bool, String, String), String> = HashMap::new();
    for object in objects.iter() {
        let secret = match (object.api_version(), object.kind()) {
            ("v1", "Secret") => true,
            ("v1", "ConfigMap") => false,
            _ => continue,
        };
        let content: Vec<Value> = ["data", "binaryData", "stringData"]
            .iter()
            .map(|f| object.body().get(*f).cloned().unwrap_or_default())
            .collect();
        let key = (secret, object.namespace().to_owned(), object.name().to_owned());
        data.insert(key, digest::of_value(&Value::Array(content)));
    }
    if data.is_empty() {
        return;
    }
    for object in objects.iter_mut() {
        let Some(path) = template_path(object.kind()) else { continue };
        if object.annotation(names::RESTART) == Some("false") {
            continue;
        }
        let Some(spec) = object.get(path).and_then(|template| template.get("spec")) else { continue };
        let mut used = BTreeSet::new();
        collect(spec, &mut used);
        let mut sums = String::new();
        for (secret, name) in used {
            let key = (secret, object.namespace().to_owned(), name);
            if let Some(sum) = data.get(&key) {
                sums.push_str(&key.2);
                sums.push('=');
                sums.push_str(sum);
                sums.push('\n');
            }
        }
        if sums.is_empty() {
            continue;
        }
        let sum = digest::short(sums.as_bytes());
        let keys: Vec<&str> = path.iter().copied().chain(["metadata", "annotations"]).collect();
        inner_map(object.body_mut(), &keys).insert(names::CHECKSUM.into(), json!(sum));
    }
}

/// The mapping at a path, made where it is missing.
fn inner_map<'m>(map: &'m mut Map<String, Value>, path: &[&str]) -> &'m mut Map<String, Value> {
    let Some((first, rest)) = path.split_first() else { return map };
    let slot = map.entry(*first).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(next) => inner_map(next, rest),
        _ => unreachable!("the slot was made a mapping above"),
    }
}

/// The ConfigMaps (false) and Secrets (true) that a pod spec names.
fn collect(spec: &Value, used: &mut BTreeSet<(bool, String)>) {
    let mut add = |secret: bool, value: Option<&Value>| {
        if let Some(name) = value.and_then(Value::as_str) {
            used.insert((secret, name.to_owned()));
        }
    };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    for volume in list(spec.get("volumes")) {
        add(false, volume.pointer("/configMap/name"));
        add(true, volume.pointer("/secret/secretName"));
        for source in list(volume.pointer("/projected/sources")) {
            add(false, source.pointer("/configMap/name"));
            add(true, source.pointer("/secret/name"));
        }
    }
    for field in ["containers", "initContainers"] {
        for container in list(spec.get(field)) {
            for source in list(container.get("envFrom")) {
                add(false, source.pointer("/configMapRef/name"));
                add(true, source.pointer("/secretRef/name"));
            }
            for variable in list(container.get("env")) {
                add(false, variable.pointer("/valueFrom/configMapKeyRef/name"));
                add(true, variable.pointer("/valueFrom/secretKeyRef/name"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(value: &str) -> Vec<Object> {
        let object = |value: Value| Object::from_value(value).unwrap();
        vec![
            object(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "data": {"k": value}}),
            ),
            object(
                json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "uses", "namespace": "n"}, "spec": {"template": {"spec": {"containers": [{"name": "a", "envFrom": [{"configMapRef": {"name": "c"}}]}]}}}}),
            ),
            object(
                json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "other", "namespace": "n"}, "spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}}),
            ),
        ]
    }

    fn sum(object: &Object) -> Option<String> {
        object
            .get(&["spec", "template", "metadata", "annotations", names::CHECKSUM])
            .and_then(Value::as_str)
            .map(str::to_owned)
    }

    #[test]
    fn a_change_of_configuration_changes_the_template_of_its_users_only() {
        let (mut one, mut two) = (objects("1"), objects("2"));
        stamp(&mut one);
        stamp(&mut two);
        assert_ne!(sum(&one[1]), sum(&two[1]));
        assert!(sum(&one[1]).is_some());
        assert_eq!(sum(&one[2]), None);
    }

    #[test]
    fn the_restart_can_be_switched_off() {
        let mut objects = objects("1");
        objects[1].set_annotation(names::RESTART, "false");
        stamp(&mut objects);
        assert_eq!(sum(&objects[1]), None);
    }
}
