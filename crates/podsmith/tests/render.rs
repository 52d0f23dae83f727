//! `podsmith render` as a user types it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;
use support::{Place, project};

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels: {tier: front}\nspec:\n  replicas: 3\n";
const DB: &str = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: data}\n";
const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: zones.x.io}\nspec: {group: x.io, scope: Cluster, names: {kind: Zone, plural: zones}, versions: [{name: v1}]}\n";

fn names(stdout: &str) -> Vec<String> {
    stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a JSON object a line"))
        .map(|object| object["metadata"]["name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn yaml_comes_out_as_documents_in_source_order() {
    let place = Place::new().file("b.yaml", WEB).file("a.yaml", DB);
    insta::assert_snapshot!(place.out(&["render", "b.yaml", "a.yaml"]), @r"
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      labels:
        tier: front
    spec:
      replicas: 3
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: db
      namespace: data
    ");
}

#[test]
fn json_is_a_list_and_ndjson_a_line_each() {
    let place = Place::new().file("a.yaml", format!("{WEB}---\n{DB}"));
    let list: Value = serde_json::from_str(&place.out(&["render", "a.yaml", "-o", "json"])).unwrap();
    assert_eq!(list["kind"], "List");
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert_eq!(names(&place.out(&["-o", "ndjson", "render", "a.yaml"])), ["web", "db"]);
    let empty: Value =
        serde_json::from_str(&place.out(&["render", "a.yaml", "-o", "json", "--filter", "kind=None"]))
            .unwrap();
    assert_eq!(empty["items"], serde_json::json!([]));
}

#[test]
fn what_is_rendered_renders_to_itself_again() {
    let place = Place::new().file("a.yaml", format!("{WEB}---\n{DB}---\n{CRD}"));
    let once = place.out(&["render", "a.yaml"]);
    for format in ["yaml", "json", "ndjson"] {
        place.write("again", place.out(&["render", "a.yaml", "-o", format]));
        assert_eq!(place.out(&["render", "again"]), once, "{format}");
    }
}

#[test]
fn a_directory_gives_its_manifests_in_name_order() {
    let place = Place::new()
        .file("d/2.yaml", WEB)
        .file("d/1.json", r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}"#)
        .file("d/notes.txt", "x")
        .file("d/sub/3.yaml", DB);
    assert_eq!(names(&place.out(&["render", "d", "-o", "ndjson"])), ["s", "web"]);
}

#[test]
fn globs_span_directories() {
    let place = Place::new().file("d/a/1.yaml", WEB).file("d/b/c/2.yaml", DB).file("d/b/c/x.yml", CRD);
    assert_eq!(names(&place.out(&["render", "d/**/*.yaml", "-o", "ndjson"])), ["web", "db"]);
    assert_eq!(names(&place.out(&["render", "d/*/*.yaml", "-o", "ndjson"])), ["web"]);
    assert_eq!(
        names(&place.out(&["render", "d/**/*.{yaml,yml}", "-o", "ndjson"])),
        ["web", "db", "zones.x.io"]
    );
}

#[test]
fn stdin_is_a_source_among_others() {
    let place = Place::new().file("a.yaml", WEB);
    let done = place.run_with_input(&["render", "a.yaml", "-", "-o", "ndjson"], DB.as_bytes());
    assert_eq!((done.code, names(&done.stdout)), (0, vec!["web".to_owned(), "db".to_owned()]));
    let wide: Vec<u8> = DB.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(names(&place.run_with_input(&["render", "-", "-o", "ndjson"], &wide).stdout), ["db"]);
}

#[test]
fn values_may_come_from_stdin() {
    let place = Place::new().file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n").file(
        "c/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.name }}}\n",
    );
    let done = place.run_with_input(&["render", "c", "--values", "-", "-o", "ndjson"], b"name: given\n");
    assert_eq!((done.code, names(&done.stdout)), (0, vec!["given".to_owned()]), "{}", done.stderr);
}

#[test]
fn flags_filter_first_and_transform_after() {
    let place = Place::new().file(
        "a.yaml",
        format!("{WEB}---\n{DB}---\n{CRD}---\napiVersion: x.io/v1\nkind: Zone\nmetadata: {{name: z}}\n"),
    );
    let out = place.out(&[
        "render",
        "a.yaml",
        "-o",
        "ndjson",
        "--transform",
        "namespace=prod",
        "--filter",
        "!namespace=prod",
        "--transform",
        "name-prefix=p-",
        "--transform",
        "jq=if .spec.replicas then .spec.replicas += 1 else . end",
    ]);
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<(&str, Option<&str>)> = objects
        .iter()
        .map(|o| (o["metadata"]["name"].as_str().unwrap(), o["metadata"]["namespace"].as_str()))
        .collect();
    assert_eq!(
        shown,
        [("p-web", Some("prod")), ("p-db", Some("prod")), ("p-zones.x.io", None), ("p-z", None)],
        "cluster-scoped kinds, also custom ones of the same batch, never get a namespace"
    );
    assert_eq!(objects[0]["spec"]["replicas"], 4);
}

#[test]
fn a_pipeline_file_runs_its_levels_in_order() {
    let place = Place::new()
        .file("app/podsmith.yaml", "apiVersion: podsmith.dev/v1\nkind: Pipeline\nsources:\n- yaml: {paths: ['m/**/*.yaml']}\n  transformers: [{labels: {set: {level: one}}}]\n- yaml: {paths: [extra.yaml]}\n  filters: [{kind: Service}]\nfilters: [{labelSelector: level=one}]\ntransformers: [{labels: {set: {level: two}}}]\n")
        .file("app/m/x/web.yaml", WEB)
        .file("app/extra.yaml", format!("{DB}---\napiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n"));
    for source in ["app", "app/podsmith.yaml"] {
        let out = place.out(&[
            "render",
            source,
            "-o",
            "ndjson",
            "--filter",
            "!label=level=two",
            "--transform",
            "label=level=three",
        ]);
        assert_eq!(names(&out), ["web"]);
        assert!(out.contains("\"level\":\"three\""));
    }
}

#[test]
fn a_bad_object_gives_no_output_and_every_error() {
    let place =
        Place::new().file("a.yaml", format!("{WEB}---\nkind: X\n---\na: b: c\n")).file("b.yaml", "- 1\n");
    let done = place.run(&["render", "a.yaml", "b.yaml"]);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(done.stderr, @r"
    error: a.yaml:9:1: `apiVersion` is missing
       |
     9 | kind: X
       | ^
    hint: every Kubernetes object has an apiVersion and a kind; is this another kind of file?
    error: a.yaml:11:5: a `key: value` cannot stand here
        |
     11 | a: b: c
        |     ^
    hint: check the indentation; a text with `: ` in it must be quoted
    ");
}

#[test]
fn a_missing_source_suggests_the_nearest_name() {
    let place = Place::new().file("manifest.yaml", WEB);
    let done = place.run(&["render", "manifst.yaml"]);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(done.stderr, @r"
    error: manifst.yaml: could not read the source: No such file or directory (os error 2)
    hint: did you mean `./manifest.yaml`?
    ");
    assert!(place.run(&["render", "*.yml"]).stderr.contains("no file matches this glob"));
    std::fs::create_dir(place.path().join("empty")).unwrap();
    assert!(place.run(&["render", "empty"]).stderr.contains("there is nothing to render in this directory"));
}

#[test]
fn wrong_usage_is_64_and_says_what_is_valid() {
    let place = Place::new().file("a.yaml", WEB);
    for args in [
        &["render"][..],
        &["rendr", "a.yaml"],
        &["render", "a.yaml", "--filter", "knd=x"],
        &["render", "a.yaml", "--transform", "x"],
        &["render", "a.yaml", "-o", "xml"],
        &["render", "a.yaml", "--bogus"],
    ] {
        let done = place.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (64, ""), "{args:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("error"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let many: String = (0..60_000)
        .map(|n| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\ndata: {{a: {}}}\n",
                "x".repeat(200)
            )
        })
        .collect();
    place.write("many.yaml", many);
    let mut child = place
        .command(&["render", "many.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn the_quick_start_of_the_readme_renders() {
    let place = Place::new();
    let shop = project().join("examples/shop");
    insta::assert_snapshot!(place.out(&["render", shop.to_str().unwrap()]));
}

#[test]
fn completion_scripts_name_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.out(&["completion", shell]).contains("render"), "{shell}");
    }
    assert!(place.out(&["--version"]).starts_with("podsmith "));
    assert!(place.out(&["version"]).starts_with("podsmith "));
}
