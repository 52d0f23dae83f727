//! JSON, YAML and TOML as Go's libraries write and read them.

pub(crate) mod json;
mod json_error;
pub(crate) mod toml;
pub(crate) mod yaml;
