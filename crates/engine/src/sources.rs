//! A renderer made of sources, with filters, transformers and post-renderers of its own.

use std::sync::Arc;

use podsmith_object::Object;

use crate::pipeline::{Steps, apply_post_renderers};
use crate::renderer::selects;
use crate::{
    Emit, Filter, PostRenderer, RenderCall, RenderError, Renderer, Scopes, Source, SourceSelector,
    Transformer, Warnings, annotations,
};

/// Renders a list of sources in order. All renderers of Podsmith are built on it, so they share one set of rules.
///
/// For each source: the selectors decide, it renders, source annotations are written, the source's own post-renderers
/// run. Then, over all sources: filters, transformers, post-renderers (level 1).
///
/// ```
/// use podsmith_engine::{Engine, MemorySource, Sources};
/// use podsmith_object::{Object, read_objects};
/// let objects = read_objects("a.yaml", b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")?;
/// let renderer = Sources::new("memory", [MemorySource::new("inline", objects)])
///     .filter(|object: &Object| object.kind() == "ConfigMap")
///     .with_source_annotations();
/// let rendered = Engine::builder().renderer(renderer).build()?.render(Default::default())?;
/// assert_eq!(rendered.objects[0].annotation("podsmith.dev/source.type"), Some("memory"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sources<S> {
    name: String,
    sources: Vec<Entry<S>>,
    selectors: Vec<Arc<dyn SourceSelector>>,
    steps: Steps,
    annotate: bool,
}

struct Entry<S> {
    source: S,
    post_renderers: Vec<Arc<dyn PostRenderer>>,
}

impl<S: Source> Sources<S> {
    /// A renderer called `name` over these sources.
    pub fn new(name: impl Into<String>, sources: impl IntoIterator<Item = S>) -> Self {
        let sources = sources.into_iter().map(|source| Entry { source, post_renderers: Vec::new() });
        Self {
            name: name.into(),
            sources: sources.collect(),
            selectors: Vec::new(),
            steps: Steps::default(),
            annotate: false,
        }
    }

    /// Adds a source with post-renderers that see only its objects.
    #[must_use]
    pub fn source(mut self, source: S, post_renderers: Vec<Arc<dyn PostRenderer>>) -> Self {
        self.sources.push(Entry { source, post_renderers });
        self
    }

    /// Adds a filter over this renderer's objects.
    #[must_use]
    pub fn filter(mut self, filter: impl Filter + 'static) -> Self {
        self.steps.filters.push(Arc::new(filter));
        self
    }

    /// Adds a transformer over this renderer's objects.
    #[must_use]
    pub fn transformer(mut self, transformer: impl Transformer + 'static) -> Self {
        self.steps.transformers.push(Arc::new(transformer));
        self
    }

    /// Adds a post-renderer over this renderer's objects.
    #[must_use]
    pub fn post_renderer(mut self, post_renderer: impl PostRenderer + 'static) -> Self {
        self.steps.post_renderers.push(Arc::new(post_renderer));
        self
    }

    /// Adds a selector: sources it refuses are not loaded.
    #[must_use]
    pub fn selector(mut self, selector: impl SourceSelector + 'static) -> Self {
        self.selectors.push(Arc::new(selector));
        self
    }

    /// Writes `podsmith.dev/source.type`, `.path` and `.file` on every object.
    #[must_use]
    pub fn with_source_annotations(mut self) -> Self {
        self.annotate = true;
        self
    }

    /// The sources, in order.
    pub fn sources(&self) -> impl Iterator<Item = &S> {
        self.sources.iter().map(|entry| &entry.source)
    }

    fn wants(&self, source: &S, call: &RenderCall<'_>) -> Result<bool, RenderError> {
        call.check()?;
        Ok(selects(&self.selectors, source)? && call.selects(source)?)
    }

    fn annotate(&self, call: &RenderCall<'_>, source: &S, object: &mut Object) {
        if self.annotate || call.wants_source_annotations() {
            annotations::set_source(object, source);
        }
    }

    fn render_source(&self, entry: &Entry<S>, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        let mut objects = self.render_cached(&entry.source, call)?;
        for object in &mut objects {
            self.annotate(call, &entry.source, object);
        }
        apply_post_renderers(objects, &entry.post_renderers, call.context())
    }

    fn render_cached(&self, source: &S, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        let Some(cache) = call.cache() else { return source.render(call) };
        let Some(key) = source.fingerprint(call)? else { return source.render(call) };
        let (objects, warnings) = cache.get_or_render(key, call.context().cancel(), || {
            // Warnings are kept with the objects, so that a hit says the same as a miss.
            let warnings = Warnings::new();
            let objects = source.render(&call.with_warnings(&warnings))?;
            Ok((objects, warnings.take()))
        })?;
        warnings.into_iter().for_each(|warning| call.warn(warning));
        Ok(objects)
    }

    fn can_stream(&self) -> bool {
        self.steps.post_renderers.is_empty()
            && !self.steps.ask_for_scopes()
            && self.sources.iter().all(|entry| entry.post_renderers.is_empty())
    }
}

impl<S: Source> Renderer for Sources<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        let mut objects = Vec::new();
        for entry in &self.sources {
            if self.wants(&entry.source, call)? {
                let rendered = self
                    .render_source(entry, call)
                    .map_err(|error| error.with_source(&entry.source.path()))?;
                if objects.is_empty() { objects = rendered } else { objects.extend(rendered) }
            }
        }
        let scopes = Scopes::of_batch(call.context().scopes(), &objects);
        self.steps.run(objects, &call.context().with_scopes(&scopes))
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        if !self.can_stream() || call.cache().is_some() {
            return self.render(call)?.into_iter().try_for_each(emit);
        }
        for entry in &self.sources {
            if !self.wants(&entry.source, call)? {
                continue;
            }
            let mut stopped = false;
            let mut take = |mut object: Object| {
                self.annotate(call, &entry.source, &mut object);
                match self.steps.run_one(object, call.context())? {
                    Some(object) => emit(object).inspect_err(|_| stopped = true),
                    None => Ok(()),
                }
            };
            let result = entry.source.render_each(call, &mut take);
            // An error that came out of `emit` belongs to somebody downstream; it must not name this source.
            result.map_err(|error| if stopped { error } else { error.with_source(&entry.source.path()) })?;
        }
        Ok(())
    }
}
