//! Pods and pod templates.

use podsmith_object::Value;

use super::containers;
use super::metadata;
use super::names;
use super::node::{At, Faults};
use super::volumes;
use crate::fault::Fault;

/// Where a pod spec stands: some rules hold for pods only.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    Pod,
    Template,
}

/// Checks a template: labels, annotations and the pod in it.
pub(super) fn template(template: &At<'_>, faults: &mut Faults) {
    let below = |key: &str| At {
        path: format!("{}.{key}", template.path),
        value: template.at(&["metadata", key]).value,
    };
    metadata::labels(&below("labels"), faults);
    metadata::annotations(&below("annotations"), faults);
    spec(&template.child("spec"), Place::Template, faults);
    let ephemeral = template.at(&["spec", "ephemeralContainers"]);
    if !ephemeral.is_empty() {
        faults.forbidden(&ephemeral, "ephemeral containers not allowed in pod template");
    }
}

/// Checks a pod spec.
pub(super) fn spec(spec: &At<'_>, place: Place, faults: &mut Faults) {
    let grace = spec.child("terminationGracePeriodSeconds");
    if !grace.is_set() {
        faults.required(&grace, "");
    }
    let known = volumes::check(&spec.child("volumes"), faults);
    containers::regular(spec, &known, faults);
    containers::init(spec, &known, faults);
    host_network(spec, place, faults);
    faults.one_of(&spec.child("restartPolicy"), &["Always", "OnFailure", "Never"]);
    faults.one_of(&spec.child("dnsPolicy"), &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    metadata::labels(&spec.child("nodeSelector"), faults);
    security_context(&spec.child("securityContext"), faults);
    dns_config(spec, faults);
    spread(&spec.child("topologySpreadConstraints"), faults);
    gates_and_claims(spec, faults);
    if place == Place::Pod && !spec.child("ephemeralContainers").is_empty() {
        faults.forbidden(&spec.child("ephemeralContainers"), "cannot be set on create");
    }
    affinity(&spec.child("affinity"), faults);
    simple_names(spec, faults);
    let deadline = spec.child("activeDeadlineSeconds");
    if deadline.is_set() && !(1..=i64::from(i32::MAX)).contains(&deadline.int()) {
        faults.invalid(&deadline, "must be between 1 and 2147483647, inclusive");
    }
    tolerations(&spec.child("tolerations"), faults);
    host_aliases(&spec.child("hostAliases"), faults);
    let preemption = spec.child("preemptionPolicy");
    if !preemption.is_empty() && !matches!(preemption.text(), "PreemptLowerPriority" | "Never") {
        faults.not_supported(&preemption, &["PreemptLowerPriority", "Never"]);
    }
}

fn gates_and_claims(spec: &At<'_>, faults: &mut Faults) {
    let mut seen: Vec<&str> = Vec::new();
    for gate in spec.child("schedulingGates").items() {
        let name = At { path: gate.path.clone(), value: gate.child("name").value };
        faults.each(&name, names::qualified_name(name.text()));
        if seen.contains(&name.text()) {
            faults.duplicate(&name);
        }
        seen.push(name.text());
    }
    for gate in spec.child("readinessGates").items() {
        let kind = gate.child("conditionType");
        faults.each(&kind, names::qualified_name(kind.text()));
    }
    for claim in spec.child("resourceClaims").items() {
        faults.each(&claim.child("name"), names::dns_label(claim.child("name").text()));
        match (claim.child("resourceClaimName").is_set(), claim.child("resourceClaimTemplateName").is_set()) {
            (false, false) => faults
                .invalid(&claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            (true, true) => faults.invalid(
                &claim,
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            _ => {}
        }
    }
}

fn simple_names(spec: &At<'_>, faults: &mut Faults) {
    let rules: [(&str, metadata::NameRule); 6] = [
        ("serviceAccountName", names::dns_subdomain),
        ("nodeName", names::dns_subdomain),
        ("hostname", names::dns_label),
        ("subdomain", names::dns_label),
        ("priorityClassName", names::dns_subdomain),
        ("runtimeClassName", names::dns_subdomain),
    ];
    for (key, rule) in rules {
        let at = spec.child(key);
        if !at.is_empty() {
            faults.each(&at, rule(at.text()));
        }
    }
}

fn host_network(spec: &At<'_>, place: Place, faults: &mut Faults) {
    if !spec.child("hostNetwork").flag() {
        return;
    }
    for container in spec.child("containers").items() {
        for port in container.child("ports").items() {
            let (host, inner) = (port.child("hostPort"), port.child("containerPort"));
            if (place == Place::Pod || host.int() != 0) && host.int() != inner.int() {
                faults.push(Fault::invalid(
                    host.path.as_str(),
                    host.int(),
                    "must match `containerPort` when `hostNetwork` is true",
                ));
            }
        }
    }
}

fn security_context(context: &At<'_>, faults: &mut Faults) {
    for key in ["runAsUser", "runAsGroup", "fsGroup"] {
        let at = context.child(key);
        if at.is_set() && !(0..=i64::from(i32::MAX)).contains(&at.int()) {
            faults.invalid(&at, "must be between 0 and 2147483647, inclusive");
        }
    }
    let change = context.child("fsGroupChangePolicy");
    if change.is_set() && !matches!(change.text(), "Always" | "OnRootMismatch") {
        faults.not_supported(&change, &["Always", "OnRootMismatch"]);
    }
    containers::seccomp(&context.child("seccompProfile"), faults);
    for group in context.child("supplementalGroups").items() {
        if !(0..=i64::from(i32::MAX)).contains(&group.int()) {
            faults.invalid(&group, "must be between 0 and 2147483647, inclusive");
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for sysctl in context.child("sysctls").items() {
        let name = sysctl.child("name");
        if name.is_empty() {
            faults.required(&name, "");
        } else if seen.contains(&name.text()) {
            faults.duplicate(&name);
        }
        seen.push(name.text());
    }
}

fn dns_config(spec: &At<'_>, faults: &mut Faults) {
    let config = spec.child("dnsConfig");
    if spec.child("dnsPolicy").text() == "None" && config.child("nameservers").is_empty() {
        if config.is_set() {
            faults.required(
                &config.child("nameservers"),
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            );
        } else {
            faults.required(&config, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
    }
    let servers = config.child("nameservers").items();
    if servers.len() > 3 {
        faults.invalid(&config.child("nameservers"), "must not have more than 3 nameservers");
    }
    servers.iter().for_each(|server| faults.each(server, names::ip_address(server.text())));
    let options = config.child("options").items();
    for option in options {
        if option.child("name").is_empty() {
            faults.required(&option, "must not be empty");
        }
    }
}

pub(super) fn tolerations(list: &At<'_>, faults: &mut Faults) {
    for toleration in list.items() {
        let key = toleration.child("key");
        if !key.is_empty() {
            faults.each(&key, names::qualified_name(key.text()));
        }
        let operator = toleration.child("operator");
        if key.is_empty() && operator.text() != "Exists" {
            let text =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            faults.push(Fault::invalid(operator.path.as_str(), operator.text(), text));
        }
        let (seconds, effect) = (toleration.child("tolerationSeconds"), toleration.child("effect"));
        if seconds.is_set() && effect.text() != "NoExecute" {
            faults.push(Fault::invalid(
                effect.path.as_str(),
                effect.text(),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            ));
        }
        let value = toleration.child("value");
        match operator.text() {
            "Equal" | "" => {
                let wrong = names::label_value(value.text());
                if let Some(first) = wrong.first() {
                    let joined = if wrong.len() > 1 { wrong.join(";") } else { first.clone() };
                    faults.push(Fault::invalid(operator.path.as_str(), value.text(), joined));
                }
            }
            "Exists" => {
                if !value.is_empty() {
                    let here = At { path: operator.path.clone(), value: value.value };
                    faults.invalid(&here, "value must be empty when `operator` is 'Exists'");
                }
            }
            "Lt" | "Gt" => {}
            _ => faults.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() && !matches!(effect.text(), "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
            faults.not_supported(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
    }
}

fn host_aliases(list: &At<'_>, faults: &mut Faults) {
    for alias in list.items() {
        faults.each(&alias.child("ip"), names::ip_address(alias.child("ip").text()));
        for host in alias.child("hostnames").items() {
            faults.each(&host, names::dns_subdomain(host.text()));
        }
    }
}

fn spread(list: &At<'_>, faults: &mut Faults) {
    for constraint in list.items() {
        let skew = constraint.child("maxSkew");
        if skew.int() <= 0 {
            faults.push(Fault::invalid(skew.path.as_str(), skew.int(), "must be greater than zero"));
        }
        let key = constraint.child("topologyKey");
        if key.is_empty() {
            faults.required(&key, "can not be empty");
        } else {
            faults.each(&key, names::qualified_name(key.text()));
        }
        let action = constraint.child("whenUnsatisfiable");
        if !matches!(action.text(), "DoNotSchedule" | "ScheduleAnyway") {
            faults.push(Fault::not_supported(
                action.path.as_str(),
                action.text(),
                &["DoNotSchedule", "ScheduleAnyway"],
            ));
        }
        super::selector::check(&constraint.child("labelSelector"), faults);
    }
}

fn affinity(affinity: &At<'_>, faults: &mut Faults) {
    let node = affinity.child("nodeAffinity");
    let required = node.child("requiredDuringSchedulingIgnoredDuringExecution");
    if required.is_set() && required.child("nodeSelectorTerms").is_empty() {
        faults.required(&required.child("nodeSelectorTerms"), "must have at least one node selector term");
    }
    for term in required.child("nodeSelectorTerms").items() {
        node_term(&term, faults);
    }
    for preferred in node.child("preferredDuringSchedulingIgnoredDuringExecution").items() {
        weight(&preferred, faults);
        node_term(&preferred.child("preference"), faults);
    }
    for sort in ["podAffinity", "podAntiAffinity"] {
        let pod = affinity.child(sort);
        for term in pod.child("requiredDuringSchedulingIgnoredDuringExecution").items() {
            pod_term(&term, faults);
        }
        for preferred in pod.child("preferredDuringSchedulingIgnoredDuringExecution").items() {
            weight(&preferred, faults);
            pod_term(&preferred.child("podAffinityTerm"), faults);
        }
    }
}

fn weight(preferred: &At<'_>, faults: &mut Faults) {
    let weight = preferred.child("weight");
    if !(1..=100).contains(&weight.int()) {
        faults.push(Fault::invalid(weight.path.as_str(), weight.int(), "must be in the range 1-100"));
    }
}

fn node_term(term: &At<'_>, faults: &mut Faults) {
    for expression in term.child("matchExpressions").items() {
        let (operator, values) = (expression.child("operator"), expression.child("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                faults.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                faults
                    .forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
            "Gt" | "Lt" if values.count() != 1 => {
                faults.required(&values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => {
                faults.push(Fault::invalid(operator.path.as_str(), other, "not a valid selector operator"))
            }
        }
        faults.each(&expression.child("key"), names::qualified_name(expression.child("key").text()));
    }
}

fn pod_term(term: &At<'_>, faults: &mut Faults) {
    super::selector::check(&term.child("labelSelector"), faults);
    let key = term.child("topologyKey");
    if key.is_empty() {
        faults.required(&key, "can not be empty");
    }
    faults.each(&At { value: key.value, path: key.path.clone() }, names::qualified_name(key.text()));
}

/// What of a pod may change, as the message lists it.
const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks a changed pod: images, deadlines and added tolerations, nothing else.
pub(super) fn update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (new, old) = (new.child("spec"), old.child("spec"));
    for list in ["containers", "initContainers"] {
        let (now, before) = (new.child(list), old.child(list));
        if now.count() != before.count() {
            faults.forbidden(&now, "pod updates may not add or remove containers");
            return;
        }
        for container in now.items() {
            if container.child("image").is_empty() {
                faults.required(&container.child("image"), "");
            }
        }
    }
    let (deadline, before) = (new.child("activeDeadlineSeconds"), old.child("activeDeadlineSeconds"));
    if deadline.is_set() {
        if before.is_set() && before.int() < deadline.int() {
            faults.invalid(&deadline, "must be less than or equal to previous value");
            return;
        }
    } else if before.is_set() {
        faults.invalid(&deadline, "must not update from a positive integer to nil value");
    }
    kept_tolerations(&new, &old, faults);
    // A pod that is held back may still be told where to go.
    let mut before = old.value.clone();
    if !old.child("schedulingGates").is_empty()
        && old
            .child("nodeSelector")
            .entries()
            .iter()
            .all(|(key, at)| new.child("nodeSelector").child(key).value == at.value)
        && let (Value::Object(map), Some(selector)) = (&mut before, new.value.get("nodeSelector"))
    {
        map.insert("nodeSelector".to_owned(), selector.clone());
    }
    if frozen(new.value, &before) != before {
        faults.forbidden(&new, format!("pod updates may not change fields other than {CHANGEABLE}"));
    }
}

fn kept_tolerations(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let now = new.child("tolerations");
    let listed = |toleration: &Value| now.value.as_array().is_some_and(|list| list.contains(toleration));
    if old.child("tolerations").items().iter().any(|toleration| !listed(toleration.value)) {
        faults.forbidden(&now, "existing toleration can not be modified except its tolerationSeconds");
    }
    let gates = new.child("schedulingGates");
    for gate in gates.items() {
        let before =
            old.child("schedulingGates").value.as_array().is_some_and(|list| list.contains(gate.value));
        if !before {
            let text = "only deletion is allowed, but found new scheduling gate";
            faults.forbidden(&gate.child("name"), format!("{text} '{}'", gate.child("name").text()));
        }
    }
}

/// The new spec with everything that may change put back to what it was.
fn frozen(new: &Value, old: &Value) -> Value {
    let mut new = new.clone();
    for list in ["containers", "initContainers"] {
        let before = old.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(Value::Array(containers)) = new.get_mut(list) {
            for (container, before) in containers.iter_mut().zip(before) {
                if let (Value::Object(container), Some(image)) = (container, before.get("image")) {
                    container.insert("image".to_owned(), image.clone());
                }
            }
        }
    }
    let Value::Object(map) = &mut new else { return new };
    for key in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        match old.get(key) {
            Some(value) => map.insert(key.to_owned(), value.clone()),
            None => map.shift_remove(key),
        };
    }
    let grace = "terminationGracePeriodSeconds";
    let before = old.get(grace).and_then(Value::as_i64).unwrap_or(0);
    if before < 0 && map.get(grace).and_then(Value::as_i64) == Some(1) {
        map.insert(grace.to_owned(), Value::from(before));
    }
    new
}
