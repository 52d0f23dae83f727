//! Go text/template with Sprig and Helm functions: same language, same types, same output.
//!
//! Parse files into a [`TemplateSet`] once; execute them with a [`Renderer`], once for each set of values. Template
//! values ([`Value`]) have Go's types and Go's sharing: a map is one map wherever it is seen.
//!
//! ```
//! use podsmith_gotemplate::{Functions, Options, Renderer, TemplateSet, Value};
//!
//! let mut set = TemplateSet::new(Functions::helm());
//! set.parse("web/templates/a.yaml", "name: {{ .Values.name | quote }}").unwrap();
//! let data = Value::from_json(&podsmith_object::json!({"Values": {"name": "x"}}));
//! let mut render = Renderer::new(&set, Options::default());
//! assert_eq!(render.execute("web/templates/a.yaml", &data).unwrap(), "name: \"x\"");
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`value`] | dynamic values with Go types and shared maps |
//! | [`native`] | objects with fields and methods of their own |
//! | [`function`] | functions, their parameter types, tables of functions |
//! | [`set`] | parsed templates in one name space |
//! | [`render`] | one render: options, limits, shared state |
//! | [`random`] | random numbers, from the system or from a seed |
//! | [`semver`] | versions and constraints, for charts and for packages |
//! | [`error`] | errors with template, line, column, and the chain of includes |

mod args;
mod builtin;
mod convert;
mod data;
pub mod error;
mod exec;
mod format;
pub mod function;
mod helm;
pub mod native;
mod parse;
pub mod random;
pub mod render;
pub mod semver;
pub mod set;
mod sprig;
mod unicode;
pub mod value;

pub use jiff::Timestamp;

pub use error::{CallError, TemplateError};
pub use function::{Function, Functions, Parameter, Signature};
pub use native::Native;
pub use render::{Limits, Lookup, MissingKey, Options, Renderer};
pub use set::TemplateSet;
pub use value::{Elements, IntKind, List, Map, MapKind, Value};
