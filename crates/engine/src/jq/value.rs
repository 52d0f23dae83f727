//! The value type that expressions work on.
//!
//! An object enters as [`Val::Lazy`]: a pointer to the shared object and the steps to a place in it. Reading a path
//! copies one scalar; only what an expression takes apart is converted, one level at a time.

use std::rc::Rc;

use indexmap::IndexMap;
use podsmith_object::{Map, Number, Object, Value};

use super::budget;
use crate::lookup::field;

/// How deep values may nest. Deeper ones could not be dropped or written without a deep stack.
const DEEPEST: u32 = 1_000;

#[derive(Clone, Debug)]
pub(super) enum Val {
    Null,
    /// Null at a place that does not exist, as an update sees it. If the update gives it back as it is, nothing is made:
    /// `.env[]? |= f` must not leave an `env: null` behind.
    Absent,
    Bool(bool),
    Int(i64),
    /// A computed number.
    Float(f64),
    /// A number as it was read that is no `Int`: a fraction, `1.0`, or too large. Nothing is lost while nobody computes
    /// with it.
    Read(Number),
    Str(Rc<str>),
    Arr(Rc<List>),
    Obj(Rc<Fields>),
    Lazy(Rc<Lazy>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct List {
    /// At least the nesting depth of the items.
    depth: u32,
    pub items: Vec<Val>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    depth: u32,
    pub map: IndexMap<Rc<str>, Val>,
}

/// A mapping or list inside an object that has not been converted.
#[derive(Debug)]
pub(super) enum Lazy {
    Root(Object),
    Key(Rc<Lazy>, Rc<str>),
    Index(Rc<Lazy>, usize),
}

/// What a lazy value points at.
pub(super) enum Node<'a> {
    Map(&'a Map<String, Value>),
    List(&'a [Value]),
}

impl Lazy {
    /// The place in the object. A lazy value is only made for a mapping or a list, so there is always one.
    pub fn node(&self) -> Node<'_> {
        let found = match self {
            Self::Root(object) => return Node::Map(object.body()),
            Self::Key(parent, key) => match parent.node() {
                Node::Map(map) => field(map, key),
                Node::List(_) => None,
            },
            Self::Index(parent, index) => match parent.node() {
                Node::List(list) => list.get(*index),
                Node::Map(_) => None,
            },
        };
        match found {
            Some(Value::Object(map)) => Node::Map(map),
            Some(Value::Array(list)) => Node::List(list),
            _ => Node::List(&[]),
        }
    }
}

/// The child of a lazy value.
pub(super) fn child_at_key(parent: &Rc<Lazy>, key: &Rc<str>, value: &Value) -> Val {
    Val::from_scalar(value).unwrap_or_else(|| Val::Lazy(Rc::new(Lazy::Key(parent.clone(), key.clone()))))
}

pub(super) fn child_at_index(parent: &Rc<Lazy>, index: usize, value: &Value) -> Val {
    Val::from_scalar(value).unwrap_or_else(|| Val::Lazy(Rc::new(Lazy::Index(parent.clone(), index))))
}

impl Val {
    pub fn of_object(object: Object) -> Self {
        Self::Lazy(Rc::new(Lazy::Root(object)))
    }

    pub fn text(text: &str) -> Self {
        budget::grow_text(text.len());
        Self::Str(Rc::from(text))
    }

    /// `None` for mappings and lists.
    fn from_scalar(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::from_number(number),
            Value::String(text) => Self::Str(Rc::from(text.as_str())),
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    fn from_number(number: &Number) -> Self {
        match number.as_i64() {
            Some(int) => Self::Int(int),
            None => Self::Read(number.clone()),
        }
    }

    /// A full conversion, for variables and results of custom functions.
    pub fn from_value(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::list(items.iter().map(Self::from_value).collect()),
            Value::Object(map) => {
                let fields = map.iter().map(|(key, value)| (Rc::from(key.as_str()), Self::from_value(value)));
                Self::fields(fields.collect())
            }
            scalar => Self::from_scalar(scalar).unwrap_or(Self::Null),
        }
    }

    pub fn list(items: Vec<Self>) -> Self {
        let deepest = items.iter().map(Self::depth).max().unwrap_or(0);
        Self::Arr(Rc::new(List { depth: deeper(deepest), items }))
    }

    pub fn fields(map: IndexMap<Rc<str>, Self>) -> Self {
        let deepest = map.values().map(Self::depth).max().unwrap_or(0);
        Self::Obj(Rc::new(Fields { depth: deeper(deepest), map }))
    }

    fn depth(&self) -> u32 {
        match self {
            Self::Arr(list) => list.depth,
            Self::Obj(fields) => fields.depth,
            _ => 0,
        }
    }

    /// The same value with its top level converted; null is null.
    pub fn shallow(self) -> Self {
        let lazy = match &self {
            Self::Lazy(lazy) => lazy,
            Self::Absent => return Self::Null,
            _ => return self,
        };
        match lazy.node() {
            Node::Map(map) => {
                budget::grow(map.len());
                let field = |(key, value): (&String, &Value)| {
                    let key: Rc<str> = Rc::from(key.as_str());
                    let child = child_at_key(lazy, &key, value);
                    (key, child)
                };
                Self::fields(map.iter().map(field).collect())
            }
            Node::List(list) => {
                budget::grow(list.len());
                let item = |(index, value)| child_at_index(lazy, index, value);
                Self::list(list.iter().enumerate().map(item).collect())
            }
        }
    }

    /// What jq calls the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null | Self::Absent => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) | Self::Float(_) | Self::Read(_) => "number",
            Self::Str(_) => "string",
            Self::Arr(_) => "array",
            Self::Obj(_) => "object",
            Self::Lazy(lazy) => match lazy.node() {
                Node::Map(_) => "object",
                Node::List(_) => "array",
            },
        }
    }

    /// The type with its article, for messages.
    pub fn described(&self) -> &'static str {
        match self.type_name() {
            "null" => "null",
            "boolean" => "a boolean",
            "number" => "a number",
            "string" => "a string",
            "array" => "an array",
            _ => "an object",
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "jq numbers are floating point")]
            Self::Int(int) => Some(*int as f64),
            Self::Float(float) => Some(*float),
            Self::Read(number) => number.as_f64(),
            _ => None,
        }
    }

    /// The value as JSON data. Parts that were never converted are copied from the object as they are.
    pub fn into_value(self) -> Value {
        match self {
            Self::Null | Self::Absent => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Int(int) => Value::from(int),
            Self::Float(float) => float_to_value(float),
            Self::Read(number) => Value::Number(number),
            Self::Str(text) => Value::from(&*text),
            Self::Arr(list) => {
                let items = Rc::unwrap_or_clone(list).items;
                Value::Array(items.into_iter().map(Self::into_value).collect())
            }
            Self::Obj(fields) => {
                let map = Rc::unwrap_or_clone(fields).map;
                Value::Object(
                    map.into_iter().map(|(key, value)| (key.to_string(), value.into_value())).collect(),
                )
            }
            Self::Lazy(lazy) => match lazy.node() {
                Node::Map(map) => Value::Object(map.clone()),
                Node::List(list) => Value::Array(list.to_vec()),
            },
        }
    }
}

fn deeper(depth: u32) -> u32 {
    if depth >= DEEPEST {
        budget::too_deep();
    }
    depth + 1
}

/// A computed number without a fraction is written as an integer: Kubernetes refuses `3.0` where it wants 3.
fn float_to_value(float: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() == 0.0 && float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "integral and within range")]
        return Value::from(float as i64);
    }
    let finite = if float.is_infinite() { f64::MAX.copysign(float) } else { float };
    Number::from_f64(finite).map_or(Value::Null, Value::Number)
}

impl List {
    /// Notes that an item was replaced by `item`.
    pub fn note(&mut self, item: &Val) {
        self.depth = self.depth.max(deeper(item.depth()));
    }
}

impl Fields {
    /// Notes that a field was set to `value`.
    pub fn note(&mut self, value: &Val) {
        self.depth = self.depth.max(deeper(value.depth()));
    }
}
