//! YAML as the Kubernetes tools read and write it.
//!
//! Reading follows kubectl and Helm: YAML 1.1 booleans, leading-zero octals, merge keys, dates as strings. Writing
//! quotes every string that a YAML 1.1 *or* 1.2 reader would take for something else.
//!
//! The parser underneath is a port of libyaml, the same family as the Go tools' own, so that odd but accepted input
//! is accepted here too (see `docs/design/object.md`).

mod go_write;
mod node;
mod read;
mod scalar;
mod split;
mod tree;
mod write;
mod written;

pub use go_write::{GoStyle, go_float, to_go_string};
pub use node::{Key, Node, NodeData};
pub use read::{
    BooleanKeys, DuplicateKeys, Limits, ReadOptions, YamlError, read_document, read_node, read_nodes,
    read_value, read_values,
};
pub use scalar::{Scalar, resolve_plain};
pub use split::{Chunk, DocumentSplitter, decode_text};
pub use write::{Style, to_string, to_string_with, write_map, write_value};
pub use written::{Written, WrittenData, WrittenKey, WrittenMapping, read_written};
