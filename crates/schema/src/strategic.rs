//! Strategic merge patch, by the rules of the API server.
//!
//! Maps merge by key and null removes a key. A list merges when its field is marked so: objects by the merge key,
//! scalars as a set; any other list is replaced. Directives change this from inside the patch: `$patch`,
//! `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`, `$retainKeys`.

use podsmith_object::{Map, Value};
use thiserror::Error;

use crate::gotext;
use crate::types::{Patch, Type};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER_PREFIX: &str = "$setElementOrder";
const DELETE_PREFIX: &str = "$deleteFromPrimitiveList";

/// Why a strategic merge patch cannot be applied. The texts are those of the API server.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum StrategicError {
    /// An item of a merged list lacks the key that identifies it.
    #[error("map: {item} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// The item.
        item: String,
        /// The merge key.
        key: String,
    },
    /// `$patch` has a value that means nothing here.
    #[error("unknown patch type: {directive} in map: {map}")]
    UnknownDirective {
        /// The value of `$patch`.
        directive: String,
        /// The map it stands in.
        map: String,
    },
    /// A value has another type than the patch needs.
    #[error("expected a {expected}, but received a {found}")]
    WrongType {
        /// What is needed.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// `$retainKeys` is no list, or does not name a key of the patch.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// `$setElementOrder` is no list or has no field name.
    #[error("invalid patch format of setElementOrder list")]
    SetElementOrder,
    /// `$deleteFromPrimitiveList` has no field name.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// The items of the patch are not in the order the patch itself asks for.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n")]
    OrderMismatch {
        /// The items of the patch.
        patch: String,
        /// The order given.
        order: String,
    },
    /// The type has no such field.
    #[error("unable to find api field in struct {structure} for the json field {}", gotext::quoted(field))]
    UnknownField {
        /// Name of the struct.
        structure: String,
        /// The field.
        field: String,
    },
    /// Objects stand where the type has no fields to look at.
    #[error("merging an object in json but data type is not struct, instead is: {found}")]
    NotAStruct {
        /// What the type is.
        found: &'static str,
    },
    /// A list marked as merged has objects but no merge key.
    #[error("cannot merge lists without merge key for {structure}")]
    NoKeyDeclared {
        /// What the items are.
        structure: &'static str,
    },
    /// A list has lists as items.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Items of one list have different types.
    #[error("list element types are not identical: {lists}")]
    MixedList {
        /// Both lists.
        lists: String,
    },
    /// An order is given for lists that have no items.
    #[error("no elements in any of the given slices")]
    NoElements,
    /// `$patch: merge` inside a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// Patch or object is no map.
    #[error("invalid JSON document")]
    NotAMap,
}

/// Applies `patch` to `original`, an object of the type `ty`.
///
/// # Errors
///
/// When the patch has directives or items that make no sense for the type. Such a patch is refused as a whole.
///
/// ```
/// use podsmith_object::{GroupVersionKind, json};
/// use podsmith_schema::{strategic, table};
///
/// let pod = table().type_of(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
/// let live = json!({"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b"}]}});
/// let patch = json!({"spec": {"containers": [{"name": "b", "$patch": "delete"}, {"name": "a", "image": "y"}]}});
/// let merged = strategic::apply(live, patch, &pod).unwrap();
/// assert_eq!(merged, json!({"spec": {"containers": [{"name": "a", "image": "y"}]}}));
/// ```
pub fn apply(original: Value, patch: Value, ty: &Type) -> Result<Value, StrategicError> {
    match (original, patch) {
        (Value::Object(original), Value::Object(patch)) => merge_map(original, patch, ty).map(Value::Object),
        (Value::Null, Value::Object(patch)) => merge_map(Map::new(), patch, ty).map(Value::Object),
        _ => Err(StrategicError::NotAMap),
    }
}

type Object = Map<String, Value>;

fn merge_map(mut original: Object, mut patch: Object, ty: &Type) -> Result<Object, StrategicError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.shift_remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(&patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    ordered_lists(&mut original, &mut patch, ty)?;
    for (key, value) in patch {
        let (key, delete_list) = match key.strip_prefix(DELETE_PREFIX) {
            Some(rest) => (rest.strip_prefix('/').ok_or(StrategicError::PrimitiveList)?.to_owned(), true),
            None => (key, false),
        };
        if value.is_null() {
            original.shift_remove(&key);
            continue;
        }
        let Some(current) = original.get_mut(&key) else {
            if !delete_list {
                take_over(&mut original, key, value);
            }
            continue;
        };
        match (std::mem::take(current), value) {
            (Value::Object(old), Value::Object(new)) => {
                let (inner, _) = look_up(ty, &key)?;
                *current = Value::Object(merge_map(old, new, inner)?);
            }
            (Value::Array(old), Value::Array(new)) => {
                let (inner, rule) = look_up(ty, &key)?;
                *current = Value::Array(if rule.merge || delete_list {
                    merge_list(old, new, inner, rule.merge_key, delete_list)?
                } else {
                    new
                });
            }
            (old, _) if delete_list => *current = old,
            (_, new) => take_over(&mut original, key, new),
        }
    }
    Ok(original)
}

/// Puts a value of the patch where there was none, or something else: without nulls and directives.
fn take_over(original: &mut Object, key: String, mut value: Value) {
    drop_nulls(&mut value);
    match without_directives(value) {
        Some(value) => {
            original.insert(key, value);
        }
        None => {
            original.shift_remove(&key);
        }
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// A value without what only a patch may contain; `None` if the value itself is a directive.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => Some(Value::Object(
            map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?))).collect(),
        )),
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

/// `$retainKeys`: removes from `original` every key the list does not name.
fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), StrategicError> {
    let Some(list) = patch.shift_remove(RETAIN_KEYS) else { return Ok(()) };
    let Value::Array(list) = list else { return Err(StrategicError::RetainKeys) };
    let named = |key: &str| list.iter().any(|one| one.as_str() == Some(key));
    for (key, value) in patch.iter() {
        let directive = key.starts_with(DELETE_PREFIX) || key.starts_with(ORDER_PREFIX);
        if !value.is_null() && !directive && !named(key) {
            return Err(StrategicError::RetainKeys);
        }
    }
    original.retain(|key, _| named(key));
    Ok(())
}

/// `$setElementOrder/<list>`: merges that list and puts it into the given order.
fn ordered_lists(original: &mut Object, patch: &mut Object, ty: &Type) -> Result<(), StrategicError> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER_PREFIX)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.shift_remove(&directive) else { continue };
        let Value::Array(order) = order else { return Err(not_a_list(&order)) };
        let key = directive.split_once('/').map(|(_, key)| key).ok_or(StrategicError::SetElementOrder)?;
        let old = take_list(original.get(key))?;
        let new = take_list(patch.get(key))?;
        let (inner, rule) = look_up(ty, key)?;
        check_order(new.as_deref().unwrap_or_default(), &order, rule.merge_key)?;
        let merged = match (old.clone(), new.clone()) {
            (None, None) => continue,
            (Some(old), None) => old,
            (None, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
            (Some(old), Some(new)) if rule.merge => merge_list(old, new, inner, rule.merge_key, false)?,
            (Some(_), Some(new)) => new,
        };
        let old = old.unwrap_or_default();
        if old.is_empty() && new.as_ref().is_none_or(Vec::is_empty) {
            return Err(StrategicError::NoElements);
        }
        element_sort(&old, new.as_deref().unwrap_or_default())?;
        let server_order = match (rule.merge_key, &new) {
            (Some(merge_key), Some(new)) if rule.merge => reused_order(&old, new, merge_key),
            _ => old,
        };
        original
            .insert(key.to_owned(), Value::Array(arrange(merged, &order, &server_order, rule.merge_key)?));
        patch.shift_remove(key);
    }
    Ok(())
}

/// The order of the live list as the server sees it after merging.
///
/// The server merges in the memory of the live list: deleted items leave room at its end, and new items fill that
/// room. So an item that replaces a deleted one counts as if it had been there, behind what stayed. A container that
/// is renamed by `kubectl apply` gets its place by this rule.
fn reused_order(live: &[Value], patch: &[Value], key: &str) -> Vec<Value> {
    let directive = |item: &Value| item.get(DIRECTIVE).and_then(Value::as_str).map(str::to_owned);
    let mut memory = live.to_vec();
    let mut length = memory.len();
    for item in patch.iter().filter(|item| directive(item).as_deref() == Some("delete")) {
        while let Some(at) = memory.iter().take(length).position(|other| other.get(key) == item.get(key)) {
            let end = length.min(memory.len());
            if let Some(rest) = memory.get_mut(at..end) {
                rest.rotate_left(1);
            }
            // What was last is still in the freed place.
            if let Some(last) = length.checked_sub(2).and_then(|last| memory.get(last).cloned())
                && let Some(freed) = memory.get_mut(length - 1)
                && at + 1 < length
            {
                *freed = last;
            }
            length -= 1;
        }
    }
    if patch.iter().any(|item| directive(item).as_deref() == Some("replace")) {
        return memory;
    }
    for item in patch.iter().filter(|item| directive(item).is_none()) {
        if memory.iter().take(length).any(|other| other.get(key) == item.get(key)) {
            continue;
        }
        let Some(free) = memory.get_mut(length) else { break };
        *free = item.clone();
        length += 1;
    }
    memory
}

fn take_list(value: Option<&Value>) -> Result<Option<Vec<Value>>, StrategicError> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(not_a_list(other)),
    }
}

/// The items of the patch must appear in the order list, in the same relative order.
fn check_order(patch: &[Value], order: &[Value], merge_key: Option<&str>) -> Result<(), StrategicError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut items =
        patch.iter().filter(|item| item.get(DIRECTIVE).and_then(Value::as_str) != Some("delete")).peekable();
    let mut rest = order.iter().peekable();
    // Other directives are passed over, but only while there is order left to compare with.
    while let (Some(item), Some(other)) = (items.peek(), rest.peek()) {
        if item.get(DIRECTIVE).is_some() {
            items.next();
            continue;
        }
        if identity(item, merge_key)? == identity(other, merge_key)? {
            items.next();
        }
        rest.next();
    }
    if items.peek().is_some() {
        let print = |items: &[Value]| gotext::plain(&Value::Array(items.to_vec()));
        return Err(StrategicError::OrderMismatch { patch: print(patch), order: print(order) });
    }
    Ok(())
}

fn merge_list(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    inner: &Type,
    merge_key: Option<&str>,
    delete_list: bool,
) -> Result<Vec<Value>, StrategicError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if element_sort(&original, &patch)? == Sort::Scalar {
        if delete_list {
            original.retain(|item| !patch.contains(item));
            return Ok(original);
        }
        let mut merged: Vec<Value> = Vec::new();
        for item in original.iter().chain(&patch) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        return arrange(merged, &patch, &original, None);
    }
    let Some(key) = merge_key else {
        return Err(StrategicError::NoKeyDeclared { structure: sort_name(inner) });
    };
    let patch = list_directives(&mut original, patch, key)?;
    let server_order = original.clone();
    for item in &patch {
        let wanted = identity(item, merge_key)?;
        let slot = original.iter_mut().find(|other| other.get(key) == Some(wanted));
        match (slot, item) {
            (Some(slot), Value::Object(item)) => {
                let Value::Object(old) = std::mem::take(slot) else { continue };
                *slot = Value::Object(merge_map(old, item.clone(), inner)?);
            }
            (None, item) => original.push(item.clone()),
            _ => {}
        }
    }
    arrange(original, &patch, &server_order, merge_key)
}

/// Carries out `$patch` items and returns the others. `$patch: replace` leaves only what the patch has.
fn list_directives(
    original: &mut Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<Vec<Value>, StrategicError> {
    let mut plain = Vec::new();
    let mut replace = false;
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let wanted = identity(&item, Some(key))?.clone();
                if let Some(at) = original.iter().position(|other| !other.is_object()) {
                    let found = original.get(at).map_or("", gotext::type_name);
                    return Err(StrategicError::WrongType { expected: "map[string]interface {}", found });
                }
                original.retain(|other| other.get(key) != Some(&wanted));
            }
            Some("replace") => replace = true,
            Some("merge") => return Err(StrategicError::MergeDirective),
            _ => return Err(item.as_object().map_or(StrategicError::NotAMap, unknown_directive)),
        }
    }
    if replace {
        *original = plain;
        return Ok(Vec::new());
    }
    Ok(plain)
}

/// Orders merged items: those named in `patch_order` in that order; the others keep their order on the server and
/// stand before the first named item that the server has after them.
fn arrange(
    merged: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    merge_key: Option<&str>,
) -> Result<Vec<Value>, StrategicError> {
    let position = |list: &[Value], item: &Value| -> Option<usize> {
        let wanted = identity(item, merge_key).ok()?;
        list.iter().position(|other| identity(other, merge_key).ok() == Some(wanted))
    };
    if merge_key.is_some() {
        merged.iter().try_for_each(|item| identity(item, merge_key).map(|_| ()))?;
    }
    let (mut named, mut others): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| position(patch_order, item).is_some());
    named.sort_by_key(|item| position(patch_order, item).unwrap_or(usize::MAX));
    others.sort_by_key(|item| position(server_order, item).unwrap_or(usize::MAX));
    let mut out = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    let mut named = named.into_iter().peekable();
    while let (Some(other), Some(next)) = (others.peek(), named.peek()) {
        let before = match (position(server_order, other), position(server_order, next)) {
            (Some(other), Some(next)) => other < next,
            _ => false,
        };
        out.extend(if before { others.next() } else { named.next() });
    }
    out.extend(named);
    out.extend(others);
    Ok(out)
}

/// What tells an item from the others: its merge key, or itself.
fn identity<'a>(item: &'a Value, merge_key: Option<&str>) -> Result<&'a Value, StrategicError> {
    let Some(key) = merge_key else { return Ok(item) };
    let Value::Object(map) = item else {
        return Err(StrategicError::WrongType {
            expected: "map[string]interface {}",
            found: gotext::type_name(item),
        });
    };
    map.get(key).ok_or_else(|| StrategicError::NoMergeKey { item: gotext::plain(item), key: key.to_owned() })
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sort {
    Scalar,
    Map,
}

fn element_sort(original: &[Value], patch: &[Value]) -> Result<Sort, StrategicError> {
    let mut items = original.iter().chain(patch);
    let Some(first) = items.next() else { return Ok(Sort::Scalar) };
    if first.is_array() {
        return Err(StrategicError::ListOfLists);
    }
    let kind = gotext::type_name(first);
    if items.any(|item| gotext::type_name(item) != kind) {
        let lists = Value::Array(vec![Value::from(original.to_vec()), Value::from(patch.to_vec())]);
        return Err(StrategicError::MixedList { lists: gotext::plain(&lists) });
    }
    Ok(if first.is_object() { Sort::Map } else { Sort::Scalar })
}

/// The type below `key` and how the patch treats it. For a list it is the type of the items.
fn look_up<'a>(ty: &'a Type, key: &str) -> Result<(&'a Type, Patch), StrategicError> {
    match ty {
        Type::Struct(structure) => {
            let definition = structure.definition();
            if let Some(field) = definition.fields.get(key) {
                return Ok((
                    field.ty.items().filter(|_| matches!(field.ty, Type::List(_))).unwrap_or(&field.ty),
                    field.patch,
                ));
            }
            definition.others.as_ref().map(|other| (other, Patch::default())).ok_or_else(|| {
                StrategicError::UnknownField { structure: definition.name.to_owned(), field: key.to_owned() }
            })
        }
        Type::Untyped | Type::Opaque => Ok((&Type::Untyped, Patch::default())),
        _ => Err(StrategicError::NotAStruct { found: sort_name(ty) }),
    }
}

fn sort_name(ty: &Type) -> &'static str {
    match ty {
        Type::Scalar(_) => "string",
        Type::Untyped | Type::Opaque => "interface",
        Type::List(_) => "slice",
        Type::Map(_) => "map",
        Type::Struct(_) => "struct",
    }
}

fn not_a_list(value: &Value) -> StrategicError {
    StrategicError::WrongType { expected: "[]interface {}", found: gotext::type_name(value) }
}

fn unknown_directive(map: &Object) -> StrategicError {
    StrategicError::UnknownDirective {
        directive: map.get(DIRECTIVE).map(gotext::plain).unwrap_or_default(),
        map: gotext::plain(&Value::Object(map.clone())),
    }
}
