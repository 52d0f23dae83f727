//! The plan for machines: `podsmith plan -o json`.

use podsmith_object::{Map, Value, json};

use crate::change::Change;
use crate::plan::{Plan, Summary};

/// The plan as JSON. Every value in it is masked already.
pub fn to_json(plan: &Plan) -> Value {
    json!({
        "target": plan.target,
        "package": plan.package,
        "namespace": plan.namespace,
        "changes": plan.changes.iter().map(change).collect::<Vec<_>>(),
        "errors": plan.errors.iter().map(podsmith_object::Diagnostic::to_json).collect::<Vec<_>>(),
        "warnings": plan.warnings.iter().map(podsmith_object::Diagnostic::to_json).collect::<Vec<_>>(),
        "summary": summary(plan.summary()),
        "resources": summary(plan.resource_summary()),
    })
}

/// One change as JSON.
pub fn change(change: &Change) -> Value {
    let fields: Vec<Value> = change
        .fields
        .iter()
        .map(|field| json!({ "path": field.path, "before": field.before, "after": field.after }))
        .collect();
    let mut out = Map::new();
    out.insert("action".into(), json!(change.action.word()));
    out.insert("object".into(), change.id.to_json());
    out.insert("fields".into(), Value::Array(fields));
    out.insert("reason".into(), change.reason.as_deref().map_or(Value::Null, Value::from));
    let notes: Vec<String> = change.notes.iter().cloned().chain(change.checked.note()).collect();
    if !notes.is_empty() {
        out.insert("notes".into(), json!(notes));
    }
    if let Some(place) = &change.place {
        out.insert("source".into(), json!({ "file": place.file.as_ref(), "line": place.line }));
    }
    Value::Object(out)
}

/// Counts as JSON.
pub fn summary(summary: Summary) -> Value {
    json!({
        "create": summary.create,
        "update": summary.update,
        "replace": summary.replace,
        "delete": summary.delete,
        "noop": summary.noop,
    })
}
