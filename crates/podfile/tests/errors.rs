//! What a person sees when a Podfile is wrong: every mistake of the file, each with its place and a way on.

use podsmith_object::files::MemoryFiles;
use podsmith_podfile::{Options, Podfile, render};

fn problems(text: &str) -> String {
    let file = Podfile { name: "app.pf".into(), directory: String::new(), text: text.into() };
    match render(&[file], &MemoryFiles::new(), &Options::default()) {
        Ok(output) => format!("no errors; warnings:\n{}", output.warnings),
        Err(problems) => problems.to_string(),
    }
}

/// Place and message of each problem, one per line.
fn brief(text: &str) -> Vec<String> {
    problems(text)
        .lines()
        .filter(|line| line.starts_with("error") || line.starts_with("warning"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn all_mistakes_of_a_file_are_told_in_one_run() {
    insta::assert_snapshot!(problems(
        r#"pod "web" {
  imgae    = "nginx"
  replicas = "many"
  service "http" {
    port     = 99999
    protocol = "udpp"
  }
  volume "data" {
    size = "1Gib"
  }
  environment {
    HOST = pod.bd.service.pg.host
    PORT = locl.port
  }
}

pod "db" {
  image = upcase("x")
}
"#
    ));
}

#[test]
fn each_rule_of_the_grammar_names_its_line_and_column() {
    for (text, expected) in [
        ("pod {\n image = \"x\"\n}\n", "error: app.pf:1:1: `pod` needs a label: id"),
        ("pod \"a\" \"b\" { image = \"x\" }\n", "error: app.pf:1:9: `pod` takes one label"),
        ("pod \"a\" {}\n", "error: app.pf:1:1: pod `a` needs the attribute `image`, or a `container` block"),
        (
            "podinate \"x\" {\n package = \"a\"\n namespace = \"b\"\n}\n",
            "error: app.pf:1:10: `podinate` takes no label",
        ),
        (
            "podinate {\n package = \"a\"\n}\n",
            "error: app.pf:1:1: `podinate` needs the attribute `namespace`",
        ),
        (
            "podinate {\n package = \"a\"\n namespace = null\n}\n",
            "error: app.pf:3:14: `namespace` must not be null",
        ),
        (
            "pod \"a\" {\n image = \"x\"\n command = \"sh\"\n}\n",
            "error: app.pf:3:12: `command` cannot be used: a list of strings is needed, this is a string",
        ),
        (
            "pod \"a\" {\n image = \"x\"\n environment {\n  A = null\n }\n}\n",
            "error: app.pf:4:7: `A` cannot be used: the value must not be null",
        ),
        (
            "pod \"a\" {\n image = \"x\"\n environment {\n  b {}\n }\n}\n",
            "error: app.pf:4:3: there is no block `b` here",
        ),
        (
            "pod \"a\" { image = \"x\" }\npod \"a\" { image = \"y\" }\n",
            "error: app.pf:2:5: there are two `pod` blocks with the label `a`",
        ),
        (
            "pod \"a\" {\n image = \"x\"\n service \"s\" { port = 1.5 }\n}\n",
            "error: app.pf:3:23: `port` cannot be used: a whole number is needed, this is 1.5",
        ),
        ("pod \"a\" {\n image = nope\n}\n", "error: app.pf:2:10: `nope` is not defined"),
        ("pod \"a\" {\n image = local.x\n}\n", "error: app.pf:2:15: there is no local value `x`"),
        (
            "pod \"a\" {\n image = \"x\n}\n",
            "error: app.pf:2:2: this is no valid HCL: invalid block body; expected `}`, newline or identifier",
        ),
        (
            "pod \"a\" {\n image = \"x:1\"\n tag = \"2\"\n}\n",
            "error: app.pf:3:8: the image `x:1` has a tag or digest already; remove it or `tag`",
        ),
        (
            "locals {\n a = local.b\n b = local.a\n}\n",
            "error: app.pf:2:6: this refers to itself: local.a needs local.b needs local.a",
        ),
        (
            "pod \"A_b\" { image = \"x\" }\n",
            "error: app.pf:1:1: `A_b` is no valid DNS label: only lower case letters, digits and `-` are allowed",
        ),
        ("variable \"v\" {}\n", "error: app.pf:1:1: variable `v` has no value"),
        (
            "variable \"v\" {\n type = strng\n default = 1\n}\n",
            "error: app.pf:2:9: `strng` is no type; did you mean `string`?",
        ),
        (
            "pod \"a\" {\n image = \"x\"\n kind = \"job\"\n replicas = 2\n}\n",
            "error: app.pf:4:13: `replicas` does not fit a job; it is for statefulset and deployment",
        ),
        ("x = 1\n", "error: app.pf:1:1: there is no attribute `x` here"),
    ] {
        let found = brief(text);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}\n{found:#?}");
    }
}

#[test]
fn two_blocks_that_make_one_object_are_refused_with_both_places() {
    insta::assert_snapshot!(problems(
        "pod \"a\" {\n  image = \"x\"\n  service \"http\" { port = 80 }\n}\npod \"b\" {\n  image = \"x\"\n  service \"http\" { port = 80 }\n}\n"
    ), @r"
    error: app.pf:5: Service http: this object is declared twice
      because: the other one is declared at app.pf:1
    hint: give one of them another name or namespace
    ");
}

#[test]
fn a_shared_volume_that_nobody_declares_is_a_warning() {
    insta::assert_snapshot!(problems(
        "pod \"a\" {\n  image = \"x\"\n  shared_volume \"libary\" { mount_path = \"/l\" }\n}\nshared_volume \"library\" { size = \"1Gi\" }\n"
    ), @r#"
    no errors; warnings:
    warning: app.pf:3:3: no shared_volume `libary` is declared; the pod waits until a claim of this name exists; did you mean `library`?
       |
     3 |   shared_volume "libary" { mount_path = "/l" }
       |   ^
    "#);
}

#[test]
fn a_broken_file_does_not_hide_the_others() {
    let files = [("a.pf", "pod \"a\" {\n"), ("b.pf", "pod \"b\" { imag = \"x\" }\n")]
        .map(|(name, text)| Podfile { name: name.into(), directory: String::new(), text: text.into() });
    let found = render(&files, &MemoryFiles::new(), &Options::default()).unwrap_err().to_string();
    assert!(found.contains("error: a.pf:1:11: this is no valid HCL"), "{found}");
    assert!(found.contains("error: b.pf:1:11: there is no attribute `imag` here"), "{found}");
    assert!(found.contains("did you mean `image`?"), "{found}");
}
