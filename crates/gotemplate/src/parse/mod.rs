//! From text to trees.

mod lexer;
mod number;
mod parser;
mod tree;
mod unquote;

pub(crate) use number::{Number, underscores_are_fine};
pub(crate) use parser::{is_blank, parse};
pub(crate) use tree::{Command, Expr, Node, Pipe, Template};
