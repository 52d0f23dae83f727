//! Objects that are in memory already.

use podsmith_object::{Diagnostic, Object};

use crate::{Emit, RenderCall, RenderError, Source};

/// Objects given by the program itself. Values do not change them. Each needs an `apiVersion` and a `kind`.
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

    /// An object without a kind would come out somewhere far from here, without a place to look for it.
    fn check(&self) -> Result<(), RenderError> {
        let wrong = |object: &Object| object.kind().is_empty() || object.api_version().is_empty();
        match self.objects.iter().position(wrong) {
            None => Ok(()),
            Some(index) => {
                let message = format!("object {} of `{}` has no apiVersion or no kind", index + 1, self.path);
                Err(Diagnostic::error(message).into())
            }
        }
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
        self.check()?;
        Ok(self.objects.clone())
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        self.check()?;
        for object in &self.objects {
            call.check()?;
            emit(object.clone())?;
        }
        Ok(())
    }
}
