//! Functions that templates can call, and the types of their parameters.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::CallError;
use crate::render::Renderer;
use crate::value::Value;

/// The type of one parameter. Arguments are checked against it before the function runs, as Go does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parameter {
    /// `interface {}`
    Any,
    /// `string`
    String,
    /// `int`
    Int,
    /// `uint32`
    Uint32,
    /// `float64`
    Float,
    /// `bool`
    Bool,
    /// `map[string]interface {}`
    Map,
    /// `[]interface {}`
    List,
    /// A native type, by its Go name.
    Native(&'static str),
}

impl Parameter {
    /// The name of the Go type.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::String => "string",
            Self::Int => "int",
            Self::Uint32 => "uint32",
            Self::Float => "float64",
            Self::Bool => "bool",
            Self::Map => "map[string]interface {}",
            Self::List => "[]interface {}",
            Self::Native(name) => name,
        }
    }
}

/// The parameters of a function.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The fixed parameters.
    pub fixed: &'static [Parameter],
    /// The type of any number of further arguments.
    pub variadic: Option<Parameter>,
}

/// The body of a function.
pub type Body = dyn Fn(&mut Renderer<'_>, &[Value]) -> Result<Value, CallError> + Send + Sync;

/// One function.
#[derive(Clone)]
pub struct Function {
    pub(crate) signature: Signature,
    pub(crate) body: Arc<Body>,
}

/// The functions that a template set knows. Parsing refuses any other name.
#[derive(Clone, Default)]
pub struct Functions {
    table: HashMap<&'static str, Function>,
}

impl Functions {
    /// Only the functions of Go's text/template.
    pub fn go() -> Self {
        Self::default()
    }

    /// Go's, Sprig's and Helm's, as Helm ships them.
    pub fn helm() -> Self {
        Self::default()
    }

    /// Adds or replaces one function. The body may capture state of its own.
    pub fn insert(
        &mut self,
        name: &'static str,
        signature: Signature,
        body: impl Fn(&mut Renderer<'_>, &[Value]) -> Result<Value, CallError> + Send + Sync + 'static,
    ) {
        self.table.insert(name, Function { signature, body: Arc::new(body) });
    }

    /// Removes one function.
    pub fn remove(&mut self, name: &str) {
        self.table.remove(name);
    }

    /// True if `name` is known.
    pub fn contains(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.table.keys().copied().collect();
        names.sort_unstable();
        names
    }
}
