//! A `pod.yaml` as Kubernetes objects.

use std::path::{Path, PathBuf};

use podsmith_engine::{RenderCall, RenderError, Source};
use podsmith_object::Object;
use podsmith_pods::compile::Request;
use podsmith_pods::image::Runtime;
use podsmith_pods::kubernetes;

/// A pod spec on disk. What cannot be carried over to a cluster is named in warnings.
pub struct PodSource {
    path: PathBuf,
}

impl PodSource {
    /// The pod spec at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }
}

impl Source for PodSource {
    fn kind(&self) -> &str {
        "pod"
    }

    fn path(&self) -> String {
        self.path.display().to_string()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        // Nothing is compiled here, so the runtime stays unused.
        let crossing = kubernetes::render(&Request::new(&self.path, Runtime::Bytes(&[])))?;
        for note in crossing.notes {
            call.warn(note);
        }
        Ok(crossing.objects)
    }
}
