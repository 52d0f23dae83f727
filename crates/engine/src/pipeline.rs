//! The steps after rendering: all filters, then all transformers, then the post-renderers.

use std::sync::Arc;

use podsmith_object::{Object, Origin};

use crate::{Context, Filter, PostRenderer, RenderError, Stage, Transformer};

/// The filters, transformers and post-renderers of one level.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    pub filters: Vec<Arc<dyn Filter>>,
    pub transformers: Vec<Arc<dyn Transformer>>,
    pub post_renderers: Vec<Arc<dyn PostRenderer>>,
}

impl Steps {
    /// True if one transformer must know the scopes of all kinds.
    pub fn ask_for_scopes(&self) -> bool {
        self.transformers.iter().any(|transformer| transformer.asks_for_scopes())
    }

    /// All steps over a whole batch.
    pub fn run(&self, objects: Vec<Object>, context: &Context<'_>) -> Result<Vec<Object>, RenderError> {
        let kept = apply_filters(objects, &self.filters, context)?;
        let changed = apply_transformers(kept, &self.transformers, context)?;
        apply_post_renderers(changed, &self.post_renderers, context)
    }

    /// Filters and transformers over one object; `None` when a filter drops it.
    pub fn run_one(&self, object: Object, context: &Context<'_>) -> Result<Option<Object>, RenderError> {
        context.check()?;
        if keeps(&object, &self.filters, context)? {
            change(object, &self.transformers, context).map(Some)
        } else {
            Ok(None)
        }
    }
}

fn keeps(object: &Object, filters: &[Arc<dyn Filter>], context: &Context<'_>) -> Result<bool, RenderError> {
    for filter in filters {
        let keep = filter
            .keep(object, context)
            .map_err(|cause| RenderError::at_stage(Stage::Filter, cause).with_object(object))?;
        if !keep {
            return Ok(false);
        }
    }
    Ok(true)
}

fn change(
    object: Object,
    transformers: &[Arc<dyn Transformer>],
    context: &Context<'_>,
) -> Result<Object, RenderError> {
    if transformers.is_empty() {
        return Ok(object);
    }
    // An error names the object as it entered the chain. Its identity is kept, not a clone of it: a clone would share
    // the body and make the first change copy it.
    let (id, place) = (object.id(), object.origin().map(Origin::place));
    transformers
        .iter()
        .try_fold(object, |object, transformer| transformer.transform(object, context))
        .map_err(|cause| RenderError::at_stage(Stage::Transform, cause).with_object_id(id, place))
}

/// Keeps the objects that every filter keeps. One object passes all filters before the next one starts.
///
/// ```
/// use podsmith_engine::{Cancel, Context, Scopes, Warnings, filter, pipeline};
/// use podsmith_object::read_objects;
/// let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
/// let objects = read_objects("a", b"{apiVersion: v1, kind: Secret, metadata: {name: a}}")?;
/// let context = Context::new(&cancel, &warnings, &scopes);
/// assert!(pipeline::apply_filters(objects, &[filter::name::exact(["b"])], &context)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first error; cancellation.
pub fn apply_filters(
    objects: Vec<Object>,
    filters: &[Arc<dyn Filter>],
    context: &Context<'_>,
) -> Result<Vec<Object>, RenderError> {
    if filters.is_empty() {
        return Ok(objects);
    }
    let mut kept = Vec::with_capacity(objects.len());
    for object in objects {
        context.check()?;
        if keeps(&object, filters, context)? {
            kept.push(object);
        }
    }
    Ok(kept)
}

/// Takes every object through all transformers, in order.
///
/// ```
/// use podsmith_engine::{Cancel, Context, Scopes, Warnings, transformer, pipeline};
/// use podsmith_object::read_objects;
/// let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
/// let objects = read_objects("a", b"{apiVersion: v1, kind: Secret, metadata: {name: a}}")?;
/// let context = Context::new(&cancel, &warnings, &scopes);
/// assert_eq!(pipeline::apply_transformers(objects, &[transformer::name::prefix("x-")], &context)?[0].name(), "x-a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first error; cancellation.
pub fn apply_transformers(
    objects: Vec<Object>,
    transformers: &[Arc<dyn Transformer>],
    context: &Context<'_>,
) -> Result<Vec<Object>, RenderError> {
    if transformers.is_empty() {
        return Ok(objects);
    }
    let change_one = |object| {
        context.check()?;
        change(object, transformers, context)
    };
    objects.into_iter().map(change_one).collect()
}

/// Gives the batch to one post-renderer after the other.
///
/// ```
/// use podsmith_engine::{Cancel, Context, Scopes, Warnings, post, pipeline};
/// use podsmith_object::read_objects;
/// let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
/// let objects = read_objects("a", b"{apiVersion: v1, kind: Secret, metadata: {name: a}}")?;
/// let context = Context::new(&cancel, &warnings, &scopes);
/// assert_eq!(pipeline::apply_post_renderers(objects, &[post::refuse_duplicates()], &context)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first error; cancellation.
pub fn apply_post_renderers(
    objects: Vec<Object>,
    post_renderers: &[Arc<dyn PostRenderer>],
    context: &Context<'_>,
) -> Result<Vec<Object>, RenderError> {
    post_renderers.iter().try_fold(objects, |objects, post_renderer| {
        context.check()?;
        post_renderer
            .process(objects, context)
            .map_err(|cause| RenderError::at_stage(Stage::PostRender, cause))
    })
}
