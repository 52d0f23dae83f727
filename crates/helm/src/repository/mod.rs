//! Charts from repositories: HTTP indexes, OCI registries, `file://` and dependencies.
//!
//! Nothing here opens a socket. All traffic goes through [`Fetch`], which the caller provides (the `http` feature has
//! one), and all storage through [`Cache`]; so every rule can be tested with both ends in memory.
//!
//! | module | idea |
//! |---|---|
//! | `address` | URLs: parts, origins, relative references |
//! | `fetch` | the door to the network |
//! | `cache` | what was fetched before, for work offline |
//! | `credentials` | who may see which password |
//! | `index` | `index.yaml` and the choice of a version |
//! | `oci` | registries: tokens, tags, manifests, layers |
//! | `locate` | a reference into the bytes of a chart |
//! | `dependencies` | the declared dependencies of a chart, locked or not |
//! | `http` | the client, with the feature `http` |

mod address;
mod cache;
mod credentials;
mod dependencies;
mod digest;
mod error;
mod fetch;
#[cfg(feature = "http")]
pub mod http;
mod index;
mod locate;
mod oci;

pub use address::Address;
pub use cache::{Cache, DiskCache, MemoryCache};
pub use credentials::{Credentials, CredentialsError, Login};
pub use dependencies::{LockedDependency, lock_digest};
pub use error::RepositoryError;
pub use fetch::{Fetch, FetchError, Request, Response};
pub use index::{Index, IndexEntry};
pub use locate::{Located, Locator, Reference};
