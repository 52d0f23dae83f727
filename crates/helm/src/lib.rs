//! Helm charts rendered to objects.
