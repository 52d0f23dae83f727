//! Merging an applied configuration into the live value.

use std::collections::{BTreeMap, BTreeSet};

use podsmith_object::{Map, Value};

use super::path::PathElement;
use super::shape::{Shape, as_list, as_map, item_element};
use crate::types::{ListRelation, Type};

/// Merges `config` over `live`: it wins at the leaves, maps merge by key, lists by element. `None` stands for absent,
/// on both sides and in the result.
pub(super) fn merge(ty: &Type, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let shape = match config {
        None => Shape::of(ty, live),
        Some(_) => Shape::of(ty, config),
    };
    let leaf = || config.or(live).cloned();
    match shape {
        Shape::Scalar(_) => leaf(),
        Shape::Map { ty, atomic } => {
            let (left, right) = (as_map(live), as_map(config));
            let empty = left.is_none_or(Map::is_empty) && right.is_none_or(Map::is_empty);
            if atomic || empty { leaf() } else { merge_maps(ty, left, right) }
        }
        Shape::List { items, relation } => {
            let (left, right) = (as_list(live), as_list(config));
            let empty = left.is_none_or(Vec::is_empty) && right.is_none_or(Vec::is_empty);
            if empty || *relation == ListRelation::Atomic {
                return leaf();
            }
            let none = Vec::new();
            merge_lists(items, relation, left.unwrap_or(&none), right.unwrap_or(&none))
        }
    }
}

fn merge_maps(
    ty: &Type,
    live: Option<&Map<String, Value>>,
    config: Option<&Map<String, Value>>,
) -> Option<Value> {
    let mut out = Map::new();
    let live_keys = live.into_iter().flat_map(Map::keys);
    let new_keys =
        config.into_iter().flat_map(Map::keys).filter(|key| live.is_none_or(|live| !live.contains_key(*key)));
    for key in live_keys.chain(new_keys) {
        let (left, right) = (live.and_then(|map| map.get(key)), config.and_then(|map| map.get(key)));
        let inner = ty.child(key).unwrap_or(&Type::Untyped);
        if let Some(value) = merge(inner, left, right) {
            out.insert(key.clone(), value);
        }
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// Walks both orders. Items only the live list has keep their place relative to shared items; shared items follow
/// the order of the configuration; items only the configuration has stand where it has them.
fn merge_lists(items: &Type, relation: &ListRelation, live: &[Value], config: &[Value]) -> Option<Value> {
    let index = |list: &[Value]| -> Vec<(PathElement, usize)> {
        let steps = list.iter().enumerate();
        steps.filter_map(|(at, item)| Some((item_element(items, relation, item).ok()?, at))).collect()
    };
    let (left, right) = (index(live), index(config));
    // A live item that occurs more than once is not merged with the configuration's: which one would be meant?
    let mut left_items: BTreeMap<&PathElement, Option<&Value>> = BTreeMap::new();
    for (element, at) in &left {
        left_items.entry(element).and_modify(|item| *item = None).or_insert_with(|| live.get(*at));
    }
    let right_items: BTreeMap<&PathElement, &Value> =
        right.iter().filter_map(|(element, at)| Some((element, config.get(*at)?))).collect();
    let mut shared =
        right.iter().map(|(element, _)| element).filter(|element| left_items.contains_key(element));
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&PathElement> = BTreeSet::new();
    let mut out = Vec::new();
    let both = |element: &PathElement| {
        let old = left_items.get(element).map(|item| item.unwrap_or(&Value::Null));
        merge(items, old, right_items.get(element).copied())
    };
    let (mut l, mut r) = (0, 0);
    while l < left.len() || r < right.len() {
        if let (Some((mine, _)), Some((theirs, _))) = (left.get(l), right.get(r)) {
            if mine == theirs {
                done.insert(theirs);
                out.extend(both(mine));
                (l, r) = (l + 1, r + 1);
                next_shared = shared.next();
                continue;
            }
            if right_items.contains_key(mine) && next_shared.is_some_and(|next| next != mine) {
                l += 1;
                continue;
            }
        }
        if let Some((mine, at)) = left.get(l) {
            if !right_items.contains_key(mine) {
                out.extend(merge(items, live.get(*at), None));
                l += 1;
                continue;
            }
            if done.contains(mine) {
                l += 1;
            }
        }
        if let Some((theirs, _)) = right.get(r) {
            done.insert(theirs);
            out.extend(both(theirs));
            r += 1;
            if next_shared == Some(theirs) {
                next_shared = shared.next();
            }
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}
