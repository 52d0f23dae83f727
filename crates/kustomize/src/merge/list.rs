//! Lists that merge by key.
//!
//! Elements of the patch come first, in its order; a list with several keys keeps the order of the object for the
//! elements both have. The steps below follow the original tool closely because its order is part of its result.

use std::sync::Arc;

use podsmith_object::{Map, Value};

use super::types::{MergeTypes, Rule, TypeId};
use super::walk::{DIRECTIVE, Directive, MergeError, Patch, directive, value};
use crate::resources::text_of;

/// Merges a list; `None` means that the patch deletes it.
pub(super) fn merge_list(
    types: &MergeTypes,
    mut dest: Vec<Value>,
    patch: Patch<'_>,
    keys: &Arc<[String]>,
    element: Option<TypeId>,
) -> Result<Option<Vec<Value>>, MergeError> {
    let elided;
    let patch = match patch {
        Patch::With(Value::Array(items)) => match list_directive(items)? {
            Some((Directive::Delete, _)) => return Ok(None),
            Some((Directive::Replace, rest)) => {
                dest = rest;
                Patch::Itself
            }
            Some((Directive::Merge, rest)) => {
                elided = Value::Array(rest);
                Patch::With(&elided)
            }
            None => patch,
        },
        Patch::Itself => match list_directive(&dest)? {
            Some((Directive::Delete, _)) => return Ok(None),
            Some((_, rest)) => {
                dest = rest;
                Patch::Itself
            }
            None => Patch::Itself,
        },
        other => other,
    };
    let merge = ListMerge { types, keys, element };
    if keys.is_empty() { Ok(Some(merge.scalars(dest, patch))) } else { merge.elements(dest, patch).map(Some) }
}

/// A directive for the whole list is an element that holds nothing else.
fn list_directive(items: &[Value]) -> Result<Option<(Directive, Vec<Value>)>, MergeError> {
    let Some(Value::Object(first)) = items.iter().find(|item| item.get(DIRECTIVE).is_some()) else {
        return Ok(None);
    };
    let Some(found) = first.get(DIRECTIVE).filter(|_| first.len() == 1) else { return Ok(None) };
    let wanted = directive(found)?;
    let rest = items.iter().filter(|item| item.get(DIRECTIVE) != Some(found)).cloned().collect();
    Ok(Some((wanted, rest)))
}

struct ListMerge<'t> {
    types: &'t MergeTypes,
    keys: &'t [String],
    element: Option<TypeId>,
}

/// An element of the result: one of the object's own, by position, or a new one.
enum Item {
    Own(usize),
    New(Value),
}

impl Item {
    fn value<'v>(&'v self, dest: &'v [Value]) -> &'v Value {
        match self {
            Self::Own(index) => dest.get(*index).unwrap_or(&Value::Null),
            Self::New(value) => value,
        }
    }
}

impl ListMerge<'_> {
    fn scalars(&self, dest: Vec<Value>, patch: Patch<'_>) -> Vec<Value> {
        let mut result: Vec<Value> = Vec::new();
        let first: &[Value] = match patch {
            Patch::With(Value::Array(items)) => items,
            _ => &[],
        };
        for item in first.iter().cloned().chain(dest) {
            if !result.iter().any(|found| text_of(found) == text_of(&item)) {
                result.push(item);
            }
        }
        result
    }

    fn elements(&self, mut dest: Vec<Value>, patch: Patch<'_>) -> Result<Vec<Value>, MergeError> {
        let patched: &[Value] = match patch {
            Patch::With(Value::Array(items)) => items,
            _ => &[],
        };
        let mut identities: Vec<Vec<String>> = Vec::new();
        for item in patched.iter().chain(&dest) {
            let identity: Vec<String> = self
                .keys
                .iter()
                .map(|key| item.get(key).map(text_of).unwrap_or_default().into_owned())
                .collect();
            if !identities.contains(&identity) {
                identities.push(identity);
            }
        }
        if self.keys.len() > 1 {
            complete(&mut identities);
        }
        let used = used_keys(self.keys, &identities);
        let mut removed = vec![false; dest.len()];
        let mut items: Vec<Item> = Vec::new();
        for identity in &identities {
            let values: Vec<&str> =
                used.iter().map(|index| identity.get(*index).map_or("", String::as_str)).collect();
            self.element(&mut dest, &mut removed, patched, patch, &mut items, &used, &values)?;
        }
        for index in 0..dest.len() {
            if !removed.get(index).copied().unwrap_or(false) {
                self.append_own(&mut items, &dest, index, &used);
            }
        }
        Ok(materialize(items, dest))
    }

    /// Merges the elements with one identity and adds the result.
    #[expect(clippy::too_many_arguments, reason = "the state of one merge, used in one place")]
    fn element(
        &self,
        dest: &mut [Value],
        removed: &mut [bool],
        patched: &[Value],
        patch: Patch<'_>,
        items: &mut Vec<Item>,
        used: &[usize],
        values: &[&str],
    ) -> Result<(), MergeError> {
        let mut wanted: Vec<(&str, &str)> =
            used.iter().zip(values).map(|(index, value)| (self.key(*index), *value)).collect();
        if wanted.iter().any(|(_, value)| !value.is_empty()) {
            wanted.retain(|(_, value)| !value.is_empty());
        }
        let matches = |item: &Value| {
            wanted.iter().all(|(key, value)| item.get(key).is_some_and(|found| text_of(found) == *value))
        };
        let own = (0..dest.len()).find(|index| {
            !removed.get(*index).copied().unwrap_or(true) && dest.get(*index).is_some_and(matches)
        });
        let change = patched.iter().find(|item| matches(item));
        let rule = Rule { type_id: self.element, ..Rule::default() };
        let step = values.join("/");
        let merged = match (own, change) {
            (Some(index), change) => {
                let before = dest.get_mut(index).map(Value::take);
                let kept = before.clone();
                let patch = match (change, patch) {
                    (Some(change), _) => Some(Patch::With(change)),
                    (None, Patch::Itself) => Some(Patch::Itself),
                    (None, Patch::With(_)) => None,
                };
                let replaces = change.is_some_and(|change| is_replacement(change));
                let merged = match patch {
                    Some(patch) => {
                        value(self.types, before, patch, Some(&rule)).map_err(|e| e.under(&step))?
                    }
                    None => before,
                };
                match merged {
                    // The object's own element stays behind the new one and comes back with the rest.
                    Some(new) if replaces => {
                        put_back(dest, index, kept);
                        Some(Item::New(new))
                    }
                    Some(new) if !is_empty(&new) => {
                        put_back(dest, index, Some(new));
                        Some(Item::Own(index))
                    }
                    _ => {
                        put_back(dest, index, kept);
                        None
                    }
                }
            }
            (None, Some(change)) => value(self.types, None, Patch::With(change), Some(&rule))
                .map_err(|error| error.under(&step))?
                .filter(|new| !is_empty(new))
                .map(Item::New),
            (None, None) => None,
        };
        let Some(mut merged) = merged else {
            for (index, gone) in removed.iter_mut().enumerate() {
                *gone |= dest.get(index).is_some_and(|item| is_match(item, self.keys, used, values));
            }
            return Ok(());
        };
        if let Item::New(Value::Object(new)) = &mut merged {
            name_element(new, used.iter().map(|index| self.key(*index)).zip(values.iter().copied()));
        }
        self.set(items, dest, merged, used, values);
        Ok(())
    }

    fn key(&self, index: usize) -> &str {
        self.keys.get(index).map_or("", String::as_str)
    }

    /// Replaces the element with these values, or adds it at the end.
    fn set(&self, items: &mut Vec<Item>, dest: &[Value], item: Item, used: &[usize], values: &[&str]) {
        let mut item = Some(item);
        let mut kept = Vec::with_capacity(items.len() + 1);
        for old in items.drain(..) {
            let found = old.value(dest);
            if is_empty(found) {
                continue;
            }
            if !is_match(found, self.keys, used, values) {
                kept.push(old);
            } else if let Some(new) = item.take() {
                kept.push(new);
            }
        }
        kept.extend(item);
        *items = kept;
    }

    /// Adds what is left of the object's own list.
    fn append_own(&self, items: &mut Vec<Item>, dest: &[Value], index: usize, used: &[usize]) {
        let Some(element) = dest.get(index) else { return };
        let mut values: Vec<String> = Vec::new();
        for key in used.iter().map(|index| self.key(*index)) {
            match element.get(key) {
                Some(found) => values.push(text_of(found).into_owned()),
                None => items.push(Item::Own(index)),
            }
        }
        if values.is_empty() {
            // Without any key the original forgets everything that came before this element.
            items.clear();
            items.push(Item::Own(index));
            return;
        }
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        if used.len() > 1 {
            items.retain(|item| {
                let found = item.value(dest);
                !is_empty(found) && !is_match(found, self.keys, used, &values)
            });
        }
        self.set(items, dest, Item::Own(index), used, &values);
    }
}

fn put_back(dest: &mut [Value], index: usize, value: Option<Value>) {
    if let (Some(slot), Some(value)) = (dest.get_mut(index), value) {
        *slot = value;
    }
}

fn is_replacement(change: &Value) -> bool {
    change.get(DIRECTIVE).is_some_and(|found| matches!(directive(found), Ok(Directive::Replace)))
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

/// True if the element has each value under its key. An empty value matches any; keys without a value take over the
/// answer of the one before.
fn is_match(element: &Value, keys: &[String], used: &[usize], values: &[&str]) -> bool {
    if !element.is_object() {
        return false;
    }
    used.iter().zip(values).all(|(index, value)| {
        keys.get(*index)
            .and_then(|key| element.get(key))
            .is_some_and(|found| value.is_empty() || text_of(found) == *value)
    })
}

fn name_element<'a>(element: &mut Map<String, Value>, entries: impl Iterator<Item = (&'a str, &'a str)>) {
    for (key, value) in entries {
        if !value.is_empty() && !element.contains_key(key) {
            element.insert(key.to_owned(), crate::resources::resolve(value).unwrap_or_else(|| value.into()));
        }
    }
}

/// Fills gaps: two identities that agree where both say something become one.
fn complete(identities: &mut [Vec<String>]) {
    for first in 0..identities.len() {
        for second in 0..identities.len() {
            let (Some(a), Some(b)) = (identities.get(first), identities.get(second)) else { continue };
            let agree = a.iter().zip(b).any(|(x, y)| x == y)
                && a.iter().zip(b).all(|(x, y)| x == y || x.is_empty() || y.is_empty());
            if agree {
                let joined: Vec<String> =
                    a.iter().zip(b).map(|(x, y)| if x.is_empty() { y.clone() } else { x.clone() }).collect();
                if let Some(slot) = identities.get_mut(first) {
                    slot.clone_from(&joined);
                }
                if let Some(slot) = identities.get_mut(second) {
                    *slot = joined;
                }
            }
        }
    }
}

/// The keys that occur at all; all of them if none does.
fn used_keys(keys: &[String], identities: &[Vec<String>]) -> Vec<usize> {
    let used: Vec<usize> = (0..keys.len())
        .filter(|index| identities.iter().any(|identity| identity.get(*index).is_some_and(|v| !v.is_empty())))
        .collect();
    if used.is_empty() { (0..keys.len()).collect() } else { used }
}

/// Takes each element of the object to the place of its first mention; a second mention is a copy.
fn materialize(items: Vec<Item>, mut dest: Vec<Value>) -> Vec<Value> {
    let mut last: Vec<Option<usize>> = vec![None; dest.len()];
    for (position, item) in items.iter().enumerate() {
        if let Item::Own(index) = item
            && let Some(slot) = last.get_mut(*index)
        {
            *slot = Some(position);
        }
    }
    items
        .into_iter()
        .enumerate()
        .map(|(position, item)| match item {
            Item::New(value) => value,
            Item::Own(index) => match (last.get(index), dest.get_mut(index)) {
                (Some(Some(at)), Some(slot)) if *at == position => slot.take(),
                (_, Some(slot)) => slot.clone(),
                _ => Value::Null,
            },
        })
        .collect()
}
