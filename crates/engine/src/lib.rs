//! Renderers, filters, transformers and the pipeline that runs them.
