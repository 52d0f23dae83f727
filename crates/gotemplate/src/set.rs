//! Templates with one name space.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::TemplateError;
use crate::function::Functions;
use crate::render::{Options, Renderer};
use crate::value::Value;

/// Parsed templates that know each other by name. Parse once, render often and from any thread.
#[derive(Clone)]
pub struct TemplateSet {
    pub(crate) functions: Arc<Functions>,
    pub(crate) templates: HashMap<Arc<str>, ()>,
}

impl TemplateSet {
    /// An empty set whose templates may call `functions`.
    pub fn new(functions: Functions) -> Self {
        Self { functions: Arc::new(functions), templates: HashMap::new() }
    }

    /// Parses `text` as the template `name`, together with the templates it defines. A later definition replaces an
    /// earlier one, unless the later one is blank.
    ///
    /// # Errors
    ///
    /// On a text that is no template, with the line.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), TemplateError> {
        let _ = (name, text);
        Ok(())
    }

    /// True if a template of this name was parsed or defined.
    pub fn contains(&self, name: &str) -> bool {
        self.templates.contains_key(name)
    }

    /// The names of all templates, sorted.
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<_> = self.templates.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Executes one template on its own. Use a [`Renderer`] for several that belong together.
    ///
    /// # Errors
    ///
    /// On any error in the template, and past a limit.
    pub fn execute(&self, name: &str, data: &Value, options: Options<'_>) -> Result<String, TemplateError> {
        Renderer::new(self, options).execute(name, data)
    }
}
