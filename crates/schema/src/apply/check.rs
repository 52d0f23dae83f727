//! Whether a value fits its type, as far as apply cares.

use std::collections::BTreeSet;

use podsmith_object::{Map, Value};

use super::path::PathElement;
use super::shape::{Shape, item_element};
use crate::gotext;
use crate::types::{Base, ListRelation, Type};

/// What does not fit, one text per place: `.spec.nope: field not declared in schema`.
pub(super) fn faults(ty: &Type, value: &Value, allow_duplicates: bool) -> Vec<String> {
    let mut walk = Walk { path: String::new(), allow_duplicates, faults: Vec::new() };
    walk.value(ty, value);
    walk.faults
}

/// Several faults in the form the server shows them.
pub(super) fn joined(faults: &[String]) -> String {
    match faults {
        [only] => only.clone(),
        many => {
            let lines: Vec<String> = many.iter().map(|fault| format!("\n  {fault}")).collect();
            format!("errors:{}", lines.concat())
        }
    }
}

struct Walk {
    path: String,
    allow_duplicates: bool,
    faults: Vec<String>,
}

impl Walk {
    fn fault(&mut self, text: &str) {
        let path = &self.path;
        self.faults.push(if path.is_empty() { text.to_owned() } else { format!("{path}: {text}") });
    }

    fn value(&mut self, ty: &Type, value: &Value) {
        if value.is_null() {
            return;
        }
        match Shape::of(ty, Some(value)) {
            Shape::Scalar(base) => {
                if let Some(text) = scalar_fault(base, value) {
                    self.fault(&text);
                }
            }
            Shape::Map { ty, .. } => match value {
                Value::Object(map) => self.map(ty, map),
                other => self.fault(&format!("expected map, got &{{{}}}", gotext::plain(other))),
            },
            Shape::List { items, relation } => match value {
                Value::Array(list) => self.list(items, relation, list),
                other => self.fault(&format!("expected list, got &{{{}}}", gotext::plain(other))),
            },
        }
    }

    fn map(&mut self, ty: &Type, map: &Map<String, Value>) {
        let length = self.path.len();
        for (key, value) in map {
            self.path.push('.');
            self.path.push_str(key);
            let inner = ty.child(key);
            match inner {
                Some(inner) => self.value(inner, value),
                None => self.fault("field not declared in schema"),
            }
            self.path.truncate(length);
            if inner.is_none() {
                return;
            }
        }
    }

    fn list(&mut self, items: &Type, relation: &ListRelation, list: &[Value]) {
        let length = self.path.len();
        let mut seen = BTreeSet::new();
        for (at, item) in list.iter().enumerate() {
            let element = if *relation == ListRelation::Atomic {
                PathElement::Index(i64::try_from(at).unwrap_or(i64::MAX))
            } else {
                match item_element(items, relation, item) {
                    Ok(element) => element,
                    Err(text) => return self.fault(&format!("element {at}: {text}")),
                }
            };
            if seen.contains(&element) && !self.allow_duplicates {
                self.fault(&format!("duplicate entries for key {element}"));
            }
            self.path.push_str(&element.to_string());
            seen.insert(element);
            self.value(items, item);
            self.path.truncate(length);
        }
    }
}

fn scalar_fault(base: Base, value: &Value) -> Option<String> {
    match base {
        Base::String | Base::Bytes => (!value.is_string())
            .then(|| format!("expected string, got &value.valueUnstructured{{Value:{}}}", syntax(value))),
        Base::Bool => {
            (!value.is_boolean()).then(|| format!("expected boolean, got &{{{}}}", gotext::plain(value)))
        }
        Base::Int32
        | Base::Int64
        | Base::Uint8
        | Base::Uint32
        | Base::Uint64
        | Base::Float32
        | Base::Float64 => (!value.is_number())
            .then(|| format!("expected numeric (int or float), got {}", gotext::type_name(value))),
        _ => (value.is_array() || value.is_object())
            .then(|| format!("expected any scalar, got &{{{}}}", gotext::plain(value))),
    }
}

/// A value in Go syntax.
fn syntax(value: &Value) -> String {
    match value {
        Value::String(text) => gotext::quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}:{}", gotext::quoted(key), syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}
