//! From text to trees.

mod lexer;
mod number;
mod parser;
mod tree;
mod unquote;

pub(crate) use number::Number;
pub(crate) use parser::{is_blank, parse};
pub(crate) use tree::{Command, Expr, Node, Pipe, Template};
