//! HorizontalPodAutoscalers: version 1 keeps one number, version 2 a list of metrics. What version 1 cannot say
//! travels in annotations, as in the real server.

use podsmith_object::{Value, json};

use crate::fields;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

fn is_cpu_utilization(metric: &Value) -> bool {
    fields::text(metric, &["type"]) == "Resource"
        && fields::text(metric, &["resource", "name"]) == "cpu"
        && fields::text(metric, &["resource", "target", "type"]) == "Utilization"
}

fn annotate(object: &mut Value, key: &str, value: &Value) {
    fields::set(object, &["metadata", "annotations", key], value.to_string().into());
}

fn take_annotation(object: &mut Value, key: &str) -> Option<Value> {
    let text = fields::remove(object, &["metadata", "annotations", key])?;
    if fields::at(object, &["metadata", "annotations"]).is_some_and(|map| map == &json!({})) {
        fields::remove(object, &["metadata", "annotations"]);
    }
    serde_json::from_str(text.as_str()?).ok()
}

/// The names of targets in the annotations and in version 2.
const TARGETS: [(&str, &str, &str); 3] = [
    ("targetAverageUtilization", "averageUtilization", "Utilization"),
    ("targetAverageValue", "averageValue", "AverageValue"),
    ("targetValue", "value", "Value"),
];

fn source_of(metric: &Value) -> Option<String> {
    let sort = fields::text(metric, &["type"]);
    let mut letters = sort.chars();
    let first = letters.next()?.to_lowercase().to_string();
    Some(first + letters.as_str())
}

/// A metric as the annotation writes it: targets stand beside the name.
fn old_form(metric: &Value) -> Value {
    let mut out = metric.clone();
    let Some(source) = source_of(metric) else { return out };
    if let Some(target) = fields::remove(&mut out, &[&source, "target"]) {
        for (old, new, _) in TARGETS {
            if let Some(value) = fields::at(&target, &[new]) {
                fields::set(&mut out, &[&source, old], value.clone());
            }
        }
    }
    out
}

/// A metric of the annotation as version 2 writes it.
fn new_form(metric: &Value) -> Value {
    let mut out = metric.clone();
    let Some(source) = source_of(metric) else { return out };
    for (old, new, sort) in TARGETS {
        if let Some(value) = fields::remove(&mut out, &[&source, old]) {
            fields::set(&mut out, &[&source, "target", "type"], sort.into());
            fields::set(&mut out, &[&source, "target", new], value);
        }
    }
    out
}

/// From version 2 to version 1.
pub fn to_v1(object: &mut Value) {
    let metrics = fields::remove(object, &["spec", "metrics"]);
    let mut others = Vec::new();
    for metric in metrics.as_ref().and_then(Value::as_array).into_iter().flatten() {
        if is_cpu_utilization(metric)
            && fields::at(object, &["spec", "targetCPUUtilizationPercentage"]).is_none()
        {
            if let Some(target) = fields::at(metric, &["resource", "target", "averageUtilization"]) {
                fields::set(object, &["spec", "targetCPUUtilizationPercentage"], target.clone());
            }
        } else {
            others.push(old_form(metric));
        }
    }
    if !others.is_empty() {
        annotate(object, METRICS, &Value::from(others));
    }
    for (path, key) in [("behavior", BEHAVIOR)]
        .into_iter()
        .map(|(field, key)| (["spec", field], key))
        .chain([(["status", "currentMetrics"], CURRENT_METRICS), (["status", "conditions"], CONDITIONS)])
    {
        if let Some(value) = fields::remove(object, &path)
            && !value.is_null()
        {
            if path == ["status", "currentMetrics"] {
                let cpu = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .find(|metric| fields::text(metric, &["resource", "name"]) == "cpu");
                if let Some(current) =
                    cpu.and_then(|cpu| fields::at(cpu, &["resource", "current", "averageUtilization"]))
                {
                    fields::set(object, &["status", "currentCPUUtilizationPercentage"], current.clone());
                }
            }
            annotate(object, key, &value);
        }
    }
    for field in ["currentReplicas", "desiredReplicas"] {
        if fields::at(object, &["status", field]).is_none() {
            fields::set(object, &["status", field], 0.into());
        }
    }
}

/// From version 1 to version 2.
pub fn to_v2(object: &mut Value) {
    let mut metrics = Vec::new();
    if let Some(target) = fields::remove(object, &["spec", "targetCPUUtilizationPercentage"]) {
        metrics.push(json!({
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": target}},
        }));
    }
    if let Some(Value::Array(others)) = take_annotation(object, METRICS) {
        metrics.extend(others.iter().map(new_form));
    }
    if !metrics.is_empty() {
        fields::set(object, &["spec", "metrics"], metrics.into());
    }
    fields::remove(object, &["status", "currentCPUUtilizationPercentage"]);
    for (key, path) in [
        (BEHAVIOR, ["spec", "behavior"]),
        (CURRENT_METRICS, ["status", "currentMetrics"]),
        (CONDITIONS, ["status", "conditions"]),
    ] {
        if let Some(value) = take_annotation(object, key) {
            fields::set(object, &path, value);
        }
    }
    if fields::at(object, &["status", "currentMetrics"]).is_none() {
        fields::set(object, &["status", "currentMetrics"], Value::Null);
    }
}
