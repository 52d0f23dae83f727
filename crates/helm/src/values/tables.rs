//! Merging one table of values into another, and looking into tables by path.
//!
//! Tables are shared maps, exactly as in Helm: a table that is reachable from two charts (`global.a.b`) is one table,
//! and what one chart's defaults add to it, the other chart sees.

use std::sync::Arc;

use podsmith_gotemplate::{Map, Value};

/// Whether an explicit null deletes a key or stays to delete it later.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Nulls {
    /// Null in the upper table removes the lower table's key.
    Delete,
    /// Null stays.
    Keep,
}

/// Things that are odd but not wrong, for the user.
pub(crate) type Warnings = Vec<String>;

/// Lays `lower` under `upper`: keys of `upper` win, tables merge. Both may change.
pub(crate) fn merge_tables(upper: &Map, lower: &Map, prefix: &str, nulls: Nulls, warnings: &mut Warnings) {
    // Which keys the lower table really had: a null in the upper table deletes a default, but stays when there is
    // nothing to delete.
    let lower_entries = lower.entries();
    for (key, value) in upper.entries() {
        if value.is_nil() {
            lower.insert(key, Value::Nil);
        }
    }
    let had = |key: &Arc<str>| {
        lower_entries
            .binary_search_by(|(found, _)| found.cmp(key))
            .ok()
            .and_then(|index| lower_entries.get(index))
            .is_some_and(|(_, value)| !value.is_nil())
    };
    for (key, value) in lower.entries() {
        match upper.get(&key) {
            None => upper.insert(key, value),
            Some(found) if found.is_nil() && nulls == Nulls::Delete && had(&key) => upper.remove(&key),
            Some(Value::Map(inner)) => match value {
                Value::Map(value) => merge_tables(&inner, &value, &join(prefix, &key), nulls, warnings),
                Value::Nil => {}
                _ => warnings.push(format!(
                    "{} is a table here, the chart's own value for it is not and is ignored",
                    join(prefix, &key)
                )),
            },
            Some(_) => {
                if matches!(value, Value::Map(_)) {
                    warnings.push(format!(
                        "{} is a table in the chart and is replaced by a value that is none",
                        join(prefix, &key)
                    ));
                }
            }
        }
    }
}

/// `a.b`
pub(crate) fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

/// The table at a dotted path.
pub(crate) fn table_at(values: &Map, path: &str) -> Option<Map> {
    path.split('.').try_fold(values.clone(), |table, key| match table.get(key) {
        Some(Value::Map(inner)) => Some(inner),
        _ => None,
    })
}

/// The value at a dotted path, if it is there and is no table.
pub(crate) fn value_at(values: &Map, path: &str) -> Option<Value> {
    let (table, key) = match path.rsplit_once('.') {
        Some((table, key)) => (table_at(values, table)?, key),
        None => (values.clone(), path),
    };
    table.get(key).filter(|value| !matches!(value, Value::Map(_)))
}

/// `data` inside tables named by a dotted path; `.` is no table at all.
pub(crate) fn nest(path: &str, data: Map) -> Map {
    if path == "." {
        return data;
    }
    path.split('.').rev().fold(data, |inner, key| {
        let outer = Map::new();
        outer.insert(key, inner);
        outer
    })
}

/// A map with copies of everything inside.
pub(crate) fn deep_copy(map: &Map) -> Map {
    match Value::Map(map.clone()).deep_copy() {
        Value::Map(copy) => copy,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::{Value as Json, json};

    fn map(value: Json) -> Map {
        match Value::from_json(&value) {
            Value::Map(map) => map,
            _ => Map::new(),
        }
    }

    fn merged(upper: Json, lower: Json, nulls: Nulls) -> Json {
        let upper = map(upper);
        merge_tables(&upper, &map(lower), "", nulls, &mut Vec::new());
        Value::Map(upper).to_json()
    }

    #[test]
    fn the_upper_table_wins_and_tables_merge() {
        assert_eq!(
            merged(
                json!({"a": 1, "t": {"x": 1}}),
                json!({"a": 2, "b": 3, "t": {"x": 2, "y": 3}}),
                Nulls::Delete
            ),
            json!({"a": 1, "b": 3, "t": {"x": 1, "y": 3}})
        );
    }

    #[test]
    fn null_deletes_a_default_and_stays_where_there_is_none() {
        let upper = json!({"a": null, "b": null, "t": {"x": null, "z": null}});
        let lower = json!({"a": 1, "t": {"x": 1, "y": 2}});
        assert_eq!(
            merged(upper.clone(), lower.clone(), Nulls::Delete),
            json!({"b": null, "t": {"y": 2, "z": null}})
        );
        assert_eq!(
            merged(upper, lower, Nulls::Keep),
            json!({"a": null, "b": null, "t": {"x": null, "y": 2, "z": null}})
        );
    }

    #[test]
    fn tables_and_other_values_do_not_mix() {
        let mut warnings = Vec::new();
        let upper = map(json!({"a": 1, "b": {"x": 1}}));
        merge_tables(&upper, &map(json!({"a": {"y": 1}, "b": 2})), "c", Nulls::Delete, &mut warnings);
        assert_eq!(Value::Map(upper).to_json(), json!({"a": 1, "b": {"x": 1}}));
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("c.a "));
    }

    #[test]
    fn paths_look_into_tables() {
        let values = map(json!({"a": {"b": {"c": true}, "n": null}}));
        assert!(table_at(&values, "a.b").is_some());
        assert!(table_at(&values, "a.b.c").is_none());
        assert!(matches!(value_at(&values, "a.b.c"), Some(Value::Bool(true))));
        assert!(matches!(value_at(&values, "a.n"), Some(Value::Nil)));
        assert!(value_at(&values, "a.b").is_none());
        assert_eq!(Value::Map(nest("x.y", map(json!({"z": 1})))).to_json(), json!({"x": {"y": {"z": 1}}}));
    }
}
