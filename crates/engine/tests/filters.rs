//! Every filter and combinator: what it keeps, and what it does at the edges.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod support;

use std::sync::Arc;

use podsmith_engine::Filter;
use podsmith_engine::filter::{
    and, annotations, gvk, if_then, jq, kind, labels, name, namespace, not, or, shared,
};
use podsmith_engine::jq::Program;
use podsmith_object::{GroupVersionKind, Object, json};
use support::{Counter, broken_filter, keeps, raw};

fn deployment() -> Object {
    raw(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web-1", "namespace": "shop",
            "labels": {"app": "web", "tier": "front", "empty": "", "nothing": null, "number": 5},
            "annotations": {"owner": "me", "flag": true},
        },
        "spec": {"replicas": 3},
    }))
}

fn cluster_role() -> Object {
    raw(
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}),
    )
}

fn check(rows: Vec<(&str, Arc<dyn Filter>, bool)>, object: &Object) {
    for (what, filter, expected) in rows {
        assert_eq!(keeps(&filter, object), Ok(expected), "{what}");
    }
}

#[test]
fn gvk_compares_all_three_parts() {
    let of = |parts: &[(&str, &str, &str)]| {
        gvk::one_of(parts.iter().map(|(g, v, k)| GroupVersionKind::new(*g, *v, *k)))
    };
    check(
        vec![
            ("single", of(&[("apps", "v1", "Deployment")]), true),
            ("several", of(&[("", "v1", "Pod"), ("apps", "v1", "Deployment")]), true),
            ("other version", of(&[("apps", "v1beta1", "Deployment")]), false),
            ("other group", of(&[("", "v1", "Deployment")]), false),
            ("empty list", of(&[]), false),
            ("duplicates", of(&[("apps", "v1", "Deployment"), ("apps", "v1", "Deployment")]), true),
            ("case", of(&[("apps", "v1", "deployment")]), false),
        ],
        &deployment(),
    );
    let custom = raw(json!({"apiVersion": "example.org/v1alpha1", "kind": "Zone"}));
    assert_eq!(keeps(&of(&[("example.org", "v1alpha1", "Zone")]), &custom), Ok(true));
    assert_eq!(keeps(&of(&[("apps", "v1", "Deployment")]), &raw(json!({}))), Ok(false), "missing kind");
}

#[test]
fn kind_may_leave_out_group_and_version() {
    let of = |kinds: &[&str]| kind::one_of(kinds).unwrap();
    check(
        vec![
            ("kind only", of(&["Deployment"]), true),
            ("with group", of(&["apps/Deployment"]), true),
            ("with both", of(&["apps/v1/Deployment"]), true),
            ("core version", of(&["v1/Deployment"]), false),
            ("other version", of(&["apps/v1beta1/Deployment"]), false),
            ("second of two", of(&["Service", "Deployment"]), true),
            ("empty list", of(&[]), false),
        ],
        &deployment(),
    );
    for invalid in ["", "a//b", "/Pod", "a/b/c/d"] {
        assert!(kind::one_of([invalid]).is_err(), "{invalid:?}");
    }
}

#[test]
fn namespaces_are_kept_or_dropped() {
    check(
        vec![
            ("in the list", namespace::one_of(["shop"]), true),
            ("second of two", namespace::one_of(["x", "shop"]), true),
            ("not in the list", namespace::one_of(["x"]), false),
            ("empty list", namespace::one_of::<&str>([]), false),
            ("excluded", namespace::none_of(["shop"]), false),
            ("not excluded", namespace::none_of(["x"]), true),
            ("nothing excluded", namespace::none_of::<&str>([]), true),
        ],
        &deployment(),
    );
    check(
        vec![
            ("the empty string means no namespace", namespace::one_of([""]), true),
            ("and can be excluded", namespace::none_of([""]), false),
        ],
        &cluster_role(),
    );
}

#[test]
fn labels_are_tested_for_presence_and_value() {
    check(
        vec![
            ("present", labels::has(["app"]), true),
            ("absent", labels::has(["x"]), false),
            ("empty value", labels::has(["empty"]), true),
            ("not a string, but present", labels::has(["number"]), true),
            ("all of two", labels::has(["app", "tier"]), true),
            ("one of two missing", labels::has(["app", "x"]), false),
            ("no keys", labels::has::<&str>([]), true),
            ("equal", labels::matches([("app", "web"), ("tier", "front")]), true),
            ("null reads as empty", labels::matches([("nothing", "")]), true),
            ("a number equals no string", labels::matches([("number", "5")]), false),
            ("wrong value", labels::matches([("app", "db")]), false),
            ("no pairs", labels::matches::<&str, &str>([]), true),
            ("a non-string value does not hide the others", labels::matches([("app", "web")]), true),
        ],
        &deployment(),
    );
    let bare = cluster_role();
    assert_eq!(keeps(&labels::has(["app"]), &bare), Ok(false), "no labels at all");
    assert_eq!(keeps(&labels::matches::<&str, &str>([]), &bare), Ok(true));
}

#[test]
fn selectors_follow_the_kubernetes_grammar() {
    let rows = [
        ("", true),
        ("app=web", true),
        ("app==web", true),
        ("app!=web", false),
        ("missing!=web", true),
        ("app in (web,db)", true),
        ("app notin (web)", false),
        ("missing notin (web)", true),
        ("app", true),
        ("!app", false),
        ("!missing", true),
        ("app=web,tier in (front),!missing", true),
        ("app=web,tier=back", false),
    ];
    for (text, expected) in rows {
        assert_eq!(keeps(&labels::selector(text).unwrap(), &deployment()), Ok(expected), "{text}");
    }
    let numbered = raw(json!({"metadata": {"labels": {"size": "10"}}}));
    assert_eq!(keeps(&labels::selector("size>9").unwrap(), &numbered), Ok(true));
    assert_eq!(keeps(&labels::selector("size<9").unwrap(), &numbered), Ok(false));
    for invalid in ["a=b=c", "a in b", "in (a)", "a,,b", "a in (b"] {
        assert!(labels::selector(invalid).is_err(), "{invalid}");
    }
}

#[test]
fn annotations_are_tested_for_presence_and_value() {
    check(
        vec![
            ("present", annotations::has(["owner"]), true),
            ("not a string, but present", annotations::has(["flag"]), true),
            ("absent", annotations::has(["x"]), false),
            ("no keys", annotations::has::<&str>([]), true),
            ("equal", annotations::matches([("owner", "me")]), true),
            ("wrong value", annotations::matches([("owner", "you")]), false),
            ("no pairs", annotations::matches::<&str, &str>([]), true),
        ],
        &deployment(),
    );
}

#[test]
fn names_are_tested_exactly_by_ends_and_by_expression() {
    check(
        vec![
            ("exact", name::exact(["web-1"]), true),
            ("not exact", name::exact(["web"]), false),
            ("empty list", name::exact::<&str>([]), false),
            ("prefix", name::prefix("web"), true),
            ("other prefix", name::prefix("db"), false),
            ("empty prefix", name::prefix(""), true),
            ("suffix", name::suffix("-1"), true),
            ("empty suffix", name::suffix(""), true),
            ("expression anywhere", name::regex("eb").unwrap(), true),
            ("anchored expression", name::regex("^eb$").unwrap(), false),
            ("whole name", name::regex("^web-[0-9]$").unwrap(), true),
            ("empty expression", name::regex("").unwrap(), true),
        ],
        &deployment(),
    );
    assert!(name::regex("(").is_err());
    assert!(name::regex("(?!a)").is_err(), "there is no look-around");
    let generated = raw(json!({"metadata": {"generateName": "x-"}}));
    assert_eq!(keeps(&name::exact([""]), &generated), Ok(true));
}

#[test]
fn jq_keeps_only_for_the_boolean_true() {
    let rows = [
        (".kind == \"Deployment\"", Ok(true)),
        (".metadata.namespace == \"shop\"", Ok(true)),
        (".metadata.labels.app == \"web\" and .spec.replicas > 2", Ok(true)),
        (".kind == \"Pod\" or .apiVersion == \"apps/v1\"", Ok(true)),
        ("has(\"spec\")", Ok(true)),
        (".spec.replicas == 3", Ok(true)),
        (".spec.replicas == 4", Ok(false)),
        (".status == null", Ok(true)),
        (".metadata.labels | has(\"x\")", Ok(false)),
        ("null", Err("must give true or false, it gave null")),
        (".spec.replicas", Err("must give true or false, it gave a number")),
        ("\"true\"", Err("must give true or false, it gave a string")),
        (".spec", Err("must give true or false, it gave an object")),
        ("[true]", Err("must give true or false, it gave an array")),
        ("empty", Err("exactly one value, it gave none")),
        ("select(.kind == \"Pod\")", Err("exactly one value, it gave none")),
        ("true, true", Err("exactly one value, it gave several")),
        ("true, error(\"x\")", Err("failed: x")),
        ("1 / 0 > 1", Err("cannot divide 1 by zero")),
    ];
    for (expression, expected) in rows {
        let object = deployment();
        let before = object.to_value();
        let filter = jq::expression(expression).unwrap();
        let found = chain_of(&filter, &object);
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{expression}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{expression}: {found}"),
            _ => panic!("{expression}: {found:?}"),
        }
        assert_eq!(object.to_value(), before, "{expression} changed its object");
    }
    assert!(jq::expression(".kind ==").is_err());
}

/// The answer, or all messages of the error.
fn chain_of(filter: &dyn Filter, object: &Object) -> Result<bool, String> {
    use podsmith_engine::{Cancel, Context, Scopes, Warnings};
    let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
    filter.keep(object, &Context::new(&cancel, &warnings, &scopes)).map_err(|error| {
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            next = cause.source();
        }
        text
    })
}

#[test]
fn jq_filters_take_variables() {
    let program = Program::builder(".metadata.namespace == $wanted").variable("wanted", json!("shop"));
    assert_eq!(keeps(&jq::program(program.compile().unwrap()), &deployment()), Ok(true));
}

#[test]
fn combinators_follow_their_truth_tables() {
    let constant = |answer: bool| shared(move |_: &Object| answer);
    let list = |answers: &[bool]| answers.iter().map(|answer| constant(*answer)).collect::<Vec<_>>();
    let object = deployment();
    for (answers, any, all) in [
        (&[][..], true, true),
        (&[true][..], true, true),
        (&[false][..], false, false),
        (&[true, false][..], true, false),
        (&[false, true][..], true, false),
        (&[true, true][..], true, true),
        (&[false, false][..], false, false),
    ] {
        assert_eq!(keeps(&or(list(answers)), &object), Ok(any), "or {answers:?}");
        assert_eq!(keeps(&and(list(answers)), &object), Ok(all), "and {answers:?}");
    }
    for (condition, then, expected) in
        [(true, true, true), (true, false, false), (false, true, true), (false, false, true)]
    {
        let filter = if_then(constant(condition), constant(then));
        assert_eq!(keeps(&filter, &object), Ok(expected), "if {condition} then {then}");
    }
    assert_eq!(keeps(&not(constant(true)), &object), Ok(false));
    let nested = or([and([constant(true), not(constant(true))]), not(and([constant(false)]))]);
    assert_eq!(keeps(&nested, &object), Ok(true));
}

#[test]
fn combinators_stop_at_the_first_certain_answer() {
    let object = deployment();
    let counter = Counter::default();
    keeps(&or([counter.filter(true), counter.filter(true)]), &object).unwrap();
    assert_eq!(counter.count(), 1, "or");
    keeps(&and([counter.filter(false), counter.filter(true)]), &object).unwrap();
    assert_eq!(counter.count(), 2, "and");
    let never = shared(|_: &Object| false);
    keeps(&if_then(never, counter.filter(true)), &object).unwrap();
    assert_eq!(counter.count(), 2, "if");
}

#[test]
fn an_error_inside_a_combinator_passes_through() {
    let object = deployment();
    let yes = || shared(|_: &Object| true);
    let failed = Err("broken filter".to_owned());
    assert_eq!(
        keeps(&or([broken_filter(), yes()]), &object),
        failed,
        "an earlier error wins over a later true"
    );
    assert_eq!(keeps(&or([yes(), broken_filter()]), &object), Ok(true));
    assert_eq!(keeps(&and([yes(), broken_filter()]), &object), failed);
    assert_eq!(keeps(&not(broken_filter()), &object), failed);
    assert_eq!(keeps(&if_then(broken_filter(), yes()), &object), failed);
    assert_eq!(keeps(&if_then(yes(), broken_filter()), &object), failed);
}
