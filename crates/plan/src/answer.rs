//! Reads what a server says about a write: conflicts, immutable fields, invalid values.

use podsmith_object::Value;

/// A field that another manager owns with another value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Conflict {
    /// The other manager.
    pub manager: String,
    /// The field, as a path without a leading dot.
    pub field: String,
}

/// An error answer of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// The reason word, such as `Invalid`.
    pub reason: String,
    /// The whole sentence.
    pub message: String,
    /// Single causes: reason, field and sentence.
    pub causes: Vec<Cause>,
}

/// One cause of a refusal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cause {
    /// The reason word, such as `FieldValueInvalid`.
    pub reason: String,
    /// The field.
    pub field: String,
    /// The sentence.
    pub message: String,
}

impl Refusal {
    /// Reads a `Status` object.
    pub fn from_status(status: &Value) -> Self {
        let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let causes = status.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten();
        Self {
            code: status
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| u16::try_from(code).ok())
                .unwrap_or(0),
            reason: word(status, "reason"),
            message: word(status, "message"),
            causes: causes
                .map(|cause| Cause {
                    reason: word(cause, "reason"),
                    field: word(cause, "field"),
                    message: word(cause, "message"),
                })
                .collect(),
        }
    }

    /// The conflicts with other field managers; empty when this is another kind of refusal.
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.causes
            .iter()
            .filter(|cause| cause.reason == "FieldManagerConflict")
            .map(|cause| Conflict {
                manager: cause.message.split('"').nth(1).unwrap_or("another manager").to_owned(),
                field: cause.field.trim_start_matches('.').to_owned(),
            })
            .collect()
    }

    /// Why the object must be replaced, when every cause says that a field cannot change.
    pub fn immutable(&self) -> Option<String> {
        if self.code != 422 {
            return None;
        }
        let all = !self.causes.is_empty() && self.causes.iter().all(|cause| says_immutable(&cause.message));
        let whole = self.causes.is_empty() && says_immutable(&self.message);
        if !all && !whole {
            return None;
        }
        let mut fields: Vec<&str> =
            self.causes.iter().map(|cause| cause.field.as_str()).filter(|field| !field.is_empty()).collect();
        fields.dedup();
        Some(match fields.as_slice() {
            [] => "a field cannot be changed in place".into(),
            [one] => format!("{one} cannot be changed in place"),
            many => format!("{} cannot be changed in place", many.join(", ")),
        })
    }

    /// True when an admission webhook refuses dry runs, so that nothing can be said before the write.
    pub fn refuses_dry_run(&self) -> bool {
        self.code == 400 && self.message.contains("dry run") && self.message.contains("webhook")
    }

    /// True when the namespace of the object does not exist.
    pub fn namespace_missing(&self) -> bool {
        self.code == 404 && self.message.starts_with("namespaces ")
    }

    /// The sentences to show: one for each cause, or the whole message.
    pub fn sentences(&self) -> Vec<String> {
        if self.causes.is_empty() {
            return vec![self.message.clone()];
        }
        self.causes
            .iter()
            .map(|cause| {
                if cause.field.is_empty() || cause.message.contains(&cause.field) {
                    cause.message.clone()
                } else {
                    format!("{}: {}", cause.field, cause.message)
                }
            })
            .collect()
    }
}

fn says_immutable(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "field is immutable",
        "is immutable after creation",
        "may not change once set",
        "cannot change roleref",
        "updates to statefulset spec for fields other than",
        "updates to parameters are forbidden",
        "updates to provisioner are forbidden",
        "updates to reclaimpolicy are forbidden",
        "cannot be changed",
        "is immutable",
        "may not be changed",
        "pod updates may not change fields other than",
        "primary clusterip can not be unset",
        "field can not be changed",
    ]
    .iter()
    .any(|sign| message.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    #[test]
    fn conflicts_name_the_other_manager_and_the_field() {
        let refusal = Refusal::from_status(
            &json!({"code": 409, "reason": "Conflict", "message": "…", "details": {"causes": [
                {"reason": "FieldManagerConflict", "message": "conflict with \"kubectl-edit\" using apps/v1", "field": ".spec.replicas"},
            ]}}),
        );
        assert_eq!(
            refusal.conflicts(),
            [Conflict { manager: "kubectl-edit".into(), field: "spec.replicas".into() }]
        );
        assert_eq!(refusal.immutable(), None);
    }

    #[test]
    fn immutable_fields_are_told_apart_from_bad_values() {
        let status = |messages: &[(&str, &str)]| {
            let causes: Vec<Value> = messages.iter().map(|(field, message)| json!({"reason": "FieldValueInvalid", "field": field, "message": message})).collect();
            Refusal::from_status(&json!({"code": 422, "message": "m", "details": {"causes": causes}}))
        };
        let one = status(&[("spec.selector", "Invalid value: …: field is immutable")]);
        assert_eq!(one.immutable().unwrap(), "spec.selector cannot be changed in place");
        let sts = status(&[(
            "spec",
            "Forbidden: updates to statefulset spec for fields other than 'replicas', … are forbidden",
        )]);
        assert_eq!(sts.immutable().unwrap(), "spec cannot be changed in place");
        assert_eq!(status(&[("a", "field is immutable"), ("b", "Required value")]).immutable(), None);
        assert_eq!(status(&[("spec.ports", "Required value")]).immutable(), None);
    }
}
