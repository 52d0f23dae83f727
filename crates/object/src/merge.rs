//! Deep merge of values: the one rule for render-time values, values files and `--set`.

use crate::{Map, Value};

/// Merges `overlay` into `base`. Mappings merge key by key; anything else, null included, replaces what was there.
///
/// ```
/// use podsmith_object::{json, merge::deep_merge};
/// let mut base = json!({"image": {"tag": "1", "pull": "Always"}, "ports": [1, 2]});
/// deep_merge(&mut base, json!({"image": {"tag": "2"}, "ports": [3]}));
/// assert_eq!(base, json!({"image": {"tag": "2", "pull": "Always"}, "ports": [3]}));
/// ```
pub fn deep_merge(base: &mut Value, overlay: Value) {
    match (base, overlay) {
        (Value::Object(base), Value::Object(overlay)) => deep_merge_maps(base, overlay),
        (base, overlay) => *base = overlay,
    }
}

/// [`deep_merge`] for two mappings.
pub fn deep_merge_maps(base: &mut Map<String, Value>, overlay: Map<String, Value>) {
    for (key, value) in overlay {
        match base.get_mut(&key) {
            Some(slot) => deep_merge(slot, value),
            None => {
                base.insert(key, value);
            }
        }
    }
}
