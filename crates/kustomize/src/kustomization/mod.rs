//! `kustomization.yaml`, read strictly.

mod file;
mod helm;
mod parts;
mod table;

pub(crate) use file::{Entry, FILE_NAMES, Kind, Kustomization};
pub(crate) use helm::{HelmChart, read_chart};
pub(crate) use parts::{
    BuildMetadata, GeneratorArgs, GeneratorOptions, Image, LegacyOrder, Options, Patch, Replacement,
    ReplacementEntry, Replica, Selector, Source, Spot, Target, Variable, read_field_spec, read_generator,
    read_image, read_patch_options, read_replacement, read_replacement_entry, read_replica, read_selector,
};
pub(crate) use table::Table;
