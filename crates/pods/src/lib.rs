//! pod.yaml: preprocessor, compiler and Pod API runtime.
pub mod compile;
pub mod conf;
pub mod image;
pub mod preprocess;
pub mod ramdisk;
pub mod read;
pub mod runtime;
pub mod secrets;
pub mod spec;

pub use compile::{Compiled, Request, compile};
