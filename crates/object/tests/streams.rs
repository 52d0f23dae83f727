//! What text becomes which objects, and what the user is told when it does not.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use podsmith_object::{Object, json, read_objects, yaml};

fn names(text: &str) -> Vec<String> {
    read_objects("a.yaml", text.as_bytes()).unwrap().iter().map(|o| o.name().to_owned()).collect()
}

fn message(text: &str) -> String {
    read_objects("a.yaml", text.as_bytes()).unwrap_err().to_string()
}

fn only(text: &str) -> Object {
    let mut objects = read_objects("a.yaml", text.as_bytes()).unwrap();
    assert_eq!(objects.len(), 1, "{text}");
    objects.remove(0)
}

const A: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const B: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";

#[test]
fn many_documents_come_in_order() {
    assert_eq!(names(&format!("{A}---\n{B}")), ["a", "b"]);
}

#[test]
fn empty_null_and_comment_documents_are_skipped() {
    assert_eq!(names(&format!("---\n---\n# only a comment\n---\n~\n---\n{A}---\n...\n---\n")), ["a"]);
    assert!(names("").is_empty());
    assert!(names("# nothing\n").is_empty());
}

#[test]
fn lists_are_replaced_by_their_items() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: x}}\n- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: w}}]}\n";
    assert_eq!(names(list), ["x", "w"]);
    assert_eq!(
        names(
            "apiVersion: v1\nkind: ConfigMapList\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: z}}]\n"
        ),
        ["z"]
    );
    assert!(names("apiVersion: v1\nkind: List\nitems: []\n").is_empty());
}

#[test]
fn a_custom_kind_that_ends_in_list_is_kept_whole() {
    assert_eq!(names("apiVersion: x.io/v1\nkind: AllowList\nmetadata: {name: l}\nspec: {}\n"), ["l"]);
}

#[test]
fn concatenated_json_is_a_stream() {
    let one = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}"#;
    assert_eq!(names(&format!("{one}\n{one}{one}\n")), ["x", "x", "x"]);
    let objects = read_objects("a.json", format!("{one}\n\n{one}").as_bytes()).unwrap();
    assert_eq!(objects[1].origin().unwrap().line, 3);
}

#[test]
fn json_keeps_surrogate_pairs_and_escapes() {
    let object = only(r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"\ud83d\ude00\/\u0041"}}"#);
    assert_eq!(object.get(&["data", "a"]), Some(&json!("😀/A")));
}

#[test]
fn a_flow_mapping_that_is_no_json_is_yaml() {
    assert_eq!(names("{apiVersion: v1, kind: Secret, metadata: {name: f}}"), ["f"]);
}

#[test]
fn anchors_and_merge_keys_resolve() {
    let object = only(
        "apiVersion: v1\nkind: ConfigMap\nx: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: {<<: [{a: 7}, *x]}\n",
    );
    assert_eq!(object.get(&["y"]), Some(&json!({"b": 3, "a": 1})));
    assert_eq!(object.get(&["z"]), Some(&json!({"a": 7, "b": 2})));
}

#[test]
fn line_ends_marks_directives_and_utf16_are_understood() {
    assert_eq!(
        names(
            "\u{feff}apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: a\r\n---\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: b}\r\n"
        ),
        ["a", "b"]
    );
    assert_eq!(names(&format!("%YAML 1.1\n---\n{A}")), ["a"]);
    assert_eq!(names(&format!("%YAML 1.2\n---\n{A}...\n%YAML 1.1\n---\n{B}")), ["a", "b"]);
    let wide: Vec<u8> = format!("\u{feff}{A}---\n{B}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_objects("w.yaml", &wide).unwrap().len(), 2);
}

#[test]
fn scalars_are_read_as_kubectl_reads_them() {
    let object = only(
        "apiVersion: v1\nkind: ConfigMap\nd: [yes, off, 0755, 1e3, 0x1F, 2001-02-03, 1_000, 0o14, 08, ~, '0755', !!str 12, 1.50, +1]\n",
    );
    assert_eq!(
        object.get(&["d"]),
        Some(&json!([true, false, 493, 1000, 31, "2001-02-03", 1000, 12, 8, null, "0755", "12", 1.5, 1]))
    );
}

#[test]
fn an_object_knows_its_file_document_and_line() {
    let objects = read_objects("dir/x.yaml", format!("# head\n{A}---\n\n# note\n{B}").as_bytes()).unwrap();
    let origins: Vec<_> =
        objects.iter().map(|o| o.origin().unwrap()).map(|o| (&*o.file, o.document, o.line)).collect();
    assert_eq!(origins, [("dir/x.yaml", 0, 2), ("dir/x.yaml", 1, 8)]);
}

#[test]
fn duplicate_keys_are_refused_in_yaml_and_json() {
    insta::assert_snapshot!(message("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: 1\n  a: 2\n"), @r"
    error: a.yaml:5:3: key `a` occurs twice in this mapping
       |
     5 |   a: 2
       |   ^
    ");
    insta::assert_snapshot!(message("{\"apiVersion\": \"v1\",\n \"kind\": \"x\", \"kind\": \"y\"}"), @r#"
    error: a.yaml:2:20: key `kind` occurs twice in this mapping
       |
     2 |  "kind": "x", "kind": "y"}
       |                    ^
    "#);
}

#[test]
fn tabs_and_bad_indentation_say_where_and_what_to_do() {
    insta::assert_snapshot!(message("apiVersion: v1\nkind: ConfigMap\ndata:\n\ta: 1\n"), @r"
    error: a.yaml:4:1: this character cannot start a value here
       |
     4 |  a: 1
       | ^
    hint: a tab cannot indent YAML; a value that starts with @, `, % or * must be quoted
    ");
    insta::assert_snapshot!(message("a: b: c\n"), @r"
    error: a.yaml:1:5: a `key: value` cannot stand here
       |
     1 | a: b: c
       |     ^
    hint: check the indentation; a text with `: ` in it must be quoted
    ");
}

#[test]
fn what_is_no_object_is_named() {
    insta::assert_snapshot!(message("- a\n- b\n"), @r"
    error: a.yaml:1: a document must be a mapping with apiVersion and kind, this is a list
       |
     1 | - a
       | ^
    ");
    insta::assert_snapshot!(message("---\napiVersion: v1\nmetadata: {}\n"), @r"
    error: a.yaml:2:1: `kind` is missing
       |
     2 | apiVersion: v1
       | ^
    hint: every Kubernetes object has an apiVersion and a kind; is this another kind of file?
    ");
    assert!(message("apiVersion: 1\nkind: x\n").contains("`apiVersion` must be a string, this is a number"));
}

#[test]
fn every_broken_document_is_reported_with_its_line_in_the_file() {
    let text = format!("{A}---\nkind: X\n---\na: [\n---\n{B}---\n- x\n");
    let problems = read_objects("a.yaml", text.as_bytes()).unwrap_err();
    let lines: Vec<_> = problems.0.iter().map(|d| d.place.as_ref().unwrap().line).collect();
    assert_eq!(lines, [5, 8, 13]);
}

#[test]
fn alias_bombs_are_refused_in_bounded_memory() {
    let mut text = String::from("apiVersion: v1\nkind: ConfigMap\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let before = format!("*a{},", level - 1).repeat(10);
        text.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    assert!(message(&text).contains("aliases make this document too large"));
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("apiVersion: v1\nkind: X\na: {}", "[".repeat(10_000));
    assert!(message(&deep).contains("nested deeper than 500 levels"));
    let block: String = (0..600).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(message(&block).contains("nested deeper than 500 levels"));
    let json = format!("{{\"apiVersion\":\"v1\",\"kind\":\"X\",\"a\":{}", "[".repeat(10_000));
    assert!(!message(&json).is_empty());
}

#[test]
fn a_document_past_the_size_limit_is_refused() {
    let mut options = yaml::ReadOptions::default();
    options.limits.document_bytes = 1000;
    let text = format!("{A}---\napiVersion: v1\nkind: ConfigMap\ndata: {{a: {}}}\n", "x".repeat(2000));
    let problems = podsmith_object::read_objects_with("big.yaml", text.as_bytes(), options).unwrap_err();
    assert!(problems.to_string().contains("starts on line 4 is larger than 1000 bytes"), "{problems}");
}

#[test]
fn labels_with_other_types_are_reported_and_keep_their_neighbours() {
    let mut object = only("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: true, b: x}}\n");
    assert_eq!(object.label("b"), Some("x"));
    assert_eq!(object.string_map_problems()[0].to_string(), "metadata.labels.a is a boolean, not a string");
    object.set_label("c", "y");
    assert_eq!(object.get(&["metadata", "labels"]), Some(&json!({"a": true, "b": "x", "c": "y"})));
}

#[test]
fn a_changed_clone_leaves_the_original_alone() {
    let object = only(A);
    let mut copy = object.clone();
    copy.set_name("changed");
    copy.set_namespace("n");
    assert_eq!((object.name(), object.namespace()), ("a", ""));
    copy.set_namespace("");
    assert_eq!(copy.get(&["metadata", "namespace"]), None);
}
