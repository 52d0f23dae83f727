//! One render: the state that templates executed together share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use podsmith_object::Value as Json;
use regex::Regex;

use crate::error::{CallError, Details, Stage, TemplateError};
use crate::exec::{Frame, Run};
use crate::format::quote;
use crate::function::Functions;
use crate::parse::{self, Template};
use crate::random::Random;
use crate::set::{TemplateSet, Templates};
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
///
/// Functions get it as their first parameter.
pub struct Renderer<'a> {
    set: &'a TemplateSet,
    pub(crate) functions: Arc<Functions>,
    pub(crate) options: Options<'a>,
    /// The output of the template that is running.
    pub(crate) out: String,
    /// Bytes written so far, by all templates.
    pub(crate) written: usize,
    pub(crate) random: Random,
    started: Instant,
    ticks: u32,
    includes: HashMap<Arc<str>, usize>,
    /// What running `tpl` texts define, innermost last.
    scopes: Vec<Templates>,
    texts: HashMap<Arc<str>, ParsedText>,
    /// Compiled regular expressions.
    pub(crate) regexes: HashMap<Box<str>, Result<Regex, String>>,
}

/// A `tpl` text: the template itself, and what it defines.
#[derive(Clone)]
struct ParsedText {
    main: Option<Arc<Template>>,
    defines: Vec<Arc<Template>>,
}

/// The name under which Helm parses `tpl` texts.
const TEXT_NAME: &str = "gotpl";

impl<'a> Renderer<'a> {
    /// Starts a render.
    pub fn new(set: &'a TemplateSet, options: Options<'a>) -> Self {
        Self {
            set,
            functions: set.functions.clone(),
            options,
            out: String::new(),
            written: 0,
            random: Random::new(options.seed),
            started: Instant::now(),
            ticks: 0,
            includes: HashMap::new(),
            scopes: Vec::new(),
            texts: HashMap::new(),
            regexes: HashMap::new(),
        }
    }

    /// Executes the template `name` with `data` as its dot.
    ///
    /// # Errors
    ///
    /// On any error in the template, and past a limit.
    pub fn execute(&mut self, name: &str, data: &Value) -> Result<String, TemplateError> {
        let Some(template) = self.find(name) else { return Err(unknown(name)) };
        let text = self.run(&template, data)?;
        Ok(self.without_no_value(text))
    }

    /// The time, fixed for a seeded render.
    pub fn now(&self) -> Timestamp {
        match (self.options.now, self.options.seed) {
            (Some(now), _) => now,
            (None, Some(_)) => Timestamp::UNIX_EPOCH,
            (None, None) => Timestamp::now(),
        }
    }

    /// Random numbers, the same in every render with the same seed.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// What `include` does: the output of a template as a string.
    ///
    /// # Errors
    ///
    /// On any error in the template, and past a limit.
    pub fn include(&mut self, name: &str, data: &Value) -> Result<String, CallError> {
        let count = self.includes.get(name).copied().unwrap_or(0);
        if count > self.options.limits.include_depth {
            let reason =
                format!("rendering template has a nested reference name: {name}: unable to execute template");
            return Err(CallError::Limit(reason));
        }
        let Some(template) = self.find(name) else {
            return Err(unknown(name).into());
        };
        self.includes.insert(template.name.clone(), count + 1);
        let result = self.run(&template, data);
        self.includes.insert(template.name.clone(), count);
        result.map_err(CallError::Template)
    }

    /// What `tpl` does: runs `text` as a template that sees every definition.
    ///
    /// # Errors
    ///
    /// On any error in the text, and past a limit.
    pub fn tpl(&mut self, text: &str, data: &Value) -> Result<String, CallError> {
        if !text.contains("{{") {
            return Ok(self.without_no_value(text.to_owned()));
        }
        let parsed = match self.texts.get(text) {
            Some(parsed) => parsed.clone(),
            None => self.parse_text(text)?,
        };
        let Some(main) = parsed.main else {
            return Err(
                format!("template: {TEXT_NAME}: {TEXT_NAME:?} is an incomplete or empty template").into()
            );
        };
        if self.scopes.len() > self.options.limits.include_depth {
            return Err(CallError::Limit("tpl texts nest too deep".to_owned()));
        }
        let mut scope = Templates::default();
        parsed.defines.into_iter().for_each(|template| scope.add(template));
        self.scopes.push(scope);
        let result = self.run(&main, data);
        self.scopes.pop();
        match result {
            Ok(out) => Ok(self.without_no_value(out)),
            Err(cause) => {
                let reason = format!("error during tpl function execution for {}", quote(text));
                Err(CallError::Wrapped(reason, cause))
            }
        }
    }

    fn parse_text(&mut self, text: &str) -> Result<ParsedText, CallError> {
        let mut templates = parse::parse(TEXT_NAME, text, &self.functions)
            .map_err(|cause| CallError::Wrapped(format!("cannot parse template {}", quote(text)), cause))?;
        let main = templates.pop().map(Arc::new);
        let parsed = ParsedText { main, defines: templates.into_iter().map(Arc::new).collect() };
        self.texts.insert(text.into(), parsed.clone());
        Ok(parsed)
    }

    fn without_no_value(&self, text: String) -> String {
        if self.options.missing_key == MissingKey::Helm && text.contains("<no value>") {
            return text.replace("<no value>", "");
        }
        text
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Template>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).or_else(|| self.set.get(name)).cloned()
    }

    fn run(&mut self, template: &Arc<Template>, data: &Value) -> Run<String> {
        // A template that is given nil has no data at all, so that fields of it are nothing and not an error.
        let data = if data.is_nil() { &Value::Absent } else { data };
        let outer = std::mem::take(&mut self.out);
        let result = stacker::maybe_grow(128 << 10, 2 << 20, || {
            let mut frame = Frame::new(template, data.clone(), 0);
            self.walk(&mut frame, data, &template.body)
        });
        let inner = std::mem::replace(&mut self.out, outer);
        result.map(|_| inner)
    }

    /// Counts steps and looks at the clock now and then.
    pub(crate) fn tick(&mut self, frame: &Frame<'_>) -> Run<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(1024) && self.started.elapsed() > self.options.limits.time {
            let seconds = self.options.limits.time.as_secs_f64();
            return Err(frame.limit(format!("the render takes longer than {seconds} s")));
        }
        Ok(())
    }
}

fn unknown(name: &str) -> TemplateError {
    TemplateError::from(Details {
        stage: Stage::Execute,
        file: name.into(),
        template: name.into(),
        line: 0,
        column: 0,
        expression: String::new(),
        reason: format!("no template {name:?} associated with template {TEXT_NAME:?}"),
        excerpt: None,
        user_message: None,
        cause: None,
    })
}
