//! Templates with one name space.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::TemplateError;
use crate::function::Functions;
use crate::parse::{self, Template};
use crate::render::{Options, Renderer};
use crate::value::Value;

/// Parsed templates that know each other by name. Parse once, render often and from any thread; clones are cheap.
#[derive(Clone)]
pub struct TemplateSet {
    pub(crate) functions: Arc<Functions>,
    templates: Templates,
}

/// Templates by name.
#[derive(Clone, Default)]
pub(crate) struct Templates(HashMap<Arc<str>, Arc<Template>>);

impl Templates {
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Template>> {
        self.0.get(name)
    }

    /// Adds a template. A blank one never replaces another.
    pub(crate) fn add(&mut self, template: Arc<Template>) {
        if self.0.contains_key(&template.name) && parse::is_blank(&template) {
            return;
        }
        self.0.insert(template.name.clone(), template);
    }
}

impl TemplateSet {
    /// An empty set whose templates may call `functions`.
    pub fn new(functions: Functions) -> Self {
        Self { functions: Arc::new(functions), templates: Templates::default() }
    }

    /// Parses `text` as the template `name`, together with the templates it defines. A later definition replaces an
    /// earlier one, unless the later one is blank.
    ///
    /// # Errors
    ///
    /// On a text that is no template, with the line.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), TemplateError> {
        for template in parse::parse(name, text, &self.functions)? {
            self.templates.add(Arc::new(template));
        }
        Ok(())
    }

    /// True if a template of this name was parsed or defined.
    pub fn contains(&self, name: &str) -> bool {
        self.templates.get(name).is_some()
    }

    /// The names of all templates, sorted.
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<_> = self.templates.0.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Template>> {
        self.templates.get(name)
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
