//! No text may break the parser or the executor.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::LazyLock;
use std::time::Duration;

use podsmith_gotemplate::semver::{Constraint, Version};
use podsmith_gotemplate::{Functions, Limits, Options, TemplateSet, Value};
use podsmith_object::json;
use proptest::prelude::*;

/// An empty set; a clone shares its functions.
static EMPTY: LazyLock<TemplateSet> = LazyLock::new(|| TemplateSet::new(Functions::helm()));

/// Pieces of templates in any order: mostly wrong, now and then right.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "(\\{\\{|\\}\\}|\\{\\{-|-\\}\\}|\\{\\{- | -\\}\\}|\\{\\{/\\*|\\*/\\}\\})",
        "(if|else|end|range|with|define|template|block|break|continue|nil|true|else if|else with) ",
        "(\\.|\\$|\\$x|\\.a|\\.a\\.b|\\$x\\.y|:=|=|\\||,|\\(|\\)|\"s\"|`r`|'c'|\"|`|') ?",
        "(printf|list|dict|include|tpl|eq|and|or|not|len|index|until|toYaml|fromYaml|set|merge|repeat|join|default|quote) ",
        "-?[0-9]{1,3}(\\.[0-9])?(e[0-9])? ?",
        "[ \\t\\n]",
        "[a-zé%#{}]{1,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_text_parses_or_is_refused(text in prop_oneof![pieces(), any::<String>()]) {
        let mut set = EMPTY.clone();
        if set.parse("t", &text).is_ok() {
            let limits = Limits { output_bytes: 1 << 20, time: Duration::from_millis(500), ..Limits::default() };
            let data = Value::from_json(&json!({"a": {"b": [1, "x", null]}, "s": "text"}));
            let _ = set.execute("t", &data, Options { limits, seed: Some(1), ..Options::default() });
        }
    }

    #[test]
    fn any_format_prints(format in "[%a-zA-Z0-9#+\\-. *\\[\\]é]{0,12}", number in any::<i64>(), float in any::<f64>(), text in ".{0,6}") {
        let mut set = EMPTY.clone();
        set.parse("t", "{{ printf .f .n .x .t .l }}").unwrap();
        let data = Value::from_json(&json!({"f": format, "t": text, "l": [1, {"a": "b"}]}));
        let map = data.as_map().unwrap();
        map.insert("n", Value::int(number));
        map.insert("x", Value::Float(float));
        set.execute("t", &data, Options::default()).unwrap();
    }

    #[test]
    fn versions_are_totally_ordered(a in version(), b in version(), c in version()) {
        let [a, b, c] = [a, b, c].map(|text| Version::parse(&text).unwrap());
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        let exact = Constraint::parse(&format!("={a}")).unwrap();
        prop_assert!(exact.matches(&a));
        let range = Constraint::parse(&format!(">={a}, <={a}")).unwrap();
        prop_assert!(range.matches(&a));
    }

    #[test]
    fn any_text_is_a_constraint_or_is_refused(text in "[0-9xX*v.<>=!~^|, a-c-]{0,20}") {
        if let Ok(constraint) = Constraint::parse(&text) {
            let _ = constraint.matches(&Version::parse("1.2.3-a").unwrap());
        }
    }
}

fn version() -> impl Strategy<Value = String> {
    "[0-3]\\.[0-3]\\.[0-3](-(a|b|1|10|2|a\\.1|a\\.b))?(\\+(1|2|10|x))?"
}

#[test]
fn deep_nesting_is_refused_not_fatal() {
    let mut set = EMPTY.clone();
    let deep = "(".repeat(100_000);
    assert!(set.parse("t", &format!("{{{{ {deep} }}}}")).is_err());
    assert!(set.parse("t", &"{{ if true }}".repeat(100_000)).is_err());
    let fine = format!("{{{{ {}1{} }}}}", "(".repeat(1500), ")".repeat(1500));
    set.parse("t", &fine).unwrap();
    assert_eq!(set.execute("t", &Value::Nil, Options::default()).unwrap(), "1");
}
