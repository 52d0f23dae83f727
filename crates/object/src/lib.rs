//! Kubernetes objects as Podsmith sees them: untyped, ordered, and aware of where they came from.
//!
//! This crate does no I/O of its own except through [`files::DiskFiles`]; text comes in as bytes and leaves as
//! bytes. Everything else in the workspace stands on it, so there is exactly one YAML reader, one YAML writer, one
//! selector grammar, one strict configuration decoder and one way to describe a failure.
//!
//! ```
//! use podsmith_object::{read_objects, yaml};
//!
//! let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {mode: '0755'}\n";
//! let objects = read_objects("a.yaml", text.as_bytes()).unwrap();
//! assert_eq!(objects[0].name(), "a");
//! assert_eq!(objects[0].origin().unwrap().line, 1);
//! assert!(yaml::to_string(&objects[0].to_value()).contains("mode: \"0755\""));
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`object`](Object) | one object, cheap to clone |
//! | [`identity`] | group, version, kind, namespace, name |
//! | [`set`] | many objects, indexed |
//! | [`yaml`] | reading and writing YAML the way the Kubernetes tools do |
//! | [`json`] | reading JSON strictly, canonical JSON |
//! | [`stream`] | files and streams into objects |
//! | [`decode`] | strict configuration files: every error with its position and the nearest valid key |
//! | [`diagnostic`] | one shape for everything that can be told to a user |
//! | [`files`] | trees of files: on disk, in memory, overlaid |
//! | [`selector`], [`quantity`], [`names`] | the small grammars of Kubernetes |

pub mod decode;
pub mod diagnostic;
pub mod files;
pub mod identity;
pub mod json;
pub mod merge;
pub mod names;
mod object;
pub mod place;
pub mod quantity;
pub mod selector;
pub mod set;
pub mod stream;
pub mod suggest;
pub mod yaml;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use identity::{GroupVersionKind, ObjectId};
pub use object::{NotAnObject, Object, StringMapProblem};
pub use place::{Origin, Place};
pub use serde_json::{Map, Number, Value, json};
pub use set::ObjectSet;
pub use stream::{read_objects, read_objects_with};
