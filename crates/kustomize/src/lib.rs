//! Kustomizations rendered to objects, in this process and without any other tool.
//!
//! The result is that of `kubectl kustomize` (kustomize 5.8), object by object and in order. What that tool refuses is
//! refused here too, with file, line and field. Nothing here writes files, runs commands or opens connections: remote
//! bases and Helm charts go through the doors in [`BuildOptions`], closed unless the caller opens them.
//!
//! ```
//! use std::sync::Arc;
//! use podsmith_kustomize::{BuildOptions, build};
//! use podsmith_object::files::MemoryFiles;
//!
//! let files = MemoryFiles::new()
//!     .with("app/kustomization.yaml", "namePrefix: dev-\nconfigMapGenerator:\n- name: settings\n  literals: [a=1]\n");
//! let built = build(Arc::new(files), "app", &BuildOptions::default()).unwrap();
//! assert_eq!(built.objects[0].name(), "dev-settings-h29d89cmmt");
//! ```
//!
//! | module | idea |
//! |---|---|
//! | `kustomization` | the file, decoded strictly |
//! | `load` | roots, load restrictions, remote addresses |
//! | `resources` | objects with their history of names |
//! | `target` | gathering and the fixed order of steps |
//! | `generate` | ConfigMaps, Secrets, charts, name hashes |
//! | `transform` | one file for each transformer |
//! | `merge` | strategic merge on the client |
//! | `config` | which fields the transformers touch |

mod config;
mod finish;
mod generate;
mod kustomization;
mod load;
mod merge;
mod options;
mod provenance;
mod resources;
mod source;
mod target;
mod transform;

use std::sync::Arc;

use podsmith_object::files::FileTree;
use podsmith_object::{Diagnostic, Diagnostics, Object};

pub use load::RepositoryAddress;
pub use options::{BuildOptions, ChartInflator, ChartRequest, LoadRestrictions, RemoteFetch, Reorder};

pub use source::KustomizeSource;

pub(crate) use finish::{add_hashes, sort_keys};

/// What a build gives.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The objects in their order, with sorted fields.
    pub objects: Vec<Object>,
    /// Deprecated fields, once for each file, and unused vars.
    pub warnings: Vec<Diagnostic>,
}

/// Builds the kustomization in the directory `path` of `tree`.
///
/// Files outside the tree cannot be read, whatever the options: for a kustomization on disk whose bases lie beside it,
/// `tree` must hold both.
///
/// # Errors
///
/// Everything that is wrong with the first file or entry that cannot be used, each with its place.
///
/// # Cost
///
/// Linear in the size of all files read. Entries that select objects by expression cost one look at each object.
pub fn build(tree: Arc<dyn FileTree>, path: &str, options: &BuildOptions) -> Result<Built, Diagnostics> {
    let options = Arc::new(options.clone());
    let tree = finish::with_values(tree, path, &options)?;
    let loader = load::Loader::new(tree, path, &options)?;
    let mut build = target::Build::new();
    let (accumulator, kustomization) = build.root(loader)?;
    finish::finish(build, accumulator, &kustomization, options.reorder)
}
