//! Containers: names, ports, environment, mounts, resources, probes.

use podsmith_object::quantity::Quantity;

use super::names;
use super::node::{At, Faults};
use crate::fault::Fault;

/// Checks the containers of a pod spec.
pub(super) fn regular(spec: &At<'_>, volumes: &[&str], faults: &mut Faults) {
    let list = spec.child("containers");
    if list.is_empty() {
        return faults.required(&list, "");
    }
    let mut known: Vec<&str> = Vec::new();
    for container in list.items() {
        common(&container, volumes, faults);
        let name = container.child("name");
        if known.contains(&name.text()) {
            faults.duplicate(&name);
        }
        known.push(name.text());
        probes(&container, faults);
    }
    host_ports(&list, faults);
}

/// Checks the init containers of a pod spec.
pub(super) fn init(spec: &At<'_>, volumes: &[&str], faults: &mut Faults) {
    let regular = spec.child("containers").items();
    let mut known: Vec<&str> = regular.iter().map(|container| container.child("name").text()).collect();
    for container in spec.child("initContainers").items() {
        common(&container, volumes, faults);
        let name = container.child("name");
        if known.contains(&name.text()) {
            faults.duplicate(&name);
        }
        known.push(name.text());
        if container.child("restartPolicy").text() == "Always" {
            probes(&container, faults);
            continue;
        }
        for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.child(key).is_set() {
                faults.forbidden(
                    &container.child(key),
                    "may not be set for init containers without restartPolicy=Always",
                );
            }
        }
    }
}

fn common(container: &At<'_>, volumes: &[&str], faults: &mut Faults) {
    let name = container.child("name");
    if name.is_empty() {
        faults.required(&name, "");
    } else {
        faults.each(&name, names::dns_label(name.text()));
    }
    let image = container.child("image");
    if image.is_empty() {
        faults.required(&image, "");
    } else if image.text().trim() != image.text() {
        faults.invalid(&image, "must not have leading or trailing whitespace");
    }
    faults.one_of(&container.child("terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
    ports(&container.child("ports"), faults);
    environment(container, faults);
    mounts(container, volumes, faults);
    faults.one_of(&container.child("imagePullPolicy"), &["Always", "IfNotPresent", "Never"]);
    resources(&container.child("resources"), faults);
    resize_policy(&container.child("resizePolicy"), faults);
    security(&container.child("securityContext"), faults);
}

fn ports(list: &At<'_>, faults: &mut Faults) {
    let mut known: Vec<&str> = Vec::new();
    for port in list.items() {
        let name = port.child("name");
        if !name.is_empty() {
            let wrong = names::port_name(name.text());
            if !wrong.is_empty() {
                faults.each(&name, wrong);
            } else if known.contains(&name.text()) {
                faults.duplicate(&name);
            } else {
                known.push(name.text());
            }
        }
        let number = port.child("containerPort");
        if number.int() == 0 {
            faults.required(&number, "");
        } else {
            faults.each(&number, names::port_number(number.int()));
        }
        let host = port.child("hostPort");
        if host.int() != 0 {
            faults.each(&host, names::port_number(host.int()));
        }
        faults.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

fn host_ports(list: &At<'_>, faults: &mut Faults) {
    let mut used: Vec<String> = Vec::new();
    for container in list.items() {
        for port in container.child("ports").items() {
            let host = port.child("hostPort");
            if host.int() == 0 {
                continue;
            }
            let key =
                format!("{}/{}/{}", port.child("protocol").text(), port.child("hostIP").text(), host.int());
            if used.contains(&key) {
                faults.push(Fault::duplicate(host.path.as_str(), key));
            } else {
                used.push(key);
            }
        }
    }
}

fn environment(container: &At<'_>, faults: &mut Faults) {
    for variable in container.child("env").items() {
        let name = variable.child("name");
        if name.is_empty() {
            faults.required(&name, "");
        } else {
            faults.each(&name, names::env_name(name.text()));
        }
        let from = variable.child("valueFrom");
        if !from.is_set() {
            continue;
        }
        let sources = from.count();
        for key in ["configMapKeyRef", "secretKeyRef"] {
            let reference = from.child(key);
            if reference.is_set() {
                let name = reference.child("name");
                for text in names::dns_subdomain(name.text()) {
                    faults.push(Fault::invalid(name.path.as_str(), name.text(), text));
                }
                if reference.child("key").is_empty() {
                    faults.required(&reference.child("key"), "");
                } else {
                    faults.each(&reference.child("key"), names::config_key(reference.child("key").text()));
                }
            }
        }
        field_reference(&from.child("fieldRef"), faults);
        let whole = |text: &str| Fault::invalid(from.path.as_str(), "", text);
        if sources == 0 {
            faults.push(whole("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"));
        } else if !variable.child("value").is_empty() {
            faults.push(whole("may not be specified when `value` is not empty"));
        } else if sources > 1 {
            faults.push(whole("may not have more than one field specified at a time"));
        }
    }
    for source in container.child("envFrom").items() {
        let prefix = source.child("prefix");
        if !prefix.is_empty() {
            faults.each(&prefix, names::env_name(prefix.text()));
        }
        let given: Vec<&str> =
            ["configMapRef", "secretRef"].into_iter().filter(|key| source.child(key).is_set()).collect();
        for key in &given {
            if source.child(key).child("name").is_empty() {
                faults.required(&source.child(key).child("name"), "");
            }
        }
        let list = container.child("envFrom").path;
        let whole = |text: &str| Fault::invalid(list.as_str(), "", text);
        match given.len() {
            0 => faults.push(whole("must specify one of: `configMapRef` or `secretRef`")),
            1 => {}
            _ => faults.push(whole("may not have more than one field specified at a time")),
        }
    }
}

fn field_reference(reference: &At<'_>, faults: &mut Faults) {
    if !reference.is_set() {
        return;
    }
    let path = reference.child("fieldPath");
    if path.is_empty() {
        return faults.required(&path, "");
    }
    let allowed = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let text = path.text();
    let subscript =
        ["metadata.labels['", "metadata.annotations['"].iter().any(|start| text.starts_with(start))
            && text.ends_with("']");
    if !allowed.contains(&text) && !subscript {
        faults.invalid(&path, format!("error converting fieldPath: field label not supported: {text}"));
    }
}

fn mounts(container: &At<'_>, volumes: &[&str], faults: &mut Faults) {
    let mut points: Vec<&str> = Vec::new();
    let list = container.child("volumeMounts");
    for mount in list.items() {
        let name = mount.child("name");
        if name.is_empty() {
            faults.required(&name, "");
        }
        if !volumes.contains(&name.text()) {
            faults.push(Fault::not_found(name.path.as_str(), name.text()));
        }
        let path = mount.child("mountPath");
        if path.is_empty() {
            faults.required(&path, "");
        }
        if points.contains(&path.text()) {
            faults.invalid(&path, "must be unique");
        }
        points.push(path.text());
        for key in ["subPath", "subPathExpr"] {
            let inner = At { path: format!("{}.{key}", list.path), value: mount.child(key).value };
            if inner.text().starts_with('/') {
                faults.invalid(&inner, "must be a relative path");
            }
            if inner.text().split('/').any(|part| part == "..") {
                faults.invalid(&inner, "must not contain '..'");
            }
        }
        if !mount.child("subPath").is_empty() && !mount.child("subPathExpr").is_empty() {
            faults.invalid(&mount.child("subPathExpr"), "subPathExpr and subPath are mutually exclusive");
        }
        let propagation = mount.child("mountPropagation");
        if !propagation.is_empty() {
            let allowed = ["Bidirectional", "HostToContainer", "None"];
            let here = At { path: format!("{}.mountPropagation", list.path), value: propagation.value };
            if !allowed.contains(&propagation.text()) {
                faults.not_supported(&here, &allowed);
            } else if propagation.text() == "Bidirectional"
                && !container.at(&["securityContext", "privileged"]).flag()
            {
                faults.forbidden(
                    &here,
                    "Bidirectional mount propagation is available only to privileged containers",
                );
            }
        }
    }
}

/// Names that containers may ask for without a domain.
fn is_standard(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
}

/// Names without a domain that mean something anywhere: in quotas, limits, nodes.
pub(super) fn is_known_resource(name: &str) -> bool {
    let name = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")).unwrap_or(name);
    is_standard(name)
        || matches!(
            name,
            "storage"
                | "pods"
                | "services"
                | "replicationcontrollers"
                | "resourcequotas"
                | "secrets"
                | "configmaps"
                | "persistentvolumeclaims"
                | "services.nodeports"
                | "services.loadbalancers"
                | "requests"
        )
}

/// Checks limits and requests against each other.
pub(super) fn resources(resources: &At<'_>, faults: &mut Faults) {
    let (limits, requests) = (resources.child("limits"), resources.child("requests"));
    let amount = |at: &At<'_>| Quantity::parse(at.text()).ok();
    for list in [&limits, &requests] {
        for (name, at) in list.entries() {
            resource_name(name, &at, faults);
            let Some(quantity) = amount(&at) else { continue };
            if quantity.is_negative() {
                faults.invalid(&at, "must be greater than or equal to 0");
            }
            let whole = !is_standard(name) && name.contains('/');
            if whole && quantity.milli() % 1000 != 0 {
                faults.invalid(&at, "must be an integer");
            }
        }
    }
    for (name, request) in requests.entries() {
        let Some(wanted) = amount(&request) else { continue };
        let overcommit = matches!(name, "cpu" | "memory" | "ephemeral-storage");
        match amount(&limits.child(name)) {
            Some(most) => {
                let whole =
                    |detail: String| Fault::invalid(requests.path.as_str(), wanted.to_string(), detail);
                if wanted != most && !overcommit {
                    faults.push(whole(format!("must be equal to {name} limit of {most}")));
                } else if wanted > most {
                    faults.push(whole(format!("must be less than or equal to {name} limit of {most}")));
                }
            }
            None if !overcommit => {
                faults.required(&limits, "Limit must be set for non overcommitable resources")
            }
            None => {}
        }
    }
}

fn resource_name(name: &str, at: &At<'_>, faults: &mut Faults) {
    let named = At { path: at.path.clone(), value: at.value };
    let say =
        |faults: &mut Faults, text: String| faults.push(Fault::invalid(named.path.as_str(), name, text));
    for text in names::qualified_name(name) {
        say(faults, text);
    }
    if !name.contains('/') {
        if !is_standard(name) {
            if !is_known_resource(name) {
                say(faults, "must be a standard resource type or fully qualified".to_owned());
            }
            say(faults, "must be a standard resource for containers".to_owned());
        }
    } else if name.starts_with("requests.") {
        say(faults, "doesn't follow extended resource name standard".to_owned());
    }
}

fn security(context: &At<'_>, faults: &mut Faults) {
    for key in ["runAsUser", "runAsGroup"] {
        let at = context.child(key);
        if at.is_set() && !(0..=i64::from(i32::MAX)).contains(&at.int()) {
            faults.invalid(&at, "must be between 0 and 2147483647, inclusive");
        }
    }
    let mount = context.child("procMount");
    if mount.is_set() && !matches!(mount.text(), "Default" | "Unmasked") {
        faults.not_supported(&mount, &["Default", "Unmasked"]);
    }
    seccomp(&context.child("seccompProfile"), faults);
    let escalation = context.child("allowPrivilegeEscalation");
    if escalation.is_set() && !escalation.flag() {
        if context.child("privileged").flag() {
            faults.push(Fault::invalid(
                context.path.as_str(),
                context.value.clone(),
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            ));
        }
        let added = context.at(&["capabilities", "add"]);
        if added.items().iter().any(|one| one.text() == "CAP_SYS_ADMIN") {
            faults.push(Fault::invalid(
                context.path.as_str(),
                context.value.clone(),
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
            ));
        }
    }
}

/// A seccomp profile: its sort, and the file when it is one.
pub(super) fn seccomp(profile: &At<'_>, faults: &mut Faults) {
    if !profile.is_set() {
        return;
    }
    const SORTS: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
    let (sort, file) = (profile.child("type"), profile.child("localhostProfile"));
    if !SORTS.contains(&sort.text()) {
        faults.not_supported(&sort, &SORTS);
    }
    if sort.text() == "Localhost" {
        if file.is_empty() {
            faults.required(&file, "must be set when seccomp type is Localhost");
        }
    } else if file.is_set() {
        faults.invalid(&file, "can only be set when seccomp type is Localhost");
    }
}

fn resize_policy(list: &At<'_>, faults: &mut Faults) {
    for policy in list.items() {
        let (name, restart) = (policy.child("resourceName"), policy.child("restartPolicy"));
        if !matches!(name.text(), "cpu" | "memory") {
            faults.push(Fault::not_supported(list.path.as_str(), name.text(), &["cpu", "memory"]));
        }
        if !matches!(restart.text(), "NotRequired" | "RestartContainer") {
            faults.push(Fault::not_supported(
                list.path.as_str(),
                restart.text(),
                &["NotRequired", "RestartContainer"],
            ));
        }
    }
}

fn probes(container: &At<'_>, faults: &mut Faults) {
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.child(key);
        if !probe.is_set() {
            continue;
        }
        handler(&probe, &["exec", "httpGet", "tcpSocket", "grpc"], faults);
        for number in
            ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
        {
            faults.not_negative(&probe.child(number));
        }
        let grace = probe.child("terminationGracePeriodSeconds");
        if grace.is_set() {
            if grace.int() <= 0 {
                faults.invalid(&grace, "must be greater than 0");
            }
            if key == "readinessProbe" {
                faults.invalid(&grace, "must not be set for readinessProbes");
            }
        }
        let success = probe.child("successThreshold");
        if key != "readinessProbe" && success.int() != 1 {
            faults.push(Fault::invalid(success.path.as_str(), success.int(), "must be 1"));
        }
    }
    for key in ["postStart", "preStop"] {
        let hook = container.at(&["lifecycle", key]);
        if hook.is_set() {
            handler(&hook, &["exec", "httpGet", "tcpSocket", "sleep"], faults);
        }
    }
}

fn handler(at: &At<'_>, sorts: &[&str], faults: &mut Faults) {
    let mut given = sorts.iter().filter(|sort| at.child(sort).is_set());
    let Some(first) = given.next() else { return faults.required(at, "must specify a handler type") };
    let action = at.child(first);
    match *first {
        "exec" if action.child("command").is_empty() => faults.required(&action.child("command"), ""),
        "httpGet" => {
            if action.child("path").is_empty() {
                faults.required(&action.child("path"), "");
            }
            port(&action.child("port"), faults);
            if !matches!(action.child("scheme").text(), "HTTP" | "HTTPS") {
                faults.not_supported(&action.child("scheme"), &["HTTP", "HTTPS"]);
            }
        }
        "tcpSocket" => port(&action.child("port"), faults),
        "grpc" => {
            let number = action.child("port");
            faults.each(&number, names::port_number(number.int()));
        }
        _ => {}
    }
    for other in given {
        faults.forbidden(&at.child(other), "may not specify more than 1 handler type");
    }
}

/// A port by number or by name.
pub(super) fn port(at: &At<'_>, faults: &mut Faults) {
    match at.value.as_str() {
        Some(name) => faults.each(at, names::port_name(name)),
        None => {
            for text in names::port_number(at.int()) {
                faults.push(Fault::invalid(at.path.as_str(), at.int(), text));
            }
        }
    }
}
