//! One step into a value, and paths made of such steps.

use std::cmp::Ordering;
use std::fmt;

use podsmith_object::{Map, Value};

/// One step into a value.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a map.
    Field(String),
    /// The item of a list whose key fields have these values, sorted by name.
    Key(Vec<(String, Value)>),
    /// The item of a set with this value.
    Value(Value),
    /// The item at an index.
    Index(i64),
}

impl PathElement {
    /// A step to a field.
    pub fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// Reads the form used in `fieldsV1`: `f:name`, `k:{"port":80}`, `v:"x"`, `i:0`.
    pub fn parse(text: &str) -> Option<Self> {
        let (sort, rest) = text.split_once(':')?;
        match sort {
            "f" => Some(Self::field(rest)),
            "v" => serde_json::from_str(rest).ok().map(Self::Value),
            "i" => rest.parse().ok().map(Self::Index),
            "k" => {
                let map: Map<String, Value> = serde_json::from_str(rest).ok()?;
                let mut keys: Vec<_> = map.into_iter().collect();
                keys.sort_by(|a, b| a.0.cmp(&b.0));
                Some(Self::Key(keys))
            }
            _ => None,
        }
    }

    /// The form used in `fieldsV1`.
    pub fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Index(index) => format!("i:{index}"),
            Self::Value(value) => format!("v:{}", escaped(value)),
            Self::Key(keys) => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|(name, value)| {
                        format!("{}:{}", escaped(&Value::from(name.as_str())), escaped(value))
                    })
                    .collect();
                format!("k:{{{}}}", keys.join(","))
            }
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

/// Compact JSON with `<`, `>` and `&` escaped, as the Go encoders write it.
fn escaped(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Value(a), Self::Value(b)) => compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                for (left, right) in a.iter().zip(b) {
                    let order = left.0.cmp(&right.0).then_with(|| compare(&left.1, &right.1));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                a.len().cmp(&b.len())
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

/// The form used in messages: `.spec`, `[port=80,protocol="TCP"]`, `[="x"]`.
impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Key(keys) => {
                f.write_str("[")?;
                for (index, (name, value)) in keys.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A path in the form used in messages.
pub fn display(path: &[PathElement]) -> String {
    path.iter().map(ToString::to_string).collect()
}

/// The order of values: numbers, text, booleans, lists, maps, null; numbers by amount.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    fn rank(value: &Value) -> u8 {
        match value {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
    match (a, b) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => {
                let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
                left.partial_cmp(&right).unwrap_or(Ordering::Equal)
            }
        },
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            for (left, right) in left.iter().zip(right) {
                let order = compare(left, right);
                if order != Ordering::Equal {
                    return order;
                }
            }
            left.len().cmp(&right.len())
        }
        (Value::Object(left), Value::Object(right)) => {
            let sorted = |map: &Map<String, Value>| {
                let mut entries: Vec<(String, Value)> =
                    map.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                entries
            };
            PathElement::Key(sorted(left)).cmp(&PathElement::Key(sorted(right)))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Equality as structured merge sees it: `1` and `1.0` are the same, the order of fields does not count.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => compare(a, b) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}
