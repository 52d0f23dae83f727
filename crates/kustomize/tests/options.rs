//! What a caller can choose, and the doors to the outside.

use std::sync::{Arc, Mutex};

use podsmith_kustomize::{
    BuildOptions, Built, ChartInflator, ChartRequest, LoadRestrictions, RemoteFetch, Reorder,
    RepositoryAddress, build,
};
use podsmith_object::files::{FileTree, MemoryFiles, OverlayFiles};
use podsmith_object::{Diagnostics, Object, Value, json};

fn files(entries: &[(&str, &str)]) -> Arc<dyn FileTree> {
    let mut files = MemoryFiles::new();
    for (path, content) in entries {
        files.insert(path, content);
    }
    Arc::new(files)
}

fn names(built: &Built) -> Vec<String> {
    built.objects.iter().map(|object| object.name().to_owned()).collect()
}

const TWO: &str = "{apiVersion: v1, kind: Service, metadata: {name: b}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n";

#[test]
fn order_is_that_of_the_tool_unless_none_is_wanted() {
    let tree = files(&[("kustomization.yaml", "resources: [x.yaml]"), ("x.yaml", TWO)]);
    let sorted = build(tree.clone(), "", &BuildOptions::default()).unwrap();
    assert_eq!(names(&sorted), ["a", "b"]);
    let read = build(tree, "", &BuildOptions { reorder: Reorder::None, ..BuildOptions::default() }).unwrap();
    assert_eq!(names(&read), ["b", "a"]);
}

#[test]
fn files_above_the_root_need_leave() {
    let tree = files(&[("app/kustomization.yaml", "resources: [../x.yaml]"), ("x.yaml", TWO)]);
    assert!(build(tree.clone(), "app", &BuildOptions::default()).is_err());
    let options = BuildOptions { load_restrictions: LoadRestrictions::None, ..BuildOptions::default() };
    assert_eq!(names(&build(tree, "app", &options).unwrap()), ["a", "b"]);
}

#[test]
fn values_are_a_config_map_beside_the_kustomization() {
    let kustomization = "resources: [values.yaml, x.yaml]
replacements:
- source: {kind: ConfigMap, name: values, fieldPath: data.replicas}
  targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]
";
    let tree = files(&[
        ("app/kustomization.yaml", kustomization),
        ("app/x.yaml", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1}}"),
    ]);
    let values = json!({"replicas": 3, "name": "x", "nested": {"a": [1]}});
    let options = BuildOptions { values: values.as_object().cloned().unwrap(), ..BuildOptions::default() };
    let built = build(tree, "app", &options).unwrap();
    assert_eq!(built.objects[1].get(&["spec", "replicas"]), Some(&json!(3)));
    assert_eq!(
        built.objects[0].get(&["data"]),
        Some(&json!({"name": "x", "nested": "{\"a\":[1]}", "replicas": "3"}))
    );
}

#[test]
fn a_file_that_would_be_hidden_by_the_values_is_told() {
    let tree = files(&[("app/kustomization.yaml", "resources: [values.yaml]"), ("app/values.yaml", TWO)]);
    let values = json!({"a": 1}).as_object().cloned().unwrap();
    let problems = build(tree, "app", &BuildOptions { values, ..BuildOptions::default() }).unwrap_err();
    insta::assert_snapshot!(problems, @r"
    error: app/values.yaml hides the values of this build
    hint: rename the file: `values.yaml` stands for the values that are passed in
    ");
}

#[test]
fn overlaid_trees_are_read_as_one() {
    let lower = files(&[("kustomization.yaml", "resources: [x.yaml]"), ("x.yaml", TWO)]);
    let upper = files(&[("kustomization.yaml", "resources: [x.yaml]\nnamePrefix: p-\n")]);
    let built = build(Arc::new(OverlayFiles::new(upper, lower)), "", &BuildOptions::default()).unwrap();
    assert_eq!(names(&built), ["a", "p-b"]);
}

#[test]
fn deprecated_fields_warn_once_for_each_file() {
    let tree = files(&[
        ("kustomization.yaml", "bases: [a, b]\n"),
        ("a/kustomization.yaml", "bases: [../base]\nnamePrefix: a-\n"),
        ("b/kustomization.yaml", "bases: [../base]\nnamePrefix: b-\n"),
        ("base/kustomization.yaml", "resources: [x.yaml]\ncommonLabels: {a: b}\n"),
        ("base/x.yaml", "{apiVersion: v1, kind: Service, metadata: {name: x}}"),
    ]);
    let built = build(tree, "", &BuildOptions::default()).unwrap();
    let mut places: Vec<String> =
        built.warnings.iter().map(|warning| warning.place.as_ref().unwrap().file.to_string()).collect();
    places.sort();
    assert_eq!(
        places,
        ["a/kustomization.yaml", "b/kustomization.yaml", "base/kustomization.yaml", "kustomization.yaml"]
    );
}

#[derive(Debug, Default)]
struct Remote {
    asked: Mutex<Vec<String>>,
}

impl RemoteFetch for Remote {
    fn file(&self, url: &str) -> Result<Vec<u8>, String> {
        self.asked.lock().expect("nobody panicked").push(url.to_owned());
        if url.ends_with("missing.yaml") { Err("status 404".into()) } else { Ok(TWO.as_bytes().to_vec()) }
    }

    fn repository(&self, address: &RepositoryAddress) -> Result<Arc<dyn FileTree>, String> {
        self.asked.lock().expect("nobody panicked").push(format!("{} {}", address.clone, address.reference));
        Ok(files(&[
            ("base/kustomization.yaml", "resources: [../other]\nnamePrefix: remote-\n"),
            ("other/kustomization.yaml", "resources: [x.yaml]\n"),
            ("other/x.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: s}}"),
            ("bad/kustomization.yaml", "resources: [../../escape]\n"),
        ]))
    }
}

fn with_remote(resource: &str) -> (Arc<Remote>, Result<Built, Diagnostics>) {
    let remote = Arc::new(Remote::default());
    let options = BuildOptions { remote: Some(remote.clone()), ..BuildOptions::default() };
    let tree = files(&[("kustomization.yaml", &format!("resources: ['{resource}']\n"))]);
    (remote, build(tree, "", &options))
}

#[test]
fn remote_bases_and_files_come_through_the_door() {
    let (remote, built) = with_remote("https://host.example/org/repo//base?ref=v1");
    // An address is tried as a file first, as the real tool does.
    assert!(built.is_ok());
    assert_eq!(remote.asked.lock().unwrap().len(), 1);

    let (remote, built) = with_remote("github.com/org/repo/base?ref=v1");
    assert_eq!(names(&built.unwrap()), ["remote-s"]);
    assert_eq!(*remote.asked.lock().unwrap(), ["https://github.com/org/repo v1"]);

    let (_, built) = with_remote("https://host.example/x.yaml");
    assert_eq!(names(&built.unwrap()), ["a", "b"]);
}

#[test]
fn remote_failures_and_escapes_are_told() {
    let (_, built) = with_remote("https://host.example/missing.yaml");
    insta::assert_snapshot!(built.unwrap_err(), @r"
    error: kustomization.yaml:1:13: could not fetch https://host.example/missing.yaml
       |
     1 | resources: ['https://host.example/missing.yaml']
       |             ^
      because: status 404
    ");
    let (_, built) = with_remote("github.com/org/repo/bad");
    assert!(built.unwrap_err().to_string().contains("lies outside the files that can be read"));
}

#[derive(Debug, Default)]
struct Charts {
    requests: Mutex<Vec<ChartRequest>>,
}

impl ChartInflator for Charts {
    fn inflate(&self, request: &ChartRequest) -> Result<Vec<Object>, String> {
        self.requests.lock().expect("nobody panicked").push(request.clone());
        if request.name == "broken" {
            return Err("no such chart".into());
        }
        let body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": request.release_name, "namespace": request.namespace},
            "data": {"tag": request.values["tag"]},
        });
        Object::from_value(body).map(|object| vec![object]).map_err(|error| error.to_string())
    }
}

#[test]
fn charts_get_their_values_and_the_namespace_of_the_kustomization() {
    let charts = Arc::new(Charts::default());
    let options = BuildOptions { charts: Some(charts.clone()), ..BuildOptions::default() };
    let tree = files(&[
        (
            "kustomization.yaml",
            "namespace: prod
namePrefix: p-
helmGlobals: {chartHome: here}
helmCharts:
- name: web
  releaseName: rel
  valuesFile: v.yaml
  valuesInline: {tag: inline}
  additionalValuesFiles: [more.yaml]
  includeCRDs: true
- {name: web, releaseName: second, namespace: own, valuesFile: v.yaml, valuesInline: {tag: x}, valuesMerge: merge}
",
        ),
        ("v.yaml", "tag: file\nport: 1\n"),
        ("more.yaml", "port: 2\n"),
    ]);
    let built = build(tree, "", &options).unwrap();
    let requests = charts.requests.lock().unwrap();
    assert_eq!(requests[0].values, json!({"tag": "inline", "port": 2}));
    assert_eq!(requests[1].values["tag"], json!("file"));
    assert_eq!((requests[0].chart_home.as_str(), requests[0].include_crds), ("here", true));
    let found: Vec<(String, String)> =
        built.objects.iter().map(|o| (o.namespace().to_owned(), o.name().to_owned())).collect();
    // The chart's own namespace stays, its name is prefixed like any other.
    assert_eq!(found, [("own".to_owned(), "p-second".to_owned()), ("prod".to_owned(), "p-rel".to_owned())]);
}

#[test]
fn a_chart_that_fails_is_told_with_its_entry() {
    let options = BuildOptions { charts: Some(Arc::new(Charts::default())), ..BuildOptions::default() };
    let tree = files(&[("kustomization.yaml", "helmCharts: [{name: broken}]\n")]);
    insta::assert_snapshot!(build(tree, "", &options).unwrap_err(), @r"
    error: kustomization.yaml:1:14: could not render chart `broken`
       |
     1 | helmCharts: [{name: broken}]
       |              ^
      because: no such chart
    ");
}

#[test]
fn objects_know_the_file_and_line_they_came_from() {
    let tree = files(&[
        ("kustomization.yaml", "resources: [base]\nconfigMapGenerator:\n- name: c\n"),
        ("base/kustomization.yaml", "resources: [x.yaml]\n"),
        ("base/x.yaml", TWO),
    ]);
    let built = build(tree, "", &BuildOptions::default()).unwrap();
    let places: Vec<String> =
        built.objects.iter().map(|object| object.origin().unwrap().place().to_string()).collect();
    assert_eq!(places, ["base/x.yaml:3", "kustomization.yaml:3", "base/x.yaml:1"]);
}

#[test]
fn fields_of_the_result_are_sorted() {
    let tree = files(&[
        ("kustomization.yaml", "resources: [x.yaml]\n"),
        ("x.yaml", "kind: A\nmetadata: {name: a}\nb: {d: 1, c: [{z: 1, y: 2}]}\napiVersion: v1\n"),
    ]);
    let built = build(tree, "", &BuildOptions::default()).unwrap();
    let text = Value::Object(built.objects[0].body().clone()).to_string();
    assert_eq!(
        text,
        r#"{"apiVersion":"v1","b":{"c":[{"y":2,"z":1}],"d":1},"kind":"A","metadata":{"name":"a"}}"#
    );
}
