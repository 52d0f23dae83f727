//! Files that a template engine turns into YAML.
//!
//! The engine itself is not here: it is any [`TemplateEngine`]. This module finds the files, merges the values and
//! reads what comes out.

use std::sync::Arc;

use podsmith_object::files::FileTree;
use podsmith_object::yaml::{ReadOptions, decode_text};
use podsmith_object::{Diagnostic, Diagnostics, Object, Place, read_objects_with};

use crate::glob::{Pattern, Walk};
use crate::{Directories, InvalidPattern, RenderCall, RenderError, Source, Values};

/// One template file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TemplateFile {
    /// The path in its tree; unique, so two files with one base name do not collide.
    pub path: String,
    /// How to name it to the user.
    pub display: String,
    /// The text.
    pub text: String,
}

/// Turns template files into text.
pub trait TemplateEngine: Send + Sync {
    /// The text of each file in `files`, in the same order. All files are given at once because a template may use what
    /// another file defines; a file that only defines gives the empty text.
    ///
    /// # Errors
    ///
    /// All problems, each with its position in a template.
    fn execute(
        &self,
        files: &[TemplateFile],
        values: &Values,
        call: &RenderCall<'_>,
    ) -> Result<Vec<String>, RenderError>;
}

/// Template files, rendered with values, then read as YAML.
///
/// ```
/// use podsmith_engine::{Engine, RenderCall, RenderError, Sources, TemplateEngine, TemplateFile, TemplateSource, Values};
/// use podsmith_object::files::MemoryFiles;
/// use std::sync::Arc;
///
/// struct Replace;
/// impl TemplateEngine for Replace {
///     fn execute(&self, files: &[TemplateFile], values: &Values, _: &RenderCall<'_>) -> Result<Vec<String>, RenderError> {
///         let name = values.get("name").and_then(|name| name.as_str()).unwrap_or("");
///         Ok(files.iter().map(|file| file.text.replace("NAME", name)).collect())
///     }
/// }
///
/// let files = MemoryFiles::new().with("a.tpl", "{apiVersion: v1, kind: Namespace, metadata: {name: NAME}}");
/// let source = TemplateSource::parse(Arc::new(files), "*.tpl", Arc::new(Replace))?;
/// let engine = Engine::builder().renderer(Sources::new("template", [source])).build()?;
/// let values = [("name".to_owned(), "shop".into())].into_iter().collect();
/// assert_eq!(engine.call().values(values).render()?.objects[0].name(), "shop");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TemplateSource {
    files: Arc<dyn FileTree>,
    text: String,
    pattern: Pattern,
    engine: Arc<dyn TemplateEngine>,
    values: Values,
    options: ReadOptions,
}

impl TemplateSource {
    /// The template files that `pattern` names in `files`.
    ///
    /// # Errors
    ///
    /// When the pattern is not valid.
    pub fn parse(
        files: Arc<dyn FileTree>,
        pattern: &str,
        engine: Arc<dyn TemplateEngine>,
    ) -> Result<Self, InvalidPattern> {
        Ok(Self {
            files,
            text: pattern.to_owned(),
            pattern: Pattern::parse(pattern)?,
            engine,
            values: Values::new(),
            options: ReadOptions::default(),
        })
    }

    /// Sets the source's own values. Values of the call are merged over them.
    #[must_use]
    pub fn with_values(mut self, values: Values) -> Self {
        self.values = values;
        self
    }

    /// Reads the results with other options.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self
    }

    fn load(&self, call: &RenderCall<'_>) -> Result<Vec<TemplateFile>, RenderError> {
        let walk = Walk { files: self.files.as_ref(), directories: Directories::Direct, call };
        let mut files = Vec::new();
        for path in walk.find_all(&self.text, &self.pattern)? {
            call.check()?;
            let display = self.files.display(&path);
            let failed = |error: std::io::Error| {
                Diagnostic::error("could not read the template")
                    .at(Place::file(display.as_str()))
                    .because(error.to_string())
            };
            let bytes = self.files.read(&path).map_err(failed)?;
            let text = decode_text(&bytes).map_err(failed)?.into_owned();
            files.push(TemplateFile { path, display, text });
        }
        Ok(files)
    }
}

impl Source for TemplateSource {
    fn kind(&self) -> &str {
        "template"
    }

    fn path(&self) -> String {
        self.text.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        let files = self.load(call)?;
        let texts = self.engine.execute(&files, &call.values_over(&self.values), call)?;
        let mut objects = Vec::new();
        let mut problems = Diagnostics::new();
        for (file, text) in files.iter().zip(&texts) {
            call.check()?;
            match read_objects_with(&file.display, text.as_bytes(), self.options) {
                Ok(read) => objects.extend(read),
                Err(found) => problems.extend(found.into_iter().map(|problem| {
                    problem
                        .because("this is a position in the text that the template gave, not in the template")
                })),
            }
        }
        Ok(problems.into_result(objects)?)
    }
}
