//! Validating a custom resource against its schema.

use std::collections::BTreeSet;

use podsmith_object::{Map, Value};

use super::formats;
use super::{additional, flag, text};
use crate::apply::PathElement;
use crate::fault::{Fault, Reason};

const BLOCKED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/// What breaks the schema.
pub(super) fn validate(schema: &Value, object: &Value) -> Vec<Fault> {
    finish(schema, run(schema, object, None))
}

/// What breaks the schema, apart from values that did not change.
pub(super) fn validate_update(schema: &Value, object: &Value, old: &Value) -> Vec<Fault> {
    finish(schema, run(schema, object, Some(old)))
}

fn run(schema: &Value, object: &Value, old: Option<&Value>) -> Vec<Fault> {
    let mut walk = Walk { faults: Vec::new(), duplicates: Vec::new() };
    walk.value(schema, object, old, "", true);
    walk.faults.append(&mut walk.duplicates);
    walk.faults
}

/// Rules in CEL run only on objects of the right shape; when they could not run, the server says so.
fn finish(schema: &Value, mut faults: Vec<Fault>) -> Vec<Fault> {
    let blocking = |fault: &Fault| {
        matches!(fault.reason, Reason::Required | Reason::TooLong | Reason::TooMany | Reason::TypeInvalid)
    };
    if faults.iter().any(blocking) && has_rules(schema) {
        faults.push(Fault::invalid("", Value::Null, BLOCKED));
    }
    faults
}

fn has_rules(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("x-kubernetes-validations") || map.values().any(has_rules),
        Value::Array(items) => items.iter().any(has_rules),
        _ => false,
    }
}

struct Walk {
    faults: Vec<Fault>,
    duplicates: Vec<Fault>,
}

impl Walk {
    fn value(&mut self, schema: &Value, value: &Value, old: Option<&Value>, path: &str, root: bool) {
        if old == Some(value) {
            return;
        }
        let name = in_body(path);
        if let Some(mut wanted) = wrong_type(schema, value) {
            let mut found = json_type(value);
            let format = text(schema, "format");
            if found == "number" && !format.is_empty() {
                (wanted, found) = (format, "float64");
            }
            self.faults.push(Fault::type_invalid(
                path,
                found,
                format!("{name} must be of type {wanted}: \"{found}\""),
            ));
        }
        if value.is_null() {
            return;
        }
        self.combined(schema, value, path);
        self.scalar(schema, value, path, &name);
        if let Value::Array(items) = value {
            self.list(schema, items, old, path, &name);
        }
        self.allowed(schema, value, path);
        if let Value::Object(map) = value {
            self.object(schema, map, old, path, &name, root);
        }
    }

    fn scalar(&mut self, schema: &Value, value: &Value, path: &str, name: &str) {
        match value {
            Value::String(string) => {
                let length = i64::try_from(string.chars().count()).unwrap_or(i64::MAX);
                if let Some(limit) = whole(schema, "maxLength").filter(|limit| length > *limit) {
                    self.faults.push(Fault::too_long(path, limit));
                }
                if let Some(limit) = whole(schema, "minLength").filter(|limit| length < *limit) {
                    self.invalid(path, value, format!("{name} should be at least {limit} chars long"));
                }
                let pattern = text(schema, "pattern");
                if !pattern.is_empty() && !regex::Regex::new(pattern).is_ok_and(|rule| rule.is_match(string))
                {
                    self.invalid(path, value, format!("{name} should match '{pattern}'"));
                }
                let format = text(schema, "format");
                if !formats::fits(format, string) {
                    let detail =
                        format!("{name} must be of type {format}: {}", crate::gotext::quoted(string));
                    self.faults.push(Fault::type_invalid(path, string.as_str(), detail));
                }
            }
            Value::Number(_) => self.number(schema, value, path, name),
            _ => {}
        }
    }

    fn number(&mut self, schema: &Value, value: &Value, path: &str, name: &str) {
        let Some(amount) = value.as_f64() else { return };
        if let Some(limit) = real(schema, "maximum") {
            let exclusive = flag(schema, "exclusiveMaximum");
            if amount > limit || exclusive && amount == limit {
                let rule = if exclusive { "less than" } else { "less than or equal to" };
                self.invalid(path, value, format!("{name} should be {rule} {limit}"));
            }
        }
        if let Some(limit) = real(schema, "minimum") {
            let exclusive = flag(schema, "exclusiveMinimum");
            if amount < limit || exclusive && amount == limit {
                let rule = if exclusive { "greater than" } else { "greater than or equal to" };
                self.invalid(path, value, format!("{name} should be {rule} {limit}"));
            }
        }
        let factor = real(schema, "multipleOf").filter(|factor| *factor > 0.0);
        if let (Some(factor), true) = (factor, value.is_i64() && factor.is_some_and(|factor| factor < 1.0)) {
            // The server rounds the factor down for whole numbers, and then it is none.
            let detail =
                format!("factor MultipleOf declared for {path} must be positive: {}", factor.trunc());
            self.faults.push(Fault::invalid(path, 0, detail));
        } else if let Some(factor) = factor {
            let quotient = amount / factor;
            if (quotient - quotient.round()).abs() > 1e-9 {
                self.invalid(path, value, format!("{name} should be a multiple of {factor}"));
            }
        }
        let format = text(schema, "format");
        let whole = amount.fract() == 0.0;
        let fits = match format {
            "int32" => whole && amount >= f64::from(i32::MIN) && amount <= f64::from(i32::MAX),
            _ => whole,
        };
        if text(schema, "type") == "integer" && !fits {
            let kind = if format.is_empty() {
                "(default format)".to_owned()
            } else {
                format!("with format {format}")
            };
            let detail = format!("Checked value must be of type integer {kind} in {path}");
            self.faults.push(Fault::invalid("", "", detail));
        }
    }

    fn list(&mut self, schema: &Value, items: &[Value], old: Option<&Value>, path: &str, name: &str) {
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let old_items = old.and_then(Value::as_array);
        if let Some(inner) = schema.get("items") {
            for (at, item) in items.iter().enumerate() {
                let before = old_items.and_then(|old| counterpart(schema, old, item));
                self.value(inner, item, before, &format!("{path}[{at}]"), false);
            }
        }
        if let Some(limit) = whole(schema, "minItems").filter(|limit| count < *limit) {
            self.invalid(path, &Value::from(count), format!("{name} should have at least {limit} items"));
        }
        if let Some(limit) = whole(schema, "maxItems").filter(|limit| count > *limit) {
            self.faults.push(Fault::too_many(path, count, limit));
        }
        if flag(schema, "uniqueItems")
            && (1..items.len()).any(|at| items.iter().take(at).any(|one| Some(one) == items.get(at)))
        {
            self.invalid(path, &Value::from(items.to_vec()), format!("{name} shouldn't contain duplicates"));
        }
        self.keyed(schema, items, path);
    }

    /// Sets and keyed lists must not have an item twice.
    fn keyed(&mut self, schema: &Value, items: &[Value], path: &str) {
        let sort = text(schema, "x-kubernetes-list-type");
        if !matches!(sort, "set" | "map") {
            return;
        }
        let mut seen = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            let identity = if sort == "set" { item.clone() } else { key_of(schema, item) };
            if !seen.insert(PathElement::Value(identity.clone())) {
                self.duplicates.push(Fault::duplicate(format!("{path}[{at}]"), identity));
            }
        }
    }

    fn allowed(&mut self, schema: &Value, value: &Value, path: &str) {
        let Some(allowed) = schema.get("enum").and_then(Value::as_array) else { return };
        if allowed.contains(value) {
            return;
        }
        let texts: Vec<String> =
            allowed.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.faults.push(Fault::not_supported(path, value.clone(), &texts));
    }

    fn object(
        &mut self,
        schema: &Value,
        map: &Map<String, Value>,
        old: Option<&Value>,
        path: &str,
        name: &str,
        root: bool,
    ) {
        let count = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(limit) = whole(schema, "minProperties").filter(|limit| count < *limit) {
            self.invalid(
                path,
                &Value::from(count),
                format!("{name} should have at least {limit} properties"),
            );
        }
        if let Some(limit) = whole(schema, "maxProperties").filter(|limit| count > *limit) {
            self.faults.push(Fault::too_many(path, count, limit));
        }
        let child = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let properties = schema.get("properties").and_then(Value::as_object);
        for (key, value) in map {
            if root && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let inner = properties.and_then(|all| all.get(key)).or(additional(schema));
            if let Some(inner) = inner {
                self.value(inner, value, old.and_then(|old| old.get(key)), &child(key), false);
            }
        }
        if flag(schema, "x-kubernetes-embedded-resource") {
            for key in ["apiVersion", "kind"] {
                if map.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
                    self.duplicates.push(Fault::required(child(key), ""));
                }
            }
        }
        for key in
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !map.contains_key(key) {
                self.faults.push(Fault::required(child(key), ""));
            }
        }
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`.
    fn combined(&mut self, schema: &Value, value: &Value, path: &str) {
        let check = |inner: &Value| run_at(inner, value, path);
        let list = |key: &str| schema.get(key).and_then(Value::as_array).filter(|list| !list.is_empty());
        let quoted = crate::gotext::quoted(path);
        let whole = |text: String| Fault::invalid("", "", text);
        if let Some(alternatives) = list("anyOf") {
            let outcomes: Vec<Vec<Fault>> = alternatives.iter().map(check).collect();
            if !outcomes.iter().any(Vec::is_empty) {
                self.faults.push(whole(format!("{quoted} must validate at least one schema (anyOf)")));
                self.faults.extend(best(outcomes));
            }
        }
        if let Some(alternatives) = list("oneOf") {
            let outcomes: Vec<Vec<Fault>> = alternatives.iter().map(check).collect();
            let valid = outcomes.iter().filter(|faults| faults.is_empty()).count();
            if valid != 1 {
                let found = match valid {
                    0 => "Found none valid".to_owned(),
                    many => format!("Found {many} valid alternatives"),
                };
                self.faults
                    .push(whole(format!("{quoted} must validate one and only one schema (oneOf). {found}")));
                if valid == 0 {
                    self.faults.extend(best(outcomes));
                }
            }
        }
        if let Some(parts) = list("allOf") {
            let outcomes: Vec<Vec<Fault>> = parts.iter().map(check).collect();
            if outcomes.iter().any(|faults| !faults.is_empty()) {
                let none =
                    if outcomes.iter().all(|faults| !faults.is_empty()) { ". None validated" } else { "" };
                self.faults.extend(outcomes.into_iter().flatten());
                self.faults.push(whole(format!("{quoted} must validate all the schemas (allOf){none}")));
            }
        }
        if let Some(inner) = schema.get("not")
            && check(inner).is_empty()
        {
            self.faults.push(whole(format!("{quoted} must not validate the schema (not)")));
        }
    }

    fn invalid(&mut self, path: &str, value: &Value, detail: String) {
        self.faults.push(Fault::invalid(path, value.clone(), detail));
    }
}

fn run_at(schema: &Value, value: &Value, path: &str) -> Vec<Fault> {
    let mut walk = Walk { faults: Vec::new(), duplicates: Vec::new() };
    walk.value(schema, value, None, path, false);
    walk.faults
}

/// The faults of the alternative that came closest.
fn best(outcomes: Vec<Vec<Fault>>) -> Vec<Fault> {
    outcomes.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

fn in_body(path: &str) -> String {
    format!("{path} in body")
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type the schema wants, if the value has another one.
fn wrong_type<'a>(schema: &'a Value, value: &Value) -> Option<&'a str> {
    if value.is_null() && flag(schema, "nullable") {
        return None;
    }
    if flag(schema, "x-kubernetes-int-or-string") {
        return (!value.is_string() && json_type(value) != "integer").then_some("integer,string");
    }
    let wanted = text(schema, "type");
    let fits = match wanted {
        "" => true,
        "number" => value.is_number(),
        "integer" => match value {
            Value::Number(number) => number.as_f64().is_some_and(|amount| amount.fract() == 0.0),
            _ => false,
        },
        other => json_type(value) == other,
    };
    (!fits).then_some(wanted)
}

fn whole(schema: &Value, key: &str) -> Option<i64> {
    schema.get(key).and_then(Value::as_i64)
}

fn real(schema: &Value, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

/// The key fields of an item of a keyed list.
fn key_of(schema: &Value, item: &Value) -> Value {
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    Value::Object(keys.filter_map(|key| Some((key.to_owned(), item.get(key)?.clone()))).collect())
}

/// The item of the old list that an item continues; only keyed lists have one.
fn counterpart<'a>(schema: &Value, old: &'a [Value], item: &Value) -> Option<&'a Value> {
    if text(schema, "x-kubernetes-list-type") != "map" {
        return None;
    }
    let key = key_of(schema, item);
    old.iter().find(|other| key_of(schema, other) == key)
}
