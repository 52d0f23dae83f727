//! Encrypted configs: age files on disk, plaintext only in memory-backed directories.
//!
//! Each file `config/NAME/x.age` becomes `x` (mode 0400) in a tmpfs directory that the containers mount. The key never
//! comes from the pod itself: see [`keys`].

pub mod age;
mod bech32;
pub mod keys;
mod store;

pub use store::{Store, StoreError, decrypt_config, plain_files, remove_store, store_for};
