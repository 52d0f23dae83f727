//! Objects under construction: their identity through every rename, and the ordered set that holds them.

mod id;
mod map;
mod read;
mod resource;
mod scalar;
mod scope;

pub(crate) use id::{Gvk, NOT_NAMESPACED};
pub(crate) use map::ResourceMap;
pub(crate) use read::{Duplicates, parse_text, read_inline, read_resources};
pub(crate) use resource::{Behavior, Resource, Step, mapping_at};
pub(crate) use scalar::{go_float, resolve, text_of};
