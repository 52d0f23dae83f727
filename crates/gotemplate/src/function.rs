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
    /// True if nil can be passed.
    pub(crate) fn can_be_nil(self) -> bool {
        match self {
            Self::Any | Self::Map | Self::List => true,
            Self::Native(name) => name.starts_with('*'),
            _ => false,
        }
    }

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

/// Functions that do not evaluate all their arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Special {
    None,
    And,
    Or,
}

/// One function.
#[derive(Clone)]
pub struct Function {
    pub(crate) signature: Signature,
    pub(crate) special: Special,
    pub(crate) body: Arc<Body>,
}

impl Function {
    /// The type of the argument at `position`.
    pub(crate) fn parameter(&self, position: usize) -> Parameter {
        let fixed = self.signature.fixed.get(position).copied();
        fixed.or(self.signature.variadic).unwrap_or(Parameter::Any)
    }
}

/// The functions that a template set knows. Parsing refuses any other name.
#[derive(Clone, Default)]
pub struct Functions {
    list: Vec<Function>,
    index: HashMap<&'static str, usize>,
}

impl Functions {
    /// Only the functions of Go's text/template.
    pub fn go() -> Self {
        let mut functions = Self::default();
        crate::builtin::install(&mut functions);
        functions
    }

    /// Go's, Sprig's and Helm's, as Helm ships them.
    pub fn helm() -> Self {
        let mut functions = Self::go();
        crate::sprig::install(&mut functions);
        crate::helm::install(&mut functions);
        functions
    }

    /// Adds or replaces one function. The body may capture state of its own.
    pub fn insert(
        &mut self,
        name: &'static str,
        signature: Signature,
        body: impl Fn(&mut Renderer<'_>, &[Value]) -> Result<Value, CallError> + Send + Sync + 'static,
    ) {
        self.put(name, Function { signature, special: Special::None, body: Arc::new(body) });
    }

    pub(crate) fn put(&mut self, name: &'static str, function: Function) {
        self.list.push(function);
        self.index.insert(name, self.list.len() - 1);
    }

    /// Removes one function.
    pub fn remove(&mut self, name: &str) {
        self.index.remove(name);
    }

    /// True if `name` is known.
    pub fn contains(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.index.keys().copied().collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    pub(crate) fn at(&self, index: usize) -> Option<&Function> {
        self.list.get(index)
    }
}
