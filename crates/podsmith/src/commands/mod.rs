//! One command, one file: its arguments, whose doc comments are the help, and what it does.

pub mod apply;
pub mod cluster;
pub mod completion;
pub mod delete;
pub mod fmt;
pub mod host;
pub mod ns;
pub mod operator;
pub mod plan;
pub mod pod;
pub mod render;
pub mod status;
pub mod version;
