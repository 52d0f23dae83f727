//! Pods, their containers and volumes.

use podsmith_object::{Value, json};

use super::{Object, each, inner, set_if_empty, set_if_missing, text};

pub(super) fn fill(name: &str, map: &mut Object) {
    match name {
        "Pod" => pod(map),
        "PodSpec" => {
            set_if_empty(map, "dnsPolicy", || json!("ClusterFirst"));
            set_if_empty(map, "restartPolicy", || json!("Always"));
            set_if_missing(map, "securityContext", || json!({}));
            set_if_missing(map, "terminationGracePeriodSeconds", || json!(30));
            set_if_empty(map, "schedulerName", || json!("default-scheduler"));
            // The old name of the account follows the new one.
            for (to, from) in
                [("serviceAccountName", "serviceAccount"), ("serviceAccount", "serviceAccountName")]
            {
                if let Some(account) = map.get(from).cloned() {
                    set_if_empty(map, to, || account);
                }
            }
        }
        "Container" | "EphemeralContainer" => container(map),
        "Volume" => volume(map),
        "Probe" => {
            for (key, amount) in [
                ("timeoutSeconds", 1),
                ("periodSeconds", 10),
                ("successThreshold", 1),
                ("failureThreshold", 3),
            ] {
                set_if_empty(map, key, || json!(amount));
            }
        }
        "HTTPGetAction" => {
            set_if_empty(map, "path", || json!("/"));
            set_if_empty(map, "scheme", || json!("HTTP"));
        }
        "GRPCAction" => set_if_missing(map, "service", || json!("")),
        "SecretVolumeSource"
        | "ConfigMapVolumeSource"
        | "DownwardAPIVolumeSource"
        | "ProjectedVolumeSource" => {
            set_if_missing(map, "defaultMode", || json!(420));
        }
        "ServiceAccountTokenProjection" => set_if_missing(map, "expirationSeconds", || json!(3600)),
        "HostPathVolumeSource" => set_if_missing(map, "type", || json!("")),
        "ObjectFieldSelector" => set_if_empty(map, "apiVersion", || json!("v1")),
        _ => {}
    }
}

fn pod(map: &mut Object) {
    let Some(spec) = map.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for list in ["containers", "initContainers"] {
        each(spec, list).for_each(requests_from_limits);
    }
    set_if_missing(spec, "enableServiceLinks", || json!(true));
    pod_requests(spec);
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        for list in ["containers", "initContainers"] {
            each(spec, list).for_each(host_ports);
        }
    }
}

/// What a container may use at most it asks for as well, unless it says otherwise.
fn requests_from_limits(container: &mut Object) {
    let Some(resources) = container.get_mut("resources").and_then(Value::as_object_mut) else { return };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let Some(requests) = inner(resources, "requests") else { return };
    for (key, amount) in limits {
        requests.entry(key).or_insert(amount);
    }
}

/// Limits of a whole pod become its requests, as far as its containers do not ask for more.
fn pod_requests(spec: &mut Object) {
    let limits =
        spec.get("resources").and_then(|resources| resources.get("limits")).and_then(Value::as_object);
    let Some(limits) = limits.filter(|limits| !limits.is_empty()).cloned() else { return };
    let mut sums: Vec<(String, podsmith_object::quantity::Quantity)> = Vec::new();
    for container in each(spec, "containers") {
        let requests = container.get("resources").and_then(|resources| resources.get("requests"));
        for (key, amount) in requests.and_then(Value::as_object).into_iter().flatten() {
            let Some(amount) =
                amount.as_str().and_then(|text| podsmith_object::quantity::Quantity::parse(text).ok())
            else {
                continue;
            };
            match sums.iter_mut().find(|(known, _)| known == key) {
                Some((_, sum)) => *sum = sum.checked_add(amount).unwrap_or(*sum),
                None => sums.push((key.clone(), amount)),
            }
        }
    }
    let Some(resources) = inner(spec, "resources") else { return };
    let Some(requests) = inner(resources, "requests") else { return };
    for (key, sum) in sums.into_iter().filter(|(key, _)| matches!(key.as_str(), "cpu" | "memory")) {
        requests.entry(key).or_insert_with(|| json!(sum.to_string()));
    }
    for (key, amount) in limits {
        requests.entry(key).or_insert(amount);
    }
}

fn host_ports(container: &mut Object) {
    for port in each(container, "ports") {
        if let Some(number) = port.get("containerPort").cloned() {
            set_if_empty(port, "hostPort", || number);
        }
    }
}

fn container(map: &mut Object) {
    let policy = pull_policy(text(map, "image"));
    set_if_empty(map, "imagePullPolicy", || json!(policy));
    set_if_empty(map, "terminationMessagePath", || json!("/dev/termination-log"));
    set_if_empty(map, "terminationMessagePolicy", || json!("File"));
}

/// `Always` for `:latest` and for no tag at all; a digest pins the image.
fn pull_policy(image: &str) -> &'static str {
    if image.contains('@') {
        return "IfNotPresent";
    }
    let last = image.rsplit('/').next().unwrap_or(image);
    match last.split_once(':') {
        None if image.is_empty() => "IfNotPresent",
        None | Some((_, "latest")) => "Always",
        Some(_) => "IfNotPresent",
    }
}

fn volume(map: &mut Object) {
    if !map.keys().any(|key| key != "name") {
        map.insert("emptyDir".to_owned(), json!({}));
    }
    if let Some(image) = map.get_mut("image").and_then(Value::as_object_mut) {
        let policy = pull_policy(text(image, "reference"));
        set_if_empty(image, "pullPolicy", || json!(policy));
    }
}
