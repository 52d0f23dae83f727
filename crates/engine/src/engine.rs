//! The engine: all renderers, then the steps over everything.

use podsmith_object::{Diagnostic, Object};
use thiserror::Error;

use crate::options::{Call, EngineBuilder};
use crate::run::Run;
use crate::{EngineOptions, RenderError, RenderOptions};

/// Why an engine cannot be built.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum InvalidEngine {
    /// A renderer has no name.
    #[error("renderer {} has a blank name", index + 1)]
    BlankName {
        /// The renderer's place in the list, from 0.
        index: usize,
    },
}

/// The result of a render.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The objects, in the order of the renderers and their sources.
    pub objects: Vec<Object>,
    /// What did not stop the render but is worth knowing.
    pub warnings: Vec<Diagnostic>,
}

/// Runs renderers and shapes what they give.
///
/// The order is fixed: the renderers (each with its own filters, transformers and post-renderers), then all filters of
/// the engine and of the call, then all transformers of the engine and of the call, then all post-renderers of the
/// engine and of the call. The same input gives the same output, however many threads are used.
///
/// ```
/// use podsmith_engine::{Engine, MemorySource, Sources, filter};
/// use podsmith_object::read_objects;
/// let objects = read_objects("a", b"{apiVersion: v1, kind: Secret, metadata: {name: a}}")?;
/// let engine = Engine::builder().renderer(Sources::new("memory", [MemorySource::new("m", objects)])).build()?;
/// let mut names = Vec::new();
/// engine.render_each(Default::default(), |object| {
///     names.push(object.name().to_owned());
///     Ok(())
/// })?;
/// assert_eq!(names, ["a"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Engine {
    options: EngineOptions,
}

impl Engine {
    /// An engine from a struct of options.
    ///
    /// # Errors
    ///
    /// When a renderer has a blank name.
    pub fn new(options: EngineOptions) -> Result<Self, InvalidEngine> {
        match options.renderers.iter().position(|renderer| renderer.name().trim().is_empty()) {
            Some(index) => Err(InvalidEngine::BlankName { index }),
            None => Ok(Self { options }),
        }
    }

    /// An engine built step by step.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// One render, built step by step.
    pub fn call(&self) -> Call<'_> {
        Call::new(self)
    }

    /// Renders everything, or fails without a partial result.
    ///
    /// # Errors
    ///
    /// The first error by the order of renderers and objects, not by time.
    pub fn render(&self, options: RenderOptions) -> Result<Rendered, RenderError> {
        Run::new(&self.options, &options).collect()
    }

    /// Gives the objects to `emit` one by one, as early as possible and with little memory. Post-renderers see whole
    /// batches, so with one of them everything is collected first. Gives back the warnings.
    ///
    /// # Errors
    ///
    /// The first error. Objects before it have been given to `emit`; the caller decides what they are worth. An error
    /// of `emit` stops the render and is given back.
    pub fn render_each(
        &self,
        options: RenderOptions,
        mut emit: impl FnMut(Object) -> Result<(), RenderError>,
    ) -> Result<Vec<Diagnostic>, RenderError> {
        Run::new(&self.options, &options).stream(&mut emit)
    }
}
