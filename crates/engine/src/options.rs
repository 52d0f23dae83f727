//! The two ways to say what to render: structs of options, and builders that fill them.

use std::sync::Arc;

use crate::pipeline::Steps;
use crate::{
    Cancel, Engine, Filter, InvalidEngine, PostRenderer, RenderCache, RenderError, Rendered, Renderer,
    Scopes, SourceSelector, Transformer, Values,
};

/// Whether the engine writes annotations of its own on the objects.
///
/// ```
/// use podsmith_engine::{Annotate, EngineOptions};
/// let options = EngineOptions { annotate: Annotate { source: true, content_hash: true }, ..EngineOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Annotate {
    /// `podsmith.dev/source.type`, `.path` and `.file`: where each object came from.
    pub source: bool,
    /// `podsmith.dev/content.hash`: what each object contains, taken last.
    pub content_hash: bool,
}

/// Everything an [`Engine`] is made of.
///
/// ```
/// use podsmith_engine::{Engine, EngineOptions, MemorySource, Sources};
/// use std::sync::Arc;
/// let engine = Engine::new(EngineOptions {
///     renderers: vec![Arc::new(Sources::new("memory", [MemorySource::new("none", vec![])]))],
///     parallelism: Some(4),
///     ..EngineOptions::default()
/// })?;
/// assert!(engine.render(Default::default())?.objects.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct EngineOptions {
    /// The renderers, in the order of their objects in the result.
    pub renderers: Vec<Arc<dyn Renderer>>,
    /// Filters over the objects of all renderers.
    pub filters: Vec<Arc<dyn Filter>>,
    /// Transformers over the objects of all renderers.
    pub transformers: Vec<Arc<dyn Transformer>>,
    /// Post-renderers over the objects of all renderers.
    pub post_renderers: Vec<Arc<dyn PostRenderer>>,
    /// Selectors over the sources of all renderers.
    pub selectors: Vec<Arc<dyn SourceSelector>>,
    /// How many renderers may run at once; by default as many as there are processors.
    pub parallelism: Option<usize>,
    /// Scopes of custom kinds that are known beforehand.
    pub scopes: Scopes,
    /// Annotations of our own.
    pub annotate: Annotate,
    /// Keeps what sources rendered. May be shared by several engines.
    pub cache: Option<Arc<RenderCache>>,
}

/// What one render adds to the engine.
///
/// Lists are appended to the engine's lists. The engine itself does not change.
///
/// ```
/// use podsmith_engine::{Engine, RenderOptions, filter, transformer};
/// let options = RenderOptions {
///     filters: vec![filter::namespace::one_of(["shop"])],
///     transformers: vec![transformer::labels::set([("team", "web")])],
///     ..RenderOptions::default()
/// };
/// assert!(Engine::builder().build()?.render(options)?.objects.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct RenderOptions {
    /// Filters that run after the engine's.
    pub filters: Vec<Arc<dyn Filter>>,
    /// Transformers that run after the engine's.
    pub transformers: Vec<Arc<dyn Transformer>>,
    /// Post-renderers that run after the engine's.
    pub post_renderers: Vec<Arc<dyn PostRenderer>>,
    /// Selectors asked after the engine's.
    pub selectors: Vec<Arc<dyn SourceSelector>>,
    /// Values for the renderers, merged over those of each source.
    pub values: Values,
    /// Stops the render.
    pub cancel: Cancel,
}

impl RenderOptions {
    pub(crate) fn steps_after(&self, engine: &EngineOptions) -> Steps {
        let mut steps = Steps {
            filters: engine.filters.clone(),
            transformers: engine.transformers.clone(),
            post_renderers: engine.post_renderers.clone(),
        };
        steps.filters.extend(self.filters.iter().cloned());
        steps.transformers.extend(self.transformers.iter().cloned());
        steps.post_renderers.extend(self.post_renderers.iter().cloned());
        steps
    }
}

/// Builds an [`Engine`] step by step. Every method adds; none replaces what another one added.
///
/// ```
/// use podsmith_engine::{ApplyOrder, Engine, MemorySource, Sources, filter, transformer};
/// let engine = Engine::builder()
///     .renderer(Sources::new("memory", [MemorySource::new("none", vec![])]))
///     .filter(filter::labels::selector("app=web")?)
///     .transformer(transformer::namespace::set("shop"))
///     .post_renderer(ApplyOrder::new())
///     .with_content_hash()
///     .parallelism(2)
///     .build()?;
/// # let _ = engine;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct EngineBuilder(EngineOptions);

impl EngineBuilder {
    /// Adds everything in `options`.
    #[must_use]
    pub fn options(mut self, options: EngineOptions) -> Self {
        self.0.renderers.extend(options.renderers);
        self.0.filters.extend(options.filters);
        self.0.transformers.extend(options.transformers);
        self.0.post_renderers.extend(options.post_renderers);
        self.0.selectors.extend(options.selectors);
        self.0.parallelism = options.parallelism.or(self.0.parallelism);
        self.0.scopes.extend(options.scopes);
        self.0.cache = options.cache.or(self.0.cache);
        self.0.annotate.source |= options.annotate.source;
        self.0.annotate.content_hash |= options.annotate.content_hash;
        self
    }

    /// Adds a renderer.
    #[must_use]
    pub fn renderer(mut self, renderer: impl Renderer + 'static) -> Self {
        self.0.renderers.push(Arc::new(renderer));
        self
    }

    /// Adds a filter over all objects.
    #[must_use]
    pub fn filter(mut self, filter: impl Filter + 'static) -> Self {
        self.0.filters.push(Arc::new(filter));
        self
    }

    /// Adds a transformer over all objects.
    #[must_use]
    pub fn transformer(mut self, transformer: impl Transformer + 'static) -> Self {
        self.0.transformers.push(Arc::new(transformer));
        self
    }

    /// Adds a post-renderer over all objects.
    #[must_use]
    pub fn post_renderer(mut self, post_renderer: impl PostRenderer + 'static) -> Self {
        self.0.post_renderers.push(Arc::new(post_renderer));
        self
    }

    /// Adds a selector over the sources of all renderers.
    #[must_use]
    pub fn selector(mut self, selector: impl SourceSelector + 'static) -> Self {
        self.0.selectors.push(Arc::new(selector));
        self
    }

    /// Lets this many renderers run at once; 1 renders them one after the other.
    #[must_use]
    pub fn parallelism(mut self, threads: usize) -> Self {
        self.0.parallelism = Some(threads);
        self
    }

    /// Adds scopes of custom kinds, for example from a cluster's discovery.
    #[must_use]
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.0.scopes.extend(scopes);
        self
    }

    /// Writes on every object where it came from.
    #[must_use]
    pub fn with_source_annotations(mut self) -> Self {
        self.0.annotate.source = true;
        self
    }

    /// Writes on every object a hash of what it contains.
    #[must_use]
    pub fn with_content_hash(mut self) -> Self {
        self.0.annotate.content_hash = true;
        self
    }

    /// Keeps what sources rendered.
    #[must_use]
    pub fn cache(mut self, cache: Arc<RenderCache>) -> Self {
        self.0.cache = Some(cache);
        self
    }

    /// The engine.
    ///
    /// # Errors
    ///
    /// When a renderer has a blank name.
    pub fn build(self) -> Result<Engine, InvalidEngine> {
        Engine::new(self.0)
    }
}

/// Builds one render step by step; made by [`Engine::call`].
///
/// ```
/// use podsmith_engine::{Cancel, Engine, filter};
/// let engine = Engine::builder().build()?;
/// let rendered = engine.call().filter(filter::name::prefix("web")).cancel(Cancel::new()).render()?;
/// assert!(rendered.objects.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Call<'e> {
    engine: &'e Engine,
    options: RenderOptions,
}

impl<'e> Call<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Self { engine, options: RenderOptions::default() }
    }

    /// Adds everything in `options`. Its values replace values given before, unless they are empty; either cancel switch
    /// stops the render.
    #[must_use]
    pub fn options(mut self, options: RenderOptions) -> Self {
        self.options.filters.extend(options.filters);
        self.options.transformers.extend(options.transformers);
        self.options.post_renderers.extend(options.post_renderers);
        self.options.selectors.extend(options.selectors);
        if !options.values.is_empty() {
            self.options.values = options.values;
        }
        self.options.cancel = self.options.cancel.or(&options.cancel);
        self
    }

    /// Adds a filter after the engine's.
    #[must_use]
    pub fn filter(mut self, filter: impl Filter + 'static) -> Self {
        self.options.filters.push(Arc::new(filter));
        self
    }

    /// Adds a transformer after the engine's.
    #[must_use]
    pub fn transformer(mut self, transformer: impl Transformer + 'static) -> Self {
        self.options.transformers.push(Arc::new(transformer));
        self
    }

    /// Adds a post-renderer after the engine's.
    #[must_use]
    pub fn post_renderer(mut self, post_renderer: impl PostRenderer + 'static) -> Self {
        self.options.post_renderers.push(Arc::new(post_renderer));
        self
    }

    /// Adds a source selector after the engine's.
    #[must_use]
    pub fn selector(mut self, selector: impl SourceSelector + 'static) -> Self {
        self.options.selectors.push(Arc::new(selector));
        self
    }

    /// Sets the values; values given before are replaced.
    #[must_use]
    pub fn values(mut self, values: Values) -> Self {
        self.options.values = values;
        self
    }

    /// Adds a switch that stops the render.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.options.cancel = self.options.cancel.or(&cancel);
        self
    }

    /// Renders everything; see [`Engine::render`].
    ///
    /// # Errors
    ///
    /// As [`Engine::render`].
    pub fn render(self) -> Result<Rendered, RenderError> {
        self.engine.render(self.options)
    }

    /// Renders object by object; see [`Engine::render_each`].
    ///
    /// # Errors
    ///
    /// As [`Engine::render_each`].
    pub fn render_each(
        self,
        emit: impl FnMut(podsmith_object::Object) -> Result<(), RenderError>,
    ) -> Result<Vec<podsmith_object::Diagnostic>, RenderError> {
        self.engine.render_each(self.options, emit)
    }
}
