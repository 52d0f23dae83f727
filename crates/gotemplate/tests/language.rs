//! The rules of the language that one-line rows cannot show.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use podsmith_gotemplate::{
    Functions, Limits, Lookup, Map, MissingKey, Native, Options, Parameter, Renderer, Signature, TemplateSet,
    Value,
};
use podsmith_object::{Value as Json, json};

fn set(files: &[(&str, &str)]) -> TemplateSet {
    let mut set = TemplateSet::new(Functions::helm());
    for (name, text) in files {
        set.parse(name, text).unwrap();
    }
    set
}

fn run(text: &str, data: Json) -> Result<String, String> {
    set(&[("t", text)])
        .execute("t", &Value::from_json(&data), Options::default())
        .map_err(|error| error.to_string())
}

#[test]
fn a_value_set_in_one_file_is_seen_in_files_executed_later_but_not_in_the_next_render() {
    let set = set(&[
        ("_h", r#"{{ define "mark" }}{{ $_ := set .Values "seen" "yes" }}{{ end }}"#),
        ("a", r#"{{ include "mark" . }}a:{{ .Values.seen }}"#),
        ("b", "b:{{ .Values.seen }}"),
    ]);
    let source = json!({"Values": {}});
    for _ in 0..2 {
        let data = Value::from_json(&source);
        let mut render = Renderer::new(&set, Options::default());
        assert_eq!(render.execute("b", &data).unwrap(), "b:");
        assert_eq!(render.execute("a", &data).unwrap(), "a:yes");
        assert_eq!(render.execute("b", &data).unwrap(), "b:yes");
    }
}

#[test]
fn a_missing_parent_is_an_error_a_missing_last_key_is_not() {
    let strict = |text: &str| {
        let options = Options { missing_key: MissingKey::Error, ..Options::default() };
        set(&[("t", text)]).execute("t", &Value::from_json(&json!({})), options).is_err()
    };
    assert_eq!(run("[{{ .a }}]", json!({})).unwrap(), "[]");
    assert!(run("{{ .a.b }}", json!({})).unwrap_err().ends_with("nil pointer evaluating interface {}.b"));
    assert!(strict("{{ .a }}"));
    assert!(strict("{{ .a.b }}"));
    let options = Options { missing_key: MissingKey::Go, ..Options::default() };
    let go = set(&[("t", "{{ .a }} <no value>")]).execute("t", &Value::from_json(&json!({})), options);
    assert_eq!(go.unwrap(), "<no value> <no value>");
}

#[test]
fn large_numbers_print_as_helm_users_know_them() {
    let data = json!({"n": 1_000_000});
    assert_eq!(
        run("{{ .n }} {{ toYaml .n }} {{ int .n }} {{ .n | quote }}", data).unwrap(),
        "1e+06 1000000 1000000 \"1e+06\""
    );
}

#[test]
fn a_later_definition_wins_unless_it_is_blank() {
    let first = ("child", r#"{{ define "x" }}child{{ end }}"#);
    let second = ("parent", r#"{{ define "x" }}parent{{ end }}"#);
    let blank = ("blank", "{{ define \"x\" }} {{/* nothing */}}\n{{ end }}");
    let both = set(&[first, second, blank, ("t", r#"{{ include "x" . }}"#)]);
    assert_eq!(both.execute("t", &Value::Nil, Options::default()).unwrap(), "parent");
}

#[test]
fn errors_name_the_place_and_the_way_there() {
    let set = set(&[
        ("chart/templates/_h.tpl", "{{ define \"name\" }}\n  {{ .Values.image.tag }}\n{{ end }}"),
        ("chart/templates/web.yaml", "kind: Pod\nimage: {{ include \"name\" . }}\n"),
    ]);
    let error = set.execute(
        "chart/templates/web.yaml",
        &Value::from_json(&json!({"Values": {}})),
        Options::default(),
    );
    let error = error.unwrap_err();
    insta::assert_snapshot!(error.to_diagnostic().to_string(), @r#"
    error: chart/templates/_h.tpl:2:13: nil pointer evaluating interface {}.tag
       |
     2 |   {{ .Values.image.tag }}
       |             ^
      because: called from chart/templates/web.yaml:2:11 <include "name" .>
    "#);
    insta::assert_snapshot!(error.to_string(), @r#"template: chart/templates/web.yaml:2:10: executing "chart/templates/web.yaml" at <include "name" .>: error calling include: template: chart/templates/_h.tpl:2:12: executing "name" at <.Values.image.tag>: nil pointer evaluating interface {}.tag"#);
}

#[test]
fn a_parse_error_shows_its_line() {
    let mut set = TemplateSet::new(Functions::helm());
    let error = set.parse("a.yaml", "x: 1\ny: {{ nosuch .a }}\n").unwrap_err();
    insta::assert_snapshot!(error.to_diagnostic().to_string(), @r#"
    error: a.yaml:2:7: function "nosuch" not defined
       |
     2 | y: {{ nosuch .a }}
       |       ^
    "#);
}

#[test]
fn the_users_own_words_come_through() {
    let error = set(&[("t", "a\n{{ required \"set .image\" .image }}")])
        .execute("t", &Value::from_json(&json!({})), Options::default())
        .unwrap_err();
    assert_eq!(error.innermost().user_message.as_deref(), Some("set .image"));
    assert_eq!(error.helm_message(), "execution error at (t:2:3): set .image");
}

#[test]
fn recursion_output_and_time_are_bounded() {
    let endless =
        run(r#"{{ define "r" }}{{ include "r" . }}{{ end }}{{ include "r" . }}"#, json!({})).unwrap_err();
    assert!(
        endless.contains("rendering template has a nested reference name: r"),
        "{}",
        &endless[endless.len() - 200..]
    );
    let nested =
        run(r#"{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}"#, json!({})).unwrap_err();
    assert!(nested.ends_with("exceeded maximum template depth (100000)"));
    let text = r#"{{ define "r" }}{{ tpl "{{ include \"r\" . }}" . }}{{ end }}{{ include "r" . }}"#;
    assert!(run(text, json!({})).is_err());

    let limited = |text: &str, limits: Limits| {
        let options = Options { limits, ..Options::default() };
        set(&[("t", text)]).execute("t", &Value::Nil, options).unwrap_err().to_string()
    };
    let small = Limits { output_bytes: 1000, ..Limits::default() };
    assert!(limited("{{ range 1000000 }}0123456789{{ end }}", small).contains("larger than 1000 bytes"));
    assert!(limited("{{ repeat 100000 \"x\" }}", small).contains("would be 100000 bytes"));
    let brief = Limits { time: Duration::ZERO, ..Limits::default() };
    assert!(limited("{{ range 100000000 }}{{ end }}", brief).contains("longer than"));
    assert!(run("{{ until 1000000000 }}", json!({})).is_err());
    let doubling = r#"{{ $x := "0123456789" }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}"#;
    assert!(limited(doubling, small).contains("the result would be"));
    let lists = "{{ $x := list 1 2 }}{{ range 100 }}{{ $x = concat $x $x }}{{ end }}";
    assert!(limited(lists, small).contains("the result would be"));
}

#[test]
fn a_map_that_contains_itself_can_be_used_and_printed() {
    let text = r#"{{ $m := dict "a" 1 }}{{ $_ := set $m "self" $m }}{{ $m.self.self.a }} {{ $m }} {{ $m | toJson }} {{ deepEqual $m (deepCopy $m) }}"#;
    assert_eq!(run(text, json!({})).unwrap(), "1 map[a:1 self:map[…]]  true");
}

#[test]
fn values_may_nest_deep() {
    let text = r#"{{ $x := dict }}{{ range 20000 }}{{ $x = dict "a" (list $x) }}{{ end }}{{ $x | toString | len }}{{ $y := deepCopy $x }}{{ deepEqual $x $y }}"#;
    assert_eq!(run(text, json!({})).unwrap(), "180005true");
}

struct Version;

impl Native for Version {
    fn type_name(&self) -> &str {
        "test.Version"
    }

    fn field(&self, name: &str) -> Option<Value> {
        (name == "Major").then(|| Value::from("1"))
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        match (name, arguments) {
            ("Has", [Value::String(what)]) => Some(Ok(Value::Bool(&**what == "apps/v1"))),
            ("Fails", _) => Some(Err("no".to_owned())),
            _ => None,
        }
    }

    fn print(&self) -> String {
        "v1".to_owned()
    }

    fn to_json(&self) -> Json {
        json!({"major": "1"})
    }
}

#[test]
fn natives_have_fields_and_methods() {
    let data = Map::new();
    data.insert("V", Value::native(Version));
    let run = |text: &str| {
        set(&[("t", text)])
            .execute("t", &data.clone().into(), Options::default())
            .map_err(|error| error.to_string())
    };
    let out = run(
        r#"{{ .V }} {{ .V.Major }} {{ .V.Has "apps/v1" }} {{ "x" | .V.Has }} {{ if .V }}y{{ end }} {{ .V | toJson }}"#,
    );
    assert_eq!(out.unwrap(), r#"v1 1 true false y {"major":"1"}"#);
    assert!(run("{{ .V.Minor }}").unwrap_err().ends_with("can't evaluate field Minor in type test.Version"));
    assert!(run("{{ .V.Fails }}").unwrap_err().ends_with("error calling Fails: no"));
    assert!(
        run(r#"{{ .V.Major "x" }}"#)
            .unwrap_err()
            .ends_with("Major has arguments but cannot be invoked as function")
    );
}

struct Cluster;

impl Lookup for Cluster {
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Json, String> {
        if kind == "Broken" {
            return Err("no such kind".to_owned());
        }
        Ok(
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": namespace, "name": name}}),
        )
    }
}

#[test]
fn lookup_asks_the_provider() {
    let options = Options { lookup: Some(&Cluster), ..Options::default() };
    let ask = |text: &str| {
        set(&[("t", text)]).execute("t", &Value::Nil, options).map_err(|error| error.to_string())
    };
    assert_eq!(ask(r#"{{ (lookup "v1" "Secret" "ns" "s").metadata.name }}"#).unwrap(), "s");
    assert!(
        ask(r#"{{ lookup "v1" "Broken" "" "" }}"#)
            .unwrap_err()
            .ends_with("error calling lookup: no such kind")
    );
}

#[test]
fn own_functions_can_keep_state_and_include() {
    let mut functions = Functions::go();
    let counter = std::sync::atomic::AtomicI64::new(0);
    functions.insert("next", Signature { fixed: &[], variadic: None }, move |_, _| {
        Ok(Value::int(counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
    });
    functions.insert(
        "twice",
        Signature { fixed: &[Parameter::String], variadic: None },
        |render, arguments| {
            let name = arguments[0].as_str().unwrap_or_default();
            let once = render.include(name, &Value::Nil)?;
            Ok(Value::from(once.repeat(2)))
        },
    );
    let mut set = TemplateSet::new(functions);
    set.parse("t", r#"{{ define "x" }}{{ next }},{{ end }}{{ next }} {{ twice "x" }} {{ next }}"#).unwrap();
    assert_eq!(set.execute("t", &Value::Nil, Options::default()).unwrap(), "0 1,1, 2");
    assert!(set.parse("u", "{{ upper \"x\" }}").is_err());
}

#[test]
fn one_set_serves_many_threads() {
    let set = set(&[("t", r#"{{ range until 50 }}{{ . }}{{ end }}{{ .v | quote }}"#)]);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|number| {
                let set = &set;
                scope.spawn(move || {
                    set.execute("t", &Value::from_json(&json!({"v": number})), Options::default()).unwrap()
                })
            })
            .collect();
        for (number, worker) in workers.into_iter().enumerate() {
            assert!(worker.join().unwrap().ends_with(&format!("\"{number}\"")));
        }
    });
}
