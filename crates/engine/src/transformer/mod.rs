//! Transformers: one object into one object.
//!
//! Several transformers in one list run in order. [`chain`], [`if_then`] and [`switch`] combine them in other ways, to
//! any depth.

pub mod annotations;
mod combine;
mod entries;
pub mod jq;
pub mod labels;
pub mod name;
pub mod namespace;

use std::sync::Arc;

use podsmith_object::Object;

use crate::{BoxError, Context, Outcome};

pub use combine::{Case, chain, if_then, shared, switch};

/// Changes an object. It can neither drop nor add one; a [`PostRenderer`](crate::PostRenderer) can.
///
/// A closure from `Object` to `Object` or `Result<Object, E>` is a transformer:
///
/// ```
/// use podsmith_engine::Transformer;
/// use podsmith_object::Object;
/// fn takes(_: impl Transformer) {}
/// takes(|mut object: Object| {
///     object.set_label("team", "web");
///     object
/// });
/// ```
pub trait Transformer: Send + Sync {
    /// The changed object.
    ///
    /// # Errors
    ///
    /// When the object cannot be changed. The render stops.
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError>;

    /// True if the transformer asks [`Context::scopes`] whether a kind lives in a namespace. A streaming render then
    /// waits with objects of unknown kinds until it has seen every custom resource definition.
    fn asks_for_scopes(&self) -> bool {
        false
    }
}

impl<F, R> Transformer for F
where
    F: Fn(Object) -> R + Send + Sync,
    R: Outcome<Object>,
{
    fn transform(&self, object: Object, _: &Context<'_>) -> Result<Object, BoxError> {
        self(object).into_outcome()
    }
}

impl<T: Transformer + ?Sized> Transformer for Arc<T> {
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        (**self).transform(object, context)
    }

    fn asks_for_scopes(&self) -> bool {
        (**self).asks_for_scopes()
    }
}

impl Transformer for Box<dyn Transformer> {
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        (**self).transform(object, context)
    }

    fn asks_for_scopes(&self) -> bool {
        (**self).asks_for_scopes()
    }
}
