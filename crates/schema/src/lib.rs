//! What the Kubernetes types look like, and the merges that follow from it.
