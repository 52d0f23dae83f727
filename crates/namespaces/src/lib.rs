//! The namespace tree, templates and propagation.
