//! Filters: which objects to keep.

use std::sync::Arc;

use podsmith_object::Object;

use crate::{BoxError, Context, Outcome};

/// Decides whether to keep an object.
///
/// A closure from `&Object` to `bool` or `Result<bool, E>` is a filter:
///
/// ```
/// use podsmith_engine::Filter;
/// use podsmith_object::Object;
/// fn takes(_: impl Filter) {}
/// takes(|object: &Object| object.kind() == "Deployment");
/// takes(|object: &Object| object.name().parse::<u8>().map(|number| number > 3));
/// ```
pub trait Filter: Send + Sync {
    /// True to keep the object.
    ///
    /// # Errors
    ///
    /// When the filter cannot decide. The render stops.
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError>;
}

impl<F, R> Filter for F
where
    F: Fn(&Object) -> R + Send + Sync,
    R: Outcome<bool>,
{
    fn keep(&self, object: &Object, _: &Context<'_>) -> Result<bool, BoxError> {
        self(object).into_outcome()
    }
}

impl<T: Filter + ?Sized> Filter for Arc<T> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        (**self).keep(object, context)
    }
}

impl Filter for Box<dyn Filter> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        (**self).keep(object, context)
    }
}
