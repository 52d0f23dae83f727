//! Custom resources: a rule of their own, else the conditions everybody uses.

use podsmith_object::Object;

use super::{Health, condition, outdated};
use crate::names;

pub(super) fn resource(object: &Object) -> Health {
    if let Some(rule) = object.annotation(names::READY_WHEN) {
        return by_rule(object, rule);
    }
    if outdated(object) {
        return Health::waiting("its controller has not seen the change yet");
    }
    for kind in ["Stalled", "Failed", "Degraded"] {
        if let Some(stalled) = condition(object, kind)
            && stalled.status == "True"
        {
            return Health::failed(say(&stalled));
        }
    }
    for kind in ["Ready", "Available", "Succeeded", "Complete", "Healthy"] {
        if let Some(ready) = condition(object, kind) {
            return if ready.status == "True" { Health::ready() } else { Health::waiting(say(&ready)) };
        }
    }
    if condition(object, "Reconciling").is_some_and(|reconciling| reconciling.status == "True") {
        return Health::waiting("its controller is at work");
    }
    Health::ready()
}

fn say(condition: &super::Condition<'_>) -> String {
    match (condition.reason, condition.message) {
        ("", "") => "its controller says that it is not ready".into(),
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

/// Rules such as `status.phase=Running`, `status.ready=true`, `condition=Synced`; several separated by commas must all
/// hold.
fn by_rule(object: &Object, rule: &str) -> Health {
    for part in rule.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((path, wanted)) = part.split_once('=') else {
            return Health::failed(format!("the rule `{part}` in {} has no `=`", names::READY_WHEN));
        };
        if path == "condition" {
            match condition(object, wanted) {
                Some(found) if found.status == "True" => continue,
                Some(found) => {
                    return Health::waiting(format!("condition {wanted} does not hold: {}", say(&found)));
                }
                None => return Health::waiting(format!("condition {wanted} is not there yet")),
            }
        }
        let keys: Vec<&str> = path.split('.').collect();
        let found =
            object.get(&keys).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        match found {
            Some(found) if found == wanted => {}
            Some(found) => return Health::waiting(format!("{path} is {found}, it must become {wanted}")),
            None => return Health::waiting(format!("{path} is not there yet, it must become {wanted}")),
        }
    }
    Health::ready()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::{Value, json};

    fn object(value: Value) -> Object {
        Object::from_value(value).unwrap()
    }

    #[test]
    fn rules_look_at_fields_and_conditions() {
        let of = |rule: &str, status: Value| {
            resource(&object(
                json!({"metadata": {"annotations": {names::READY_WHEN: rule}}, "status": status}),
            ))
            .message
        };
        assert_eq!(of("status.phase=Running", json!({"phase": "Running"})), None);
        assert_eq!(
            of("status.phase=Running", json!({"phase": "New"})).unwrap(),
            "status.phase is New, it must become Running"
        );
        assert_eq!(of("status.n=3", json!({"n": 3})), None);
        assert_eq!(of("condition=Synced", json!({})).unwrap(), "condition Synced is not there yet");
    }
}
