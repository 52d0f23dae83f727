//! Types: what a value may look like and how its parts merge.
//!
//! Built-in kinds and custom resources share this model. A built-in struct is read from the table when it is first
//! looked at; a custom one is owned by whoever made it from a schema.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use podsmith_object::Value;

use crate::table::table;

/// What a value may look like. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Type {
    /// One indivisible value.
    Scalar(Scalar),
    /// Any JSON; maps merge by key, lists are atomic.
    Untyped,
    /// Any JSON that always counts as one value.
    Opaque,
    /// A list.
    List(Arc<ListType>),
    /// A map from strings to values of one type.
    Map(Arc<MapType>),
    /// An object with declared fields.
    Struct(StructType),
}

/// A scalar type.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// How it is written in JSON.
    pub base: Base,
    /// The named type in the sources, if it has one.
    pub named: Option<&'static Named>,
}

/// A named scalar of the built-in types, such as `PullPolicy`.
#[derive(Debug)]
pub struct Named {
    /// Name with its Go package: `v1.PullPolicy`.
    pub name: String,
    /// The allowed values when the type is an enumeration; empty otherwise.
    pub values: Vec<&'static str>,
}

/// How a scalar is written in JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Base {
    /// Text.
    String,
    /// True or false.
    Bool,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A whole number of 8 bits without sign.
    Uint8,
    /// A whole number of 32 bits without sign.
    Uint32,
    /// A whole number of 64 bits without sign.
    Uint64,
    /// A floating-point number of 32 bits.
    Float32,
    /// A floating-point number of 64 bits.
    Float64,
    /// Bytes, written in base64.
    Bytes,
    /// A number or text.
    IntOrString,
    /// A resource quantity; a number is accepted as well.
    Quantity,
    /// A time in whole seconds, or null.
    Time,
    /// A time in microseconds, or null.
    MicroTime,
    /// A length of time such as `1m30s`.
    Duration,
    /// Any scalar: what a custom schema allows without naming a type.
    Any,
}

/// A list type.
#[derive(Debug)]
pub struct ListType {
    /// Type of the items.
    pub items: Type,
    /// How items of two lists are matched.
    pub relation: ListRelation,
    /// Protobuf wraps this list into a message of its own.
    pub wrapped: bool,
    /// The named type in the sources, if it has one.
    pub named: Option<&'static Named>,
}

/// How the items of two lists are matched when they merge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ListRelation {
    /// Not at all: the list is one value.
    Atomic,
    /// Items are scalars and equal ones match.
    Set,
    /// Items are objects and match by these fields.
    Map(Vec<Cow<'static, str>>),
}

/// A map type.
#[derive(Debug)]
pub struct MapType {
    /// Type of the values.
    pub values: Type,
    /// The map is one value.
    pub atomic: bool,
    /// The named type in the sources, if it has one.
    pub named: Option<&'static Named>,
}

/// A struct type as it is used in one place.
#[derive(Clone, Debug)]
pub struct StructType {
    reference: StructRef,
    /// The struct is one value here.
    pub atomic: bool,
}

#[derive(Clone, Debug)]
enum StructRef {
    Builtin(u32),
    Own(Arc<Struct>),
}

/// The declared fields of a struct.
#[derive(Debug, Default)]
pub struct Struct {
    /// Name without package: `DeploymentSpec`. Empty in custom schemas.
    pub name: &'static str,
    /// Package in the table: `apps/v1`. Empty in custom schemas.
    pub package: &'static str,
    /// The fields in their order, those of inlined structs included.
    pub fields: IndexMap<Cow<'static, str>, Field>,
    /// Inlined structs that are messages of their own in protobuf: number and type.
    pub inlined: Vec<(u32, StructType)>,
    /// The type of fields that are not declared; without it there may be none.
    pub others: Option<Type>,
    /// The struct is one value wherever it is used.
    pub atomic: bool,
}

/// A declared field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its type.
    pub ty: Type,
    /// Protobuf number; 0 when protobuf does not know the field, or when it belongs to an inlined struct.
    pub number: u32,
    /// A set value is kept even when it is zero or empty.
    pub pointer: bool,
    /// Left out of JSON when it is empty.
    pub omit_empty: bool,
    /// Left out of JSON when it is the zero value.
    pub omit_zero: bool,
    /// Must be given.
    pub required: bool,
    /// May be null (custom schemas).
    pub nullable: bool,
    /// The default the schema states.
    pub default: Option<Value>,
    /// How a strategic merge patch treats it.
    pub patch: Patch,
    /// The inlined struct the field belongs to, if it does.
    pub inlined_from: Option<&'static str>,
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Patch {
    /// Lists merge instead of being replaced.
    pub merge: bool,
    /// The patch names all keys to keep under `$retainKeys`.
    pub retain_keys: bool,
    /// The field that identifies an item of a merged list of objects.
    pub merge_key: Option<&'static str>,
}

impl StructType {
    /// A struct of the table.
    pub(crate) fn builtin(index: u32, atomic: bool) -> Self {
        Self { reference: StructRef::Builtin(index), atomic }
    }

    /// A struct made from a custom schema.
    pub fn own(definition: Struct) -> Self {
        let atomic = definition.atomic;
        Self { reference: StructRef::Own(Arc::new(definition)), atomic }
    }

    /// The declared fields.
    pub fn definition(&self) -> &Struct {
        match &self.reference {
            StructRef::Builtin(index) => table().structure(*index),
            StructRef::Own(definition) => definition,
        }
    }
}

impl Type {
    /// A scalar without a name of its own.
    pub const fn scalar(base: Base) -> Self {
        Self::Scalar(Scalar { base, named: None })
    }

    /// The definition, if this is a struct.
    pub fn as_struct(&self) -> Option<&Struct> {
        match self {
            Self::Struct(structure) => Some(structure.definition()),
            _ => None,
        }
    }

    /// A declared field, if this is a struct that has it.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.as_struct()?.fields.get(name)
    }

    /// The type below a key of an object: a declared field, the values of a map, or what is allowed besides.
    pub fn child(&self, key: &str) -> Option<&Type> {
        match self {
            Self::Struct(structure) => {
                let definition = structure.definition();
                definition.fields.get(key).map(|field| &field.ty).or(definition.others.as_ref())
            }
            Self::Map(map) => Some(&map.values),
            Self::Untyped => Some(&Self::Untyped),
            Self::Opaque => Some(&Self::Opaque),
            _ => None,
        }
    }

    /// The type of the items, if this is a list or untyped.
    pub fn items(&self) -> Option<&Type> {
        match self {
            Self::List(list) => Some(&list.items),
            Self::Untyped | Self::Opaque => Some(&Self::Opaque),
            _ => None,
        }
    }

    /// The type as the Go libraries print it: `int32`, `[]v1.Container`, `map[string]string`.
    pub fn go_name(&self) -> Cow<'static, str> {
        match self {
            Self::Scalar(Scalar { named: Some(named), .. }) => named.name.as_str().into(),
            Self::Scalar(scalar) => scalar.base.go_name().into(),
            Self::Untyped | Self::Opaque => "interface {}".into(),
            Self::List(list) => match list.named {
                Some(named) => named.name.as_str().into(),
                None => format!("[]{}", list.items.go_name()).into(),
            },
            Self::Map(map) => match map.named {
                Some(named) => named.name.as_str().into(),
                None => format!("map[string]{}", map.values.go_name()).into(),
            },
            Self::Struct(structure) => {
                let definition = structure.definition();
                let package = definition.package.rsplit('/').next().unwrap_or("");
                format!("{package}.{}", definition.name).into()
            }
        }
    }
}

impl Base {
    fn go_name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bool => "bool",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint8 => "uint8",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Bytes => "[]uint8",
            Self::IntOrString => "intstr.IntOrString",
            Self::Quantity => "resource.Quantity",
            Self::Time => "v1.Time",
            Self::MicroTime => "v1.MicroTime",
            Self::Duration => "v1.Duration",
            Self::Any => "interface {}",
        }
    }
}
