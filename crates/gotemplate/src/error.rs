//! What went wrong, where, and through which templates.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use podsmith_object::diagnostic::Excerpt;
use podsmith_object::{Diagnostic, Place};
use thiserror::Error;

/// A template that could not be parsed or executed. Its [`Details`] are its fields.
#[derive(Clone, Debug, Error)]
pub struct TemplateError(Box<Details>);

impl Deref for TemplateError {
    type Target = Details;
    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for TemplateError {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl From<Details> for TemplateError {
    fn from(details: Details) -> Self {
        Self(Box::new(details))
    }
}

/// Where a template failed, and why.
#[derive(Clone, Debug)]
pub struct Details {
    /// Whether it failed while parsing or while running.
    pub stage: Stage,
    /// The file or text in which the failing action stands.
    pub file: Arc<str>,
    /// The template that was running; a `define` has a name of its own.
    pub template: Arc<str>,
    /// Line of the failing action, from 1. Zero when unknown.
    pub line: usize,
    /// Column of the failing action, from 1. Zero when unknown.
    pub column: usize,
    /// The failing expression.
    pub expression: String,
    /// Why, in Go's words.
    pub reason: String,
    /// The source line.
    pub excerpt: Option<Excerpt>,
    /// The message given to `required` or `fail`, when that is the reason.
    pub user_message: Option<String>,
    /// The error inside the template that this action included.
    pub cause: Option<TemplateError>,
}

/// When a template failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// The text is not a template.
    Parse,
    /// The template ran into an error.
    Execute,
    /// A bound on time, output or recursion was reached.
    Limit,
}

impl TemplateError {
    /// The innermost error: the one that started it.
    pub fn innermost(&self) -> &Self {
        let mut error = self;
        while let Some(cause) = &error.cause {
            error = cause;
        }
        error
    }

    /// The message that Go's engine prints for this error, with its zero-based columns.
    pub fn go_message(&self) -> String {
        if self.line == 0 {
            return format!("template: {}", self.reason);
        }
        let at = if self.stage == Stage::Parse {
            format!("{}:{}", self.file, self.line)
        } else {
            format!("{}:{}:{}", self.file, self.line, self.column.saturating_sub(1))
        };
        let mut out = format!("template: {at}: ");
        if self.stage != Stage::Parse {
            out.push_str(&format!("executing {:?} at <{}>: ", self.template, self.expression));
        }
        out.push_str(&self.reason);
        if let Some(cause) = &self.cause {
            out.push_str(": ");
            out.push_str(&cause.go_message());
        }
        out
    }

    /// The message that Helm prints: a failed `required` or `fail` shows only the user's words.
    pub fn helm_message(&self) -> String {
        if self.stage == Stage::Parse {
            let last = self.reason.rsplit(": ").next().unwrap_or_default();
            return format!("parse error at ({}:{}): {last}", self.file, self.line);
        }
        match &self.innermost().user_message {
            Some(message) if self.line > 0 => {
                let column = self.column.saturating_sub(1);
                format!("execution error at ({}:{}:{column}): {message}", self.file, self.line)
            }
            _ => self.go_message(),
        }
    }

    /// The error for the user: the place where it started, and how the templates got there.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let inner = self.innermost();
        let message = inner.user_message.clone().unwrap_or_else(|| inner.reason.clone());
        let mut diagnostic =
            Diagnostic::error(message).at(Place::new(inner.file.clone(), inner.line, inner.column));
        diagnostic.excerpt.clone_from(&inner.excerpt);
        let mut chain = Vec::new();
        let mut next = Some(self);
        while let Some(error) = next {
            if error.cause.is_some() {
                chain.push(format!(
                    "called from {}:{}:{} <{}>",
                    error.file, error.line, error.column, error.expression
                ));
            }
            next = error.cause.as_ref();
        }
        // The nearest caller first.
        diagnostic.causes.extend(chain.into_iter().rev());
        diagnostic
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.go_message())
    }
}

impl From<TemplateError> for Diagnostic {
    fn from(error: TemplateError) -> Self {
        error.to_diagnostic()
    }
}

/// Why a function refused.
#[derive(Clone, Debug)]
pub enum CallError {
    /// A reason in words.
    Message(String),
    /// The user's own words, from `required` or `fail`.
    User(String),
    /// An error in a template that the function ran.
    Template(TemplateError),
    /// A reason in words, then the error in the template that the function ran.
    Wrapped(String, TemplateError),
    /// A bound was reached.
    Limit(String),
}

impl From<String> for CallError {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for CallError {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<TemplateError> for CallError {
    fn from(error: TemplateError) -> Self {
        Self::Template(error)
    }
}
