//! Annotations of our own: where an object came from, and what it contains.
//!
//! ```
//! use podsmith_engine::{MemorySource, annotations};
//! use podsmith_object::{Object, json};
//! let mut object = Object::from_value(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}))?;
//! annotations::set_source(&mut object, &MemorySource::new("generated", vec![]));
//! assert_eq!(object.annotation(annotations::SOURCE_TYPE), Some("memory"));
//! assert_eq!(object.annotation(annotations::SOURCE_PATH), Some("generated"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use podsmith_object::Object;

use crate::Source;

/// What every annotation key of ours starts with.
pub const PREFIX: &str = "podsmith.dev/";
/// The kind of source: `yaml`, `helm`.
pub const SOURCE_TYPE: &str = "podsmith.dev/source.type";
/// The source as the user named it.
pub const SOURCE_PATH: &str = "podsmith.dev/source.path";
/// The file the object was written in.
pub const SOURCE_FILE: &str = "podsmith.dev/source.file";
/// The content hash.
pub const CONTENT_HASH: &str = "podsmith.dev/content.hash";

/// Writes the three source annotations. The file is the object's origin; without one, the source's path.
pub fn set_source(object: &mut Object, source: &dyn Source) {
    let path = source.path();
    let file = object.origin().map_or_else(|| path.clone(), |origin| origin.file.to_string());
    object.set_annotation(SOURCE_TYPE, source.kind());
    object.set_annotation(SOURCE_PATH, &path);
    object.set_annotation(SOURCE_FILE, &file);
}
