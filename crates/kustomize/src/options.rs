//! What a caller may choose, and the doors through which a build reaches the outside.

use std::fmt;
use std::sync::Arc;

use podsmith_object::files::FileTree;
use podsmith_object::{Map, Object, Value};

use crate::load::RepositoryAddress;

/// Which files a kustomization may name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LoadRestrictions {
    /// Only files in or below its own directory.
    #[default]
    RootOnly,
    /// Any file of the tree.
    None,
}

/// The order of the result when the kustomization has no `sortOptions`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reorder {
    /// By kind, then by name: namespaces and definitions first, webhooks last. What `kubectl kustomize` does.
    #[default]
    Legacy,
    /// As the objects were read.
    None,
}

/// How a build is to be done. The default is what `kubectl kustomize` does, without network and without Helm.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Which files a kustomization may name.
    pub load_restrictions: LoadRestrictions,
    /// The order of the result.
    pub reorder: Reorder,
    /// Renders `helmCharts`; without it they are refused.
    pub charts: Option<Arc<dyn ChartInflator>>,
    /// Fetches remote bases and files; without it they are refused.
    pub remote: Option<Arc<dyn RemoteFetch>>,
    /// Parameters. They appear to the kustomization as a ConfigMap called `values` in a file `values.yaml` beside it,
    /// which it may list under `resources` or copy from with `replacements`.
    pub values: Map<String, Value>,
}

/// A chart that a kustomization wants rendered.
#[derive(Clone, Debug, Default)]
pub struct ChartRequest {
    /// Files of the kustomization.
    pub tree: Option<Arc<dyn FileTree>>,
    /// Directory of the kustomization in that tree.
    pub directory: String,
    /// Directory with local charts, relative to the kustomization; `charts` unless set.
    pub chart_home: String,
    /// Chart name, or its path below the chart home.
    pub name: String,
    /// Chart version.
    pub version: String,
    /// Repository to get it from when it is not local.
    pub repository: String,
    /// Release name.
    pub release_name: String,
    /// Release namespace.
    pub namespace: String,
    /// Values files, lowest first, as paths in the tree; inline values are merged in already where asked.
    pub values_files: Vec<String>,
    /// The values to render with after all files and inline values were merged.
    pub values: Value,
    /// Emit the chart's `crds` directory.
    pub include_crds: bool,
    /// Leave hooks out.
    pub skip_hooks: bool,
    /// Leave tests out.
    pub skip_tests: bool,
    /// Extra API versions for `Capabilities`.
    pub api_versions: Vec<String>,
    /// Kubernetes version for `Capabilities`.
    pub kube_version: String,
    /// Template for the release name.
    pub name_template: String,
    /// Development versions count as newest.
    pub devel: bool,
}

/// Renders Helm charts for `helmCharts`.
pub trait ChartInflator: Send + Sync + fmt::Debug {
    /// The objects of a chart.
    ///
    /// # Errors
    ///
    /// A sentence that says why it could not be rendered.
    fn inflate(&self, request: &ChartRequest) -> Result<Vec<Object>, String>;
}

/// Fetches what a kustomization names by URL.
pub trait RemoteFetch: Send + Sync + fmt::Debug {
    /// The content of a file behind an `http` or `https` address.
    ///
    /// # Errors
    ///
    /// A sentence that says why it could not be fetched.
    fn file(&self, url: &str) -> Result<Vec<u8>, String>;

    /// The files of a git repository at the wanted reference.
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file).
    fn repository(&self, address: &RepositoryAddress) -> Result<Arc<dyn FileTree>, String>;
}
