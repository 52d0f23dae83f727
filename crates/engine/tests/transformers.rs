//! Every transformer and combinator: what it changes, and what it leaves alone.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod support;

use podsmith_engine::filter::{self, kind, shared as shared_filter};
use podsmith_engine::jq::Program;
use podsmith_engine::transformer::namespace::Reach;
use podsmith_engine::transformer::{
    Case, annotations, chain, if_then, jq, labels, name, namespace, shared, switch,
};
use podsmith_engine::{Engine, MemorySource, Scope, Scopes, Sources, Transformer};
use podsmith_object::{Object, Value, json};
use support::{Counter, broken_filter, broken_transformer, object, raw, transform};

/// The metadata after the change.
fn metadata(transformer: &dyn Transformer, before: Value) -> Value {
    let whole = raw(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": before}));
    transform(transformer, whole).unwrap().0["metadata"].clone()
}

#[test]
fn labels_and_annotations_are_set_and_removed() {
    let set = |pairs: &[(&str, &str)]| [labels::set(pairs.to_vec()), annotations::set(pairs.to_vec())];
    let remove = |keys: &[&str]| [labels::remove(keys.to_vec()), annotations::remove(keys.to_vec())];
    for (index, field) in ["labels", "annotations"].into_iter().enumerate() {
        let rows = [
            (
                "creates the mapping",
                set(&[("a", "1")]),
                json!({"name": "x"}),
                json!({"name": "x", field: {"a": "1"}}),
            ),
            (
                "keeps others",
                set(&[("a", "1")]),
                json!({field: {"b": "2"}}),
                json!({field: {"b": "2", "a": "1"}}),
            ),
            ("overwrites", set(&[("a", "1")]), json!({field: {"a": "0"}}), json!({field: {"a": "1"}})),
            ("sets nothing", set(&[]), json!({"name": "x"}), json!({"name": "x"})),
            ("removes", remove(&["a"]), json!({field: {"a": "1", "b": "2"}}), json!({field: {"b": "2"}})),
            ("leaves an empty mapping", remove(&["a"]), json!({field: {"a": "1"}}), json!({field: {}})),
            (
                "removes what is not there",
                remove(&["x"]),
                json!({field: {"a": "1"}}),
                json!({field: {"a": "1"}}),
            ),
            ("touches nothing without a mapping", remove(&["a"]), json!({"name": "x"}), json!({"name": "x"})),
            (
                "keeps what is no string",
                set(&[("c", "1")]),
                json!({field: {"a": true, "b": "x"}}),
                json!({field: {"a": true, "b": "x", "c": "1"}}),
            ),
        ];
        for (what, transformers, before, after) in rows {
            assert_eq!(metadata(&transformers[index], before), after, "{field}: {what}");
        }
        let starts = |key: &str, value: &str| key.starts_with('t') || value == "drop";
        let remove_if = if index == 0 { labels::remove_if(starts) } else { annotations::remove_if(starts) };
        let before = json!({field: {"a": "drop", "tmp": "1", "b": "2", "number": 1}});
        assert_eq!(
            metadata(&remove_if, before),
            json!({field: {"b": "2", "number": 1}}),
            "{field}: by a condition"
        );
        assert_eq!(
            metadata(&remove_if, json!({"name": "x"})),
            json!({"name": "x"}),
            "{field}: nothing to remove"
        );
    }
}

#[test]
fn the_order_of_the_other_labels_stays() {
    let changed = metadata(&labels::remove(["b"]), json!({"labels": {"c": "1", "b": "2", "a": "3"}}));
    assert_eq!(changed.to_string(), r#"{"labels":{"c":"1","a":"3"}}"#);
}

#[test]
fn a_label_that_is_no_string_is_reported() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {a: true, b: x}\n";
    let (changed, warnings) = transform(&labels::set([("c", "1")]), object(text)).unwrap();
    assert_eq!(changed["metadata"]["labels"], json!({"a": true, "b": "x", "c": "1"}));
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    warning: test.yaml:1: ConfigMap a: metadata.labels.a is a boolean, not a string
    hint: put quotes around the value; Kubernetes refuses it as it is
    "#);
    let (_, warnings) = transform(&annotations::set([("c", "1")]), object(text)).unwrap();
    assert!(warnings.is_empty(), "the annotations are fine");
}

#[test]
fn warnings_reach_the_caller_of_the_engine() {
    let objects =
        vec![raw(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"a": 1}}}))];
    let engine = Engine::builder()
        .renderer(Sources::new("memory", [MemorySource::new("m", objects)]))
        .build()
        .unwrap();
    let rendered = engine.call().transformer(labels::set([("b", "2")])).render().unwrap();
    assert_eq!(rendered.warnings.len(), 1);
}

#[test]
fn names_get_prefixes_suffixes_and_replacements() {
    let rows = [
        ("prefix", name::prefix("a-"), "web", Some("a-web")),
        ("empty prefix", name::prefix(""), "web", Some("web")),
        ("suffix", name::suffix("-z"), "web", Some("web-z")),
        ("replace all", name::replace("b", "c"), "bab", Some("cac")),
        ("no match", name::replace("x", "c"), "bab", Some("bab")),
        ("empty pattern", name::replace("", "-"), "ab", Some("-a-b-")),
        ("to nothing", name::replace("web", ""), "web", None),
    ];
    for (what, transformer, before, after) in rows {
        let changed = metadata(&transformer, json!({"name": before}));
        assert_eq!(changed.get("name").and_then(Value::as_str), after, "{what}");
    }
    assert_eq!(
        metadata(&name::prefix("a-"), json!({})),
        json!({"name": "a-"}),
        "a nameless object gets the prefix"
    );
    let reference = raw(json!({"metadata": {"name": "a"}, "spec": {"serviceName": "a"}}));
    let (changed, _) = transform(&name::prefix("x-"), reference).unwrap();
    assert_eq!(changed["spec"]["serviceName"], "a", "references are not followed");
}

#[test]
fn namespaces_respect_the_scope_of_kinds() {
    let namespaced = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}});
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a"}});
    let unknown = json!({"apiVersion": "example.org/v1", "kind": "Zone", "metadata": {"name": "a"}});
    let placed =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "old"}});
    let after = |transformer: &dyn Transformer, object: &Value| {
        transform(transformer, raw(object.clone())).unwrap().0["metadata"].get("namespace").cloned()
    };
    let new = Some(json!("new"));
    for (what, object, set, default, forced) in [
        ("namespaced", &namespaced, new.clone(), new.clone(), new.clone()),
        ("with a namespace", &placed, new.clone(), Some(json!("old")), new.clone()),
        ("cluster role", &role, None, None, new.clone()),
        ("namespace", &space, None, None, new.clone()),
        ("definition", &definition, None, None, new.clone()),
        ("unknown kind", &unknown, new.clone(), new.clone(), new.clone()),
    ] {
        assert_eq!(after(&namespace::set("new"), object), set, "set: {what}");
        assert_eq!(after(&namespace::set_default("new"), object), default, "default: {what}");
        assert_eq!(after(&namespace::set_with("new", Reach::Forced), object), forced, "forced: {what}");
    }
    assert_eq!(after(&namespace::set(""), &placed), None, "the empty string removes it");
}

/// A custom resource, and after it the definition that says its kind is cluster-scoped.
fn zone_and_definition() -> Vec<Object> {
    vec![
        raw(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}})),
        raw(json!({"apiVersion": "example.org/v1", "kind": "Zone", "metadata": {"name": "z"}})),
        raw(json!({"apiVersion": "example.org/v1", "kind": "Room", "metadata": {"name": "r"}})),
        raw(
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "zones.example.org"},
            "spec": {"group": "example.org", "scope": "Cluster", "names": {"kind": "Zone"}}}),
        ),
    ]
}

fn namespaces_of(objects: &[Object]) -> Vec<(&str, &str)> {
    objects.iter().map(|object| (object.name(), object.namespace())).collect()
}

#[test]
fn a_definition_anywhere_in_the_batch_says_the_scope_of_its_kind() {
    let expected = vec![("s", "new"), ("z", ""), ("r", "new"), ("zones.example.org", "")];
    let source = || Sources::new("memory", [MemorySource::new("m", zone_and_definition())]);

    let level_two = Engine::builder().renderer(source()).transformer(namespace::set("new")).build().unwrap();
    assert_eq!(namespaces_of(&level_two.render(Default::default()).unwrap().objects), expected, "engine");

    let level_one = Engine::builder().renderer(source().transformer(namespace::set("new"))).build().unwrap();
    assert_eq!(namespaces_of(&level_one.render(Default::default()).unwrap().objects), expected, "renderer");

    for engine in [&level_two, &level_one] {
        let mut streamed = Vec::new();
        engine
            .render_each(Default::default(), |object| {
                streamed.push(object);
                Ok(())
            })
            .unwrap();
        assert_eq!(namespaces_of(&streamed), expected, "streamed");
    }

    let filtered =
        level_two.call().filter(filter::not(kind::one_of(["CustomResourceDefinition"]).unwrap())).render();
    assert_eq!(namespaces_of(&filtered.unwrap().objects), expected[..3], "a dropped definition still counts");
}

#[test]
fn scopes_can_be_known_beforehand() {
    let zone = zone_and_definition().remove(1);
    let engine = Engine::builder()
        .renderer(Sources::new("memory", [MemorySource::new("m", vec![zone])]))
        .scopes(Scopes::new().with("example.org", "Zone", Scope::Cluster))
        .transformer(if_then(shared_filter(|_: &Object| true), namespace::set_default("new")))
        .build()
        .unwrap();
    assert_eq!(engine.render(Default::default()).unwrap().objects[0].namespace(), "");
}

#[test]
fn jq_gives_exactly_one_object() {
    let before =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"n": 1}});
    let rows = [
        (
            ".metadata.name = \"b\"",
            Ok(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"n": 1}})),
        ),
        (".metadata.labels.env = \"dev\" | .metadata.labels", Ok(json!({"env": "dev"}))),
        (".data.n += 1 | .data.list[1].x = true | .data", Ok(json!({"n": 2, "list": [null, {"x": true}]}))),
        ("del(.data, .kind)", Ok(json!({"apiVersion": "v1", "metadata": {"name": "a"}}))),
        ("{}", Ok(json!({}))),
        ("empty", Err("in the jq expression")),
        (".data.n", Err("in the jq expression")),
        ("., .", Err("in the jq expression")),
        ("error(\"x\")", Err("in the jq expression")),
    ];
    for (expression, expected) in rows {
        let result =
            transform(&jq::expression(expression).unwrap(), raw(before.clone())).map(|(value, _)| value);
        match expected {
            Ok(expected) => assert_eq!(result, Ok(expected), "{expression}"),
            Err(expected) => {
                assert!(result.clone().unwrap_err().contains(expected), "{expression}: {result:?}")
            }
        }
    }
    assert!(jq::expression(".a = ").is_err());
}

#[test]
fn jq_keeps_the_order_of_keys_and_the_origin() {
    let before =
        object("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, labels: {z: '1', a: '2', m: '3'}}\n");
    let engine = Engine::builder().renderer(Sources::new("memory", [MemorySource::new("m", vec![before])]));
    let engine = engine.transformer(jq::expression("del(.metadata.labels.a)").unwrap()).build().unwrap();
    let after = engine.render(Default::default()).unwrap().objects.remove(0);
    assert_eq!(after.origin().unwrap().file.as_ref(), "test.yaml");
    assert_eq!(
        after.to_value().to_string(),
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"z":"1","m":"3"}}}"#
    );
}

#[test]
fn jq_leaves_what_it_does_not_touch_as_it_was() {
    let before =
        json!({"big": 18446744073709551615_u64, "float": 1.0, "deep": {"list": [1.5, {"x": -1}]}, "a": 1});
    let (after, _) = transform(&jq::expression(".a = 2").unwrap(), raw(before.clone())).unwrap();
    let mut expected = before;
    expected["a"] = json!(2);
    assert_eq!(after.to_string(), expected.to_string());
}

#[test]
fn jq_transformers_take_variables_and_functions() {
    let shout =
        |input: &Value, _: &[Value]| Ok::<_, String>(json!(input.as_str().unwrap_or("").to_uppercase()));
    let program = Program::builder(".metadata.labels = {env: $env, team: ($team | shout)}")
        .variable("env", json!("dev"))
        .variable("$team", json!("web"))
        .function("shout", 0, shout);
    let (after, _) =
        transform(&jq::program(program.compile().unwrap()), raw(json!({"metadata": {}}))).unwrap();
    assert_eq!(after["metadata"]["labels"], json!({"env": "dev", "team": "WEB"}));
}

#[test]
fn a_chain_passes_each_result_on_and_stops_at_an_error() {
    let both = chain([name::prefix("a-"), name::suffix("-z"), name::replace("-", "_")]);
    assert_eq!(metadata(&both, json!({"name": "n"})), json!({"name": "a_n_z"}));
    assert_eq!(
        metadata(&chain::<std::sync::Arc<dyn Transformer>>([]), json!({"name": "n"})),
        json!({"name": "n"})
    );
    let counter = Counter::default();
    let broken = chain([broken_transformer(), counter.transformer()]);
    assert_eq!(transform(&broken, raw(json!({}))), Err("broken transformer".to_owned()));
    assert_eq!(counter.count(), 0);
}

#[test]
fn if_changes_only_where_the_condition_holds() {
    let renamed = |answer: bool| if_then(shared_filter(move |_: &Object| answer), name::prefix("x-"));
    assert_eq!(metadata(&renamed(true), json!({"name": "n"})), json!({"name": "x-n"}));
    assert_eq!(metadata(&renamed(false), json!({"name": "n"})), json!({"name": "n"}));
    let yes = || shared_filter(|_: &Object| true);
    assert!(transform(&if_then(broken_filter(), name::prefix("x")), raw(json!({}))).is_err());
    assert!(transform(&if_then(yes(), broken_transformer()), raw(json!({}))).is_err());
}

#[test]
fn switch_takes_the_first_case_that_matches() {
    let cases = || {
        [
            Case::new(kind::one_of(["ConfigMap"]).unwrap(), name::prefix("first-")),
            Case::new(shared_filter(|_: &Object| true), name::prefix("second-")),
        ]
    };
    assert_eq!(metadata(&switch(cases(), None), json!({"name": "n"})), json!({"name": "first-n"}));
    let service = raw(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "n"}}));
    let (changed, _) = transform(&switch(cases(), None), service).unwrap();
    assert_eq!(changed["metadata"]["name"], "second-n");

    let none = || [Case::new(kind::one_of(["Pod"]).unwrap(), name::prefix("pod-"))];
    assert_eq!(metadata(&switch(none(), None), json!({"name": "n"})), json!({"name": "n"}), "no default");
    let with_default = switch(none(), Some(name::prefix("default-")));
    assert_eq!(metadata(&with_default, json!({"name": "n"})), json!({"name": "default-n"}));

    let broken_condition = switch([Case::new(broken_filter(), name::prefix("x"))], Some(name::prefix("y")));
    assert_eq!(transform(&broken_condition, raw(json!({}))), Err("broken filter".to_owned()));
    let broken_then = switch([Case::new(shared_filter(|_: &Object| true), broken_transformer())], None);
    assert_eq!(transform(&broken_then, raw(json!({}))), Err("broken transformer".to_owned()));
}

#[test]
fn combinators_nest_and_still_ask_for_scopes() {
    let nested = chain([if_then(
        shared_filter(|_: &Object| true),
        switch([Case::new(shared_filter(|_: &Object| true), chain([namespace::set("x")]))], None),
    )]);
    assert!(nested.asks_for_scopes());
    assert!(!chain([namespace::set_with("x", Reach::Forced), name::prefix("y")]).asks_for_scopes());
    assert!(!shared(|object: Object| object).asks_for_scopes());
    assert_eq!(metadata(&nested, json!({"name": "n"})), json!({"name": "n", "namespace": "x"}));
}
