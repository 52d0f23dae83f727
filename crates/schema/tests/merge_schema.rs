//! The table against the merge schema that the Go client carries.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use podsmith_object::yaml::{ReadOptions, read_value};
use podsmith_object::{GroupVersionKind, Value};
use podsmith_schema::table;
use podsmith_schema::types::{Field, ListRelation, Struct, Type};

fn merge_schema() -> Option<BTreeMap<String, Value>> {
    let cache = std::env::var_os("GOMODCACHE").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("GOPATH").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join("go")));
        Some(home?.join("pkg/mod"))
    })?;
    let path = cache.join("k8s.io/client-go@v0.36.3/applyconfigurations/internal/internal.go");
    let source = std::fs::read_to_string(path).ok()?;
    let start = source.find("`types:")? + 1;
    let value = read_value(source.get(start..source.rfind("`)")?)?, ReadOptions::lenient()).unwrap();
    let types = value["types"].as_array().unwrap().clone();
    Some(types.into_iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one)).collect())
}

/// All structs below a type, by their OpenAPI name.
fn collect(ty: &Type, found: &mut BTreeMap<String, Type>) {
    match ty {
        Type::Struct(structure) => {
            let definition = structure.definition();
            let Some(name) = table().openapi_name(definition) else { return };
            if found.contains_key(&name) {
                return;
            }
            found.insert(name, ty.clone());
            definition.fields.values().for_each(|field| collect(&field.ty, found));
        }
        Type::List(list) => collect(&list.items, found),
        Type::Map(map) => collect(&map.values, found),
        _ => {}
    }
}

fn relation(field: &Field) -> (&'static str, Vec<String>) {
    match &field.ty {
        Type::List(list) => match &list.relation {
            ListRelation::Atomic => ("atomic", vec![]),
            ListRelation::Set => ("associative", vec![]),
            ListRelation::Map(keys) => ("associative", keys.iter().map(ToString::to_string).collect()),
        },
        _ => ("", vec![]),
    }
}

fn compare(name: &str, wanted: &Value, definition: &Struct, wrong: &mut Vec<String>) {
    let Some(fields) = wanted.pointer("/map/fields").and_then(Value::as_array) else { return };
    if (wanted.pointer("/map/elementRelationship") == Some(&Value::from("atomic"))) != definition.atomic {
        wrong.push(format!("{name}: atomic {}", definition.atomic));
    }
    let known: BTreeSet<&str> = fields.iter().map(|field| field["name"].as_str().unwrap()).collect();
    for key in definition.fields.keys().filter(|key| !known.contains(key.as_ref())) {
        wrong.push(format!("{name}.{key}: too much"));
    }
    for field in fields {
        let key = field["name"].as_str().unwrap();
        let Some(found) = definition.fields.get(key) else {
            wrong.push(format!("{name}.{key}: missing"));
            continue;
        };
        if let Some(list) = field.pointer("/type/list") {
            let keys = list.get("keys").and_then(Value::as_array).into_iter().flatten();
            let keys: Vec<String> = keys.filter_map(Value::as_str).map(str::to_owned).collect();
            let (sort, found_keys) = relation(found);
            if sort != list["elementRelationship"].as_str().unwrap() || keys != found_keys {
                wrong.push(format!("{name}.{key}: {sort} {found_keys:?}, not {list}"));
            }
        }
    }
}

#[test]
fn lists_and_maps_merge_as_the_go_client_says() {
    let Some(schema) = merge_schema() else {
        eprintln!("skipped: lists_and_maps_merge_as_the_go_client_says: no module cache");
        return;
    };
    let mut found = BTreeMap::new();
    for (group, version, kind) in table().kinds() {
        collect(&table().type_of(&GroupVersionKind::new(group, version, kind)).unwrap(), &mut found);
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, wanted) in &schema {
        if let Some(definition) = found.get(name).and_then(Type::as_struct) {
            count += 1;
            compare(name, wanted, definition, &mut wrong);
        }
    }
    assert!(count > 800, "{count}");
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
