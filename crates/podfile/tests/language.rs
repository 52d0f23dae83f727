//! Expressions, functions, variables, references, repetition and modules.

use podsmith_object::files::MemoryFiles;
use podsmith_object::{Map, Value, json};
use podsmith_podfile::{Options, Podfile, PodfileOutput, render};

fn run(text: &str, tree: &MemoryFiles, options: &Options<'_>) -> PodfileOutput {
    let file = Podfile { name: "app.pf".into(), directory: String::new(), text: text.into() };
    match render(&[file], tree, options) {
        Ok(output) => output,
        Err(problems) => panic!("{problems}\n{text}"),
    }
}

/// The value of an expression.
fn value(expression: &str) -> Value {
    let tree = MemoryFiles::new()
        .with("hello.txt", "hello\n")
        .with("t.tpl", "%{ for n in names ~}\n- ${n}\n%{ endfor ~}\n")
        .with("d/a.json", "1")
        .with("d/e/b.json", "2");
    let output = run(&format!("output \"x\" {{\n  value = {expression}\n}}\n"), &tree, &Options::default());
    output.packages[0].outputs["x"].clone()
}

fn failure(expression: &str) -> String {
    let file = Podfile {
        name: "app.pf".into(),
        directory: String::new(),
        text: format!("output \"x\" {{\n  value = {expression}\n}}\n"),
    };
    match render(&[file], &MemoryFiles::new(), &Options::default()) {
        Err(problems) => problems.0[0].message.clone(),
        Ok(_) => "no failure".into(),
    }
}

#[test]
fn expressions_have_the_values_hcl_gives_them() {
    for (expression, expected) in [
        ("1 + 2 * 3", json!(7)),
        ("10 / 4", json!(2.5)),
        ("6 / 2", json!(3)),
        ("7 % 3", json!(1)),
        ("-5 + 2", json!(-3)),
        ("\"2\" + 3", json!(5)),
        ("1 == 1.0", json!(true)),
        ("\"1\" == 1", json!(false)),
        ("!false && (1 < 2 || 1 / 0 > 1)", json!(true)),
        ("true ? \"a\" : \"b\"", json!("a")),
        ("[1, \"a\", true][1]", json!("a")),
        ("{ a = 1, \"b c\" = 2 }[\"b c\"]", json!(2)),
        ("{ (\"x\") = 1 }.x", json!(1)),
        ("\"${1 + 1} and ${true}\"", json!("2 and true")),
        ("\"${[1, 2]}\"", json!([1, 2])),
        ("\"$${x} %%{y}\"", json!("${x} %{y}")),
        ("[for v in [1, 2, 3] : v * 2 if v != 2]", json!([2, 6])),
        ("[for i, v in [\"a\", \"b\"] : \"${i}${v}\"]", json!(["0a", "1b"])),
        ("{ for k, v in { a = 1, b = 2 } : upper(k) => v }", json!({"A": 1, "B": 2})),
        (
            "{ for v in [\"a\", \"b\", \"ab\"] : substr(v, 0, 1) => v... }",
            json!({"a": ["a", "ab"], "b": ["b"]}),
        ),
        ("[{ a = 1 }, { a = 2 }][*].a", json!([1, 2])),
        ("[{ a = 1 }, { a = 2 }].*.a", json!([1, 2])),
        ("\"%{ if true }yes%{ else }no%{ endif }\"", json!("yes")),
        ("\"%{ for x in [1, 2] }${x},%{ endfor }\"", json!("1,2,")),
        ("<<EOT\n  a\n  b\nEOT\n", json!("  a\n  b\n")),
        ("<<-EOT\n    a\n      b\n    EOT\n", json!("a\n  b\n")),
        (
            "<<-EOT\n    start\n    %{ for x in [1, 2] ~}\n    - ${x}\n    %{ endfor ~}\n    EOT\n",
            json!("start\n- 1\n- 2\n"),
        ),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn functions_give_what_terraform_gives() {
    for (expression, expected) in [
        ("upper(\"aé\")", json!("AÉ")),
        ("title(\"hello big world\")", json!("Hello Big World")),
        ("join(\"-\", [\"a\", 1], [\"b\"])", json!("a-1-b")),
        ("split(\",\", \"a,b,,c\")", json!(["a", "b", "", "c"])),
        ("replace(\"hello\", \"/l+/\", \"L\")", json!("heLo")),
        ("replace(\"1.2.3\", \".\", \"-\")", json!("1-2-3")),
        ("substr(\"hello\", -3, 2)", json!("ll")),
        ("trim(\"??hi!!\", \"?!\")", json!("hi")),
        ("format(\"%s-%03d-%.1f-%t-%%\", \"a\", 7, 2, true)", json!("a-007-2.0-true-%")),
        ("formatlist(\"%s.%s\", [\"a\", \"b\"], \"x\")", json!(["a.x", "b.x"])),
        ("regex(\"(\\\\d+)-(\\\\d+)\", \"10-20\")", json!(["10", "20"])),
        ("regexall(\"[a-z]+\", \"ab 1 cd\")", json!(["ab", "cd"])),
        ("indent(2, \"a\\nb\")", json!("a\n  b")),
        ("length({ a = 1 }) + length(\"héé\") + length([1])", json!(5)),
        ("concat([1], [2, 3])", json!([1, 2, 3])),
        ("flatten([[1, [2]], 3])", json!([1, 2, 3])),
        ("keys({ b = 1, a = 2 })", json!(["a", "b"])),
        ("values({ b = 1, a = 2 })", json!([2, 1])),
        ("merge({ a = 1 }, { a = 2, b = 3 })", json!({"a": 2, "b": 3})),
        ("lookup({ a = 1 }, \"b\", 9)", json!(9)),
        ("distinct([1, 2, 1])", json!([1, 2])),
        ("element([\"a\", \"b\"], 3)", json!("b")),
        ("sort([\"b\", \"a\"])", json!(["a", "b"])),
        ("slice([1, 2, 3], 1, 2)", json!([2])),
        ("range(3)", json!([0, 1, 2])),
        ("range(1, 8, 3)", json!([1, 4, 7])),
        ("zipmap([\"a\"], [1])", json!({"a": 1})),
        ("coalesce(null, \"\", \"x\")", json!("x")),
        ("compact([\"a\", \"\", null])", json!(["a"])),
        ("toset([\"b\", \"a\", \"b\"])", json!(["a", "b"])),
        ("setproduct([\"a\", \"b\"], [1, 2])", json!([["a", 1], ["a", 2], ["b", 1], ["b", 2]])),
        ("chunklist([1, 2, 3], 2)", json!([[1, 2], [3]])),
        ("one([])", json!(null)),
        ("max(1, 5, 3) - min(2, 4)", json!(3)),
        ("ceil(1.2) + floor(1.8)", json!(3)),
        ("pow(2, 10)", json!(1024)),
        ("parseint(\"ff\", 16)", json!(255)),
        ("sum([1, 2.5])", json!(3.5)),
        ("jsonencode({ b = [1], a = null })", json!("{\"a\":null,\"b\":[1]}")),
        ("jsondecode(\"{\\\"a\\\":[1]}\").a[0]", json!(1)),
        ("yamldecode(\"a: [1, x]\").a", json!([1, "x"])),
        ("base64decode(base64encode(\"hé\"))", json!("hé")),
        ("urlencode(\"a b&c\")", json!("a+b%26c")),
        ("csvdecode(\"a,b\\n1,\\\"x,y\\\"\\n\")", json!([{"a": "1", "b": "x,y"}])),
        ("sha256(\"\")", json!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")),
        ("sha1(\"abc\")", json!("a9993e364706816aba3e25717850c26c9cd0d89d")),
        ("uuidv5(\"dns\", \"www.terraform.io\")", json!("a5008fae-b28c-5ba5-96cd-82b4c53552d6")),
        ("file(\"hello.txt\")", json!("hello\n")),
        ("fileexists(\"nope\")", json!(false)),
        ("fileset(\"d\", \"**/*.json\")", json!(["a.json", "e/b.json"])),
        ("templatefile(\"t.tpl\", { names = [\"a\", \"b\"] })", json!("- a\n- b\n")),
        ("timeadd(\"2026-01-01T00:00:00Z\", \"90m\")", json!("2026-01-01T01:30:00Z")),
        ("formatdate(\"DD MMM YYYY hh:mm\", \"2026-02-03T04:05:06Z\")", json!("03 Feb 2026 04:05")),
        ("try({}.a, \"b\")", json!("b")),
        ("can(1 / 0)", json!(false)),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn failures_say_why() {
    for (expression, expected) in [
        ("1 / 0", "this divides by zero"),
        ("[1][5]", "there is no element 5: the list has 1 elements"),
        ("{ a = 1 }.b", "there is no `b` here"),
        ("\"${[1]}x\"", "this cannot be put into a string: a string is needed, this is a list"),
        ("file(\"nope\")", "`file` failed: `nope` cannot be read: there is no such file"),
        ("file(\"../x\")", "`file` failed: `../x` leaves the directory that may be read"),
        ("upper()", "`upper` was given 0 arguments; it is upper(text)"),
        ("{ for v in [1, 1] : \"a\" => v }", "two elements give the key `a`"),
        ("each.key", "`each` is not defined"),
    ] {
        assert_eq!(failure(expression), expected, "{expression}");
    }
}

#[test]
fn variables_come_from_values_then_environment_then_default() {
    let text = "variable \"a\" {\n  type = number\n  default = 1\n}\nvariable \"l\" {\n  type = list(string)\n  default = []\n}\noutput \"x\" {\n  value = [var.a, var.l]\n}\n";
    let environment = |name: &str| match name {
        "PODSMITH_VAR_a" => Some("2".to_owned()),
        "PODSMITH_VAR_l" => Some("[\"p\", \"q\"]".to_owned()),
        _ => None,
    };
    let read =
        |options: &Options<'_>| run(text, &MemoryFiles::new(), options).packages[0].outputs["x"].clone();
    assert_eq!(read(&Options::default()), json!([1, []]));
    let options = Options { environment: &environment, ..Options::default() };
    assert_eq!(read(&options), json!([2, ["p", "q"]]));
    let values: Map<String, Value> = serde_json::from_str("{\"a\": \"3\"}").unwrap();
    let options = Options { environment: &environment, values, ..Options::default() };
    assert_eq!(read(&options), json!([3, ["p", "q"]]));
}

#[test]
fn object_types_have_optional_attributes_with_defaults() {
    let text = "variable \"o\" {\n  type = object({ name = string, size = optional(number, 3), tags = optional(list(string)) })\n  default = { name = \"x\" }\n}\noutput \"x\" {\n  value = var.o\n}\n";
    let output = run(text, &MemoryFiles::new(), &Options::default());
    assert_eq!(output.packages[0].outputs["x"], json!({"name": "x", "size": 3, "tags": null}));
}

#[test]
fn modules_have_their_own_variables_and_give_outputs() {
    let tree = MemoryFiles::new().with(
        "modules/web/main.pf",
        "variable \"name\" {}\nvariable \"port\" {\n  default = 80\n}\npod \"this\" {\n  name  = var.name\n  image = file(\"image.txt\")\n  service \"web\" {\n    port = var.port\n    labels = { name = var.name }\n  }\n}\noutput \"url\" {\n  value = \"http://${pod.this.service.web.host}:${var.port}\"\n}\n",
    ).with("modules/web/image.txt", "nginx");
    let text = "podsmith {\n  package = \"p\"\n  namespace = \"ns\"\n}\nmodule \"a\" {\n  source = \"./modules/web\"\n  name = \"a\"\n}\noutput \"x\" {\n  value = module.a.url\n}\n";
    let output = run(text, &tree, &Options::default());
    assert_eq!(output.packages[0].outputs["x"], json!("http://web.ns.svc:80"));
    let names: Vec<String> = output.objects().map(|o| o.id().to_string()).collect();
    assert_eq!(names, ["StatefulSet ns/a", "Service ns/a", "Service ns/web"]);
}

#[test]
fn a_module_refuses_values_it_does_not_know_and_circles() {
    let tree = MemoryFiles::new()
        .with("m/main.pf", "variable \"name\" {}\n")
        .with("loop/main.pf", "module \"again\" {\n  source = \"../loop\"\n}\n");
    let check = |text: &str| {
        let file = Podfile { name: "app.pf".into(), directory: String::new(), text: text.into() };
        render(&[file], &tree, &Options::default()).unwrap_err().to_string()
    };
    let found = check("module \"a\" {\n  source = \"m\"\n  name = 1\n  nmae = 2\n}\n");
    assert!(found.contains("app.pf:4:3: the module has no variable `nmae`"), "{found}");
    assert!(check("module \"a\" {\n  source = \"loop\"\n}\n").contains("modules are nested too deeply"));
}

#[test]
fn files_of_one_directory_share_a_package_and_other_packages_stay_apart() {
    let file = |name: &str, directory: &str, text: &str| Podfile {
        name: name.into(),
        directory: directory.into(),
        text: text.into(),
    };
    let output = render(
        &[
            file("a/main.pf", "a", "podsmith {\n  package = \"one\"\n  namespace = \"n1\"\n}\n"),
            file("a/web.pf", "a", "pod \"web\" { image = \"x\" }\n"),
            file("b/solo.pf", "b", "pod \"solo\" { image = \"x\" }\n"),
        ],
        &MemoryFiles::new(),
        &Options::default(),
    )
    .unwrap();
    let shown: Vec<_> =
        output.packages.iter().map(|p| (p.name.as_str(), p.namespace.as_deref(), p.objects.len())).collect();
    assert_eq!(shown, [("one", Some("n1"), 2), ("solo", None, 2)]);
}

#[test]
fn an_empty_file_is_an_empty_package() {
    assert_eq!(run("# nothing\n", &MemoryFiles::new(), &Options::default()).objects().count(), 0);
    assert!(render(&[], &MemoryFiles::new(), &Options::default()).unwrap().packages.is_empty());
}

#[test]
fn the_language_describes_itself() {
    let description = podsmith_podfile::describe_language();
    let blocks = description["body"]["blocks"].as_array().unwrap();
    assert!(blocks.iter().any(|block| block["name"] == "pod"));
    assert_eq!(
        podsmith_podfile::json_schema()["properties"]["pod"]["additionalProperties"]["properties"]["replicas"]
            ["type"],
        "integer"
    );
}

mod fuzz {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn no_text_makes_the_renderer_panic(text in "(pod|variable|locals|service|\\{|\\}|\"|=|\\[|\\]|\\$\\{|%\\{|for|in|if|[a-z]{1,3}|[0-9]|\\.|,|\n| |<<EOT\n|EOT\n|\\*|\\?|:|\\(|\\)){0,40}") {
            let file = Podfile { name: "f.pf".into(), directory: String::new(), text: text.clone() };
            let _ = render(&[file], &MemoryFiles::new(), &Options::default());
            let _ = podsmith_podfile::fmt::format("f.pf", &text);
        }

        #[test]
        fn any_string_survives_jsonencode_and_decode(text in "[^\"\\\\$%\\p{C}]{0,20}") {
            prop_assert_eq!(value(&format!("jsondecode(jsonencode(\"{text}\"))")), json!(text));
        }
    }
}
