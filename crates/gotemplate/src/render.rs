//! One render: the state that templates executed together share.

use std::time::Duration;

use jiff::Timestamp;
use podsmith_object::Value as Json;

use crate::error::TemplateError;
use crate::set::TemplateSet;
use crate::value::Value;

/// What a key that is not in a map means.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MissingKey {
    /// Nil, and the text `<no value>` is removed from the output, as Helm does.
    #[default]
    Helm,
    /// Nothing; it prints as `<no value>`, as Go does.
    Go,
    /// An error.
    Error,
}

/// Bounds on one render.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How large all output together may become, in bytes.
    pub output_bytes: usize,
    /// How often one template may include itself, directly or not.
    pub include_depth: usize,
    /// How deep `template` actions may nest.
    pub template_depth: usize,
    /// How long the render may take.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_bytes: 256 << 20,
            include_depth: 1000,
            template_depth: 100_000,
            time: Duration::from_secs(60),
        }
    }
}

/// Answers the `lookup` function.
pub trait Lookup {
    /// The object, or the list of objects when `name` is empty, or an empty map when there is none.
    ///
    /// # Errors
    ///
    /// Any reason; it becomes the error of the calling template.
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Json, String>;
}

/// How to render.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Keys that are not there.
    pub missing_key: MissingKey,
    /// Bounds.
    pub limits: Limits,
    /// Answers `lookup`; without it every lookup gives an empty map.
    pub lookup: Option<&'a dyn Lookup>,
    /// Makes random functions, keys and certificates reproducible.
    pub seed: Option<u64>,
    /// The time that `now` gives; the real one without it. A seed alone fixes it too.
    pub now: Option<Timestamp>,
}

/// One render: executes templates that share random numbers, time, limits and parsed `tpl` texts.
pub struct Renderer<'a> {
    pub(crate) set: &'a TemplateSet,
    pub(crate) options: Options<'a>,
}

impl<'a> Renderer<'a> {
    /// Starts a render.
    pub fn new(set: &'a TemplateSet, options: Options<'a>) -> Self {
        Self { set, options }
    }

    /// Executes the template `name` with `data` as its dot.
    ///
    /// # Errors
    ///
    /// On any error in the template, and past a limit.
    pub fn execute(&mut self, name: &str, data: &Value) -> Result<String, TemplateError> {
        let _ = (name, data, &self.set, &self.options);
        Ok(String::new())
    }

    /// What `include` does: the output of a template as a string. For use in functions.
    ///
    /// # Errors
    ///
    /// On any error in the template, and past a limit.
    pub fn include(&mut self, name: &str, data: &Value) -> Result<String, TemplateError> {
        self.execute(name, data)
    }
}
