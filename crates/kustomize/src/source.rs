//! Kustomizations as sources of the render engine.

use std::sync::Arc;

use podsmith_engine::{RenderCall, RenderError, Source};
use podsmith_object::Object;
use podsmith_object::files::FileTree;

use crate::{BuildOptions, build};

/// One kustomization for the render engine; `Sources::new("kustomize", [...])` makes a renderer of several.
///
/// Values of the render go over those of the options. Warnings are passed on to the render.
///
/// ```
/// use std::sync::Arc;
/// use podsmith_engine::{Engine, Sources};
/// use podsmith_kustomize::{BuildOptions, KustomizeSource};
/// use podsmith_object::files::MemoryFiles;
/// let files = MemoryFiles::new()
///     .with("app/kustomization.yaml", "resources: [values.yaml]\nnamePrefix: my-\n");
/// let source = KustomizeSource::new(Arc::new(files), "app", BuildOptions::default());
/// let engine = Engine::builder().renderer(Sources::new("kustomize", [source])).build()?;
/// let values = [("tag".to_owned(), podsmith_object::json!("v2"))].into_iter().collect();
/// let rendered = engine.call().values(values).render()?;
/// assert_eq!(rendered.objects[0].name(), "my-values");
/// assert_eq!(rendered.objects[0].get(&["data", "tag"]), Some(&podsmith_object::json!("v2")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KustomizeSource {
    tree: Arc<dyn FileTree>,
    path: String,
    options: BuildOptions,
}

impl KustomizeSource {
    /// The kustomization in the directory `path` of `tree`.
    pub fn new(tree: Arc<dyn FileTree>, path: &str, options: BuildOptions) -> Self {
        Self { tree, path: path.to_owned(), options }
    }
}

impl Source for KustomizeSource {
    fn kind(&self) -> &str {
        "kustomize"
    }

    fn path(&self) -> String {
        self.tree.display(&self.path)
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        let options = BuildOptions { values: call.values_over(&self.options.values), ..self.options.clone() };
        let built = build(self.tree.clone(), &self.path, &options)?;
        for warning in built.warnings {
            call.warn(warning);
        }
        Ok(built.objects)
    }
}
