//! `merge` and `mergeOverwrite`: maps flow into maps, in place.

use crate::sprig::defaults::is_empty;
use crate::value::{Map, Value, with_stack};

/// What happens to a key that both maps have.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Conflict {
    /// The target's value stays, unless it is empty (`0`, `false`, `""`, an empty map or list).
    KeepOld,
    /// The source's value wins, even if it is empty.
    TakeNew,
}

/// Merges `source` into `target`. Values that are new to the target are shared with the source, not copied.
pub(super) fn merge(target: &Map, source: &Map, conflict: Conflict) {
    let takes_new = conflict == Conflict::TakeNew;
    if target.is_same(source) {
        return;
    }
    for (key, new) in source.entries() {
        let old = target.get(&key);
        if new.is_nil() {
            if takes_new {
                target.insert(key, Value::Nil);
            }
            continue;
        }
        if let (Some(Value::Map(old)), Value::Map(new)) = (&old, &new)
            && let (Some(_target), Some(_source)) = (old.enter(), new.enter())
        {
            with_stack(|| merge(old, new, conflict));
        }
        let old_counts = old.as_ref().is_some_and(|old| !is_empty(old));
        let keeps = match &new {
            Value::Map(_) if old_counts && matches!(old, Some(Value::Map(_))) => true,
            _ => !takes_new && old_counts,
        };
        if !keeps {
            target.link(key, new);
        }
    }
}
