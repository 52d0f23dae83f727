//! pod.yaml: preprocessor, compiler and Pod API runtime.
