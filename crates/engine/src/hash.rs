//! A hash of what an object contains, the same on every machine and in every run.

use podsmith_object::{Map, Object, Value, json};
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
    let text = json::canonical(&Value::Object(without_ours(object)));
    format!("sha256:{}", hex::encode(Sha256::digest(text)))
}

/// The fields without our annotations. A mapping that only they made necessary goes too, and so does one that was empty
/// before: otherwise the hash would change once it is written down.
fn without_ours(object: &Object) -> Map<String, Value> {
    let mut body = object.body().clone();
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.retain(|key, _| !key.starts_with(PREFIX));
            if annotations.is_empty() {
                metadata.shift_remove("annotations");
            }
        }
        if metadata.is_empty() {
            body.shift_remove("metadata");
        }
    }
    body
}

/// Writes the content hash as an annotation. Doing it twice changes nothing.
///
/// ```
/// use podsmith_engine::hash;
/// use podsmith_object::{Object, json};
/// let mut object = Object::from_value(json!({"apiVersion": "v1", "kind": "Namespace"}))?;
/// hash::annotate(&mut object);
/// let once = object.clone();
/// hash::annotate(&mut object);
/// assert_eq!(object, once);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn annotate(object: &mut Object) {
    let hash = content_hash(object);
    object.set_annotation(CONTENT_HASH, &hash);
}
