//! Which fields the transformers touch: the defaults, and what `configurations` and `crds` add to them.

mod crds;
mod field;
mod table;

pub(crate) use crds::config_from_crds;
pub(crate) use field::{Create, FieldError, FieldSpec, FieldTable, split_path};
pub(crate) use table::{NameReference, TransformerConfig, merge_specs};
