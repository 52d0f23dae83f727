//! Parsed templates, and how their expressions read in error messages.

use std::fmt;
use std::sync::Arc;

use super::number::Number;
use super::parser::Literal;

/// A text that was parsed.
#[derive(Debug)]
pub(crate) struct Source {
    pub file: Arc<str>,
    pub text: Arc<str>,
}

/// One template: a whole file, or a `define` in it.
#[derive(Debug)]
pub(crate) struct Template {
    pub name: Arc<str>,
    pub source: Arc<Source>,
    pub body: Vec<Node>,
}

/// A step of a template. Positions are byte offsets into the source.
#[derive(Debug)]
pub(crate) enum Node {
    Text { start: usize, end: usize },
    Action(Pipe),
    If { pipe: Pipe, then: Vec<Node>, otherwise: Option<Vec<Node>> },
    With { pipe: Pipe, then: Vec<Node>, otherwise: Option<Vec<Node>> },
    Range { pipe: Pipe, body: Vec<Node>, otherwise: Option<Vec<Node>> },
    Template { at: usize, name: Arc<str>, pipe: Option<Pipe> },
    Break,
    Continue,
}

/// `$a, $b := command | command`. Variables are numbers, one for each name in the source; `$` is 0.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub at: usize,
    pub variables: Vec<(u32, Arc<str>)>,
    pub assigns: bool,
    pub commands: Vec<Command>,
}

/// Operands of one pipeline stage; the first may be a function.
#[derive(Debug)]
pub(crate) struct Command {
    pub at: usize,
    pub operands: Vec<Expr>,
}

/// One operand.
#[derive(Debug)]
pub(crate) enum Expr {
    Dot { at: usize },
    Nil { at: usize },
    Bool { at: usize, value: bool },
    Number { at: usize, value: Number },
    String { at: usize, literal: Arc<str>, value: Literal },
    Field { at: usize, path: Vec<Arc<str>> },
    Variable { at: usize, id: u32, name: Arc<str>, path: Vec<Arc<str>> },
    Function { at: usize, name: Arc<str>, index: usize },
    Pipe(Box<Pipe>),
    Chain { at: usize, base: Box<Expr>, path: Vec<Arc<str>> },
}

impl Expr {
    /// Where the expression stands.
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::Dot { at }
            | Self::Nil { at }
            | Self::Bool { at, .. }
            | Self::Number { at, .. }
            | Self::String { at, .. }
            | Self::Field { at, .. }
            | Self::Variable { at, .. }
            | Self::Function { at, .. }
            | Self::Chain { at, .. } => *at,
            Self::Pipe(pipe) => pipe.at,
        }
    }
}

fn write_path(f: &mut fmt::Formatter<'_>, path: &[Arc<str>]) -> fmt::Result {
    path.iter().try_for_each(|name| write!(f, ".{name}"))
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dot { .. } => f.write_str("."),
            Self::Nil { .. } => f.write_str("nil"),
            Self::Bool { value, .. } => write!(f, "{value}"),
            Self::Number { value, .. } => f.write_str(&value.text),
            Self::String { literal, .. } => f.write_str(literal),
            Self::Field { path, .. } => write_path(f, path),
            Self::Variable { name, path, .. } => {
                f.write_str(name)?;
                write_path(f, path)
            }
            Self::Function { name, .. } => f.write_str(name),
            Self::Pipe(pipe) => pipe.fmt(f),
            Self::Chain { base, path, .. } => {
                write_operand(f, base)?;
                write_path(f, path)
            }
        }
    }
}

fn write_operand(f: &mut fmt::Formatter<'_>, expr: &Expr) -> fmt::Result {
    if let Expr::Pipe(pipe) = expr { write!(f, "({pipe})") } else { write!(f, "{expr}") }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, operand) in self.operands.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write_operand(f, operand)?;
        }
        Ok(())
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (_, name)) in self.variables.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        if !self.variables.is_empty() {
            f.write_str(if self.assigns { " = " } else { " := " })?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}
