//! The state of one running template: its variables and where it stands.

use std::fmt;

use podsmith_object::diagnostic::Excerpt;

use super::Run;
use crate::error::{CallError, Details, Stage, TemplateError};
use crate::parse::{Command, Expr, Node, Pipe, Template};
use crate::value::Value;

/// The part of the tree that is being evaluated, for error messages.
#[derive(Clone, Copy)]
pub(crate) enum At<'t> {
    Start,
    Node(&'t Node),
    Pipe(&'t Pipe),
    Command(&'t Command),
    Expr(&'t Expr),
}

impl At<'_> {
    fn offset(self) -> Option<usize> {
        match self {
            Self::Start => None,
            Self::Node(Node::Template { at, .. }) => Some(*at),
            Self::Node(_) => None,
            Self::Pipe(pipe) => Some(pipe.at),
            Self::Command(command) => Some(command.at),
            Self::Expr(expr) => Some(expr.at()),
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(Node::Template { name, pipe: Some(pipe), .. }) => {
                write!(f, "{{{{template {name:?} {pipe}}}}}")
            }
            Self::Node(Node::Template { name, .. }) => write!(f, "{{{{template {name:?}}}}}"),
            Self::Start | Self::Node(_) => Ok(()),
            Self::Pipe(pipe) => pipe.fmt(f),
            Self::Command(command) => command.fmt(f),
            Self::Expr(expr) => expr.fmt(f),
        }
    }
}

/// One running template.
pub(crate) struct Frame<'t> {
    pub template: &'t Template,
    pub variables: Vec<(u32, Value)>,
    pub at: At<'t>,
    pub depth: usize,
}

impl<'t> Frame<'t> {
    /// A frame whose `$` is `data`.
    pub(crate) fn new(template: &'t Template, data: Value, depth: usize) -> Self {
        Self { template, variables: vec![(0, data)], at: At::Start, depth }
    }

    /// The value of the innermost variable with this number.
    pub(crate) fn variable(&self, id: u32) -> Option<&Value> {
        self.variables.iter().rev().find(|(known, _)| *known == id).map(|(_, value)| value)
    }

    /// Assigns to the innermost variable with this number.
    pub(crate) fn assign(&mut self, id: u32, name: &str, value: Value) -> Run<()> {
        match self.variables.iter_mut().rev().find(|(known, _)| *known == id) {
            Some((_, slot)) => {
                *slot = value;
                Ok(())
            }
            None => Err(self.error(format!("undefined variable: {name}"))),
        }
    }

    /// Sets the variables of a `range` for one iteration.
    pub(crate) fn bind_range(&mut self, pipe: &Pipe, key: Value, element: &Value) -> Run<()> {
        match pipe.variables.as_slice() {
            [] => Ok(()),
            [(id, name)] => self.bind(pipe, *id, name, 1, element.clone()),
            [(key_id, key_name), (id, name), ..] => {
                self.bind(pipe, *key_id, key_name, 2, key)?;
                self.bind(pipe, *id, name, 1, element.clone())
            }
        }
    }

    /// Assigns by name after `=`; after `:=` the pipe has pushed the variables, so they are on top.
    fn bind(&mut self, pipe: &Pipe, id: u32, name: &str, from_top: usize, value: Value) -> Run<()> {
        if pipe.assigns {
            return self.assign(id, name, value);
        }
        let index = self.variables.len().saturating_sub(from_top);
        if let Some((_, slot)) = self.variables.get_mut(index) {
            *slot = value;
        }
        Ok(())
    }

    /// An error at the current place.
    pub(crate) fn error(&self, reason: impl Into<String>) -> TemplateError {
        self.build(Stage::Execute, reason.into())
    }

    /// A bound was reached at the current place.
    pub(crate) fn limit(&self, reason: impl Into<String>) -> TemplateError {
        self.build(Stage::Limit, reason.into())
    }

    /// The error of the function `name`, called at the current place.
    pub(crate) fn call_error(&self, name: &str, error: CallError) -> TemplateError {
        let calling = |reason: &str| format!("error calling {name}: {reason}");
        match error {
            CallError::Message(reason) => self.error(calling(&reason)),
            CallError::Limit(reason) => self.limit(calling(&reason)),
            CallError::User(message) => {
                let mut error = self.error(calling(&message));
                error.user_message = Some(message);
                error
            }
            CallError::Template(cause) => {
                let mut error = self.error(format!("error calling {name}"));
                error.stage = stage_of(&cause);
                error.cause = Some(cause);
                error
            }
            CallError::Wrapped(reason, cause) => {
                let mut error = self.error(calling(&reason));
                error.stage = stage_of(&cause);
                error.cause = Some(cause);
                error
            }
        }
    }

    fn build(&self, stage: Stage, reason: String) -> TemplateError {
        let source = &self.template.source;
        let (mut line, mut column, mut excerpt) = (0, 0, None);
        if let Some(offset) = self.at.offset() {
            let before = &source.text[..offset.min(source.text.len())];
            line = 1 + before.bytes().filter(|b| *b == b'\n').count();
            column = 1 + offset - before.rfind('\n').map_or(0, |at| at + 1);
            excerpt = Excerpt::cut(&source.text, line, column);
        }
        TemplateError::from(Details {
            stage,
            file: source.file.clone(),
            template: self.template.name.clone(),
            line,
            column,
            expression: self.at.to_string(),
            reason,
            excerpt,
            user_message: None,
            cause: None,
        })
    }
}

fn stage_of(cause: &TemplateError) -> Stage {
    if cause.innermost().stage == Stage::Limit { Stage::Limit } else { Stage::Execute }
}
