//! Label selectors.

use podsmith_object::Value;

use super::metadata;
use super::names;
use super::node::{At, Faults};
use crate::fault::Fault;

/// Checks a label selector.
pub(super) fn check(selector: &At<'_>, faults: &mut Faults) {
    metadata::labels(&selector.child("matchLabels"), faults);
    for expression in selector.child("matchExpressions").items() {
        let values = expression.child("values");
        match expression.child("operator").text() {
            "In" | "NotIn" => {
                if values.is_empty() {
                    faults.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
                }
            }
            "Exists" | "DoesNotExist" => {
                if !values.is_empty() {
                    faults.forbidden(
                        &values,
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                    );
                }
            }
            other => {
                let path = expression.child("operator").path;
                faults.push(Fault::invalid(path, other, "not a valid selector operator"));
            }
        }
        faults.each(&expression.child("key"), names::qualified_name(expression.child("key").text()));
        for value in values.items() {
            faults.each(&value, names::label_value(value.text()));
        }
    }
}

/// True when a selector selects nothing in particular.
pub(super) fn is_empty(selector: &At<'_>) -> bool {
    selector.child("matchLabels").is_empty() && selector.child("matchExpressions").is_empty()
}

/// Whether labels satisfy a selector. An empty selector matches everything, an absent one nothing.
pub(super) fn matches(selector: &At<'_>, labels: &Value) -> bool {
    if !selector.is_set() {
        return false;
    }
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let fits_labels =
        selector.child("matchLabels").entries().iter().all(|(key, value)| label(key) == Some(value.text()));
    let fits_expressions = selector.child("matchExpressions").items().iter().all(|expression| {
        let found = label(expression.child("key").text());
        let values = expression.child("values").items();
        let listed = found.is_some_and(|found| values.iter().any(|value| value.text() == found));
        match expression.child("operator").text() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    });
    fits_labels && fits_expressions
}
