//! Rendered text into manifests: cut into documents, hooks told apart, everything in install order.

mod head;
mod order;
mod split;

pub(crate) use head::{Head, excerpt};
pub(crate) use order::install_rank;
pub(crate) use split::split_documents;
