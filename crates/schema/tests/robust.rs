//! Any input is answered: nothing panics, whatever the value, the patch or the schema.

#![allow(clippy::unwrap_used)]

use podsmith_object::{GroupVersionKind, Map, Value, json};
use podsmith_schema::apply::{self, FieldSet, Force, OneVersion, Write};
use podsmith_schema::crd::CustomType;
use podsmith_schema::strategy::{self, Birth};
use podsmith_schema::{canonical, decode, defaults, json_patch, merge_patch, strategic, table, validate};
use proptest::prelude::*;

/// Values whose keys are names that mean something.
fn value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "metadata",
        "spec",
        "status",
        "data",
        "name",
        "labels",
        "annotations",
        "template",
        "containers",
        "ports",
        "port",
        "env",
        "selector",
        "matchLabels",
        "rules",
        "volumes",
        "type",
        "replicas",
        "items",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "$deleteFromPrimitiveList/finalizers",
        "finalizers",
        "resources",
        "limits",
        "requests",
        "cpu",
        "strategy",
        "rollingUpdate",
        "maxSurge",
        "managedFields",
        "fieldsV1",
        "f:spec",
        "operation",
        "properties",
        "default",
        "enum",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "required",
        "oneOf",
        "additionalProperties",
        "pattern",
        "format",
        "clusterIP",
        "clusterIPs",
        "schedule",
        "jobTemplate",
        "versions",
        "schema",
        "openAPIV3Schema",
        "names",
        "group",
        "webhooks",
        "clientConfig",
        "subsets",
        "addresses",
        "limits",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(vec![
            "",
            "a",
            "A_b",
            "1Gi",
            "-1",
            "25%",
            "delete",
            "replace",
            "map",
            "object",
            "array",
            "Apply",
            "None",
            "*/5 * * * *",
            "é",
            "("
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| {
                Value::Object(
                    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

fn kinds() -> impl Strategy<Value = GroupVersionKind> {
    let kinds: Vec<GroupVersionKind> = table().resources().iter().map(|resource| resource.gvk()).collect();
    prop::sample::select(kinds)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn objects_of_built_in_kinds(gvk in kinds(), object in value(), old in value()) {
        let Some(ty) = table().type_of(&gvk) else { return Ok(()) };
        let _ = decode::check(&ty, &object);
        let _ = decode::unknown_fields(&ty, &object);
        let mut filled = object.clone();
        defaults::fill(&ty, &mut filled);
        strategy::prepare_create(&gvk, &mut filled, Birth { uid: "u", now: "2026-01-01T00:00:00Z" });
        let _ = validate::create(&gvk, &filled);
        let _ = validate::create(&gvk, &object);
        let mut updated = object.clone();
        strategy::prepare_update(&gvk, &mut updated, &old);
        strategy::prepare_status_update(&gvk, &mut updated, &old, "2026-01-01T00:00:00Z");
        let _ = validate::update(&gvk, &object, &old);
        let _ = validate::status_update(&gvk, &object, &old);
    }

    #[test]
    fn the_stored_form_is_stable(gvk in kinds(), object in value()) {
        let Some(ty) = table().type_of(&gvk) else { return Ok(()) };
        let mut once = object;
        canonical::canonicalize(&ty, &mut once);
        let mut twice = once.clone();
        canonical::canonicalize(&ty, &mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn patches_of_any_shape(object in value(), patch in value()) {
        let ty = table().type_of(&GroupVersionKind::new("apps", "v1", "Deployment")).unwrap();
        let _ = strategic::apply(object.clone(), patch.clone(), &ty);
        merge_patch::apply(&mut object.clone(), patch.clone());
        let operations = json!([
            {"op": "add", "path": "/spec/-", "value": patch}, {"op": "move", "from": "/spec", "path": "/spec/a/b"},
            {"op": "copy", "from": "/metadata/0", "path": "/-1"}, {"op": "remove", "path": "/items/-1"}
        ]);
        for operation in operations.as_array().unwrap() {
            let _ = json_patch::apply(&mut object.clone(), &json!([operation]));
        }
        let _ = json_patch::apply(&mut object.clone(), &patch);
    }

    #[test]
    fn applies_of_any_shape(live in value(), mut config in value()) {
        let gvk = GroupVersionKind::new("apps", "v1", "Deployment");
        let ty = table().type_of(&gvk).unwrap();
        if let Value::Object(map) = &mut config {
            map.insert("apiVersion".to_owned(), json!("apps/v1"));
            map.insert("kind".to_owned(), json!("Deployment"));
        }
        let versions = OneVersion { api_version: "apps/v1".to_owned(), ty, reset: FieldSet::default() };
        let write = Write { gvk: &gvk, subresource: "", manager: "kubectl", now: "2026-01-01T00:00:00Z", versions: &versions };
        let _ = apply::apply(Some(&live), &config, &write, Force::No);
        let _ = apply::apply(None, &config, &write, Force::Yes);
        let _ = apply::update(Some(&live), config, &write);
        let set = FieldSet::from_json(&live);
        prop_assert_eq!(FieldSet::from_json(&set.to_json()), set);
    }

    #[test]
    fn schemas_of_any_shape(schema in value(), object in value(), old in value()) {
        let custom = CustomType::new(Some(&schema));
        let mut pruned = object.clone();
        custom.prune(&mut pruned);
        custom.drop_nulls(&mut pruned);
        custom.default_fields(&mut pruned);
        let _ = custom.validate(&pruned);
        let _ = custom.validate_update(&object, &old);
        let definition = json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}});
        let gvk = GroupVersionKind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let _ = validate::create(&gvk, &definition);
    }

    /// An object that was applied changes no more when the same is applied again.
    #[test]
    fn applying_twice_changes_nothing(
        data in prop::collection::btree_map("[a-c]", "[12]", 0..4),
        more in prop::collection::btree_map("[a-c]", "[12]", 0..4),
    ) {
        let gvk = GroupVersionKind::new("", "v1", "ConfigMap");
        let ty = table().type_of(&gvk).unwrap();
        let versions = OneVersion { api_version: "v1".to_owned(), ty: ty.clone(), reset: FieldSet::default() };
        let config = |data: &std::collections::BTreeMap<String, String>| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data})
        };
        let apply_as = |live: Option<&Value>, config: &Value, manager: &str| {
            let write = Write { gvk: &gvk, subresource: "", manager, now: "2026-01-01T00:00:00Z", versions: &versions };
            let mut object = apply::apply(live, config, &write, Force::Yes).unwrap().object;
            canonical::canonicalize(&ty, &mut object);
            object
        };
        let first = apply_as(None, &config(&data), "A");
        let second = apply_as(Some(&first), &config(&more), "B");
        let third = apply_as(Some(&second), &config(&more), "B");
        prop_assert!(apply::equal_but_times(&second, &third));
        for (key, value) in &more {
            prop_assert_eq!(&second["data"][key], value);
        }
    }
}
