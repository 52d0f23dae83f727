//! What the Kubernetes types look like, and the merges that follow from it.
//!
//! The crate is pure: it reads no file, no clock and no network. One table of facts, made from the Kubernetes 1.36.3
//! sources by `podsmith-schema-gen`, serves every rule that depends on types.
//!
//! ```
//! use podsmith_object::GroupVersionKind;
//! use podsmith_schema::{is_cluster_scoped, table};
//!
//! let deployment = GroupVersionKind::new("apps", "v1", "Deployment");
//! assert_eq!(is_cluster_scoped(&deployment), Some(false));
//! let resource = table().resource(&deployment).unwrap();
//! assert_eq!((resource.plural, resource.short_names.as_slice()), ("deployments", &["deploy"][..]));
//! let spec = table().type_of(&deployment).unwrap().field("spec").unwrap().ty.clone();
//! assert!(spec.field("replicas").unwrap().pointer);
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`table`](table()) | the facts: kinds, resources, types of Kubernetes 1.36.3 |
//! | [`types`] | one shape for built-in and custom types |
//! | [`canonical`] | the form in which the API server stores objects |
//! | [`apply`] | server-side apply and the ownership of fields |
//! | [`decode`] | request bodies: duplicates, unknown fields, wrong types |
//! | [`defaults`] | what the server fills in for built-in kinds |
//! | [`strategy`] | what a write may touch: status, generation, server-set values |
//! | [`protobuf`] | request bodies in protobuf |
//! | [`validate`] | the rules of single kinds |
//! | [`crd`] | custom resources: pruning, defaults, validation |
//! | [`fault`] | what is wrong with a field, in the server's words |
//! | [`strategic`], [`merge_patch`], [`json_patch`] | the three patches besides apply |

pub mod apply;
pub mod canonical;
pub mod crd;
pub mod decode;
pub mod defaults;
pub mod fault;
mod gotext;
pub mod json_patch;
pub mod merge_patch;
pub mod protobuf;
mod read;
mod resources;
pub mod strategic;
pub mod strategy;
mod table;
pub mod types;
pub mod validate;

pub use resources::{Resource, Subresource};
pub use table::{Table, is_cluster_scoped, table};
pub use types::Type;
