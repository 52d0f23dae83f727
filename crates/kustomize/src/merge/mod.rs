//! Strategic merge the way kustomize does it on the client.
//!
//! It is not the API server's merge: the patch comes first in merged lists, several keys may identify an element, only
//! the `$patch` directive is known, and a list without a merge rule is replaced as it stands. Which lists merge comes
//! from a table of types ([`MergeTypes`]), built in or read from `openapi.path`.

mod list;
mod types;
mod walk;

pub(crate) use types::{MergeTypes, TypeId};
pub(crate) use walk::merge;
