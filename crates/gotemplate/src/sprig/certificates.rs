//! Certificates.
use crate::args::Table;
pub(super) const TABLE: Table = &[];
