//! Post-renderers: the whole batch into a whole batch.

use std::sync::Arc;

use podsmith_object::Object;

use crate::{BoxError, Context, Outcome};

/// Works on all objects at once: adds, drops, sorts or checks them.
///
/// A closure from `Vec<Object>` to `Vec<Object>` or `Result<Vec<Object>, E>` is a post-renderer:
///
/// ```
/// use podsmith_engine::PostRenderer;
/// use podsmith_object::Object;
/// fn takes(_: impl PostRenderer) {}
/// takes(|mut objects: Vec<Object>| {
///     objects.truncate(3);
///     objects
/// });
/// ```
pub trait PostRenderer: Send + Sync {
    /// The new batch.
    ///
    /// # Errors
    ///
    /// When the batch is not acceptable. The render stops.
    fn process(&self, objects: Vec<Object>, context: &Context<'_>) -> Result<Vec<Object>, BoxError>;
}

impl<F, R> PostRenderer for F
where
    F: Fn(Vec<Object>) -> R + Send + Sync,
    R: Outcome<Vec<Object>>,
{
    fn process(&self, objects: Vec<Object>, _: &Context<'_>) -> Result<Vec<Object>, BoxError> {
        self(objects).into_outcome()
    }
}

impl<T: PostRenderer + ?Sized> PostRenderer for Arc<T> {
    fn process(&self, objects: Vec<Object>, context: &Context<'_>) -> Result<Vec<Object>, BoxError> {
        (**self).process(objects, context)
    }
}

impl PostRenderer for Box<dyn PostRenderer> {
    fn process(&self, objects: Vec<Object>, context: &Context<'_>) -> Result<Vec<Object>, BoxError> {
        (**self).process(objects, context)
    }
}
