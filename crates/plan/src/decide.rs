//! Decides what must happen to one object. Everything that chooses between create, update, replace and nothing is here.

use podsmith_object::{Diagnostic, Object, Value};

use crate::answer::{Conflict, Refusal};
use crate::change::{Action, Change, Checked, Seen};
use crate::inventory::Entry;
use crate::mask::Secrets;
use crate::{diff, managed, names};

/// What the server said about the object in a dry run.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It would store this.
    Accepted(Object),
    /// It refuses.
    Refused(Refusal),
    /// It was asked about a copy in another namespace, and accepts that.
    AcceptedElsewhere,
    /// It was not asked.
    NotAsked(Checked),
}

/// An object's fate, or why it cannot be planned.
pub type Decision = Result<Change, Vec<Diagnostic>>;

/// True when the object is exactly what we wrote last and nobody has touched our fields since: the server need not be
/// asked.
///
/// `known` is the inventory's entry. Both digests must match: that of the declaration, which the object carries, and
/// that of the fields we own, which shrinks when somebody else changes one of them.
pub fn unchanged(desired: &Object, live: &Object, known: Option<&Entry>) -> bool {
    let Some(fields) = known.and_then(|entry| entry.fields.as_ref()) else { return false };
    let declared = desired.annotation(names::DIGEST);
    declared.is_some()
        && declared == live.annotation(names::DIGEST)
        && live.api_version() == desired.api_version()
        && managed::our_digest(live).as_ref() == Some(fields)
        && live.get(&["metadata", "deletionTimestamp"]).is_none()
}

/// The change for an object that is not in the cluster.
pub fn absent(desired: &Object, answer: Answer, secrets: &Secrets) -> Decision {
    let mut change = Change::new(desired, Action::Create);
    match answer {
        Answer::Accepted(result) => change.fields_digest = managed::our_digest(&result),
        Answer::AcceptedElsewhere => change.checked = Checked::InOtherNamespace,
        Answer::NotAsked(checked) => change.checked = checked,
        Answer::Refused(refusal) if refusal.refuses_dry_run() => {
            change.checked = Checked::Not("an admission webhook refuses dry runs".into());
        }
        Answer::Refused(refusal) => return Err(refused(desired, &refusal, secrets)),
    }
    Ok(change)
}

/// The change for an object that is in the cluster.
pub fn present(desired: &Object, live: &Object, answer: Answer, secrets: &Secrets) -> Decision {
    let seen = Some(Seen::of(live));
    let refusal = match answer {
        Answer::NotAsked(Checked::ByDigest) => {
            let mut change = Change::new(desired, Action::Noop);
            change.checked = Checked::ByDigest;
            change.fields_digest = managed::our_digest(live);
            return Ok(Change { seen, ..change });
        }
        Answer::Accepted(result) => {
            let fields = diff::fields(live, &result);
            let ours = managed::our_digest(&result);
            let owns_more = ours != managed::our_digest(live);
            let action = if fields.is_empty() && !owns_more && same_digest(&result, live) {
                Action::Noop
            } else {
                Action::Update
            };
            let mut change = Change::new(desired, action);
            if fields.is_empty() && action == Action::Update {
                change.reason = Some(
                    if owns_more {
                        "takes over the ownership of fields"
                    } else {
                        "records what was declared"
                    }
                    .into(),
                );
            }
            change.fields = fields;
            change.fields_digest = ours;
            return Ok(Change { seen, ..change });
        }
        Answer::AcceptedElsewhere => return unchecked(desired, live, "its namespace is going away"),
        Answer::NotAsked(checked) => {
            let why = checked.note().unwrap_or_default();
            return unchecked(desired, live, &why);
        }
        Answer::Refused(refusal) => refusal,
    };
    if refusal.refuses_dry_run() {
        return unchecked(desired, live, "an admission webhook refuses dry runs");
    }
    if let Some(reason) = refusal.immutable() {
        let mut change = Change::new(desired, Action::Replace);
        change.fields = declared_differences(desired, live);
        change.reason = Some(replace_reason(desired, reason));
        return Ok(Change { seen, ..change });
    }
    Err(refused(desired, &refusal, secrets))
}

fn same_digest(result: &Object, live: &Object) -> bool {
    result.annotation(names::DIGEST) == live.annotation(names::DIGEST)
}

/// A change that the server could not look at: what is declared against what is there.
fn unchecked(desired: &Object, live: &Object, why: &str) -> Decision {
    let fields = declared_differences(desired, live);
    let same = fields.is_empty() && same_digest(desired, live);
    let mut change = Change::new(desired, if same { Action::Noop } else { Action::Update });
    change.fields = fields;
    change.checked = Checked::Not(why.to_owned());
    change.seen = Some(Seen::of(live));
    Ok(change)
}

/// The fields that are declared with another value than the live one. Fields that are only live belong to the server or
/// to others and do not count.
fn declared_differences(desired: &Object, live: &Object) -> Vec<diff::FieldChange> {
    let mut wanted = live.to_value();
    overlay(&mut wanted, &desired.to_value());
    match Object::from_value(wanted) {
        Ok(wanted) => diff::fields(live, &wanted),
        Err(_) => Vec::new(),
    }
}

/// Puts declared fields over live ones. Lists whose elements have names merge by name.
fn overlay(live: &mut Value, desired: &Value) {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => {
            for (key, value) in desired {
                match live.get_mut(key) {
                    Some(slot) => overlay(slot, value),
                    None => {
                        live.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(live), Value::Array(desired)) => {
            let named =
                |items: &[Value]| !items.is_empty() && items.iter().all(|item| item.get("name").is_some());
            if named(live) && named(desired) {
                for item in desired {
                    match live.iter_mut().find(|old| old.get("name") == item.get("name")) {
                        Some(old) => overlay(old, item),
                        None => live.push(item.clone()),
                    }
                }
            } else if live.len() == desired.len() {
                live.iter_mut().zip(desired).for_each(|(old, new)| overlay(old, new));
            } else {
                live.clone_from(desired);
            }
        }
        (live, desired) => {
            if !crate::decide::equal(live, desired) {
                *live = desired.clone();
            }
        }
    }
}

/// Equal as the API sees it: `1000m` is `1`.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    let quantity = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        podsmith_object::quantity::Quantity::parse(&text).ok()
    };
    match (a, b) {
        (Value::String(_) | Value::Number(_), Value::String(_) | Value::Number(_)) => {
            matches!((quantity(a), quantity(b)), (Some(a), Some(b)) if a == b)
        }
        _ => false,
    }
}

fn replace_reason(desired: &Object, reason: String) -> String {
    match desired.kind() {
        "StatefulSet" => format!("{reason}; its volumes stay"),
        "PersistentVolumeClaim" => format!("{reason}; THE DATA IN THE VOLUME IS DELETED"),
        _ => reason,
    }
}

/// The refusal as errors for people.
pub fn refused(object: &Object, refusal: &Refusal, secrets: &Secrets) -> Vec<Diagnostic> {
    let problem = |message: String| {
        Diagnostic::error(secrets.scrub(&message))
            .on(object.id())
            .or_at(object.origin().map(podsmith_object::Origin::place))
    };
    let conflicts = refusal.conflicts();
    if !conflicts.is_empty() {
        return conflicts
            .iter()
            .map(|conflict| problem(conflict_message(conflict)).with_hint(conflict_hint(conflict)))
            .collect();
    }
    let hint = match refusal.code {
        403 => Some("ask for the permission, or use another context".to_owned()),
        401 => Some("log in again: the cluster does not know you".to_owned()),
        _ => None,
    };
    refusal
        .sentences()
        .into_iter()
        .map(|sentence| problem(format!("the server refuses it: {sentence}")).with_hint_if(hint.clone()))
        .collect()
}

fn conflict_message(conflict: &Conflict) -> String {
    format!("{} belongs to {}", conflict.field, conflict.manager)
}

fn conflict_hint(conflict: &Conflict) -> String {
    let last = conflict.field.rsplit('.').next().unwrap_or(&conflict.field);
    format!(
        "remove `{last}` from the source to leave it to {}, or use --force-conflicts to take it over",
        conflict.manager
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn object(value: Value) -> Object {
        Object::from_value(value).unwrap()
    }

    fn live(replicas: u64, owned: Value) -> Object {
        object(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "n", "uid": "u1", "annotations": {names::DIGEST: "d1"},
                "managedFields": [{"manager": "podsmith", "operation": "Apply", "fieldsV1": owned}]},
            "spec": {"replicas": replicas},
        }))
    }

    fn desired(digest: &str) -> Object {
        object(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n", "annotations": {names::DIGEST: digest}}, "spec": {"replicas": 1}}),
        )
    }

    #[test]
    fn an_object_is_unchanged_only_when_both_digests_match() {
        let owned = json!({"f:spec": {"f:replicas": {}}});
        let fields = managed::our_digest(&live(1, owned.clone()));
        let entry = |fields: Option<String>| Entry { id: desired("d1").id(), fields };
        assert!(unchanged(&desired("d1"), &live(1, owned.clone()), Some(&entry(fields.clone()))));
        assert!(!unchanged(&desired("d2"), &live(1, owned.clone()), Some(&entry(fields.clone()))));
        assert!(!unchanged(&desired("d1"), &live(2, json!({})), Some(&entry(fields))));
        assert!(!unchanged(&desired("d1"), &live(1, owned.clone()), Some(&entry(None))));
        assert!(!unchanged(&desired("d1"), &live(1, owned), None));
    }

    #[test]
    fn the_servers_answer_decides() {
        let owned = json!({"f:spec": {"f:replicas": {}}});
        let decide = |answer| present(&desired("d1"), &live(1, owned.clone()), answer, &Secrets::default());
        assert_eq!(decide(Answer::Accepted(live(1, owned.clone()))).unwrap().action, Action::Noop);
        let update = decide(Answer::Accepted(live(3, owned.clone()))).unwrap();
        assert_eq!((update.action, update.fields.len()), (Action::Update, 1));
        let owner = decide(Answer::Accepted(live(1, json!({"f:spec": {}})))).unwrap();
        assert_eq!(
            (owner.action, owner.reason.as_deref()),
            (Action::Update, Some("takes over the ownership of fields"))
        );
        let refusal = Refusal::from_status(
            &json!({"code": 422, "message": "m", "details": {"causes": [{"field": "spec.selector", "message": "field is immutable"}]}}),
        );
        let replace = decide(Answer::Refused(refusal)).unwrap();
        assert_eq!(
            (replace.action, replace.reason.as_deref()),
            (Action::Replace, Some("spec.selector cannot be changed in place"))
        );
    }

    #[test]
    fn conflicts_name_owner_field_and_way_out() {
        let refusal = Refusal::from_status(&json!({"code": 409, "message": "m", "details": {"causes": [
            {"reason": "FieldManagerConflict", "message": "conflict with \"hand\" using apps/v1", "field": ".spec.replicas"},
            {"reason": "FieldManagerConflict", "message": "conflict with \"tool\" using apps/v1", "field": ".spec.paused"},
        ]}}));
        let problems =
            present(&desired("d2"), &live(2, json!({})), Answer::Refused(refusal), &Secrets::default())
                .unwrap_err();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        error: Deployment n/d: spec.replicas belongs to hand
        hint: remove `replicas` from the source to leave it to hand, or use --force-conflicts to take it over
        error: Deployment n/d: spec.paused belongs to tool
        hint: remove `paused` from the source to leave it to tool, or use --force-conflicts to take it over
        ");
    }

    #[test]
    fn quantities_that_are_equal_are_no_difference() {
        let with = |cpu: &str| {
            object(json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": {"cpu": cpu}}))
        };
        assert!(declared_differences(&with("1000m"), &with("1")).is_empty());
        assert_eq!(declared_differences(&with("2"), &with("1")).len(), 1);
    }
}
