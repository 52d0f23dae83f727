//! SubNamespace between its versions, without loss.
//!
//! v1 has one word for a status; what v2 knows beyond it travels in two annotations.

use podsmith_object::{Object, Value, json};

use crate::claim::{Claim, v1_status};
use crate::keys::Keys;

fn carried(keys: &Keys) -> [String; 2] {
    ["observed-generation", "conditions"].map(|name| format!("internal.{}/{name}", keys.prefix))
}

/// The same SubNamespace in another version of our group: `v1`, `v2alpha1` or `v2`. `None` for other versions.
pub fn convert(object: &Object, to: &str, keys: &Keys) -> Option<Object> {
    let from = object.gvk();
    let known = |version: &str| matches!(version, "v1" | "v2alpha1" | "v2");
    if !known(to) || !known(&from.version) || *from.group != *keys.prefix {
        return None;
    }
    let mut out = object.clone();
    out.body_mut().insert("apiVersion".into(), Value::from(format!("{}/{to}", keys.prefix)));
    match (&*from.version, to) {
        ("v1", "v1") => {}
        ("v1", _) => upgrade(&mut out, keys),
        (_, "v1") => downgrade(&mut out, keys),
        _ => {}
    }
    Some(out)
}

fn upgrade(object: &mut Object, keys: &Keys) {
    let [observed, conditions] = carried(keys);
    let mut status = serde_json::Map::new();
    if let Some(number) = object.annotation(&observed).and_then(|text| text.parse::<i64>().ok()) {
        status.insert("observedGeneration".into(), json!(number));
    }
    let list = object.annotation(&conditions).and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(list) = list.filter(Value::is_array) {
        status.insert("conditions".into(), list);
    }
    for key in [&observed, &conditions] {
        object.remove_annotation(key);
    }
    if object.get(&["metadata", "annotations"]).and_then(Value::as_object).is_some_and(|map| map.is_empty()) {
        object.metadata_mut().shift_remove("annotations");
    }
    if status.is_empty() {
        object.body_mut().shift_remove("status");
    } else {
        object.body_mut().insert("status".into(), Value::Object(status));
    }
}

fn downgrade(object: &mut Object, keys: &Keys) {
    let [observed, conditions] = carried(keys);
    let claim = Claim::read(object);
    let word = v1_status(claim.generation, &claim.status);
    if let Some(number) = claim.status.observed {
        object.set_annotation(&observed, &number.to_string());
    }
    if let Some(list) = object.get(&["status", "conditions"]).cloned() {
        object.set_annotation(&conditions, &list.to_string());
    }
    if word.is_empty() {
        object.body_mut().shift_remove("status");
    } else {
        object.body_mut().insert("status".into(), Value::from(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::ACCURATE_PREFIX;

    #[test]
    fn v2_to_v1_and_back_loses_nothing() {
        let keys = Keys::new(ACCURATE_PREFIX);
        let stalled = json!([{"type": "Stalled", "status": "True", "reason": "Conflict", "message": "m", "lastTransitionTime": "t"}]);
        for (status, word) in [
            (json!({"observedGeneration": 3}), Some("ok")),
            (json!({"observedGeneration": 2}), None),
            (json!({"observedGeneration": 3, "conditions": stalled}), Some("conflict")),
            (Value::Null, None),
        ] {
            let mut value = json!({
                "apiVersion": "accurate.cybozu.com/v2", "kind": "SubNamespace",
                "metadata": {"name": "a", "namespace": "b", "generation": 3}, "spec": {"labels": {"a": "b"}},
            });
            if !status.is_null() {
                value["status"] = status;
            }
            let object = Object::from_value(value).unwrap();
            let old = convert(&object, "v1", &keys).unwrap();
            assert_eq!(old.api_version(), "accurate.cybozu.com/v1");
            assert_eq!(old.get(&["status"]).and_then(Value::as_str), word);
            assert_eq!(convert(&old, "v2", &keys).unwrap(), object);
            assert_eq!(convert(&convert(&object, "v2alpha1", &keys).unwrap(), "v2", &keys).unwrap(), object);
        }
    }

    #[test]
    fn other_versions_and_groups_are_not_ours() {
        let object =
            Object::from_value(json!({"apiVersion": "other.io/v1", "kind": "SubNamespace"})).unwrap();
        assert!(convert(&object, "v2", &Keys::default()).is_none());
        let object =
            Object::from_value(json!({"apiVersion": "innu.cybozu.com/v1", "kind": "SubNamespace"})).unwrap();
        assert!(convert(&object, "v3", &Keys::default()).is_none());
    }
}
