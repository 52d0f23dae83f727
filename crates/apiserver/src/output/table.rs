//! The Table form: what `kubectl get` prints.

use podsmith_object::{Value, json};

use super::{age, cells, path};
use crate::fields;
use crate::registry::Resource;
use crate::server::Call;

static COLUMNS: &str = include_str!("columns.txt");

/// A table of objects; `described` tells whether the columns are described.
pub fn table(call: &Call, objects: &[Value], meta: Value, described: bool) -> Value {
    let definitions = if described { columns(&call.resource) } else { Value::Null };
    let include = call.query.get("includeObject").unwrap_or("Metadata");
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let shown = match include {
                "Object" => object.clone(),
                "None" => Value::Null,
                _ => super::metadata_only(object.clone()),
            };
            json!({"cells": row(&call.resource, object), "object": shown})
        })
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
        "columnDefinitions": definitions, "rows": rows,
    })
}

fn column(name: &str, sort: &str, format: &str, description: &str, priority: i64) -> Value {
    json!({"name": name, "type": sort, "format": format, "description": description, "priority": priority})
}

fn columns(resource: &Resource) -> Value {
    let name = column("Name", "string", "name", "", 0);
    if let Some(custom) = &resource.custom {
        let mut all = vec![name];
        all.extend(
            custom
                .columns
                .iter()
                .map(|one| column(&one.name, &one.sort, &one.format, &one.description, one.priority)),
        );
        if custom.columns.is_empty() {
            all.push(column("Age", "date", "", "", 0));
        }
        return all.into();
    }
    let key = format!("{}/{}|", resource.api_version(), resource.plural);
    let line = COLUMNS.lines().find_map(|line| line.strip_prefix(key.as_str()));
    let line = line.unwrap_or("Name:string:name:0;Age:date::0");
    line.split(';')
        .map(|text| {
            let mut parts = text.split(':');
            let mut next = || parts.next().unwrap_or("");
            let (name, sort, format, priority) = (next(), next(), next(), next());
            column(name, sort, format, "", priority.parse().unwrap_or(0))
        })
        .collect()
}

fn row(resource: &Resource, object: &Value) -> Value {
    if let Some(custom) = &resource.custom {
        let mut cells = vec![Value::from(fields::name(object))];
        cells.extend(
            custom.columns.iter().map(|column| custom_cell(&column.sort, path::find(object, &column.path))),
        );
        if custom.columns.is_empty() {
            cells.push(age::of(object));
        }
        return cells.into();
    }
    match cells::cells(resource, object) {
        Some(cells) => cells.into(),
        None => {
            // Kinds without cells of their own: the name, then what the titles of the columns say.
            let titles = columns(resource);
            let titles = titles.as_array().map_or(&[][..], Vec::as_slice);
            let cell = |title: &Value| match fields::text(title, &["name"]) {
                "Name" => fields::name(object).into(),
                "Age" => age::of(object),
                "Created At" => fields::text(object, &["metadata", "creationTimestamp"]).into(),
                _ => Value::from("<none>"),
            };
            titles.iter().map(cell).collect()
        }
    }
}

/// A cell of a custom column.
fn custom_cell(sort: &str, found: Option<Value>) -> Value {
    match (sort, found) {
        (_, None) => Value::Null,
        ("date", Some(Value::String(time))) => age::since(&time).into(),
        ("string", Some(Value::String(text))) => text.into(),
        ("string", Some(other)) => other.to_string().into(),
        ("integer", Some(Value::Number(number))) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|n| n.trunc() as i64))
            .map_or(Value::Null, Value::from),
        ("number", Some(Value::Number(number))) => Value::Number(number),
        ("boolean", Some(Value::Bool(flag))) => Value::Bool(flag),
        _ => Value::Null,
    }
}
