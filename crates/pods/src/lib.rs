//! pod.yaml: preprocessor, compiler and Pod API runtime.
//!
//! ```text
//! pod.yaml + pod.env ─preprocess─► text ─read─► Pod ─compile─► pod (one executable), pod.portmappings.conf, pod.ingress.conf
//!                                                └─kubernetes─► Deployment, Service, Ingress, ConfigMap
//! ./pod run ─runtime─► supervisor ─► podman
//! ```
//!
//! A program that can be the runtime of compiled pods checks first thing whether it is one:
//!
//! ```no_run
//! use podsmith_pods::{image, runtime};
//! fn main() -> std::process::ExitCode {
//!     if let Ok(Some(pod)) = image::embedded() {
//!         return runtime::main(pod, std::env::args_os().skip(1));
//!     }
//!     std::process::ExitCode::SUCCESS // the program's own business
//! }
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`spec`] | a pod as data |
//! | [`preprocess`] | variables and directives |
//! | [`read`] | pod.yaml in both dialects, all mistakes in one run |
//! | [`conf`] | the port map and the ingress rules beside a pod |
//! | [`image`] | the compiled pod as a file |
//! | [`compile`](mod@compile) | all of it in order |
//! | [`runtime`] | the Pod API and the supervisor |
//! | [`secrets`] | encrypted configs |
//! | [`ramdisk`] | memory below a pod's directory, made by root |
//! | [`kubernetes`] | the same pod on a cluster |

pub mod compile;
pub mod conf;
pub mod image;
pub mod kubernetes;
pub mod preprocess;
pub mod ramdisk;
pub mod read;
pub mod runtime;
pub mod secrets;
pub mod spec;

pub use compile::{Compiled, Request, compile, compile_all};
