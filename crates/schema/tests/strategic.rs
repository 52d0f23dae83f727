//! Strategic merge patch: directives, keys and order.

#![allow(clippy::unwrap_used)]

use podsmith_object::{GroupVersionKind, Value, json};
use podsmith_schema::{strategic, table};

fn pod_spec(live: Value, patch: Value) -> Result<Value, String> {
    let pod = table().type_of(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
    let merged = strategic::apply(json!({"spec": live}), json!({"spec": patch}), &pod);
    merged.map(|value| value["spec"].clone()).map_err(|error| error.to_string())
}

#[track_caller]
fn check(live: Value, patch: Value, expected: Value) {
    assert_eq!(pod_spec(live, patch), Ok(expected));
}

#[test]
fn lists_with_a_merge_key_merge_and_new_items_come_first() {
    check(
        json!({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}]}]}),
        json!({"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}]}),
        json!({"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}, {"name": "X", "value": "1"}]}]}),
    );
}

#[test]
fn lists_without_a_merge_key_are_replaced() {
    check(
        json!({"containers": [{"name": "a", "args": ["x", "y"]}]}),
        json!({"containers": [{"name": "a", "args": ["z"]}]}),
        json!({"containers": [{"name": "a", "args": ["z"]}]}),
    );
}

#[test]
fn null_removes_and_unmatched_null_disappears() {
    check(
        json!({"nodeName": "n", "hostname": "h"}),
        json!({"nodeName": null, "securityContext": {"runAsUser": 1, "fsGroup": null}}),
        json!({"hostname": "h", "securityContext": {"runAsUser": 1}}),
    );
}

#[test]
fn delete_and_replace_directives() {
    check(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"containers": [{"name": "a", "$patch": "delete"}]}),
        json!({"containers": [{"name": "b"}]}),
    );
    check(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"containers": [{"$patch": "replace"}, {"name": "c"}]}),
        json!({"containers": [{"name": "c"}]}),
    );
    check(
        json!({"securityContext": {"runAsUser": 1, "fsGroup": 2}}),
        json!({"securityContext": {"$patch": "replace", "fsGroup": 3}}),
        json!({"securityContext": {"fsGroup": 3}}),
    );
    check(
        json!({"securityContext": {"runAsUser": 1}}),
        json!({"securityContext": {"$patch": "delete"}}),
        json!({"securityContext": {}}),
    );
    check(json!({}), json!({"securityContext": {"$patch": "delete"}}), json!({}));
}

#[test]
fn set_element_order_arranges_the_list() {
    check(
        json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}),
        json!({
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [{"name": "a", "image": "x"}]
        }),
        json!({"containers": [{"name": "b"}, {"name": "c"}, {"name": "a", "image": "x"}]}),
    );
    check(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}),
        json!({"containers": [{"name": "b"}, {"name": "a"}]}),
    );
}

#[test]
fn primitive_lists_merge_as_sets_and_shrink_by_directive() {
    let config = table().type_of(&GroupVersionKind::new("", "v1", "ConfigMap")).unwrap();
    let merged = |live: Value, patch: Value| {
        let value = strategic::apply(json!({"metadata": live}), json!({"metadata": patch}), &config).unwrap();
        value["metadata"].clone()
    };
    assert_eq!(
        merged(json!({"finalizers": ["a/a", "b/b"]}), json!({"finalizers": ["c/c", "a/a"]})),
        json!({"finalizers": ["c/c", "a/a", "b/b"]})
    );
    assert_eq!(
        merged(
            json!({"finalizers": ["a/a", "b/b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a/a"]})
        ),
        json!({"finalizers": ["b/b"]})
    );
}

#[test]
fn retain_keys_clears_the_other_keys() {
    check(
        json!({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}),
        json!({"volumes": [{"name": "v", "emptyDir": {}, "$retainKeys": ["name", "emptyDir"]}]}),
        json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
    );
}

#[test]
fn faults_have_the_texts_of_the_server() {
    let fails =
        |patch: Value| pod_spec(json!({"containers": [{"name": "a"}], "volumes": []}), patch).unwrap_err();
    insta::assert_snapshot!(fails(json!({"containers": [{"image": "x"}]})), @"map: map[image:x] does not contain declared merge key: name");
    insta::assert_snapshot!(fails(json!({"$patch": "nope"})), @"unknown patch type: nope in map: map[$patch:nope]");
    insta::assert_snapshot!(fails(json!({"$retainKeys": ["a"], "hostname": "x"})), @"invalid patch format of retainKeys");
    insta::assert_snapshot!(fails(json!({"$setElementOrder/containers": 1})), @"expected a []interface {}, but received a int64");
}

proptest::proptest! {
    #[test]
    fn a_patch_applied_twice_changes_nothing_more(
        live in proptest::collection::btree_map("[a-d]", "[x-z]", 0..4),
        patch in proptest::collection::btree_map("[a-d]", "[x-z]", 0..4),
    ) {
        let list = |map: &std::collections::BTreeMap<String, String>| {
            let items: Vec<Value> = map.iter().map(|(name, image)| json!({"name": name, "image": image})).collect();
            json!({"containers": items})
        };
        let once = pod_spec(list(&live), list(&patch)).unwrap();
        let twice = pod_spec(once.clone(), list(&patch)).unwrap();
        proptest::prop_assert_eq!(once, twice);
    }
}
