//! Autoscalers, disruption budgets, priority classes, leases and webhooks.

use podsmith_object::json;

use super::node::{At, Faults};
use super::{names, selector, workloads};
use crate::fault::Fault;

/// Checks a HorizontalPodAutoscaler.
pub(super) fn autoscaler(object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    let (min, max) = (spec.child("minReplicas"), spec.child("maxReplicas"));
    if min.is_set() && min.int() < 1 {
        faults.invalid(&min, "must be greater than or equal to 1");
    }
    if max.int() < 1 {
        faults.required(&max, "must be set and greater than 0");
    }
    if min.is_set() && max.int() < min.int() {
        faults.invalid(&max, "must be greater than or equal to `minReplicas`");
    }
    let target = spec.child("scaleTargetRef");
    for key in ["kind", "name"] {
        let at = target.child(key);
        if at.is_empty() {
            faults.required(&at, "");
        } else {
            faults.each(&at, names::path_segment(at.text()));
        }
    }
    let version = target.child("apiVersion");
    let group_version = version.text();
    if !group_version.contains('/') && target.child("kind").text() != "ReplicationController" {
        faults.push(Fault::invalid(
            version.path.as_str(),
            group_version,
            "apiVersion must specify API group",
        ));
    }
    let metrics = spec.child("metrics");
    for metric in metrics.items() {
        check_metric(&metric, faults);
    }
    if min.is_set() && min.int() == 0 {
        let external =
            metrics.items().iter().any(|metric| matches!(metric.child("type").text(), "Object" | "External"));
        if !external {
            faults.forbidden(
                &metrics,
                "must specify at least one Object or External metric to support scaling to zero replicas",
            );
        }
    }
    for (key, limit) in [("scaleUp", 3600), ("scaleDown", 3600)] {
        let rules = spec.at(&["behavior", key]);
        let window = rules.child("stabilizationWindowSeconds");
        faults.not_negative(&window);
        if window.int() > limit {
            faults.invalid(&window, format!("must be less than or equal to {limit}"));
        }
        if rules.is_set() && rules.child("policies").is_empty() {
            faults.required(&rules.child("policies"), "must specify at least one Policy");
        }
        for policy in rules.child("policies").items() {
            faults.one_of(&policy.child("type"), &["Percent", "Pods"]);
            for number in ["value", "periodSeconds"] {
                if policy.child(number).int() <= 0 {
                    faults.invalid(&policy.child(number), "must be greater than zero");
                }
            }
            if policy.child("periodSeconds").int() > 1800 {
                faults.invalid(&policy.child("periodSeconds"), "must be less than or equal to 1800");
            }
        }
    }
}

fn check_metric(metric: &At<'_>, faults: &mut Faults) {
    const KINDS: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
    let kind = metric.child("type");
    if kind.is_empty() {
        return faults.required(&kind, "must specify a metric source type");
    }
    if !KINDS.contains(&kind.text()) {
        faults.not_supported(&kind, &KINDS);
        faults.not_supported(&kind, &KINDS);
        return;
    }
    let mut key = kind.text().to_owned();
    if let Some(first) = key.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let source = metric.child(&key);
    if !source.is_set() {
        return faults.required(&source, "must populate information for the given metric source");
    }
    let target = source.child("target");
    if matches!(key.as_str(), "resource" | "containerResource") {
        if source.child("name").is_empty() {
            faults.required(&source.child("name"), "must specify a resource name");
        }
        let (share, value) = (target.child("averageUtilization"), target.child("averageValue"));
        if !share.is_set() && !value.is_set() {
            faults.required(&share, "must set either a target raw value or a target utilization");
        }
        if share.is_set() && share.int() < 1 {
            faults.invalid(&share, "must be greater than 0");
        }
        if share.is_set() && value.is_set() {
            faults.forbidden(&value, "may not set both a target raw value and a target utilization");
        }
    } else if !target.child("value").is_set() && !target.child("averageValue").is_set() {
        faults.required(
            &target.child("averageValue"),
            "must set either a target value for metric or a per-pod target",
        );
    }
}

/// Checks a PodDisruptionBudget.
pub(super) fn disruption_budget(object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    let (min, max) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if min.is_set() && max.is_set() {
        let shown = json!({
            "MinAvailable": min.value, "Selector": spec.child("selector").value,
            "MaxUnavailable": max.value, "UnhealthyPodEvictionPolicy": spec.child("unhealthyPodEvictionPolicy").value
        });
        faults.push(Fault::invalid(
            spec.path.as_str(),
            shown,
            "minAvailable and maxUnavailable cannot be both set",
        ));
    }
    for at in [&min, &max] {
        if at.is_set() {
            workloads::count_or_percent(at, faults);
            let share = at.text().trim_end_matches('%').parse::<i64>().unwrap_or(0);
            if at.value.is_string() && share > 100 {
                faults.invalid(at, "must not be greater than 100%");
            }
        }
    }
    selector::check(&spec.child("selector"), faults);
    let policy = spec.child("unhealthyPodEvictionPolicy");
    if policy.is_set() && !matches!(policy.text(), "AlwaysAllow" | "IfHealthyBudget") {
        faults.not_supported(&policy, &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

/// Checks a PriorityClass; its value never changes.
pub(super) fn priority_class(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    const HIGHEST: i64 = 1_000_000_000;
    let name = object.at(&["metadata", "name"]);
    if let Some(old) = old {
        if object.child("value").value != old.child("value").value {
            faults.forbidden(&object.child("value"), "may not be changed in an update.");
        }
        if object.child("preemptionPolicy").value != old.child("preemptionPolicy").value {
            faults.immutable(&object.child("preemptionPolicy"), &old.child("preemptionPolicy"));
        }
        return;
    }
    if name.text().starts_with("system-") {
        if !matches!(name.text(), "system-node-critical" | "system-cluster-critical") {
            faults.forbidden(
                &name,
                format!(
                    "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known system priority class",
                    name.text()
                ),
            );
        }
    } else if object.child("value").int() > HIGHEST {
        faults.forbidden(
            &object.child("value"),
            format!("maximum allowed value of a user defined priority is {HIGHEST}"),
        );
    }
    let policy = object.child("preemptionPolicy");
    if policy.is_set() && !matches!(policy.text(), "PreemptLowerPriority" | "Never") {
        faults.not_supported(&policy, &["PreemptLowerPriority", "Never"]);
    }
}

/// Checks a Lease.
pub(super) fn lease(object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    let length = spec.child("leaseDurationSeconds");
    if length.is_set() && length.int() <= 0 {
        faults.invalid(&length, "must be greater than 0");
    }
    faults.not_negative(&spec.child("leaseTransitions"));
}

/// Checks a webhook configuration.
pub(super) fn webhooks(object: &At<'_>, faults: &mut Faults) {
    let mut seen: Vec<&str> = Vec::new();
    for webhook in object.child("webhooks").items() {
        let name = webhook.child("name");
        domain(&name, 3, "three", faults);
        for rule in webhook.child("rules").items() {
            webhook_rule(&rule, faults);
        }
        let policy = webhook.child("failurePolicy");
        if policy.is_set() && !matches!(policy.text(), "Fail" | "Ignore") {
            faults.not_supported(&policy, &["Fail", "Ignore"]);
        }
        let matching = webhook.child("matchPolicy");
        if matching.is_set() && !matches!(matching.text(), "Equivalent" | "Exact") {
            faults.not_supported(&matching, &["Equivalent", "Exact"]);
        }
        let effects = webhook.child("sideEffects");
        if !effects.is_set() {
            faults.required(&effects, "must specify one of None, NoneOnDryRun");
        } else if !matches!(effects.text(), "None" | "NoneOnDryRun") {
            faults.not_supported(&effects, &["None", "NoneOnDryRun"]);
        }
        let timeout = webhook.child("timeoutSeconds");
        if timeout.is_set() && !(1..=30).contains(&timeout.int()) {
            faults.invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
        }
        for key in ["namespaceSelector", "objectSelector"] {
            selector::check(&webhook.child(key), faults);
        }
        client_config(&webhook.child("clientConfig"), faults);
        review_versions(&webhook.child("admissionReviewVersions"), faults);
        if seen.contains(&name.text()) {
            faults.duplicate(&name);
        }
        seen.push(name.text());
    }
}

fn domain(name: &At<'_>, segments: usize, word: &str, faults: &mut Faults) {
    if name.is_empty() {
        return faults.required(name, "");
    }
    let wrong = names::dns_subdomain(name.text());
    if !wrong.is_empty() {
        return faults.each(name, wrong);
    }
    if name.text().split('.').count() < segments {
        faults.invalid(name, format!("should be a domain with at least {word} segments separated by dots"));
    }
}

fn webhook_rule(rule: &At<'_>, faults: &mut Faults) {
    let operations = rule.child("operations");
    if operations.is_empty() {
        faults.required(&operations, "");
    }
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    for operation in operations.items() {
        if !OPERATIONS.contains(&operation.text()) {
            faults.not_supported(&operation, &OPERATIONS);
        }
    }
    for key in ["apiGroups", "apiVersions", "resources"] {
        let list = rule.child(key);
        if list.is_empty() {
            faults.required(&list, "");
        }
        if key != "resources" && list.count() > 1 && list.items().iter().any(|one| one.text() == "*") {
            let noun = if key == "apiGroups" { "groups" } else { "versions" };
            faults.invalid(&list, format!("if '*' is present, must not specify other API {noun}"));
        }
    }
    let scope = rule.child("scope");
    if scope.is_set() && !matches!(scope.text(), "*" | "Cluster" | "Namespaced") {
        faults.not_supported(&scope, &["*", "Cluster", "Namespaced"]);
    }
}

/// Where a webhook is: a URL or a service.
pub(super) fn client_config(config: &At<'_>, faults: &mut Faults) {
    let (url, service) = (config.child("url"), config.child("service"));
    if url.is_set() == service.is_set() {
        return faults.required(config, "exactly one of url or service is required");
    }
    if url.is_set() {
        let form = "; desired format: https://host[/path]";
        match url.text().split_once("://") {
            Some(("https", rest)) => {
                let host = rest.split(['/', '?', '#']).next().unwrap_or("");
                if host.is_empty() {
                    faults.push(Fault::invalid(
                        url.path.as_str(),
                        host,
                        format!("host must be specified{form}"),
                    ));
                }
                for (mark, what) in [('@', "user information"), ('#', "fragments"), ('?', "query parameters")]
                {
                    if rest.contains(mark) {
                        faults.invalid(&url, format!("{what} are not permitted in the URL"));
                    }
                }
            }
            other => {
                let scheme = other.map_or("", |(scheme, _)| scheme);
                faults.push(Fault::invalid(
                    url.path.as_str(),
                    scheme,
                    format!("'https' is the only allowed URL scheme{form}"),
                ));
            }
        }
        return;
    }
    // The server mixes the two up: it names the one that is there.
    for (key, named) in [("name", "namespace"), ("namespace", "name")] {
        if service.child(key).is_empty() {
            faults.required(&service.child(named), "");
        }
    }
    let port = service.child("port");
    if port.is_set() && !(1..=65535).contains(&port.int()) {
        faults.invalid(&port, "port is not valid: must be between 1 and 65535, inclusive");
    }
    let path = service.child("path");
    if path.is_set() && !path.text().starts_with('/') {
        faults.invalid(&path, "must start with a '/'");
    }
}

fn review_versions(versions: &At<'_>, faults: &mut Faults) {
    if versions.is_empty() {
        return faults.required(versions, "must specify one of v1, v1beta1");
    }
    if !versions.items().iter().any(|version| matches!(version.text(), "v1" | "v1beta1")) {
        faults.invalid(versions, "must include at least one of v1, v1beta1");
    }
}
