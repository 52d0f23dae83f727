//! One command, one file: its arguments, whose doc comments are the help, and what it does.

pub mod cluster;
pub mod completion;
pub mod render;
pub mod version;
