//! Podfiles: workloads in HCL, rendered to Kubernetes objects.
//!
//! Pure: files come in as text and through a [`FileTree`](podsmith_object::files::FileTree), objects go out. No
//! cluster is asked; what depends on one (default classes, default issuer) is left to the server or to the plan.
//!
//! ```
//! use podsmith_object::files::MemoryFiles;
//! use podsmith_podfile::{Options, Podfile, render};
//!
//! let text = "pod \"web\" {\n  image = \"nginx\"\n  service \"http\" { port = 80 }\n}\n";
//! let file = Podfile { name: "web.pf".into(), directory: String::new(), text: text.into() };
//! let output = render(&[file], &MemoryFiles::new(), &Options::default()).unwrap();
//! let kinds: Vec<_> = output.objects().map(|object| object.kind().to_owned()).collect();
//! assert_eq!(kinds, ["StatefulSet", "Service", "Service"]);
//! ```
//!
//! | module | idea |
//! |---|---|
//! | `source` | text, positions, parsing with hcl-edit |
//! | `eval` | expressions, each failure with its place |
//! | `functions` | the functions of the language |
//! | `language` | every block and attribute as data; the description for editors |
//! | `decode` | blocks checked against the language |
//! | `unit`, `references`, `variables`, `modules` | what expressions can refer to |
//! | `objects` | Kubernetes objects from blocks |
//! | [`fmt`] | the one way to write a Podfile |

mod convert;
mod decode;
mod eval;
pub mod fmt;
mod functions;
mod language;
mod modules;
mod number;
mod objects;
mod references;
mod render;
mod source;
mod unit;
mod variables;

pub use language::{describe as describe_language, json_schema};
pub use render::{Options, Podfile, PodfileOutput, PodfilePackage, render};
