//! Where files come from: roots, what they may reach, and remote addresses.

mod address;
mod loader;

pub use address::RepositoryAddress;
pub(crate) use loader::Loader;
