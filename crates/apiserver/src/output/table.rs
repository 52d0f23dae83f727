//! The Table form: what `kubectl get` prints.

use podsmith_object::{Value, json};

use crate::fields;
use crate::server::Call;

static COLUMNS: &str = include_str!("columns.txt");

/// A table of objects; `columns` tells whether the columns are described.
pub fn table(call: &Call, objects: &[Value], meta: Value, columns: bool) -> Value {
    let definitions = if columns { column_definitions(call) } else { Value::Null };
    let include = call.query.get("includeObject").unwrap_or("Metadata");
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let shown = match include {
                "Object" => object.clone(),
                "None" => Value::Null,
                _ => super::metadata_only(object.clone()),
            };
            json!({"cells": cells(call, object), "object": shown})
        })
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
        "columnDefinitions": definitions, "rows": rows,
    })
}

fn column_definitions(call: &Call) -> Value {
    let key = format!("{}/{}|", call.resource.api_version(), call.resource.plural);
    let line = COLUMNS.lines().find_map(|line| line.strip_prefix(key.as_str()));
    let line = line.unwrap_or("Name:string:name:0;Age:date::0");
    line.split(';')
        .map(|column| {
            let mut parts = column.split(':');
            let mut next = || parts.next().unwrap_or("");
            let (name, sort, format, priority) = (next(), next(), next(), next());
            json!({
                "name": name, "type": sort, "format": format, "description": "",
                "priority": priority.parse::<u32>().unwrap_or(0),
            })
        })
        .collect()
}

fn cells(_call: &Call, object: &Value) -> Value {
    json!([fields::name(object), fields::text(object, &["metadata", "creationTimestamp"])])
}
