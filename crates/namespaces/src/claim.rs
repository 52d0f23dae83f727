//! SubNamespaces: claims to a namespace name, and what their status says.

use podsmith_object::{Object, Value, json};

use crate::keys::Keys;
use crate::model::{Name, StringMap, metadata};

/// A SubNamespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// The namespace it is in, which is the parent it asks for.
    pub namespace: Name,
    /// Its name, which is the name of the namespace it asks for.
    pub name: Name,
    /// `metadata.uid`.
    pub uid: Name,
    /// `metadata.resourceVersion`.
    pub version: Name,
    /// `metadata.creationTimestamp`; such times sort as text.
    pub created: Name,
    /// `metadata.generation`.
    pub generation: i64,
    /// `spec.labels`.
    pub labels: StringMap,
    /// `spec.annotations`.
    pub annotations: StringMap,
    /// True once it is being deleted.
    pub deleting: bool,
    /// All finalizers.
    pub finalizers: Vec<String>,
    /// What the status says now.
    pub status: Status,
}

/// The status of a SubNamespace, in the style of kstatus: healthy means observed and without conditions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// The generation that was dealt with; `None` before the first time.
    pub observed: Option<i64>,
    /// What is to be told, sorted by type.
    pub conditions: Vec<Condition>,
}

/// One condition, without its times. All our conditions are `True` or absent.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Condition {
    /// `Stalled`, `Reconciling` or `PropagationConflict`.
    pub kind: String,
    /// One word.
    pub reason: String,
    /// One sentence.
    pub message: String,
}

impl Condition {
    /// A condition that is true.
    pub fn new(kind: &str, reason: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), reason: reason.to_owned(), message: message.into() }
    }
}

impl Claim {
    /// Reads a SubNamespace of any version.
    pub fn read(object: &Object) -> Self {
        let map = |path: &[&str]| -> StringMap {
            let entries = object.get(path).and_then(Value::as_object).into_iter().flatten();
            entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        };
        let finalizers = object.get(&["metadata", "finalizers"]).and_then(Value::as_array);
        Self {
            namespace: Name::from(object.namespace()),
            name: Name::from(object.name()),
            uid: metadata(object, "uid"),
            version: metadata(object, "resourceVersion"),
            created: metadata(object, "creationTimestamp"),
            generation: object.get(&["metadata", "generation"]).and_then(Value::as_i64).unwrap_or(0),
            labels: map(&["spec", "labels"]),
            annotations: map(&["spec", "annotations"]),
            deleting: object.get(&["metadata", "deletionTimestamp"]).is_some(),
            finalizers: finalizers
                .into_iter()
                .flatten()
                .filter_map(|f| f.as_str().map(str::to_owned))
                .collect(),
            status: Status::read(object.get(&["status"])),
        }
    }

    /// True when our finalizer is on it.
    pub fn is_held(&self, keys: &Keys) -> bool {
        self.finalizers.contains(&keys.finalizer)
    }

    /// The order of claims to one name: oldest first, then by uid.
    pub fn seniority(&self) -> (&str, &str) {
        (&self.created, &self.uid)
    }
}

impl Status {
    fn read(value: Option<&Value>) -> Self {
        let Some(value) = value else { return Self::default() };
        let conditions = value.get("conditions").and_then(Value::as_array);
        let mut conditions: Vec<Condition> = conditions
            .into_iter()
            .flatten()
            .filter(|condition| condition.get("status").and_then(Value::as_str) == Some("True"))
            .map(|condition| {
                let word = |key: &str| condition.get(key).and_then(Value::as_str).unwrap_or("");
                Condition::new(word("type"), word("reason"), word("message"))
            })
            .collect();
        conditions.sort();
        Self { observed: value.get("observedGeneration").and_then(Value::as_i64), conditions }
    }

    /// The status as it is written, given the one before, so that a condition that stays keeps its time.
    pub fn to_value(&self, before: Option<&Value>, now: &str) -> Value {
        let old = before.and_then(|status| status.get("conditions")).and_then(Value::as_array);
        let since = |kind: &str| {
            let same = old.into_iter().flatten().find(|condition| {
                condition.get("type").and_then(Value::as_str) == Some(kind)
                    && condition.get("status").and_then(Value::as_str) == Some("True")
            });
            same.and_then(|condition| condition.get("lastTransitionTime")?.as_str()).unwrap_or(now).to_owned()
        };
        let conditions: Vec<Value> = self
            .conditions
            .iter()
            .map(|condition| {
                json!({
                    "type": condition.kind, "status": "True", "reason": condition.reason,
                    "message": condition.message, "lastTransitionTime": since(&condition.kind),
                    "observedGeneration": self.observed,
                })
            })
            .collect();
        json!({"observedGeneration": self.observed, "conditions": conditions})
    }
}

/// The status of a v2 SubNamespace in the one word of v1; empty when it cannot be told.
pub fn v1_status(generation: i64, status: &Status) -> &'static str {
    let stalled = status.conditions.iter().any(|condition| condition.kind == "Stalled");
    match status.observed {
        _ if stalled => "conflict",
        None | Some(0) => "",
        Some(observed) if observed == generation && status.conditions.is_empty() => "ok",
        Some(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_in_one_word() {
        let stalled = vec![Condition::new("Stalled", "Conflict", "m")];
        let other = vec![Condition::new("Reconciling", "Terminating", "m")];
        for (observed, conditions, word) in [
            (Some(2), vec![], "ok"),
            (Some(1), vec![], ""),
            (None, vec![], ""),
            (Some(0), vec![], ""),
            (Some(2), stalled, "conflict"),
            (Some(2), other, ""),
        ] {
            assert_eq!(
                v1_status(2, &Status { observed, conditions: conditions.clone() }),
                word,
                "{observed:?} {conditions:?}"
            );
        }
    }

    #[test]
    fn a_condition_that_stays_keeps_its_time() {
        let status =
            Status { observed: Some(1), conditions: vec![Condition::new("Stalled", "Conflict", "m")] };
        let first = status.to_value(None, "2026-01-01T00:00:00Z");
        let second = status.to_value(Some(&first), "2026-01-02T00:00:00Z");
        assert_eq!(second["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
        assert_eq!(Status::read(Some(&second)), status);
    }
}
