//! The transformers, one file each. All work on the whole set of resources in place.

mod images;
mod json_patch;
mod labels;
mod names;
mod namespace;
mod patches;
mod paths;
mod references;
mod replacements;
mod replicas;
mod select;
mod sort;
mod structured;
mod value_add;
mod variables;

pub(crate) use images::set_images;
pub(crate) use json_patch::JsonPatch;
pub(crate) use labels::{set_annotations, set_labels};
pub(crate) use names::{add_prefix, add_suffix};
pub(crate) use namespace::{NamespaceChange, SubjectMode, set_namespace};
pub(crate) use patches::{History, LoadedPatch, apply_json, apply_loaded, apply_merge, load_patch};
pub(crate) use references::fix_references;
pub(crate) use replacements::replace;
pub(crate) use replicas::set_replicas;
pub(crate) use select::Matcher;
pub(crate) use sort::{legacy_rank, sort_legacy};
pub(crate) use value_add::{ValueTarget, add_value};
pub(crate) use variables::{Variables, resolve_variables};

use podsmith_object::{Diagnostic, Diagnostics};

use crate::config::FieldError;
use crate::resources::Resource;

/// A field error on its object.
pub(crate) fn on_resource(resource: &Resource, error: &FieldError) -> Diagnostics {
    Diagnostic::error(error.to_string())
        .on(resource.id())
        .or_at(resource.origin.as_ref().map(|origin| origin.place()))
        .into()
}
