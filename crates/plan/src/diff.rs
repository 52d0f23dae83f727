//! Exact differences between two objects, field by field, without what changes by itself.

use podsmith_object::{Map, Object, Value};

use crate::{mask, names};

/// One changed field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// Where: `spec.template.spec.containers[name=web].image`.
    pub path: String,
    /// The value before; `None` when the field is new.
    pub before: Option<Value>,
    /// The value after; `None` when the field goes away.
    pub after: Option<Value>,
}

/// The object without status, bookkeeping of the server and our own digest.
pub fn visible(object: &Object) -> Value {
    strip(object.to_value())
}

fn strip(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.shift_remove("status");
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            for field in [
                "managedFields",
                "resourceVersion",
                "generation",
                "uid",
                "creationTimestamp",
                "selfLink",
                "deletionGracePeriodSeconds",
            ] {
                metadata.shift_remove(field);
            }
            if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
                for key in [names::DIGEST, names::LAST_APPLIED, "deployment.kubernetes.io/revision"] {
                    annotations.shift_remove(key);
                }
                if annotations.is_empty() {
                    metadata.shift_remove("annotations");
                }
            }
        }
    }
    value
}

/// What changes from `before` to `after`, with secrets masked.
///
/// Lists whose elements have names are compared by name, so that an inserted element is one change.
pub fn fields(before: &Object, after: &Object) -> Vec<FieldChange> {
    let (plain_before, plain_after) = (visible(before), visible(after));
    let (masked_before, masked_after) = (strip(mask::masked(before)), strip(mask::masked(after)));
    let mut out = Vec::new();
    let mut walk = Walk { out: &mut out };
    walk.value("", Side::new(&plain_before, &masked_before), Side::new(&plain_after, &masked_after));
    out
}

/// True when nothing visible changes.
pub fn same(before: &Object, after: &Object) -> bool {
    visible(before) == visible(after)
}

/// A value and how it may be shown.
#[derive(Clone, Copy)]
struct Side<'v> {
    plain: &'v Value,
    shown: &'v Value,
}

impl<'v> Side<'v> {
    fn new(plain: &'v Value, shown: &'v Value) -> Self {
        Self { plain, shown }
    }

    fn key(self, key: &str) -> Option<Self> {
        let plain = self.plain.get(key)?;
        Some(Self::new(plain, self.shown.get(key).unwrap_or(plain)))
    }

    fn item(self, index: usize) -> Option<Self> {
        let plain = self.plain.get(index)?;
        Some(Self::new(plain, self.shown.get(index).unwrap_or(plain)))
    }
}

struct Walk<'o> {
    out: &'o mut Vec<FieldChange>,
}

impl Walk<'_> {
    fn push(&mut self, path: &str, before: Option<Side<'_>>, after: Option<Side<'_>>) {
        self.out.push(FieldChange {
            path: path.to_owned(),
            before: before.map(|side| side.shown.clone()),
            after: after.map(|side| side.shown.clone()),
        });
    }

    fn value(&mut self, path: &str, before: Side<'_>, after: Side<'_>) {
        if before.plain == after.plain {
            return;
        }
        match (before.plain, after.plain) {
            (Value::Object(a), Value::Object(b)) => self.map(path, before, after, a, b),
            (Value::Array(a), Value::Array(b)) => match list_key(a, b) {
                Some(key) => self.keyed(path, before, after, key),
                None => self.indexed(path, before, after, a.len(), b.len()),
            },
            _ => self.push(path, Some(before), Some(after)),
        }
    }

    fn map(
        &mut self,
        path: &str,
        before: Side<'_>,
        after: Side<'_>,
        a: &Map<String, Value>,
        b: &Map<String, Value>,
    ) {
        for key in a.keys() {
            let path = join(path, key);
            match (before.key(key), after.key(key)) {
                (Some(old), Some(new)) => self.value(&path, old, new),
                (old, new) => self.push(&path, old, new),
            }
        }
        for key in b.keys().filter(|key| !a.contains_key(*key)) {
            self.push(&join(path, key), None, after.key(key));
        }
    }

    fn keyed(&mut self, path: &str, before: Side<'_>, after: Side<'_>, key: &str) {
        let index = |side: Side<'_>, wanted: &Value| {
            side.plain
                .as_array()
                .and_then(|items| items.iter().position(|item| item.get(key) == Some(wanted)))
        };
        let keys = |side: Side<'_>| -> Vec<Value> {
            let items = side.plain.as_array().into_iter().flatten();
            items.filter_map(|item| item.get(key).cloned()).collect()
        };
        let old_keys = keys(before);
        for wanted in &old_keys {
            let path = format!("{path}[{key}={}]", bare(wanted));
            let old = index(before, wanted).and_then(|at| before.item(at));
            let new = index(after, wanted).and_then(|at| after.item(at));
            match (old, new) {
                (Some(old), Some(new)) => self.value(&path, old, new),
                (old, new) => self.push(&path, old, new),
            }
        }
        let new_keys = keys(after);
        for wanted in new_keys.iter().filter(|wanted| !old_keys.contains(wanted)) {
            let new = index(after, wanted).and_then(|at| after.item(at));
            self.push(&format!("{path}[{key}={}]", bare(wanted)), None, new);
        }
        let moved: Vec<&Value> = new_keys.iter().filter(|k| old_keys.contains(k)).collect();
        let stayed: Vec<&Value> = old_keys.iter().filter(|k| new_keys.contains(k)).collect();
        if moved != stayed {
            let order = |keys: Vec<Value>| Value::Array(keys);
            self.out.push(FieldChange {
                path: format!("{path}[order]"),
                before: Some(order(old_keys)),
                after: Some(order(new_keys)),
            });
        }
    }

    fn indexed(&mut self, path: &str, before: Side<'_>, after: Side<'_>, old: usize, new: usize) {
        for at in 0..old.max(new) {
            let path = format!("{path}[{at}]");
            match (before.item(at), after.item(at)) {
                (Some(old), Some(new)) => self.value(&path, old, new),
                (old, new) => self.push(&path, old, new),
            }
        }
    }
}

/// The field that names the elements of both lists, if there is one.
fn list_key(a: &[Value], b: &[Value]) -> Option<&'static str> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    ["name", "mountPath", "key", "ip", "type", "containerPort", "port", "host", "path", "uid"]
        .into_iter()
        .find(|key| {
            [a, b].into_iter().all(|list| {
                let mut seen = Vec::new();
                list.iter().all(|item| match item.get(*key) {
                    Some(value @ (Value::String(_) | Value::Number(_))) => {
                        let new = !seen.contains(&value);
                        seen.push(value);
                        new
                    }
                    _ => false,
                })
            })
        })
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    match (path.is_empty(), plain) {
        (true, true) => key.to_owned(),
        (false, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{}]", Value::from(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn changes(before: Value, after: Value) -> Vec<String> {
        let object = |value| Object::from_value(value).unwrap();
        let shown = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_string());
        fields(&object(before), &object(after))
            .into_iter()
            .map(|change| format!("{}: {} -> {}", change.path, shown(change.before), shown(change.after)))
            .collect()
    }

    #[test]
    fn a_new_image_is_exactly_one_change() {
        let pod = |image: &str| json!({"kind": "X", "spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": image}]}, "status": {"x": image}, "metadata": {"generation": 1, "managedFields": [image]}});
        assert_eq!(changes(pod("b:1"), pod("b:2")), ["spec.containers[name=b].image: \"b:1\" -> \"b:2\""]);
    }

    #[test]
    fn an_inserted_element_is_one_change() {
        let list = |names: &[&str]| json!({"env": names.iter().map(|n| json!({"name": n, "value": "1"})).collect::<Vec<_>>()});
        assert_eq!(
            changes(list(&["a", "c"]), list(&["a", "b", "c"])),
            ["env[name=b]: - -> {\"name\":\"b\",\"value\":\"1\"}"]
        );
        assert_eq!(
            changes(list(&["a", "b"]), list(&["b", "a"])),
            ["env[order]: [\"a\",\"b\"] -> [\"b\",\"a\"]"]
        );
    }

    #[test]
    fn a_changed_secret_shows_that_it_changed_and_nothing_else() {
        let secret = |value: &str| json!({"apiVersion": "v1", "kind": "Secret", "data": {"p": value}});
        assert_eq!(changes(secret("YQ=="), secret("Yg==")), ["data.p: \"(sensitive)\" -> \"(sensitive)\""]);
    }
}
