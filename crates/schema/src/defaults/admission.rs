//! Webhooks, admission policies, custom resource definitions and API services.

use podsmith_object::{Value, json};

use super::{Object, inner, is_empty, set_if_empty, set_if_missing, text};

pub(super) fn fill(name: &str, map: &mut Object) {
    match name {
        "ValidatingWebhook" | "MutatingWebhook" => {
            set_if_missing(map, "failurePolicy", || json!("Fail"));
            matching(map);
            set_if_missing(map, "timeoutSeconds", || json!(10));
            if name == "MutatingWebhook" {
                set_if_missing(map, "reinvocationPolicy", || json!("Never"));
            }
        }
        "RuleWithOperations" | "NamedRuleWithOperations" | "Rule" => {
            set_if_missing(map, "scope", || json!("*"))
        }
        "ServiceReference" => set_if_missing(map, "port", || json!(443)),
        "ValidatingAdmissionPolicySpec" | "MutatingAdmissionPolicySpec" => {
            set_if_missing(map, "failurePolicy", || json!("Fail"));
        }
        "MatchResources" => matching(map),
        "CustomResourceDefinition" => definition(map),
        _ => {}
    }
}

fn matching(map: &mut Object) {
    set_if_missing(map, "matchPolicy", || json!("Equivalent"));
    set_if_missing(map, "namespaceSelector", || json!({}));
    set_if_missing(map, "objectSelector", || json!({}));
}

fn definition(map: &mut Object) {
    let Some(spec) = inner(map, "spec") else { return };
    if let Some(names) = inner(spec, "names") {
        let kind = text(names, "kind").to_owned();
        set_if_empty(names, "singular", || json!(kind.to_lowercase()));
        if !kind.is_empty() {
            set_if_empty(names, "listKind", || json!(format!("{kind}List")));
        }
    }
    set_if_missing(spec, "conversion", || json!({"strategy": "None"}));
    let stored = spec.get("versions").and_then(Value::as_array).into_iter().flatten();
    let stored = stored.filter(|version| version.get("storage") == Some(&Value::Bool(true)));
    let stored = stored.filter_map(|version| version.get("name")).next().cloned();
    if let Some(status) = inner(map, "status")
        && is_empty(status.get("storedVersions"))
        && let Some(stored) = stored
    {
        status.insert("storedVersions".to_owned(), json!([stored]));
    }
}
