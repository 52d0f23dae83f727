//! What can be wrong with an expression, and with a run of it.

use jaq_core::compile::Undefined;
use jaq_core::load;
use podsmith_object::diagnostic::Excerpt;
use podsmith_object::{Diagnostic, Value};
use thiserror::Error;

use super::budget::Stop;
use crate::Cancelled;

/// An expression that cannot be compiled.
///
/// ```
/// use podsmith_engine::jq::Program;
/// let error = Program::compile(".a | b").err().unwrap();
/// assert_eq!((error.line, error.column), (1, 6));
/// assert_eq!(error.message, "there is no function `b`");
/// ```
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("invalid jq expression at {line}:{column}: {message}")]
pub struct InvalidJq {
    /// What is wrong.
    pub message: String,
    /// The expression.
    pub expression: String,
    /// The line in the expression, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Functions that jq has and a render must not have.
const LEFT_OUT: [&str; 15] = [
    "env",
    "input",
    "inputs",
    "debug",
    "stderr",
    "halt",
    "halt_error",
    "now",
    "localtime",
    "strflocaltime",
    "input_filename",
    "input_line_number",
    "$ENV",
    "$__prog_args",
    "get_search_list",
];

impl InvalidJq {
    pub(super) fn new(expression: &str, at: usize, message: String) -> Self {
        let before = expression.get(..at).unwrap_or(expression);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self { message, expression: expression.to_owned(), line, column, hint: None }
    }

    fn at_part(expression: &str, part: &str, message: String) -> Self {
        // An error at the end has an empty part that may point anywhere; it means the end.
        let at = if part.is_empty() { expression.len() } else { load::span(expression, part).start };
        Self::new(expression, at.min(expression.len()), message)
    }

    pub(super) fn from_load(expression: &str, errors: load::Errors<&str, ()>) -> Self {
        let first = errors.into_iter().next().map(|(_, error)| error);
        let found = |part: &str| match part.chars().take(20).collect::<String>() {
            part if part.is_empty() => "the end".to_owned(),
            part => format!("`{part}`"),
        };
        match first {
            Some(load::Error::Lex(errors)) => match errors.into_iter().next() {
                Some((expected, part)) => {
                    let message = format!("expected {}, found {}", expected.as_str(), found(part));
                    Self::at_part(expression, part, message)
                }
                None => Self::new(expression, 0, "it cannot be read".to_owned()),
            },
            Some(load::Error::Parse(errors)) => match errors.into_iter().next() {
                Some((expected, part)) => {
                    let message = format!("expected {}, found {}", expected.as_str(), found(part));
                    Self::at_part(expression, part, message)
                }
                None => Self::new(expression, 0, "it cannot be read".to_owned()),
            },
            Some(load::Error::Io(modules)) => {
                let part = modules.first().map_or("", |(part, _)| part);
                Self::at_part(expression, part, "modules cannot be imported".to_owned())
            }
            None => Self::new(expression, 0, "it cannot be read".to_owned()),
        }
    }

    pub(super) fn from_compile(expression: &str, errors: jaq_core::compile::Errors<&str, ()>) -> Self {
        let Some((name, kind)) = errors.into_iter().flat_map(|(_, errors)| errors).next() else {
            return Self::new(expression, 0, "it cannot be compiled".to_owned());
        };
        let message = match kind {
            Undefined::Filter(0) => format!("there is no function `{name}`"),
            Undefined::Filter(1) => format!("there is no function `{name}` with one argument"),
            Undefined::Filter(count) => format!("there is no function `{name}` with {count} arguments"),
            other => format!("there is no {} `{name}`", other.as_str()),
        };
        let mut error = Self::at_part(expression, name, message);
        if LEFT_OUT.contains(&name) {
            let hint =
                format!("`{name}` is left out on purpose: a render depends on its input and nothing else");
            error.hint = Some(hint);
        }
        error
    }

    /// The error with the line of the expression it talks about.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(format!("invalid jq expression: {}", self.message))
            .with_hint_if(self.hint.clone());
        diagnostic.excerpt = Excerpt::cut(&self.expression, self.line, self.column);
        diagnostic
    }
}

impl InExpression {
    /// What to do about it, when that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self.error {
            JqError::NoOutput if self.expression.contains("select(") => {
                Some("a filter gives true or false: write the condition itself, without `select`")
            }
            JqError::NotBoolean { .. } => Some("compare with something, for example `!= null`"),
            JqError::Stopped(Bound::Steps) => {
                Some("check `while`, `until`, `repeat` and `recurse` for an end")
            }
            _ => None,
        }
    }
}

/// Which bound a run went over.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
pub enum Bound {
    /// Too many steps; most likely it never ends.
    #[error("it took too many steps; does it ever end?")]
    Steps,
    /// Too many values in memory.
    #[error("it built too many values")]
    Values,
    /// Recursion without end.
    #[error("it recurses too deeply")]
    Stack,
    /// Values nested too deeply.
    #[error("it nests values too deeply")]
    Depth,
    /// The interpreter failed.
    #[error("the jq interpreter failed")]
    Interpreter,
}

impl From<Stop> for Bound {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Steps => Self::Steps,
            Stop::Values => Self::Values,
            Stop::Stack => Self::Stack,
            Stop::Depth => Self::Depth,
            Stop::Cancelled(_) | Stop::Panic => Self::Interpreter,
        }
    }
}

/// A failed run with the expression it belongs to.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("in the jq expression `{expression}`")]
pub struct InExpression {
    /// The expression.
    pub expression: String,
    /// What went wrong.
    #[source]
    pub error: JqError,
}

/// Why a run of an expression gave no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum JqError {
    /// The expression raised an error.
    #[error("the jq expression failed: {}", message(.0))]
    Failed(Value),
    /// It gave nothing.
    #[error("the jq expression must give exactly one value, it gave none")]
    NoOutput,
    /// It gave more than one value.
    #[error("the jq expression must give exactly one value, it gave several")]
    ManyOutputs,
    /// A filter gave something that is not a boolean.
    #[error("the jq expression of a filter must give true or false, it gave {found}")]
    NotBoolean {
        /// What it gave, with its article.
        found: &'static str,
    },
    /// A transformer gave something that is not an object.
    #[error("the jq expression of a transformer must give an object, it gave {found}")]
    NotObject {
        /// What it gave, with its article.
        found: &'static str,
    },
    /// It went over a bound.
    #[error("the jq expression was stopped")]
    Stopped(#[source] Bound),
    /// The render was cancelled.
    #[error("the jq expression was stopped")]
    Cancelled(#[source] Cancelled),
}

impl From<Bound> for JqError {
    fn from(bound: Bound) -> Self {
        Self::Stopped(bound)
    }
}

/// The message of a raised error. Some contain the value that was wrong, which may be a whole object.
fn message(value: &Value) -> String {
    const LONGEST: usize = 300;
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text,
    }
}
