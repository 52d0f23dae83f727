//! The table against the captured discovery of a real server.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use podsmith_object::{GroupVersionKind, Value};
use podsmith_schema::types::{ListRelation, Type};
use podsmith_schema::{is_cluster_scoped, table};

fn vectors(name: &str) -> Option<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/apiserver").join(name);
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn strings(value: &Value, key: &str) -> Vec<String> {
    let list = value.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
#[allow(clippy::print_stderr)]
fn resources_are_those_of_the_real_server() {
    let Some(vectors) = vectors("discovery-vectors.json") else {
        eprintln!("skipped: resources_are_those_of_the_real_server: no captured discovery");
        return;
    };
    for wanted in vectors["resources"].as_array().unwrap() {
        let text = |key: &str| wanted[key].as_str().unwrap_or("").to_owned();
        let found = table().resource_at(&text("group"), &text("version"), &text("resource"));
        let found = found.unwrap_or_else(|| panic!("no {wanted}"));
        assert_eq!(found.kind, text("kind"));
        assert_eq!(found.singular, text("singular"), "{wanted}");
        assert_eq!(found.namespaced, wanted["namespaced"] == true, "{wanted}");
        assert_eq!(found.verbs, strings(wanted, "verbs"), "{wanted}");
        assert_eq!(found.short_names, strings(wanted, "shortNames"), "{wanted}");
        assert_eq!(found.categories, strings(wanted, "categories"), "{wanted}");
        let subresources: Vec<(String, String, Vec<String>)> = found
            .subresources
            .iter()
            .map(|one| {
                let own = one.group == found.group && one.version == found.version;
                let kind = if own {
                    one.kind.to_owned()
                } else {
                    format!("{}/{}/{}", one.group, one.version, one.kind)
                };
                (one.name.to_owned(), kind, one.verbs.iter().map(|verb| (*verb).to_owned()).collect())
            })
            .collect();
        let expected: Vec<_> = wanted["subresources"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| {
                let text = |key: &str| one[key].as_str().unwrap_or("").to_owned();
                (text("name"), text("kind"), strings(one, "verbs"))
            })
            .collect();
        assert_eq!(subresources, expected, "{wanted}");
        assert!(table().type_of(&found.gvk()).is_some() || found.kind == "ComponentStatus", "{wanted}");
    }
    let served = table().resources().iter().filter(|one| one.served_by_default()).count();
    assert_eq!(served, vectors["resources"].as_array().unwrap().len());
}

fn gvk(api_version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::from_api_version(api_version, kind)
}

#[test]
fn scope_is_known_for_current_and_old_kinds() {
    assert_eq!(is_cluster_scoped(&gvk("v1", "Namespace")), Some(true));
    assert_eq!(is_cluster_scoped(&gvk("v1", "Pod")), Some(false));
    assert_eq!(is_cluster_scoped(&gvk("apps/v1beta1", "Deployment")), Some(false));
    assert_eq!(is_cluster_scoped(&gvk("rbac.authorization.k8s.io/v1beta1", "ClusterRole")), Some(true));
    assert_eq!(is_cluster_scoped(&gvk("apiextensions.k8s.io/v1", "CustomResourceDefinition")), Some(true));
    assert_eq!(is_cluster_scoped(&gvk("example.com/v1", "Widget")), None);
}

#[test]
fn list_keys_and_merge_keys_of_service_ports_differ() {
    let service = table().type_of(&gvk("v1", "Service")).unwrap();
    let ports = service.field("spec").unwrap().ty.field("ports").unwrap().clone();
    assert_eq!(ports.patch.merge_key, Some("port"));
    let Type::List(list) = &ports.ty else { panic!("ports is a list") };
    assert_eq!(list.relation, ListRelation::Map(vec!["port".into(), "protocol".into()]));
    assert_eq!(list.items.field("protocol").unwrap().default, Some(Value::from("TCP")));
}

#[test]
fn every_struct_of_every_kind_can_be_read() {
    fn walk(ty: &Type, seen: &mut std::collections::BTreeSet<String>) {
        match ty {
            Type::Struct(structure)
                if seen.insert(ty.go_name().into_owned() + structure.definition().package) =>
            {
                assert!(!structure.definition().name.is_empty());
                structure.definition().fields.values().for_each(|field| walk(&field.ty, seen));
            }
            Type::List(list) => walk(&list.items, seen),
            Type::Map(map) => walk(&map.values, seen),
            _ => {}
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for (group, version, kind) in table().kinds() {
        walk(&table().type_of(&GroupVersionKind::new(group, version, kind)).unwrap(), &mut seen);
    }
    assert!(seen.len() > 1000, "{}", seen.len());
}
