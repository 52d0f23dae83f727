//! A hash of what an object contains, the same on every machine and in every run.

use podsmith_object::{Object, Value, json};
use sha2::{Digest, Sha256};

use crate::annotations::{CONTENT_HASH, PREFIX};

/// `sha256:` and the hash of the object's canonical JSON, without our own annotations.
///
/// ```
/// use podsmith_engine::hash::content_hash;
/// use podsmith_object::{Object, json};
/// let object = Object::from_value(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}))?;
/// let mut marked = object.clone();
/// marked.set_annotation("podsmith.dev/source.path", "elsewhere");
/// assert_eq!(content_hash(&object), content_hash(&marked));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn content_hash(object: &Object) -> String {
    let has_ours = object.annotations().any(|(key, _)| key.starts_with(PREFIX));
    let text = if has_ours {
        json::canonical(&Value::Object(without_ours(object)))
    } else {
        json::canonical(&object.to_value())
    };
    format!("sha256:{}", hex::encode(Sha256::digest(text)))
}

fn without_ours(object: &Object) -> podsmith_object::Map<String, Value> {
    let mut body = object.body().clone();
    if let Some(Value::Object(metadata)) = body.get_mut("metadata")
        && let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
    {
        annotations.retain(|key, _| !key.starts_with(PREFIX));
        if annotations.is_empty() {
            metadata.shift_remove("annotations");
        }
    }
    body
}

/// Writes the content hash as an annotation. Doing it twice changes nothing.
pub fn annotate(object: &mut Object) {
    let hash = content_hash(object);
    object.set_annotation(CONTENT_HASH, &hash);
}
