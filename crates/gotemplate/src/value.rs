//! The values that templates see, with the types and the sharing rules of Go.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::native::Native;

/// One dynamic value.
///
/// Cloning is cheap and keeps identity: two clones of a [`Map`] are the same map, so that `set` is visible through
/// every alias, as in Go. Values belong to one thread; build them from [`podsmith_object::Value`] for each render.
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing at all, not even a nil: what a pipeline gives for a nil result. Functions never see it.
    #[doc(hidden)]
    Absent,
    /// A nil `interface{}`.
    #[default]
    Nil,
    /// A `bool`.
    Bool(bool),
    /// An integer of any size.
    Int(i64, IntKind),
    /// A `float64`. Every number that came through JSON is one.
    Float(f64),
    /// A `string` that is valid UTF-8.
    String(Arc<str>),
    /// A `string` that is not valid UTF-8, such as decoded base64.
    RawString(Arc<[u8]>),
    /// A `[]byte`.
    Bytes(Arc<[u8]>),
    /// A slice. Templates cannot change a slice in place.
    List(List),
    /// A map with string keys, shared by every clone.
    Map(Map),
    /// A value of a type of its own: `.Files`, `.Capabilities`, a time, a version.
    Native(Rc<dyn Native>),
}

/// The Go type of an integer. It matters to `typeOf`, `kindIs` and to the types of arguments, not to arithmetic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IntKind {
    /// `int`: literals, lengths, indexes.
    Int,
    /// `int64`: the results of arithmetic, values given with `--set`.
    Int64,
    /// `int32`.
    Int32,
    /// `uint8`: an element of a string or of bytes.
    Uint8,
    /// `uint32`.
    Uint32,
    /// `uint64`: the parts of a version.
    Uint64,
}

impl IntKind {
    /// The name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Int64 => "int64",
            Self::Int32 => "int32",
            Self::Uint8 => "uint8",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
        }
    }

    /// True for the kinds that have a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Int | Self::Int64 | Self::Int32)
    }
}

/// The type of a list's elements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Elements {
    /// `[]interface {}`
    Any,
    /// `[]string`
    Strings,
    /// `[]int`
    Ints,
    /// `[][]interface {}`
    Lists,
    /// `[]map[string]interface {}`
    Maps,
    /// A named slice of strings, such as `chartutil.VersionSet`.
    Named(&'static str),
}

impl Elements {
    /// The name of the slice type.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Any => "[]interface {}",
            Self::Strings => "[]string",
            Self::Ints => "[]int",
            Self::Lists => "[][]interface {}",
            Self::Maps => "[]map[string]interface {}",
            Self::Named(name) => name,
        }
    }
}

#[derive(Debug)]
struct ListData {
    elements: Elements,
    nil: bool,
    items: Vec<Value>,
}

impl Drop for ListData {
    fn drop(&mut self) {
        let items = std::mem::take(&mut self.items);
        if !items.is_empty() {
            with_stack(|| drop(items));
        }
    }
}

/// A slice.
#[derive(Clone, Debug)]
pub struct List(Rc<ListData>);

impl List {
    /// A slice of anything.
    pub fn new(items: Vec<Value>) -> Self {
        Self::typed(Elements::Any, items)
    }

    /// A slice with elements of one type.
    pub fn typed(elements: Elements, items: Vec<Value>) -> Self {
        Self(Rc::new(ListData { elements, nil: false, items }))
    }

    /// A nil slice: empty, but JSON prints it as null.
    pub fn nil(elements: Elements) -> Self {
        Self(Rc::new(ListData { elements, nil: true, items: Vec::new() }))
    }

    /// A slice of strings.
    pub fn strings<S: Into<Arc<str>>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::typed(Elements::Strings, items.into_iter().map(|item| Value::String(item.into())).collect())
    }

    /// The elements.
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    /// The type of the elements.
    pub fn elements(&self) -> Elements {
        self.0.elements
    }

    /// True for a nil slice.
    pub fn is_nil(&self) -> bool {
        self.0.nil
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.items.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.0.items.is_empty()
    }
}

/// The Go type of a map.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MapKind {
    /// `map[string]interface {}`
    Any,
    /// `chartutil.Values`: the root of the data and `.Values`.
    Values,
    /// `map[string]string`: the result of `split`; a missing key is an empty string.
    Strings,
}

impl MapKind {
    /// The name of the type.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Any => "map[string]interface {}",
            Self::Values => "chartutil.Values",
            Self::Strings => "map[string]string",
        }
    }
}

struct MapData {
    kind: MapKind,
    nil: bool,
    /// The map was set into something that it contains, so that walks can come back to it.
    cyclic: Cell<bool>,
    /// A walk is inside this map; only kept for cyclic ones.
    visited: Cell<bool>,
    entries: RefCell<BTreeMap<Arc<str>, Value>>,
}

impl Drop for MapData {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut());
        if !entries.is_empty() {
            with_stack(|| drop(entries));
        }
    }
}

/// Values can nest as deep as a template can count, so no walk may rely on the stack it finds.
pub(crate) fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 10, 1 << 20, work)
}

/// A walk is inside a map while this lives.
pub(crate) struct Visit<'m>(Option<&'m Cell<bool>>);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if let Some(visited) = self.0 {
            visited.set(false);
        }
    }
}

/// A map with string keys. Clones share their entries; entries are in key order.
///
/// No method hands out a reference into the map, so that no borrow can be held while a template runs.
#[derive(Clone)]
pub struct Map(Rc<MapData>);

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl Map {
    /// An empty `map[string]interface {}`.
    pub fn new() -> Self {
        Self::of_kind(MapKind::Any)
    }

    /// An empty map of another type.
    pub fn of_kind(kind: MapKind) -> Self {
        Self::from_entries(kind, BTreeMap::new())
    }

    /// A map with these entries.
    pub fn from_entries(kind: MapKind, entries: BTreeMap<Arc<str>, Value>) -> Self {
        Self::build(kind, false, entries)
    }

    /// A nil map: empty, cannot be set, and JSON prints it as null.
    pub fn nil() -> Self {
        Self::build(MapKind::Any, true, BTreeMap::new())
    }

    fn build(kind: MapKind, nil: bool, entries: BTreeMap<Arc<str>, Value>) -> Self {
        let entries = RefCell::new(entries);
        Self(Rc::new(MapData { kind, nil, cyclic: Cell::new(false), visited: Cell::new(false), entries }))
    }

    /// True for a nil map.
    pub fn is_nil(&self) -> bool {
        self.0.nil
    }

    /// Starts a walk through this map. `None` when the walk is inside it already: the map contains itself.
    pub(crate) fn enter(&self) -> Option<Visit<'_>> {
        if !self.0.cyclic.get() {
            return Some(Visit(None));
        }
        (!self.0.visited.replace(true)).then(|| Visit(Some(&self.0.visited)))
    }

    /// [`Map::insert`] for values that may contain this very map. Walks notice and stop there.
    pub fn link(&self, key: impl Into<Arc<str>>, value: Value) {
        if value.reaches(self, &mut HashSet::new()) {
            self.0.cyclic.set(true);
        }
        self.insert(key, value);
    }

    /// The Go type.
    pub fn kind(&self) -> MapKind {
        self.0.kind
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.0.entries.borrow().get(key).cloned()
    }

    /// True if `key` is present.
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.entries.borrow().contains_key(key)
    }

    /// Sets `key`, for every holder of this map. The value must not contain this map; see [`Map::link`].
    pub fn insert(&self, key: impl Into<Arc<str>>, value: impl Into<Value>) {
        let replaced = self.0.entries.borrow_mut().insert(key.into(), value.into());
        // Dropped only here, because the drop of a value may look into maps again.
        drop(replaced);
    }

    /// Removes `key`, for every holder of this map.
    pub fn remove(&self, key: &str) {
        let removed = self.0.entries.borrow_mut().remove(key);
        drop(removed);
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.0.entries.borrow().len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys, sorted.
    pub fn keys(&self) -> Vec<Arc<str>> {
        self.0.entries.borrow().keys().cloned().collect()
    }

    /// A copy of the entries, sorted by key.
    pub fn entries(&self) -> Vec<(Arc<str>, Value)> {
        self.0.entries.borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// True if both are one map.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("Absent"),
            Self::Nil => f.write_str("Nil"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Int(number, kind) => write!(f, "{number}{}", kind.name()),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::String(text) => write!(f, "{text:?}"),
            Self::RawString(bytes) | Self::Bytes(bytes) => write!(f, "{bytes:?}"),
            Self::List(list) => list.items().fmt(f),
            Self::Map(map) => map.fmt(f),
            Self::Native(native) => write!(f, "<{}>", native.type_name()),
        }
    }
}

impl Value {
    /// A Go `int`.
    pub fn int(number: i64) -> Self {
        Self::Int(number, IntKind::Int)
    }

    /// A Go `int64`.
    pub fn int64(number: i64) -> Self {
        Self::Int(number, IntKind::Int64)
    }

    /// A string.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// A Go string of these bytes, whether they are UTF-8 or not.
    pub fn string_from_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::String(text.into()),
            Err(error) => Self::RawString(error.into_bytes().into()),
        }
    }

    /// A slice of anything.
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(List::new(items))
    }

    /// An object with a type of its own.
    pub fn native(native: impl Native) -> Self {
        Self::Native(Rc::new(native))
    }

    /// True for a nil of any form.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Absent | Self::Nil)
    }

    /// The text of a UTF-8 string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The map.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The elements of a slice.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(list) => Some(list.items()),
            _ => None,
        }
    }

    /// The value under `key` of a map, or the field of a native.
    pub fn get(&self, key: &str) -> Option<Value> {
        match self {
            Self::Map(map) => map.get(key),
            Self::Native(native) => native.field(key),
            _ => None,
        }
    }

    /// What `if` and `and` take for true: not nil, not zero, not empty.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Absent | Self::Nil => false,
            Self::Bool(flag) => *flag,
            Self::Int(number, _) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::String(text) => !text.is_empty(),
            Self::RawString(bytes) | Self::Bytes(bytes) => !bytes.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Native(native) => native.is_true(),
        }
    }

    /// The name of the Go type, as `typeOf` prints it.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Absent | Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_, kind) => kind.name(),
            Self::Float(_) => "float64",
            Self::String(_) | Self::RawString(_) => "string",
            Self::Bytes(_) => "[]uint8",
            Self::List(list) => list.elements().type_name(),
            Self::Map(map) => map.kind().type_name(),
            Self::Native(native) => native.type_name(),
        }
    }

    /// The name of the Go kind, as `kindOf` prints it.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Absent | Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(_, kind) => kind.name(),
            Self::Float(_) => "float64",
            Self::String(_) | Self::RawString(_) => "string",
            Self::Bytes(_) | Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Native(native) => native.kind(),
        }
    }

    fn reaches(&self, target: &Map, seen: &mut HashSet<*const MapData>) -> bool {
        match self {
            Self::List(list) => with_stack(|| list.items().iter().any(|item| item.reaches(target, seen))),
            Self::Map(map) if map.is_same(target) => true,
            Self::Map(map) if seen.insert(Rc::as_ptr(&map.0)) => {
                with_stack(|| map.0.entries.borrow().values().any(|value| value.reaches(target, seen)))
            }
            _ => false,
        }
    }

    /// The same tree with maps and lists of its own: nothing that is set in one is seen in the other.
    #[must_use]
    pub fn deep_copy(&self) -> Self {
        match self {
            Self::List(list) if !list.is_nil() => {
                let items = with_stack(|| list.items().iter().map(Self::deep_copy).collect());
                Self::List(List::typed(list.elements(), items))
            }
            Self::Map(map) if !map.is_nil() => {
                let Some(_visit) = map.enter() else { return self.clone() };
                let copy = |(key, value): (Arc<str>, Self)| (key, value.deep_copy());
                let entries = with_stack(|| map.entries().into_iter().map(copy).collect());
                Self::Map(Map::from_entries(map.kind(), entries))
            }
            other => other.clone(),
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::String(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl FromIterator<(Arc<str>, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(entries: I) -> Self {
        Self::from_entries(MapKind::Any, entries.into_iter().collect())
    }
}
