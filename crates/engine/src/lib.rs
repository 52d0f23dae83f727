//! Renderers, filters, transformers, and the engine that runs them in a fixed order.
//!
//! A [`Renderer`] turns sources and values into objects. A [`Filter`] keeps or drops an object, a [`Transformer`]
//! changes one, a [`PostRenderer`] works on the whole batch. They are given at three levels: to a renderer
//! ([`Sources`]), to the [`Engine`], and to one render ([`Engine::call`]). Closures are filters, transformers,
//! renderers and post-renderers as they are.
//!
//! Nothing here is asynchronous, and nothing here talks to a network.
//!
//! ```
//! use podsmith_engine::{Engine, MemorySource, Sources};
//! use podsmith_object::{Object, read_objects};
//!
//! let text = b"{apiVersion: v1, kind: Service, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: b}}";
//! let engine = Engine::builder()
//!     .renderer(Sources::new("memory", [MemorySource::new("text", read_objects("text", text)?)]))
//!     .filter(|object: &Object| object.kind() == "Service")
//!     .build()?;
//! let rendered = engine.call().transformer(|mut object: Object| { object.set_label("team", "web"); object }).render()?;
//! assert_eq!(rendered.objects[0].label("team"), Some("web"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod annotations;
mod apply_order;
mod cache;
mod cancel;
mod context;
mod engine;
mod error;
pub mod filter;
mod glob;
mod groups;
pub mod hash;
pub mod jq;
mod lookup;
mod memory;
mod options;
mod outcome;
mod parallel;
pub mod pipeline;
pub mod post;
mod reader;
mod renderer;
mod run;
mod scope;
mod sources;
mod template;
pub mod transformer;
mod yaml;

pub use apply_order::{ApplyOrder, FIRST_KINDS, InvalidOrder, LAST_KINDS};
pub use cache::{CacheLimits, Fingerprint, FingerprintBuilder, RenderCache};
pub use cancel::{Cancel, Cancelled};
pub use context::{Context, Warnings};
pub use engine::{Engine, InvalidEngine, Rendered};
pub use error::{RenderError, Stage};
pub use filter::Filter;
pub use glob::{Directories, InvalidPattern};
pub use memory::MemorySource;
pub use options::{Annotate, Call, EngineBuilder, EngineOptions, RenderOptions};
pub use outcome::{BoxError, Outcome};
pub use post::PostRenderer;
pub use reader::ReaderSource;
pub use renderer::{Emit, RenderCall, Renderer, Source, SourceSelector, Values, for_type, named};
pub use scope::{Scope, Scopes};
pub use sources::Sources;
pub use template::{TemplateEngine, TemplateFile, TemplateSource};
pub use transformer::Transformer;
pub use yaml::YamlSource;
