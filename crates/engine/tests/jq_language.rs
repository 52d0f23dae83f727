//! The jq language: what our value type and library do, compared with what jq does.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use podsmith_engine::Cancel;
use podsmith_engine::jq::{Bound, JqError, Limits, Program};
use podsmith_object::{Object, Value, json};

fn run(expression: &str, input: Value) -> Result<Vec<Value>, JqError> {
    Program::compile(expression).unwrap_or_else(|error| panic!("{expression}: {error}")).run(&input)
}

/// Expression, input, outputs.
fn table() -> Vec<(&'static str, Value, Vec<Value>)> {
    let pod = json!({"metadata": {"name": "a", "labels": {"z": "1", "app": "web"}}, "spec": {"replicas": 3, "ports": [80, 443]}});
    vec![
        (".", pod.clone(), vec![pod.clone()]),
        (".spec.replicas == 3", pod.clone(), vec![json!(true)]),
        (".spec.replicas == 3.0", pod.clone(), vec![json!(true)]),
        (".spec.ports[1]", pod.clone(), vec![json!(443)]),
        (".spec.ports[-1]", pod.clone(), vec![json!(443)]),
        (".spec.ports[5]", pod.clone(), vec![json!(null)]),
        (".spec.ports[]", pod.clone(), vec![json!(80), json!(443)]),
        (".spec.ports | length", pod.clone(), vec![json!(2)]),
        (".metadata.labels | keys", pod.clone(), vec![json!(["app", "z"])]),
        (".metadata.labels | keys_unsorted", pod.clone(), vec![json!(["z", "app"])]),
        (".metadata | has(\"labels\"), has(\"x\")", pod.clone(), vec![json!(true), json!(false)]),
        (".missing.deeper", pod.clone(), vec![json!(null)]),
        ("[.. | numbers]", pod.clone(), vec![json!([3, 80, 443])]),
        (
            ".metadata.labels.new = \"x\" | .metadata.labels",
            pod.clone(),
            vec![json!({"z": "1", "app": "web", "new": "x"})],
        ),
        ("del(.metadata.labels.z) | .metadata.labels", pod.clone(), vec![json!({"app": "web"})]),
        ("del(.spec.ports[0]) | .spec.ports", pod.clone(), vec![json!([443])]),
        ("type", pod.clone(), vec![json!("object")]),
        (
            "[leaf_paths | join(\"/\")]",
            pod.clone(),
            vec![json!([
                "metadata/name",
                "metadata/labels/z",
                "metadata/labels/app",
                "spec/replicas",
                "spec/ports/0",
                "spec/ports/1"
            ])],
        ),
        (
            "[paths(type == \"number\")]",
            pod.clone(),
            vec![json!([["spec", "replicas"], ["spec", "ports", 0], ["spec", "ports", 1]])],
        ),
        (
            "walk(if type == \"number\" then . + 1 else . end) | .spec",
            pod.clone(),
            vec![json!({"replicas": 4, "ports": [81, 444]})],
        ),
        ("with_entries(select(.key == \"spec\")) | keys", pod.clone(), vec![json!(["spec"])]),
        ("pick(.metadata.name)", pod.clone(), vec![json!({"metadata": {"name": "a"}})]),
        // Null makes room for what is assigned to it.
        (".a.b = 1", json!(null), vec![json!({"a": {"b": 1}})]),
        (".a[2] = 1", json!({}), vec![json!({"a": [null, null, 1]})]),
        (".a[0].b = 1", json!({}), vec![json!({"a": [{"b": 1}]})]),
        (".a //= 5", json!({}), vec![json!({"a": 5})]),
        (".a += 1", json!({}), vec![json!({"a": 1})]),
        (".a |= . + 1", json!({"a": 1}), vec![json!({"a": 2})]),
        ("setpath([\"a\", \"b\"]; 1)", json!({}), vec![json!({"a": {"b": 1}})]),
        (".a[1:3] = [9]", json!({"a": [1, 2, 3, 4]}), vec![json!({"a": [1, 9, 4]})]),
        (".[2:4]", json!([1, 2, 3, 4, 5]), vec![json!([3, 4])]),
        (".[-2:]", json!("abcd"), vec![json!("cd")]),
        // Deleting several paths at once.
        ("del(.[0, 2])", json!([1, 2, 3, 4]), vec![json!([2, 4])]),
        ("del(.[-1], .[0])", json!([1, 2, 3, 4]), vec![json!([2, 3])]),
        ("del(.[] | select(. > 2))", json!([1, 2, 3, 4]), vec![json!([1, 2])]),
        ("del(.a.b, .c)", json!({"a": {"b": 1, "d": 2}, "c": 3}), vec![json!({"a": {"d": 2}})]),
        ("del(.x.y)", json!({"a": 1}), vec![json!({"a": 1})]),
        ("del(.[1:3])", json!([1, 2, 3, 4]), vec![json!([1, 4])]),
        ("delpaths([[0], [1]])", json!([1, 2, 3]), vec![json!([3])]),
        ("(.[] | select(. >= 2)) |= empty", json!([1, 5, 3, 0, 7]), vec![json!([1, 0])]),
        ("first(.[] | select(. > 1)) |= 10", json!([1, 2, 3]), vec![json!([1, 10, 3])]),
        ("limit(2; .[]) |= . * 2", json!([1, 2, 3]), vec![json!([2, 4, 3])]),
        (
            ".c[].env[]? |= . + 1",
            json!({"c": [{"env": [1]}, {"x": 1}]}),
            vec![json!({"c": [{"env": [2]}, {"x": 1}]})],
        ),
        (".a = null", json!({}), vec![json!({"a": null})]),
        (".a += null", json!({}), vec![json!({"a": null})]),
        ("(.a | .[]?) |= 1", json!({"b": 1}), vec![json!({"b": 1})]),
        ("[1, 2] | to_entries | map(.key)", json!(null), vec![json!([0, 1])]),
        (
            "to_entries",
            json!({"b": 1, "a": 2}),
            vec![json!([{"key": "b", "value": 1}, {"key": "a", "value": 2}])],
        ),
        (
            "from_entries",
            json!([{"name": "a", "value": 1}, {"Key": "b", "Value": 2}]),
            vec![json!({"a": 1, "b": 2})],
        ),
        (
            "[tostream]",
            json!({"a": [1, {"b": 2}]}),
            vec![json!([[["a", 0], 1], [["a", 1, "b"], 2], [["a", 1, "b"]], [["a", 1]], [["a"]]])],
        ),
        (
            "fromstream(tostream)",
            json!({"a": [1, {"b": 2}], "c": []}),
            vec![json!({"a": [1, {"b": 2}], "c": []})],
        ),
        (
            "[1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]])]",
            json!(null),
            vec![json!([[[0], 2], [[0]]])],
        ),
        // Numbers.
        (
            "1 + 2, 7 / 2, 6 / 3, 7 % 3, -7 % 3, 2 * 3, 1 - 3",
            json!(null),
            vec![json!(3), json!(3.5), json!(2), json!(1), json!(-1), json!(6), json!(-2)],
        ),
        ("9007199254740993", json!(null), vec![json!(9007199254740993_i64)]),
        (
            "[nan] | sort, (nan < nan), (nan == nan), (nan | isnan)",
            json!(null),
            vec![json!([null]), json!(true), json!(false), json!(true)],
        ),
        (
            "[1, null, \"a\", [1], {\"a\": 1}, true, false] | sort",
            json!(null),
            vec![json!([null, false, true, 1, "a", [1], {"a": 1}])],
        ),
        ("\"12\" | tonumber", json!(null), vec![json!(12)]),
        ("[.[] | tostring]", json!([1, "1", [1], {"a": 1.5}]), vec![json!(["1", "1", "[1]", "{\"a\":1.5}"])]),
        ("[.[] | floor, ceil, round]", json!([1.5, 2]), vec![json!([1, 2, 2, 2, 2, 2])]),
        ("pow(2; 10), (16 | sqrt), (-5 | abs)", json!(null), vec![json!(1024), json!(4), json!(5)]),
        // Text.
        ("\"a,b\" | split(\",\")", json!(null), vec![json!(["a", "b"])]),
        ("\"a1b22c\" | split(\"[0-9]+\"; null)", json!(null), vec![json!(["a", "b", "c"])]),
        ("[1, null, \"a\", true] | join(\"-\")", json!(null), vec![json!("1--a-true")]),
        ("\"nginx:1.2\" | sub(\":.*\"; \":3\")", json!(null), vec![json!("nginx:3")]),
        ("\"aXbX\" | gsub(\"x\"; \"-\"; \"i\")", json!(null), vec![json!("a-b-")]),
        (
            "\"foo-12\" | capture(\"(?<name>[a-z]+)-(?<n>[0-9]+)\")",
            json!(null),
            vec![json!({"name": "foo", "n": "12"})],
        ),
        (
            "\"foo-12\" | sub(\"(?<name>[a-z]+)-(?<n>[0-9]+)\"; \"\\(.n)-\\(.name)\")",
            json!(null),
            vec![json!("12-foo")],
        ),
        ("\"äöü\" | match(\"ü\") | .offset", json!(null), vec![json!(2)]),
        ("[\"abAB\" | scan(\"a\"; \"i\")]", json!(null), vec![json!(["a", "A"])]),
        (
            "\"test\" | test(\"T\"), test(\"T\"; \"i\"), test([\"T\", \"i\"])",
            json!(null),
            vec![json!(false), json!(true), json!(true)],
        ),
        (
            "(1 | ltrimstr(\"a\")), (\"abc\" | ltrimstr(\"a\"), rtrimstr(\"c\"))",
            json!(null),
            vec![json!(1), json!("bc"), json!("ab")],
        ),
        (
            "\"abcb\" | indices(\"b\"), index(\"b\"), rindex(\"b\")",
            json!(null),
            vec![json!([1, 3]), json!(1), json!(3)],
        ),
        (
            "[1, 2, 1, 2] | indices([1, 2]), indices(1), .[[2, 1]]",
            json!(null),
            vec![json!([0, 2]), json!([0, 2]), json!([1])],
        ),
        ("\"x\" * 3, \"x\" * 0", json!(null), vec![json!("xxx"), json!(null)]),
        (
            "@base64, (@base64 | @base64d), @json, @uri, @sh",
            json!("a b'"),
            vec![json!("YSBiJw=="), json!("a b'"), json!("\"a b'\""), json!("a%20b%27"), json!("'a b'\\'''")],
        ),
        (
            "@csv, @tsv",
            json!([1, "a\"b", null, "t\tt"]),
            vec![json!("1,\"a\"\"b\",,\"t\tt\""), json!("1\ta\"b\t\tt\\tt")],
        ),
        (
            "ascii_downcase, ascii_upcase, (explode | implode), utf8bytelength",
            json!("Ab"),
            vec![json!("ab"), json!("AB"), json!("Ab"), json!(2)],
        ),
        // Lists and mappings.
        ("add", json!([1, 2, 3]), vec![json!(6)]),
        ("add", json!(["a", "b"]), vec![json!("ab")]),
        ("add", json!([]), vec![json!(null)]),
        ("add", json!([{"a": 1}, {"b": 2}]), vec![json!({"a": 1, "b": 2})]),
        ("{a: {b: 1}} * {a: {c: 2}}", json!(null), vec![json!({"a": {"b": 1, "c": 2}})]),
        ("[1, 2, 3] - [2]", json!(null), vec![json!([1, 3])]),
        ("flatten, flatten(1)", json!([1, [2, [3]]]), vec![json!([1, 2, 3]), json!([1, 2, [3]])]),
        ("any, all", json!([true, false]), vec![json!(true), json!(false)]),
        ("any(. > 2), all(. > 0)", json!([1, 3]), vec![json!(true), json!(true)]),
        (
            "sort_by(.a), group_by(.a), unique_by(.a), min_by(.a), max_by(.a)",
            json!([{"a": 2}, {"a": 1}, {"a": 2}]),
            vec![
                json!([{"a": 1}, {"a": 2}, {"a": 2}]),
                json!([[{"a": 1}], [{"a": 2}, {"a": 2}]]),
                json!([{"a": 1}, {"a": 2}]),
                json!({"a": 1}),
                json!({"a": 2}),
            ],
        ),
        (
            "contains({a: [\"x\"]}), inside({a: [\"xy\", 1], b: 1})",
            json!({"a": ["xy"]}),
            vec![json!(true), json!(true)],
        ),
        ("transpose", json!([[1], [2, 3]]), vec![json!([[1, 2], [null, 3]])]),
        ("[combinations]", json!([[1, 2], [3]]), vec![json!([[1, 3], [2, 3]])]),
        ("bsearch(3), bsearch(4)", json!([1, 3, 5]), vec![json!(1), json!(-3)]),
        ("INDEX(.id), (.[0] | IN({id: 1}))", json!([{"id": 1}]), vec![json!({"1": {"id": 1}}), json!(true)]),
        ("reverse", json!([1, 2]), vec![json!([2, 1])]),
        ("map_values(empty)", json!({"a": 1}), vec![json!({})]),
        // Control.
        ("[limit(3; repeat(1))]", json!(null), vec![json!([1, 1, 1])]),
        (
            "[range(3)], [range(1; 3)], [range(0; 10; 4)]",
            json!(null),
            vec![json!([0, 1, 2]), json!([1, 2]), json!([0, 4, 8])],
        ),
        ("[.[] | until(. > 4; . * 2)]", json!([1, 5]), vec![json!([8, 5])]),
        (
            "[1 | while(. < 5; . * 2)], [2 | recurse(. * .; . < 20)]",
            json!(null),
            vec![json!([1, 2, 4]), json!([2, 4, 16])],
        ),
        (
            "reduce .[] as $x (0; . + $x), [foreach .[] as $x (0; . + $x)]",
            json!([1, 2]),
            vec![json!(3), json!([1, 3])],
        ),
        (
            "try error(\"x\") catch ., (try error({a: 1}) catch .a), (.a?)",
            json!([1]),
            vec![json!("x"), json!(1)],
        ),
        ("label $out | 1, break $out, 2", json!(null), vec![json!(1)]),
        (
            "if . then 1 end, (if false then 1 elif true then 2 else 3 end)",
            json!(0),
            vec![json!(1), json!(2)],
        ),
        (". as {a: $x, b: [$y]} | $x + $y", json!({"a": 1, "b": [2]}), vec![json!(3)]),
        (
            "first(range(10)), last(range(10)), nth(3; range(10)), isempty(empty)",
            json!(null),
            vec![json!(0), json!(9), json!(3), json!(true)],
        ),
        ("def f(x): x * 2; f(3)", json!(null), vec![json!(6)]),
        (
            "tojson, (tojson | fromjson)",
            json!({"b": [1, 2.5, null]}),
            vec![json!("{\"b\":[1,2.5,null]}"), json!({"b": [1, 2.5, null]})],
        ),
        ("[splits(\"a\")]", json!("bab"), vec![json!(["b", "b"])]),
        ("[.[] | values, nulls, scalars, iterables] | length", json!([1, null, []]), vec![json!(6)]),
        (
            "1425599621 | todate, (todate | fromdate)",
            json!(null),
            vec![json!("2015-03-05T23:53:41Z"), json!(1425599621)],
        ),
    ]
}

#[test]
fn expressions_give_what_jq_gives() {
    let mut wrong = Vec::new();
    for (expression, input, expected) in table() {
        if let Ok(object) = Object::from_value(input.clone()) {
            let program = Program::compile(expression).unwrap();
            let lazily = program.run_object(&object, &Cancel::new());
            assert_eq!(lazily, Ok(expected.clone()), "{expression} on an object that is not converted");
            assert_eq!(object.to_value(), input, "{expression} changed its input");
        }
        match run(expression, input) {
            Ok(outputs) if outputs == expected => {}
            other => wrong.push(format!("{expression}\n  expected {expected:?}\n  got      {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same table against the real programs, where they are installed: each row must agree with one of them.
#[test]
fn the_table_agrees_with_gojq_or_jq() {
    let oracles = std::env::var_os("PODSMITH_ORACLES")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/podsmith-oracles")));
    let candidates = [oracles.unwrap_or_default().join("gojq"), PathBuf::from("/usr/bin/jq")];
    let programs: Vec<PathBuf> = candidates.into_iter().filter(|path| path.exists()).collect();
    if programs.len() < 2 {
        println!("skipped: the_table_agrees_with_gojq_or_jq: gojq and jq are not both installed");
        return;
    }
    let mut wrong = Vec::new();
    for (expression, input, expected) in table() {
        let answers: Vec<Option<Vec<Value>>> =
            programs.iter().map(|program| ask(program, expression, &input)).collect();
        if !answers.iter().flatten().any(|answer| same(answer, &expected)) {
            wrong.push(format!("{expression}\n  ours   {expected:?}\n  theirs {answers:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn ask(program: &Path, expression: &str, input: &Value) -> Option<Vec<Value>> {
    let mut child = Command::new(program)
        .args(["-c", expression])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(input.to_string().as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let values = podsmith_object::json::read_stream(&text).ok()?;
    output.status.success().then(|| values.into_iter().map(|(value, _)| value).collect())
}

/// Equal, where 2 and 2.0 are the same number.
fn same(theirs: &[Value], ours: &[Value]) -> bool {
    fn equal(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
            (Value::Array(a), Value::Array(b)) => same(a, b),
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
            }
            _ => a == b,
        }
    }
    theirs.len() == ours.len() && theirs.iter().zip(ours).all(|(a, b)| equal(a, b))
}

#[test]
fn runtime_errors_say_what_was_wrong() {
    for (expression, input, expected) in [
        (".a.b", json!({"a": 1}), "cannot read `b` of a number"),
        (".[0]", json!({"a": 1}), "cannot read item 0 of an object"),
        (".[]", json!(1), "cannot iterate over a number"),
        ("1 / 0", json!(null), "cannot divide 1 by zero"),
        ("1 % 0", json!(null), "cannot divide 1 by zero"),
        ("{} + 1", json!(null), "cannot add an object and a number"),
        ("[] - {}", json!(null), "cannot subtract an object from an array"),
        ("{(1): 2}", json!(null), "the key of an object must be a string, this is a number"),
        (".a = 1", json!([1]), "cannot read `a` of an array"),
        (".[-5] = 1", json!([1]), "the index -5 is before the start of the array"),
        (".[1e9] = 1", json!([1]), "the index 1000000000 is too large"),
        ("\"x\" | test(\"(\")", json!(null), "not a valid regular expression"),
        ("error(\"no\")", json!(null), "no"),
        ("\"x\" | tonumber", json!(null), "`x` is not a number"),
    ] {
        let error = run(expression, input).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the jq expression failed: {expected}")), "{expression}: {error}");
    }
}

#[test]
fn expressions_that_never_end_are_stopped() {
    let limits = Limits { steps: 200_000, values: 100_000 };
    for (expression, bound) in [
        ("last(repeat(1))", Bound::Steps),
        ("def f: f; f", Bound::Steps),
        ("def f: 1 + f; f", Bound::Stack),
        ("[range(infinite)]", Bound::Values),
        ("last(range(infinite))", Bound::Steps),
        ("reduce range(40) as $i (\"x\"; . + .)", Bound::Values),
        ("reduce range(40) as $i ([1]; . + .)", Bound::Values),
        ("\"x\" * 1000000000", Bound::Values),
        ("reduce range(100000) as $i (0; [.])", Bound::Depth),
        ("[limit(1000000; repeat(1))] | length", Bound::Steps),
        ("until(false; .)", Bound::Steps),
        ("[recurse(. + 1; true)]", Bound::Steps),
    ] {
        let program = Program::builder(expression).limits(limits).compile().unwrap();
        assert_eq!(program.run(&json!(0)), Err(JqError::Stopped(bound)), "{expression}");
    }
}

#[test]
fn what_reaches_out_of_the_expression_does_not_exist() {
    for name in ["env", "$ENV", "input", "inputs", "debug", "halt", "now", "input_filename"] {
        let error = Program::compile(format!(".a | {name}")).err().expect(name);
        assert_eq!((error.line, error.column), (1, 6), "{name}");
        assert!(error.hint.is_some_and(|hint| hint.contains("left out on purpose")), "{name}");
    }
}

#[test]
fn an_invalid_expression_is_shown_with_its_place() {
    let error = Program::compile(".a |\n  foo(1)").err().unwrap();
    insta::assert_snapshot!(error.to_diagnostic(), @r#"
    error: invalid jq expression: there is no function `foo` with one argument
       |
     2 |   foo(1)
       |   ^
    "#);
    let error = Program::compile(".a[").err().unwrap();
    insta::assert_snapshot!(error, @"invalid jq expression at 1:4: expected closing bracket, found the end");
    let error = Program::compile("$x").err().unwrap();
    insta::assert_snapshot!(error, @"invalid jq expression at 1:1: there is no variable `$x`");
    let error = Program::compile("\"abc").err().unwrap();
    insta::assert_snapshot!(error, @"invalid jq expression at 1:5: expected closing quote, found the end");
}

#[test]
fn variables_and_functions_can_be_given() {
    let program = Program::builder("$a + $b.c")
        .variable("a", json!(1))
        .variable("$b", json!({"c": 2}))
        .compile()
        .unwrap();
    assert_eq!(program.run(&json!(null)).unwrap(), [json!(3)]);

    let pair = |input: &Value, arguments: &[Value]| Ok::<_, String>(json!([input, arguments]));
    let fail = |_: &Value, _: &[Value]| Err::<Value, _>("not today");
    let program = Program::builder("pair(1; 2), (try fail catch .)")
        .function("pair", 2, pair)
        .function("fail", 0, fail);
    let outputs = program.compile().unwrap().run(&json!("in")).unwrap();
    assert_eq!(outputs, [json!(["in", [1, 2]]), json!("`fail`: not today")]);

    for name in ["", "$", "a b", "1"] {
        assert!(Program::builder(".").variable(name, json!(1)).compile().is_err(), "{name:?}");
    }
}

/// Neither jq 1.6 nor gojq can do these.
#[test]
fn updates_through_last_and_trimstr_work_too() {
    assert_eq!(run("last(.[]) |= 10", json!([1, 2, 3])).unwrap(), [json!([1, 2, 10])]);
    assert_eq!(run("trimstr(\"a\")", json!("aba")).unwrap(), [json!("b")]);
}

#[test]
fn a_program_can_be_shared_between_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    check(&Program::compile(".").unwrap());
}
