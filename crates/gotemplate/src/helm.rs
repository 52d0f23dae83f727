//! Helm's own functions.

use crate::args::{self, Table, any, text};
use crate::data::{json, toml, yaml};
use crate::error::CallError;
use crate::function::{Functions, Parameter};
use crate::value::{Map, Value};

use Parameter::{Any as A, String as S};

/// Adds them, in place of Sprig's functions of the same names.
pub(crate) fn install(functions: &mut Functions) {
    args::install(functions, TABLE);
}

const TABLE: Table = &[
    ("include", &[S, A], None, |r, a| r.include(&text(a, 0), any(a, 1)).map(Value::from)),
    ("tpl", &[S, A], None, |r, a| r.tpl(&text(a, 0), any(a, 1)).map(Value::from)),
    ("required", &[S, A], None, |_, a| match any(a, 1) {
        value if value.is_nil() => Err(CallError::User(text(a, 0).into_owned())),
        Value::String(given) if given.is_empty() => Err(CallError::User(text(a, 0).into_owned())),
        value => Ok(value.clone()),
    }),
    ("fail", &[S], None, |_, a| Err(CallError::User(text(a, 0).into_owned()))),
    ("lookup", &[S, S, S, S], None, |r, a| match r.options.lookup {
        None => Ok(Value::Map(Map::new())),
        Some(lookup) => {
            let found = lookup.lookup(&text(a, 0), &text(a, 1), &text(a, 2), &text(a, 3))?;
            Ok(Value::from_json(&found))
        }
    }),
    ("getHostByName", &[S], None, |_, _| Ok(Value::from(""))),
    ("toYaml", &[A], None, |_, a| Ok(without_break(yaml::write(any(a, 0))))),
    ("toYamlPretty", &[A], None, |_, a| Ok(without_break(yaml::write_pretty(any(a, 0))))),
    ("fromYaml", &[S], None, |_, a| Ok(yaml::read_map(&text(a, 0)).unwrap_or_else(error_map))),
    ("fromYamlArray", &[S], None, |_, a| Ok(yaml::read_list(&text(a, 0)).unwrap_or_else(error_list))),
    ("toJson", &[A], None, |_, a| {
        let style = json::Style { escape_html: true, pretty: false };
        Ok(Value::from(json::write(any(a, 0), style).unwrap_or_default()))
    }),
    ("fromJson", &[S], None, |_, a| Ok(json::read_map(&text(a, 0)).unwrap_or_else(error_map))),
    ("fromJsonArray", &[S], None, |_, a| Ok(json::read_list(&text(a, 0)).unwrap_or_else(error_list))),
    ("toToml", &[A], None, |_, a| match any(a, 0) {
        value if value.is_nil() => Err("reflect: call of reflect.Value.Type on zero Value".into()),
        value => Ok(Value::from(toml::write(value))),
    }),
    ("fromToml", &[S], None, |_, a| Ok(toml::read(&text(a, 0)).unwrap_or_else(error_map))),
];

fn without_break(mut text: String) -> Value {
    if text.ends_with('\n') {
        text.pop();
    }
    Value::from(text)
}

/// Helm hands errors of its readers to the template as data.
fn error_map(reason: String) -> Value {
    let map = Map::new();
    map.insert("Error", reason);
    Value::Map(map)
}

fn error_list(reason: String) -> Value {
    Value::list(vec![Value::from(reason)])
}
