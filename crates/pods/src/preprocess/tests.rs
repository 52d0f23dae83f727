use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn values(env: &str) -> FileValues {
    FileValues {
        version: Some("1.2.3".into()),
        file: EnvFile::parse(env),
        environment: BTreeMap::new(),
        host_ports: PortPool::host(BTreeSet::from([30_000])),
        cluster_ports: PortPool::cluster(BTreeSet::new()),
    }
}

fn run(text: &str, env: &str) -> Result<Processed, Diagnostics> {
    preprocess("pod.yaml", text, &mut values(env), Missing::Warn)
}

fn text(source: &str, env: &str) -> String {
    run(source, env).unwrap().text
}

#[test]
fn only_braced_names_are_variables() {
    assert_eq!(text("a: ${A} $A ${A:-d} ${1} ${} $${A}", "A=x"), "a: x $A ${A:-d} ${1} ${} $x");
}

#[test]
fn the_first_line_of_a_name_wins_and_the_value_is_literal() {
    assert_eq!(text("${A}|${B}", "A=\"1\"\nA=2\n B=3\nB= x # y "), "\"1\"| x # y ");
}

#[test]
fn the_version_is_built_in_and_cannot_be_overridden() {
    assert_eq!(text("${podVersion}", "podVersion=9.9.9"), "1.2.3");
}

#[test]
fn automatic_ports_are_free_and_equal_for_equal_names() {
    let source = "${HOSTPORTAUTO1} ${HOSTPORTAUTO2} ${HOSTPORTAUTO1} ${CLUSTERPORTAUTO1}";
    assert_eq!(text(source, ""), "30001 30002 30001 61000");
}

#[test]
fn directives_nest() {
    let source = "#iftrue ${A}\na\n#ifdef ${B}\nb\n#ifndef ${C}\nc\n#endif\n#endif\n#endif\n#ifntrue ${A}\nd\n#endif\n";
    assert_eq!(text(source, "A=true\nB=two words"), "a\nb\nc\n");
    assert_eq!(text(source, "A=True"), "d\n");
    assert_eq!(text(source, "A=true"), "a\n");
}

#[test]
fn indented_directives_are_comments() {
    assert_eq!(text("  #ifdef ${A}\nx\n", ""), "  #ifdef \nx\n");
}

#[test]
fn unbalanced_directives_are_errors_at_their_line() {
    for (source, line) in [("x\n#ifdef A\ny", 2), ("x\n#endif\n", 2), ("#ifdef\n#iftrue true\n#endif\n", 1)] {
        let problems = run(source, "").unwrap_err();
        assert_eq!(problems.0[0].place.as_ref().unwrap().line, line, "{source}");
    }
}

#[test]
fn a_missing_variable_warns_once_or_is_refused() {
    let source = "#ifdef ${X}\n#endif\na: ${X} ${X}\n";
    let processed = run(source, "").unwrap();
    assert_eq!(processed.text, "a:  \n");
    assert_eq!(processed.warnings.0.len(), 1);
    let problems = preprocess("pod.yaml", source, &mut values(""), Missing::Refuse).unwrap_err();
    assert_eq!(problems.0.len(), 2, "the directive alone is no error");
    assert_eq!(
        problems.0[0].to_string().lines().next().unwrap(),
        "error: pod.yaml:3:4: variable `X` has no value"
    );
}

#[test]
fn positions_lead_back_to_the_source() {
    let processed = run("#ifdef ${N}\nx\n#endif\na: ${LONG} b: ${S}!\n", "LONG=0123456789\nS=s").unwrap();
    assert_eq!(processed.text, "a: 0123456789 b: s!\n");
    assert_eq!(processed.source_place(1, 1), (4, 1));
    assert_eq!(processed.source_place(1, 6), (4, 4), "inside the first value");
    assert_eq!(processed.source_place(1, 15), (4, 12), "the b");
    assert_eq!(processed.source_place(1, 19), (4, 19), "the exclamation mark");
}

#[test]
fn cluster_variables_follow_their_case() {
    let file = EnvFile::parse("GLOBAL=g\nweb_port=80\nport=1");
    let mut values = ClusterValues {
        pod: "web",
        version: None,
        file: &file,
        host_ports: PortPool::host(BTreeSet::new()),
        cluster_ports: PortPool::cluster(BTreeSet::new()),
    };
    let out = preprocess("p", "${GLOBAL} ${port} ${_keep} ${DEVMODE}", &mut values, Missing::Warn).unwrap();
    assert_eq!(out.text, "g 80 ${_keep} ");
    assert!(out.warnings.is_empty());
}

proptest! {
    #[test]
    fn any_value_is_inserted_literally(value in "[^\r\n]{0,40}", before in "[a-z: ]{0,9}", after in "[ -#%-~]{0,9}") {
        let source = format!("{before}${{V}}{after}");
        let out = text(&source, &format!("V={value}"));
        prop_assert_eq!(out, format!("{before}{value}{after}"));
    }

    #[test]
    fn any_text_is_survived(source in "(#ifdef|#endif|\\$\\{A\\}|\\$|\\{|\n|é|x| ){0,30}") {
        let _ = run(&source, "A=b");
    }
}
