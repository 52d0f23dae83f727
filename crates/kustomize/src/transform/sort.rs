//! The order of the result.

use std::collections::HashMap;

use podsmith_engine::{FIRST_KINDS, LAST_KINDS};

use crate::kustomization::LegacyOrder;
use crate::resources::{Gvk, ResourceMap};

/// Negative for kinds that come first, positive for those that come last.
pub(crate) fn legacy_rank(kind: &str) -> i32 {
    let place =
        |list: &[&str]| list.iter().position(|found| *found == kind).and_then(|i| i32::try_from(i).ok());
    if let Some(index) = place(&FIRST_KINDS) {
        return index - 22;
    }
    place(&LAST_KINDS).map_or(0, |index| index + 1)
}

/// Sorts by kind in a fixed or given order, then by type, namespace and name.
pub(crate) fn sort_legacy(resources: &mut ResourceMap, order: Option<&LegacyOrder>) {
    let own = order.map(ranks);
    let rank = |kind: &str| match &own {
        Some(ranks) => ranks.get(kind).copied().unwrap_or(0),
        None => legacy_rank(kind),
    };
    resources.all_mut().sort_by_cached_key(|resource| {
        let gvk = resource.gvk();
        let or = |text: &str, none: &'static str| {
            if text.is_empty() { none.to_owned() } else { text.to_owned() }
        };
        let Gvk { group, version, kind } = &gvk;
        (
            rank(kind),
            // Core namespaces come before namespaces of other groups, whose spelling would sort first.
            kind == "Namespace" && !group.is_empty(),
            format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K")),
            format!("{}|{}", or(&resource.namespace(), "~X"), or(&resource.name(), "~N")),
        )
    });
}

fn ranks(order: &LegacyOrder) -> HashMap<String, i32> {
    let count = i32::try_from(order.first.len()).unwrap_or(i32::MAX);
    let mut ranks = HashMap::new();
    for (kind, index) in order.first.iter().zip(0..) {
        ranks.insert(kind.clone(), index - count);
    }
    for (kind, index) in order.last.iter().zip(1..) {
        ranks.insert(kind.clone(), index);
    }
    ranks
}
