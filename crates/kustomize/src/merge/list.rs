//! Lists that merge by key.
//!
//! Elements of the patch come first, in its order; a list with several keys keeps the order of the object for the
//! elements both have. What happens to elements without a key, or with one of two keys, is an accident of the original
//! tool, and part of its result: the steps here are its steps. Elements live in one place and lists hold their
//! numbers, because an element may stand in several lists while it is being changed.

use std::sync::Arc;

use podsmith_object::{Map, Value};

use super::types::{MergeTypes, TypeId};
use super::walk::{
    DIRECTIVE, Directive, MergeError, Patch, directive, merge_mappings, settle_mapping, untouched_mapping,
};
use crate::resources::{resolve, text_of};

/// Merges a list; `None` means that the patch deletes it.
pub(super) fn merge_list(
    types: &MergeTypes,
    dest: Vec<Value>,
    patch: Patch<'_>,
    keys: &Arc<[String]>,
    element: Option<TypeId>,
) -> Result<Option<Vec<Value>>, MergeError> {
    let (mut own, mut change) = match patch {
        Patch::With(Value::Array(items)) => (dest, Some(items.clone())),
        Patch::Nothing => (dest, Some(Vec::new())),
        _ => (dest, None),
    };
    // A list that only the patch has is taken as it is, a directive in it is not looked at.
    if !matches!(patch, Patch::New) {
        let patched = change.as_mut().unwrap_or(&mut own);
        match take_directive(patched)? {
            Some(Directive::Delete) => return Ok(None),
            Some(Directive::Replace) => {
                if let Some(change) = change.take() {
                    own = change;
                }
            }
            Some(Directive::Merge) | None => {}
        }
    }
    if keys.is_empty() {
        return Ok(Some(scalars(own, change.unwrap_or_default())));
    }
    let mut merge = ListMerge { types, keys, element, elements: Vec::new() };
    let own = merge.take_in(own);
    let change = change.map(|change| merge.take_in(change));
    merge.run(own, change).map(Some)
}

/// A directive for the whole list is an element that holds nothing else; it is removed.
fn take_directive(items: &mut Vec<Value>) -> Result<Option<Directive>, MergeError> {
    let Some(Value::Object(first)) = items.iter().find(|item| item.get(DIRECTIVE).is_some()) else {
        return Ok(None);
    };
    let Some(found) = first.get(DIRECTIVE).filter(|_| first.len() == 1).cloned() else { return Ok(None) };
    let wanted = directive(&found)?;
    items.retain(|item| !is_empty(item) && item.get(DIRECTIVE) != Some(&found));
    Ok(Some(wanted))
}

fn scalars(own: Vec<Value>, change: Vec<Value>) -> Vec<Value> {
    let mut result: Vec<Value> = Vec::new();
    for item in change.into_iter().chain(own) {
        if !result.iter().any(|found| text_of(found) == text_of(&item)) {
            result.push(item);
        }
    }
    result
}

/// The number of an element.
type Number = usize;

struct ListMerge<'t> {
    types: &'t MergeTypes,
    keys: &'t [String],
    element: Option<TypeId>,
    elements: Vec<Value>,
}

/// Keys with the values that an element must have under them.
type Wanted<'k> = Vec<(&'k str, String)>;

impl<'t> ListMerge<'t> {
    fn take_in(&mut self, items: Vec<Value>) -> Vec<Number> {
        let first = self.elements.len();
        self.elements.extend(items);
        (first..self.elements.len()).collect()
    }

    fn get(&self, number: Number) -> &Value {
        self.elements.get(number).unwrap_or(&Value::Null)
    }

    /// `change` is `None` when the list is its own patch.
    fn run(mut self, mut own: Vec<Number>, change: Option<Vec<Number>>) -> Result<Vec<Value>, MergeError> {
        let mut identities: Vec<Vec<String>> = Vec::new();
        for number in change.iter().flatten().chain(&own) {
            let identity = self.identity(*number);
            if !identities.contains(&identity) {
                identities.push(identity);
            }
        }
        if identities.is_empty() {
            return Ok(self.take_out(&own));
        }
        if self.keys.len() > 1 {
            complete(&mut identities);
        }
        let used = used_keys(&identities, self.keys.len());
        let mut items: Vec<Number> = Vec::new();
        for identity in &identities {
            let wanted: Wanted<'t> = used
                .iter()
                .filter_map(|index| Some((self.keys.get(*index)?.as_str(), identity.get(*index)?.clone())))
                .collect();
            match self.merge_one(&own, change.as_deref(), &wanted)? {
                Some(number) => self.set(&mut items, Some(number), &wanted, wanted.len()),
                None => self.set(&mut own, None, &wanted, wanted.len()),
            }
        }
        for number in own {
            self.append(&mut items, number, &used);
        }
        Ok(self.take_out(&items))
    }

    fn identity(&self, number: Number) -> Vec<String> {
        let element = self.get(number);
        self.keys.iter().map(|key| element.get(key).map(text_of).unwrap_or_default().into_owned()).collect()
    }

    /// Merges the first elements with these values and names the result.
    fn merge_one(
        &mut self,
        own: &[Number],
        change: Option<&[Number]>,
        wanted: &Wanted<'t>,
    ) -> Result<Option<Number>, MergeError> {
        let said: Wanted<'t> = wanted.iter().filter(|(_, value)| !value.is_empty()).cloned().collect();
        let said = if said.is_empty() { wanted.clone() } else { said };
        let find = |list: &[Number]| {
            list.iter().copied().find(|number| {
                let element = self.get(*number);
                said.iter().all(|(key, value)| element.get(key).is_some_and(|found| text_of(found) == *value))
            })
        };
        let (first, second) = (find(own), change.map_or_else(|| find(own), find));
        let step = wanted.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/");
        let merged = self.merge_pair(first, second).map_err(|error| error.under(&step))?;
        let Some(number) = merged.filter(|number| !is_empty(self.get(*number))) else { return Ok(None) };
        if let Some(Value::Object(map)) = self.elements.get_mut(number) {
            for (key, value) in wanted {
                if !value.is_empty() && !map.contains_key(*key) {
                    map.insert((*key).to_owned(), resolve(value).unwrap_or_else(|| value.as_str().into()));
                }
            }
        }
        Ok(Some(number))
    }

    /// Merges two elements in place: into the object's own one, unless the patch replaces it.
    fn merge_pair(
        &mut self,
        own: Option<Number>,
        change: Option<Number>,
    ) -> Result<Option<Number>, MergeError> {
        match (own, change) {
            (None, None) => Ok(None),
            (Some(own), None) => {
                if let Some(Value::Object(map)) = self.elements.get_mut(own) {
                    let map = std::mem::take(map);
                    let map = untouched_mapping(self.types, map, self.element)?;
                    self.put(own, map);
                }
                Ok(Some(own))
            }
            (own, Some(change)) if own.is_none_or(|own| own == change) => {
                if self.take_element_directive(change, own.is_none())? == Directive::Delete {
                    return Ok(None);
                }
                if let Some(Value::Object(map)) = self.elements.get_mut(change).map(Value::take)
                    && let Some(map) = settle_mapping(self.types, map, self.element)?
                {
                    self.put(change, map);
                }
                Ok(Some(change))
            }
            (Some(own), Some(change)) => self.merge_into(own, change),
            (None, Some(change)) => Ok(Some(change)),
        }
    }

    fn merge_into(&mut self, own: Number, change: Number) -> Result<Option<Number>, MergeError> {
        let wanted = self.take_element_directive(change, false)?;
        let Some(Value::Object(patch)) = self.elements.get_mut(change) else { return Ok(Some(own)) };
        match wanted {
            Directive::Delete => Ok(None),
            Directive::Replace => {
                let patch = std::mem::take(patch);
                if let Some(map) = settle_mapping(self.types, patch, self.element)? {
                    self.put(change, map);
                }
                Ok(Some(change))
            }
            Directive::Merge => {
                let patch = patch.clone();
                let Some(Value::Object(body)) = self.elements.get_mut(own).map(Value::take) else {
                    return Ok(Some(own));
                };
                if let Some(map) = merge_mappings(self.types, body, &patch, self.element)? {
                    self.put(own, map);
                }
                Ok(Some(own))
            }
        }
    }

    /// Reads the directive of an element. Once read it is gone, though the element may be met again. In an element that
    /// is new, one that is not known is no directive.
    fn take_element_directive(&mut self, number: Number, is_new: bool) -> Result<Directive, MergeError> {
        let Some(Value::Object(map)) = self.elements.get_mut(number) else { return Ok(Directive::Merge) };
        let wanted = match map.get(DIRECTIVE).map(directive) {
            None => return Ok(Directive::Merge),
            Some(Err(_)) if is_new => return Ok(Directive::Merge),
            Some(found) => found?,
        };
        map.shift_remove(DIRECTIVE);
        Ok(wanted)
    }

    fn put(&mut self, number: Number, map: Map<String, Value>) {
        if let Some(slot) = self.elements.get_mut(number) {
            *slot = Value::Object(map);
        }
    }

    /// Replaces every element that has the first `count` values, or adds the new one at the end. Without a new one the
    /// found ones are removed. With no values at all nothing is found, and nothing is kept.
    fn set(&self, list: &mut Vec<Number>, new: Option<Number>, wanted: &Wanted<'t>, count: usize) {
        let mapping_setter = wanted.first().is_some_and(|(_, value)| count > 0 && !value.is_empty());
        let mut kept = Vec::with_capacity(list.len() + 1);
        let mut found_any = false;
        for number in list.drain(..) {
            let element = self.get(number);
            if is_empty(element) {
                continue;
            }
            if !element.is_object() && mapping_setter {
                kept.push(number);
                continue;
            }
            let found = count > 0
                && wanted.iter().take(count).all(|(key, value)| {
                    element.get(key).is_some_and(|found| value.is_empty() || text_of(found) == *value)
                });
            match (found, new) {
                (false, _) if count > 0 => kept.push(number),
                (false, _) => {}
                (true, Some(new)) => {
                    found_any = true;
                    kept.push(new);
                }
                (true, None) => found_any = true,
            }
        }
        if !found_any {
            kept.extend(new);
        }
        *list = kept;
    }

    /// Adds an element of the object to the result.
    fn append(&self, items: &mut Vec<Number>, number: Number, used: &[usize]) {
        let element = self.get(number);
        // Values are matched to keys by their place, so one that is missing shifts those after it.
        let keys: Vec<&str> =
            used.iter().filter_map(|index| self.keys.get(*index)).map(String::as_str).collect();
        let mut values = Vec::with_capacity(keys.len());
        for key in &keys {
            match element.get(key) {
                Some(found) => values.push(text_of(found).into_owned()),
                None => items.push(number),
            }
        }
        let count = values.len();
        let wanted: Wanted<'_> = keys.into_iter().zip(values).collect();
        if used.len() > 1 {
            self.set(items, None, &wanted, count);
        }
        self.set(items, Some(number), &wanted, count);
    }

    /// The values of a list; an element that stands in it twice is copied.
    fn take_out(&self, list: &[Number]) -> Vec<Value> {
        list.iter().map(|number| self.get(*number).clone()).collect()
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

/// Fills gaps: two identities that agree where both say something become one.
fn complete(identities: &mut [Vec<String>]) {
    for first in 0..identities.len() {
        // What the first said at the start counts for the whole round.
        let Some(a) = identities.get(first).cloned() else { continue };
        for second in 0..identities.len() {
            let Some(b) = identities.get(second) else { continue };
            let agree = a.iter().zip(b).any(|(x, y)| x == y)
                && a.iter().zip(b).all(|(x, y)| x == y || x.is_empty() || y.is_empty());
            if !agree {
                continue;
            }
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

/// The keys that occur at all; all of them if none does.
fn used_keys(identities: &[Vec<String>], count: usize) -> Vec<usize> {
    let used: Vec<usize> = (0..count)
        .filter(|index| identities.iter().any(|identity| identity.get(*index).is_some_and(|v| !v.is_empty())))
        .collect();
    if used.is_empty() { (0..count).collect() } else { used }
}
