//! Digests that tell whether something changed, without keeping it.

use podsmith_object::{Object, Value, json};
use sha2::{Digest as _, Sha256};

use crate::names;

/// The first 16 bytes of SHA-256 as hexadecimal text: enough to tell two texts apart, short enough for an annotation.
pub fn short(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    hex::encode(sum.get(..16).unwrap_or(&sum))
}

/// The digest of a value, whatever the order of its fields.
pub fn of_value(value: &Value) -> String {
    short(json::canonical(value).as_bytes())
}

/// The digest of what is declared, without the digest annotation itself.
pub fn of_declared(object: &Object) -> String {
    if object.annotation(names::DIGEST).is_none() {
        return of_value(&object.to_value());
    }
    let mut plain = object.clone();
    plain.remove_annotation(names::DIGEST);
    of_value(&plain.into_value())
}

/// Writes the digest annotation.
pub fn stamp(object: &mut Object) {
    object.remove_annotation(names::DIGEST);
    let digest = of_value(&object.to_value());
    object.set_annotation(names::DIGEST, &digest);
}

/// The digest of a live object without what changes by itself: status, bookkeeping, our own annotation.
pub fn of_live(object: &Object) -> String {
    of_value(&crate::diff::visible(object))
}
