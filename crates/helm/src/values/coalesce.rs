//! The values of a chart and all its subcharts: what the user gives over what the charts provide.

use podsmith_gotemplate::{Map, Value};

use super::tables::{Nulls, Warnings, deep_copy, join, merge_tables};
use crate::dependencies::Node;
use crate::error::HelmError;

/// The key that every subchart shares with its parent.
const GLOBAL: &str = "global";

/// Lays `values` over the defaults of a chart and its subcharts. `values` itself is not changed.
pub(crate) fn coalesce(
    node: &Node,
    values: &Map,
    nulls: Nulls,
    warnings: &mut Warnings,
) -> Result<Map, HelmError> {
    let values = deep_copy(values);
    coalesce_into(node, &values, "", nulls, warnings)?;
    Ok(values)
}

fn coalesce_into(
    node: &Node,
    values: &Map,
    prefix: &str,
    nulls: Nulls,
    warnings: &mut Warnings,
) -> Result<(), HelmError> {
    let inner = join(prefix, &node.metadata.name);
    coalesce_chart(node, values, &inner, nulls, warnings);
    for child in &node.subcharts {
        let name = child.metadata.name.as_str();
        let table = match values.get(name) {
            None => {
                let table = Map::new();
                values.insert(name, table.clone());
                table
            }
            Some(Value::Map(table)) => table,
            Some(other) => {
                return Err(HelmError::SubchartValues {
                    path: join(&inner, name),
                    found: other.type_name().to_owned(),
                });
            }
        };
        coalesce_globals(&table, values, &inner, warnings);
        coalesce_into(child, &table, &inner, nulls, warnings)?;
    }
    Ok(())
}

/// Lays the chart's own defaults under `values`.
fn coalesce_chart(node: &Node, values: &Map, prefix: &str, nulls: Nulls, warnings: &mut Warnings) {
    for (key, default) in node.values.entries() {
        match values.get(&key) {
            None => values.insert(key, default.deep_copy()),
            Some(Value::Nil) if nulls == Nulls::Delete => values.remove(&key),
            Some(Value::Map(table)) => match default.deep_copy() {
                Value::Map(default) => {
                    // Nulls for a subchart must still be there when that chart's own defaults come.
                    let is_subchart =
                        node.subcharts.iter().any(|child| child.metadata.name.as_str() == key.as_ref());
                    let nulls = if is_subchart { Nulls::Keep } else { nulls };
                    merge_tables(&table, &default, &join(prefix, &key), nulls, warnings);
                }
                Value::Nil => {}
                _ => warnings.push(format!(
                    "{} is a table here, the chart's own value for it is not and is ignored",
                    join(prefix, &key)
                )),
            },
            Some(_) => {}
        }
    }
}

/// Hands the globals of a chart down to a subchart: the parent wins.
fn coalesce_globals(child: &Map, parent: &Map, prefix: &str, warnings: &mut Warnings) {
    let table_or_new = |values: &Map| match values.get(GLOBAL) {
        None => Some(Map::new()),
        Some(Value::Map(table)) => Some(table),
        Some(_) => None,
    };
    let (Some(child_globals), Some(parent_globals)) = (table_or_new(child), table_or_new(parent)) else {
        warnings.push(format!("{} is not a table and is not handed down", join(prefix, GLOBAL)));
        return;
    };
    for (key, value) in parent_globals.entries() {
        match (value, child_globals.get(&key)) {
            (Value::Map(table), found) => {
                // A copy of this level only: the tables below stay shared between parent and child.
                let copy: Map = table.entries().into_iter().collect();
                match found {
                    None => child_globals.insert(key, copy),
                    Some(Value::Map(found)) => {
                        merge_tables(&copy, &found, &join(prefix, &key), Nulls::Keep, warnings);
                        child_globals.insert(key, copy);
                    }
                    Some(_) => warnings.push(format!(
                        "{} is a table in one chart and none in another, and is not handed down",
                        join(prefix, &key)
                    )),
                }
            }
            (_, Some(Value::Map(_))) => {
                warnings.push(format!("{} is a table in a subchart and stays one", join(prefix, &key)));
            }
            (value, _) => child_globals.insert(key, value),
        }
    }
    child.insert(GLOBAL, child_globals);
}
