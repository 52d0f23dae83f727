//! Helm charts rendered to objects, in-process: no cluster, no helm binary, the same output.
//!
//! ```no_run
//! use podsmith_helm::{Chart, Release, RenderRequest, render};
//! use podsmith_object::files::DiskFiles;
//!
//! let chart = Chart::load_dir(&DiskFiles::new("charts/web"), "").unwrap();
//! let request = RenderRequest { release: Some(Release::new("web", "shop")), ..RenderRequest::default() };
//! for object in render(&chart, &request).unwrap().objects() {
//!     assert!(!object.kind().is_empty());
//! }
//! ```
//!
//! A [`Chart`] is loaded once and never changes; [`render`] may run on many threads at once. Nothing here touches the
//! network: charts from repositories come through [`repository`], whose only door to the outside is a trait.
//!
//! | module | idea |
//! |---|---|
//! | `chart` | directories and archives into a [`Chart`] |
//! | [`values`] | values files, `--set`, coalescing with the charts' defaults |
//! | `dependencies` | which subcharts take part, and what they lift into their parents |
//! | `schema` | `values.schema.json` |
//! | `context` | what templates see |
//! | `manifest` | rendered text into sorted documents |
//! | `render` | all of it in order |

mod capabilities;
mod chart;
mod context;
mod dependencies;
mod error;
mod manifest;
mod reading;
mod render;
mod rendered;
pub mod repository;
mod request;
mod schema;
mod source;
pub mod values;
mod version;

pub use capabilities::{Capabilities, InvalidKubeVersion, KubeVersion};
pub use chart::{
    ArchiveError, BadPattern, Chart, ChartFile, Dependency, IgnoreError, IgnoreRules, ImportValue,
    LARGEST_CHART, LARGEST_FILE, Lock, Maintainer, Metadata, MetadataError, Pattern,
};
pub use error::{HelmError, OutputError, SchemaProblem};
pub use podsmith_gotemplate::Lookup;
pub use render::render;
pub use rendered::{Hook, HookEvent, Manifest, Rendered};
pub use request::{Hooks, Release, RenderRequest, Strictness};
pub use source::{ChartFailure, ChartOptions, ChartSource, WholeNumbers};
