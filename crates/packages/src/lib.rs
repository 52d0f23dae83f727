//! Package repositories, versions, dependency resolution, operator.
