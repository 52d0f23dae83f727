//! Renderers: sources and values into objects.

use std::any::Any;
use std::sync::Arc;

use podsmith_object::{Diagnostic, Map, Object, Value, merge};

use crate::{BoxError, Cancelled, Context, Fingerprint, Outcome, RenderCache, RenderError, Stage, Warnings};

/// Values given to a render.
pub type Values = Map<String, Value>;

/// Turns what it was built with, and the values of the call, into objects.
///
/// It is synchronous, deterministic and free of shared state, so the engine may run it beside others. It asks
/// [`RenderCall::check`] between sources, files and objects. A closure from `&RenderCall` to `Vec<Object>` or
/// `Result<Vec<Object>, E>` is a renderer called `closure`; [`named`] gives it another name.
///
/// ```
/// use podsmith_engine::{Engine, RenderCall, RenderOptions};
/// use podsmith_object::{Object, json};
/// let renderer = |call: &RenderCall<'_>| {
///     let name = call.values().get("name").cloned().unwrap_or_default();
///     Object::from_value(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).map(|o| vec![o])
/// };
/// let engine = Engine::builder().renderer(renderer).build()?;
/// let rendered = engine.call().values(json!({"name": "shop"}).as_object().cloned().unwrap_or_default()).render()?;
/// assert_eq!(rendered.objects[0].name(), "shop");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Renderer: Send + Sync {
    /// A short name for messages, never blank.
    fn name(&self) -> &str;

    /// All objects, in the renderer's own order.
    ///
    /// # Errors
    ///
    /// The first error. There is no partial result.
    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError>;

    /// The same objects one by one, so that a long stream needs little memory. The default collects them first.
    /// Renderers that override it give `emit` the objects of [`render`](Renderer::render) in the same order, and stop
    /// with the error that `emit` returns.
    ///
    /// # Errors
    ///
    /// The first error, of the renderer or of `emit`. Objects before it have been given out.
    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        self.render(call)?.into_iter().try_for_each(emit)
    }
}

/// Takes one object of a stream. An error stops the stream.
pub type Emit<'a> = dyn FnMut(Object) -> Result<(), RenderError> + 'a;

/// What a renderer gets for one call.
///
/// ```
/// use podsmith_engine::{Cancel, Context, RenderCall, Scopes, Values, Warnings};
/// use podsmith_object::json;
/// let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
/// let values: Values = [("tag".to_owned(), json!("2"))].into_iter().collect();
/// let call = RenderCall::new(&values, Context::new(&cancel, &warnings, &scopes));
/// let own: Values = [("tag".to_owned(), json!("1")), ("port".to_owned(), json!(80))].into_iter().collect();
/// assert_eq!(json!(call.values_over(&own)), json!({"tag": "2", "port": 80}));
/// ```
#[derive(Clone, Copy)]
pub struct RenderCall<'a> {
    values: &'a Values,
    context: Context<'a>,
    selectors: &'a [Arc<dyn SourceSelector>],
    parallelism: usize,
    annotate_sources: bool,
    cache: Option<&'a RenderCache>,
}

impl<'a> RenderCall<'a> {
    /// A call with these values, no selectors and one thread.
    pub fn new(values: &'a Values, context: Context<'a>) -> Self {
        Self { values, context, selectors: &[], parallelism: 1, annotate_sources: false, cache: None }
    }

    /// The same call with these selectors.
    #[must_use]
    pub fn with_selectors(mut self, selectors: &'a [Arc<dyn SourceSelector>]) -> Self {
        self.selectors = selectors;
        self
    }

    /// The same call with leave to use this many threads.
    #[must_use]
    pub fn with_parallelism(mut self, threads: usize) -> Self {
        self.parallelism = threads.max(1);
        self
    }

    /// The same call that asks for source annotations, or not.
    #[must_use]
    pub fn with_source_annotations(mut self, wanted: bool) -> Self {
        self.annotate_sources = wanted;
        self
    }

    /// True when every object shall say where it came from. [`Sources`](crate::Sources) does it by itself.
    pub fn wants_source_annotations(&self) -> bool {
        self.annotate_sources
    }

    /// The same call with a cache.
    #[must_use]
    pub fn with_cache(mut self, cache: Option<&'a RenderCache>) -> Self {
        self.cache = cache;
        self
    }

    /// The cache of this render, if it has one. [`Sources`](crate::Sources) uses it by itself.
    pub fn cache(&self) -> Option<&'a RenderCache> {
        self.cache
    }

    /// The same call that puts its warnings somewhere else.
    #[must_use]
    pub(crate) fn with_warnings<'b>(&self, warnings: &'b Warnings) -> RenderCall<'b>
    where
        'a: 'b,
    {
        RenderCall { context: self.context.with_warnings(warnings), ..*self }
    }

    /// The render-time values; empty when none were given.
    pub fn values(&self) -> &'a Values {
        self.values
    }

    /// The render-time values merged over a source's own. Mappings merge key by key; anything else is replaced.
    pub fn values_over(&self, own: &Values) -> Values {
        let mut merged = own.clone();
        merge::deep_merge_maps(&mut merged, self.values.clone());
        merged
    }

    /// How many threads the renderer may use.
    pub fn parallelism(&self) -> usize {
        self.parallelism
    }

    /// Cancellation, warnings, scopes.
    pub fn context(&self) -> &Context<'a> {
        &self.context
    }

    /// `Ok` while the work may go on. Call it between sources, files and objects.
    ///
    /// # Errors
    ///
    /// When the render was cancelled or its deadline passed.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.context.check()
    }

    /// Reports something that does not stop the render.
    pub fn warn(&self, warning: Diagnostic) {
        self.context.warn(warning);
    }

    /// True when every selector of the call wants this source. The first refusal decides.
    ///
    /// # Errors
    ///
    /// The error of a selector.
    pub fn selects(&self, source: &dyn Source) -> Result<bool, RenderError> {
        selects(self.selectors, source)
    }
}

/// True when every selector wants the source; the first refusal decides.
pub(crate) fn selects(
    selectors: &[Arc<dyn SourceSelector>],
    source: &dyn Source,
) -> Result<bool, RenderError> {
    for selector in selectors {
        let wanted = selector
            .select(source)
            .map_err(|cause| RenderError::at_stage(Stage::Select, cause).with_source(&source.path()))?;
        if !wanted {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One input of a renderer: a chart, a kustomization, a glob of files. [`Sources`](crate::Sources) makes a renderer of
/// a list of them.
///
/// ```
/// use podsmith_engine::{Engine, RenderCall, RenderError, Source, Sources};
/// use podsmith_object::{Object, read_objects};
///
/// struct Greeting(&'static str);
/// impl Source for Greeting {
///     fn kind(&self) -> &str {
///         "greeting"
///     }
///     fn path(&self) -> String {
///         self.0.to_owned()
///     }
///     fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
///         call.check()?;
///         let text = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}}}}}", self.0);
///         Ok(read_objects(self.0, text.as_bytes())?)
///     }
/// }
///
/// let engine = Engine::builder().renderer(Sources::new("greetings", [Greeting("hello"), Greeting("bye")])).build()?;
/// assert_eq!(engine.render(Default::default())?.objects[1].name(), "bye");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source: Any + Send + Sync {
    /// The kind of source, for messages and the `source.type` annotation: `helm`, `yaml`.
    fn kind(&self) -> &str;

    /// The source as the user named it, for messages and the `source.path` annotation: `./chart`.
    fn path(&self) -> String;

    /// All objects, in the source's own order, each with its origin.
    ///
    /// # Errors
    ///
    /// The first error. There is no partial result.
    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError>;

    /// A digest of everything that decides what [`render`](Source::render) gives for this call, or `None` when the
    /// source is not to be cached. Include the content of all files, all options, and the values if they are used.
    ///
    /// # Errors
    ///
    /// When what the source is made of cannot be read.
    fn fingerprint(&self, call: &RenderCall<'_>) -> Result<Option<Fingerprint>, RenderError> {
        let _ = call;
        Ok(None)
    }

    /// The same objects one by one; see [`Renderer::render_each`].
    ///
    /// # Errors
    ///
    /// The first error, of the source or of `emit`.
    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        self.render(call)?.into_iter().try_for_each(emit)
    }
}

/// Decides whether to render a source, before it is loaded.
///
/// A closure from `&dyn Source` to `bool` or `Result<bool, E>` is a selector; [`for_type`] makes one that looks only at
/// sources of one type.
///
/// ```
/// use podsmith_engine::{MemorySource, Source, SourceSelector};
/// let selector = |source: &dyn Source| source.kind() == "memory";
/// assert!(selector.select(&MemorySource::new("m", vec![])).unwrap());
/// ```
pub trait SourceSelector: Send + Sync {
    /// True to render the source.
    ///
    /// # Errors
    ///
    /// When the selector cannot decide. The render stops.
    fn select(&self, source: &dyn Source) -> Result<bool, BoxError>;
}

impl<F, R> SourceSelector for F
where
    F: Fn(&dyn Source) -> R + Send + Sync,
    R: Outcome<bool>,
{
    fn select(&self, source: &dyn Source) -> Result<bool, BoxError> {
        self(source).into_outcome()
    }
}

impl<T: SourceSelector + ?Sized> SourceSelector for Arc<T> {
    fn select(&self, source: &dyn Source) -> Result<bool, BoxError> {
        (**self).select(source)
    }
}

/// A selector for sources of type `S`. It wants every source of another type without asking `choose`.
///
/// ```
/// use podsmith_engine::{MemorySource, Source, SourceSelector, for_type};
/// let selector = for_type(|source: &MemorySource| source.path() == "a");
/// assert!(!selector.select(&MemorySource::new("b", vec![])).unwrap());
/// ```
pub fn for_type<S, R>(choose: impl Fn(&S) -> R + Send + Sync + 'static) -> Arc<dyn SourceSelector>
where
    S: Source,
    R: Outcome<bool>,
{
    Arc::new(move |source: &dyn Source| match (source as &dyn Any).downcast_ref::<S>() {
        Some(source) => choose(source).into_outcome(),
        None => Ok(true),
    })
}

impl<F, R> Renderer for F
where
    F: Fn(&RenderCall<'_>) -> R + Send + Sync,
    R: Outcome<Vec<Object>>,
{
    fn name(&self) -> &str {
        "closure"
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        self(call).into_outcome().map_err(RenderError::new)
    }
}

impl<T: Renderer + ?Sized> Renderer for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        (**self).render(call)
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        (**self).render_each(call, emit)
    }
}

impl Renderer for Box<dyn Renderer> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        (**self).render(call)
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        (**self).render_each(call, emit)
    }
}

struct Named<R> {
    name: String,
    renderer: R,
}

/// The renderer under another name.
///
/// ```
/// use podsmith_engine::{RenderCall, Renderer, named};
/// let renderer = named("nothing", |_: &RenderCall<'_>| vec![]);
/// assert_eq!(renderer.name(), "nothing");
/// ```
pub fn named(name: impl Into<String>, renderer: impl Renderer + 'static) -> Arc<dyn Renderer> {
    Arc::new(Named { name: name.into(), renderer })
}

impl<R: Renderer> Renderer for Named<R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        self.renderer.render(call)
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        self.renderer.render_each(call, emit)
    }
}
