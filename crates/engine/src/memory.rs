//! Objects that are in memory already.

use podsmith_object::Object;

use crate::{Emit, RenderCall, RenderError, Source};

/// Objects given by the program itself. Values do not change them.
///
/// ```
/// use podsmith_engine::{MemorySource, Source};
/// let source = MemorySource::new("generated", vec![]);
/// assert_eq!((source.kind(), source.path().as_str()), ("memory", "generated"));
/// ```
#[derive(Clone, Debug)]
pub struct MemorySource {
    path: String,
    objects: Vec<Object>,
}

impl MemorySource {
    /// These objects, under a name for messages.
    pub fn new(path: impl Into<String>, objects: Vec<Object>) -> Self {
        Self { path: path.into(), objects }
    }
}

impl Source for MemorySource {
    fn kind(&self) -> &str {
        "memory"
    }

    fn path(&self) -> String {
        self.path.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        call.check()?;
        Ok(self.objects.clone())
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        for object in &self.objects {
            call.check()?;
            emit(object.clone())?;
        }
        Ok(())
    }
}
