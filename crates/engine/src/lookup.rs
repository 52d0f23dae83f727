//! Finding keys in small mappings.

use podsmith_object::{Map, Object, Value};

/// Up to this size, comparing all keys is faster than hashing the one that is looked for.
const SMALL: usize = 8;

/// The value under `key`.
pub(crate) fn field<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    if map.len() <= SMALL {
        map.iter().find(|(known, _)| known.as_str() == key).map(|(_, value)| value)
    } else {
        map.get(key)
    }
}

/// `metadata.labels` or `metadata.annotations`.
pub(crate) fn entries<'o>(object: &'o Object, name: &str) -> Option<&'o Map<String, Value>> {
    let metadata = field(object.body(), "metadata")?.as_object()?;
    field(metadata, name)?.as_object()
}
