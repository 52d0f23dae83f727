//! What a request asks for: its path, its query, the forms it sends and takes.

pub mod body;
mod forms;
mod path;
mod query;

pub use forms::{Encoding, Form, negotiate};
pub use path::{Route, Target, parse_path};
pub use query::{DeleteOptions, FieldValidation, ListOptions, Query, WriteOptions};
