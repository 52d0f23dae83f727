//! Kustomizations rendered to objects.
