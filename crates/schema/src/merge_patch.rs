//! JSON merge patch (RFC 7386).

use podsmith_object::{Map, Value};

/// Applies a merge patch: null removes a key, maps merge, anything else replaces.
///
/// ```
/// use podsmith_object::json;
/// use podsmith_schema::merge_patch;
/// let mut value = json!({"a": {"b": 1, "c": 2}, "d": [1]});
/// merge_patch::apply(&mut value, json!({"a": {"b": null, "e": {"f": null}}, "d": [2]}));
/// assert_eq!(value, json!({"a": {"c": 2, "e": {}}, "d": [2]}));
/// ```
pub fn apply(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.shift_remove(&key);
        } else {
            apply(target.entry(key).or_insert(Value::Null), value);
        }
    }
}
