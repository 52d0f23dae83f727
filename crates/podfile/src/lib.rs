//! HCL Podfiles rendered to objects.
