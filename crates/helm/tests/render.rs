//! What a render promises, on charts in memory.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use podsmith_engine::{Engine, Sources};
use podsmith_helm::values::{SetMode, UserValues};
use podsmith_helm::{
    Chart, ChartFailure, ChartOptions, ChartSource, HelmError, HookEvent, Hooks, Lookup, Release,
    RenderRequest, Rendered, Strictness, WholeNumbers, render,
};
use podsmith_object::files::MemoryFiles;
use podsmith_object::{Map, Value, json};

fn chart(files: &[(&str, &str)]) -> Arc<Chart> {
    let mut tree = MemoryFiles::new();
    if !files.iter().any(|(path, _)| *path == "Chart.yaml") {
        tree.insert("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    }
    for (path, text) in files {
        tree.insert(path, text);
    }
    Chart::load_dir(&tree, "").unwrap()
}

fn with_values(values: Value) -> RenderRequest<'static> {
    let values = values.as_object().cloned().unwrap_or_default();
    RenderRequest { values, ..RenderRequest::default() }
}

fn names(rendered: &Rendered) -> Vec<String> {
    rendered.objects().map(|object| object.name().to_owned()).collect()
}

fn failure(chart: &Arc<Chart>, request: &RenderRequest<'_>) -> String {
    render(chart, request).unwrap_err().to_diagnostic().to_string()
}

const NAMED: &str = "kind: A\nmetadata: {name: {{ .Chart.Name }}}\n";

fn switchable() -> Arc<Chart> {
    chart(&[
        (
            "Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: db, version: 1.x, repository: '', condition: db.enabled}\n",
        ),
        ("values.yaml", "db: {enabled: true}\n"),
        ("templates/a.yaml", NAMED),
        ("charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        ("charts/db/templates/a.yaml", NAMED),
    ])
}

#[test]
fn a_subchart_that_was_off_comes_back() {
    let chart = switchable();
    let off = with_values(json!({"db": {"enabled": false}}));
    let on = RenderRequest::default();
    assert_eq!(names(&render(&chart, &off).unwrap()), ["web"]);
    assert_eq!(names(&render(&chart, &on).unwrap()), ["db", "web"]);
}

#[test]
fn renders_of_one_chart_with_different_values_run_side_by_side() {
    let chart = switchable();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let chart = &chart;
            scope.spawn(move || {
                for round in 0..50 {
                    let enabled = (thread + round) % 2 == 0;
                    let request = with_values(json!({"db": {"enabled": enabled}}));
                    let expected: &[&str] = if enabled { &["db", "web"] } else { &["web"] };
                    assert_eq!(names(&render(chart, &request).unwrap()), expected);
                }
            });
        }
    });
}

#[test]
fn what_a_template_sets_is_seen_later_in_the_render_and_never_in_the_next() {
    // Files are executed in reverse alphabetical order, so `z` runs before `a`.
    let chart = chart(&[
        ("values.yaml", "table: {x: 1}\n"),
        ("templates/z.yaml", "{{- $_ := set .Values.table \"x\" \"changed\" }}"),
        ("templates/a.yaml", "kind: A\nmetadata: {name: '{{ .Values.table.x }}'}\n"),
        ("templates/b.yaml", "kind: B\nmetadata: {name: '{{ .Values.table.y }}'}\n"),
        ("templates/y.yaml", "{{- $t := .Values.table }}{{ $_ := set $t \"y\" (default \"first\" $t.y) }}"),
    ]);
    for _ in 0..2 {
        assert_eq!(names(&render(&chart, &RenderRequest::default()).unwrap()), ["changed", "first"]);
    }
}

#[test]
fn strict_mode_refuses_missing_values() {
    let missing = chart(&[("templates/a.yaml", "kind: A\nmetadata: {name: 'x{{ .Values.none }}'}\n")]);
    let strict = RenderRequest { strictness: Strictness::Strict, ..RenderRequest::default() };
    assert_eq!(names(&render(&missing, &RenderRequest::default()).unwrap()), ["x"]);
    assert!(matches!(render(&missing, &strict), Err(HelmError::Template(_))));
    let below = chart(&[("templates/a.yaml", "a: {{ .Values.none.deeper }}\n")]);
    assert!(matches!(render(&below, &RenderRequest::default()), Err(HelmError::Template(_))));
}

#[test]
fn numbers_from_files_are_floats_and_numbers_from_set_are_integers() {
    let chart = chart(&[(
        "templates/a.yaml",
        "kind: A\nmetadata: {name: '{{ .Values.count }} {{ .Values.count | int }} {{ toYaml .Values.count }}'}\n",
    )]);
    let mut file = UserValues::new();
    file.add_file("v.yaml", "count: 1000000\n").unwrap();
    let mut set = UserValues::new();
    set.add_set("count=1000000", SetMode::Typed).unwrap();
    for (values, expected) in [(file, "1e+06 1000000 1000000"), (set, "1000000 1000000 1000000")] {
        let request = RenderRequest { values: values.into_values(), ..RenderRequest::default() };
        assert_eq!(names(&render(&chart, &request).unwrap()), [expected]);
    }
}

#[test]
fn hooks_are_told_apart_with_their_events_weights_and_policies() {
    let chart = chart(&[
        (
            "templates/hook.yaml",
            "kind: Job\nmetadata:\n  name: hook\n  annotations:\n    helm.sh/hook: pre-install, Test\n    \
             helm.sh/hook-weight: '-3'\n    helm.sh/hook-delete-policy: hook-succeeded,Before-Hook-Creation\n",
        ),
        ("templates/a.yaml", NAMED),
        ("crds/c.yaml", "kind: CustomResourceDefinition\nmetadata: {name: c}\n"),
        ("templates/NOTES.txt", "thanks for {{ .Chart.Name }}"),
    ]);
    let request = |hooks, include_crds| RenderRequest { hooks, include_crds, ..RenderRequest::default() };
    let all = render(&chart, &request(Hooks::Include, true)).unwrap();
    assert_eq!(names(&all), ["c", "web", "hook"]);
    assert_eq!(all.hooks[0].events, [HookEvent::PreInstall, HookEvent::Test]);
    assert_eq!(all.hooks[0].weight, -3);
    assert_eq!(all.hooks[0].delete_policies, ["hook-succeeded", "before-hook-creation"]);
    assert_eq!(all.notes.as_deref(), Some("thanks for web"));
    assert_eq!(names(&render(&chart, &request(Hooks::Leave, false)).unwrap()), ["web"]);
    assert_eq!(names(&render(&chart, &request(Hooks::WithoutTests, false)).unwrap()), ["web"]);
    let origin = all.manifests[0].object.as_ref().unwrap().origin().unwrap().clone();
    assert_eq!((origin.file.as_ref(), origin.line), ("web/templates/a.yaml", 1));
}

#[test]
fn an_unknown_hook_is_left_out_with_a_warning() {
    let text = "kind: Job\nmetadata: {name: a, annotations: {helm.sh/hook: crd-install}}\n";
    let rendered = render(&chart(&[("templates/a.yaml", text)]), &RenderRequest::default()).unwrap();
    assert!(rendered.is_empty());
    assert_eq!(
        rendered.warnings,
        ["web/templates/a.yaml: unknown hook `crd-install`, the object is left out"]
    );
}

struct Cluster;

impl Lookup for Cluster {
    fn lookup(&self, _api: &str, _kind: &str, _namespace: &str, name: &str) -> Result<Value, String> {
        match name {
            "known" => Ok(json!({"data": {"password": "old"}})),
            "broken" => Err("the cluster is gone".to_owned()),
            _ => Ok(json!({})),
        }
    }
}

#[test]
fn lookups_are_answered_by_the_provider_and_are_empty_without_one() {
    let text = "kind: A\nmetadata: {name: '{{ dig \"data\" \"password\" \"new\" (lookup \"v1\" \"Secret\" \"x\" .Values.name) }}'}\n";
    let chart = chart(&[("templates/a.yaml", text)]);
    let asked = |name: &str, lookup: Option<&'static dyn Lookup>| {
        let request = RenderRequest { lookup, ..with_values(json!({"name": name})) };
        render(&chart, &request).map(|rendered| names(&rendered).remove(0))
    };
    assert_eq!(asked("known", None).unwrap(), "new");
    assert_eq!(asked("known", Some(&Cluster)).unwrap(), "old");
    assert_eq!(asked("other", Some(&Cluster)).unwrap(), "new");
    assert!(asked("broken", Some(&Cluster)).is_err());
}

#[test]
fn a_seed_makes_random_values_repeatable() {
    let chart = chart(&[("templates/a.yaml", "kind: A\nmetadata: {name: '{{ randAlphaNum 20 }}'}\n")]);
    let seeded = |seed| names(&render(&chart, &RenderRequest { seed, ..RenderRequest::default() }).unwrap());
    assert_eq!(seeded(Some(7)), seeded(Some(7)));
    assert_ne!(seeded(Some(7)), seeded(Some(8)));
    assert_ne!(seeded(None), seeded(None));
}

#[test]
fn output_that_is_not_yaml_shows_the_rendered_lines() {
    let chart = chart(&[(
        "templates/a.yaml",
        "{{- range until 3 }}\nline{{ . }}: x\n{{- end }}\nmetadata:\n  name: a\n   bad: {{ .Chart.Name }}\n",
    )]);
    insta::assert_snapshot!(failure(&chart, &RenderRequest::default()), @r"
    error: web/templates/a.yaml:7:7: the rendered output is not valid: a `key: value` cannot stand here
      because: the rendered lines are
         3 | line1: x
         4 | line2: x
         5 | metadata:
         6 |   name: a
    >    7 |    bad: web
    hint: the line counts in the rendered text, not in the template
    ");
}

#[test]
fn a_failing_template_names_its_file_line_and_column() {
    let chart = chart(&[
        ("templates/_h.tpl", "{{ define \"name\" }}\n{{ required \"set the name\" .Values.name }}{{ end }}"),
        ("templates/a.yaml", "kind: A\nmetadata:\n  name: {{ include \"name\" . }}\n"),
    ]);
    insta::assert_snapshot!(failure(&chart, &RenderRequest::default()), @r#"
    error: web/templates/_h.tpl:2:4: set the name
       |
     2 | {{ required "set the name" .Values.name }}{{ end }}
       |    ^
      because: called from web/templates/a.yaml:3:12 <include "name" .>
    "#);
}

#[test]
fn values_that_break_a_schema_are_listed_for_every_chart() {
    let chart = chart(&[
        (
            "values.schema.json",
            r#"{"properties": {"port": {"type": "integer"}, "list": {"items": {"required": ["a"]}}}}"#,
        ),
        ("charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        (
            "charts/db/values.schema.json",
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"size": {"maximum": 5}}}"#,
        ),
    ]);
    let request = with_values(json!({"port": "x", "list": [{}], "db": {"size": 9}}));
    insta::assert_snapshot!(failure(&chart, &request), @r#"
    error: the values break the schema of chart web, db
      because: web: port: "x" is not of type "integer"
      because: web: list[0]: "a" is a required property
      because: db: size: 9 is greater than the maximum of 5
    hint: the rules are in values.schema.json of that chart
    "#);
    let request = RenderRequest { skip_schema: true, ..request };
    assert!(render(&chart, &request).is_ok());
}

#[test]
fn remote_schemas_are_not_fetched_and_that_is_said() {
    let chart = chart(&[(
        "values.schema.json",
        r#"{"properties": {"a": {"$ref": "https://example.com/schema.json"}}}"#,
    )]);
    let rendered = render(&chart, &with_values(json!({"a": 1}))).unwrap();
    assert!(rendered.warnings[0].contains("https://example.com/schema.json"), "{:?}", rendered.warnings);
}

#[test]
fn schemas_of_every_draft_are_understood_however_they_name_it() {
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/schema#",
        "https://example.com/made-up",
    ] {
        let text =
            json!({"$schema": dialect, "properties": {"a": {"type": "string", "$comment": "x"}}}).to_string();
        let chart = chart(&[("values.schema.json", &text)]);
        assert!(render(&chart, &with_values(json!({"a": "x"}))).is_ok(), "{dialect}");
        assert!(render(&chart, &with_values(json!({"a": 1}))).is_err(), "{dialect}");
    }
}

#[test]
fn release_names_dependencies_and_versions_are_checked_first() {
    let missing = chart(&[(
        "Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.x, repository: x}]\n",
    )]);
    insta::assert_snapshot!(failure(&missing, &RenderRequest::default()), @r"
    error: chart web needs db, which is not in its charts/ directory
    hint: download the dependencies first, or put the charts into charts/
    ");
    let picky = chart(&[("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '<1.20'\n")]);
    insta::assert_snapshot!(failure(&picky, &RenderRequest::default()), @r"
    error: chart web requires Kubernetes <1.20, this is v1.36.3
    hint: set another version with --kube-version if your cluster has one
    ");
    let release = Some(Release::new("Not_Good", "x"));
    let badly_named = RenderRequest { release, ..RenderRequest::default() };
    assert!(matches!(render(&chart(&[]), &badly_named), Err(HelmError::ReleaseName { .. })));
}

#[test]
fn numbers_of_the_engine_are_floats_unless_asked_otherwise() {
    let text = "kind: A\nmetadata: {name: '{{ .Values.count }}'}\n";
    for (whole_numbers, expected) in [(WholeNumbers::Floats, "1e+06"), (WholeNumbers::Integers, "1000000")] {
        let options = ChartOptions { whole_numbers, ..ChartOptions::default() };
        let source = ChartSource::loaded("web", chart(&[("templates/a.yaml", text)]), options);
        let engine = Engine::builder().renderer(Sources::new("helm", [source])).build().unwrap();
        let values = json!({"count": 1_000_000}).as_object().cloned().unwrap();
        let rendered = engine.call().values(values).render().unwrap();
        assert_eq!(rendered.objects[0].name(), expected);
    }
}

#[test]
fn a_chart_is_a_source_of_the_engine_whose_values_the_call_overrides() {
    let chart = chart(&[
        ("values.yaml", "name: chart\n"),
        ("templates/a.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: '{{ .Values.name }}'}\n"),
        ("templates/b.yaml", "{{ if .Values.fail }}{{ fail \"asked to\" }}{{ end }}"),
    ]);
    let own = json!({"name": "source"}).as_object().cloned().unwrap();
    let options = ChartOptions { values: own, ..ChartOptions::default() };
    let source = ChartSource::loaded("./web", chart, options);
    let engine = Engine::builder().renderer(Sources::new("helm", [source])).build().unwrap();
    let name = |values: Map<String, Value>| {
        engine.call().values(values).render().map(|rendered| rendered.objects[0].name().to_owned())
    };
    assert_eq!(name(Map::new()).unwrap(), "source");
    assert_eq!(name(json!({"name": "call"}).as_object().cloned().unwrap()).unwrap(), "call");
    let error = name(json!({"fail": true}).as_object().cloned().unwrap()).unwrap_err();
    assert!(error.find_cause::<ChartFailure>().is_some());
    assert!(error.to_diagnostics().to_string().contains("asked to"), "{}", error.to_diagnostics());
}
