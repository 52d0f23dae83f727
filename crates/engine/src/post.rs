//! Post-renderers: the whole batch into a whole batch.

use std::collections::HashMap;
use std::sync::Arc;

use podsmith_object::{Diagnostic, Diagnostics, Object, ObjectId, Origin};

use crate::pipeline::{apply_filters, apply_post_renderers, apply_transformers};
use crate::{BoxError, Context, Filter, Outcome, Transformer};

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

/// All filters, then all transformers, then all post-renderers, as one post-renderer; `None` when there is nothing to
/// do. An error names its own stage and object.
///
/// ```
/// use podsmith_engine::{filter, post, transformer};
/// assert!(post::chain(vec![], vec![], vec![]).is_none());
/// let one = post::chain(vec![filter::name::prefix("a")], vec![transformer::name::suffix("-z")], vec![]);
/// assert!(one.is_some());
/// ```
pub fn chain(
    filters: Vec<Arc<dyn Filter>>,
    transformers: Vec<Arc<dyn Transformer>>,
    post_renderers: Vec<Arc<dyn PostRenderer>>,
) -> Option<Arc<dyn PostRenderer>> {
    let is_empty = filters.is_empty() && transformers.is_empty() && post_renderers.is_empty();
    (!is_empty).then(|| Arc::new(Chain { filters, transformers, post_renderers }) as Arc<dyn PostRenderer>)
}

struct Chain {
    filters: Vec<Arc<dyn Filter>>,
    transformers: Vec<Arc<dyn Transformer>>,
    post_renderers: Vec<Arc<dyn PostRenderer>>,
}

impl PostRenderer for Chain {
    fn process(&self, objects: Vec<Object>, context: &Context<'_>) -> Result<Vec<Object>, BoxError> {
        let kept = apply_filters(objects, &self.filters, context)?;
        let changed = apply_transformers(kept, &self.transformers, context)?;
        Ok(apply_post_renderers(changed, &self.post_renderers, context)?)
    }
}

/// Refuses a batch in which two objects have the same identity, and names both places.
///
/// ```
/// use podsmith_engine::{Engine, MemorySource, Sources, post};
/// use podsmith_object::read_objects;
/// let objects = read_objects("a.yaml", b"{apiVersion: v1, kind: Namespace, metadata: {name: a}}")?;
/// let twice = [MemorySource::new("one", objects.clone()), MemorySource::new("two", objects)];
/// let engine = Engine::builder().renderer(Sources::new("memory", twice)).post_renderer(post::refuse_duplicates()).build()?;
/// assert!(engine.render(Default::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refuse_duplicates() -> Arc<dyn PostRenderer> {
    Arc::new(|objects: Vec<Object>| {
        let mut first: HashMap<ObjectId, Option<&Origin>> = HashMap::with_capacity(objects.len());
        let mut problems = Diagnostics::new();
        // An object with only a generateName gets another name each time; it is never twice the same.
        for object in objects.iter().filter(|object| !object.name().is_empty()) {
            let id = object.id();
            match first.get(&id) {
                None => {
                    first.insert(id, object.origin());
                }
                Some(before) => {
                    let cause = before.map(|origin| format!("it is declared before at {}", origin.place()));
                    let problem = Diagnostic::error("the object is declared twice")
                        .or_at(object.origin().map(Origin::place))
                        .on(id);
                    problems.push(cause.into_iter().fold(problem, Diagnostic::because));
                }
            }
        }
        drop(first);
        problems.into_result(objects)
    })
}
