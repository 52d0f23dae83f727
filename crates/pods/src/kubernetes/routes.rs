//! The Service and the Ingress.

use podsmith_object::{Value, json};

use super::{Crossing, metadata, name};
use crate::spec::{Expose, IngressAction, IngressRule, PodSpec, Protocol};

fn exposed(pod: &PodSpec) -> impl Iterator<Item = &Expose> {
    pod.containers.iter().flat_map(|container| &container.expose)
}

/// The port that others use: the cluster port, so that `pod:clusterPort` goes on working, else the host port.
fn service_port(expose: &Expose) -> Option<u16> {
    expose.cluster_port.or(expose.host_port).or(expose.target_port)
}

pub(super) fn service(pod: &PodSpec, crossing: &mut Crossing) {
    let mut ports: Vec<Value> = Vec::new();
    for expose in exposed(pod) {
        let (Some(port), Some(target)) = (service_port(expose), expose.target_port) else { continue };
        if let (Some(host), Some(_)) = (expose.host_port, expose.cluster_port) {
            crossing.note(format!(
                "hostPort {host} is not opened on the nodes: the Service port {port} takes its place"
            ));
        }
        if expose.send_proxy {
            crossing.note(format!(
                "port {port}: sendProxy has no counterpart, connections carry no PROXY header"
            ));
        }
        if expose.max_conn != 4096 {
            crossing.note(format!("port {port}: maxConn {} has no counterpart", expose.max_conn));
        }
        if !ports.iter().any(|known| known["port"] == json!(port)) {
            ports.push(json!({"name": format!("port-{port}"), "port": port, "targetPort": target}));
        }
    }
    if ports.is_empty() {
        return;
    }
    let selector = json!({"app.kubernetes.io/name": name(&pod.name)});
    let spec = json!({"selector": selector, "ports": ports});
    crossing.add(json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata(pod, &name(&pod.name)), "spec": spec}));
}

pub(super) fn ingress(pod: &PodSpec, crossing: &mut Crossing) {
    let mut rules: Vec<Value> = Vec::new();
    let mut secure: Vec<String> = Vec::new();
    for expose in exposed(pod) {
        for rule in &expose.ingress {
            add_rule(expose, rule, &mut rules, &mut secure, crossing);
        }
    }
    if rules.is_empty() {
        return;
    }
    let mut spec = json!({});
    secure.sort();
    secure.dedup();
    if !secure.is_empty() {
        spec["tls"] = json!([{"hosts": secure, "secretName": format!("{}-tls", name(&pod.name))}]);
        crossing.note(format!("https: put the certificate into the Secret `{}-tls`", name(&pod.name)));
    }
    spec["rules"] = Value::Array(rules);
    let metadata = metadata(pod, &name(&pod.name));
    crossing.add(
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}),
    );
}

fn add_rule(
    expose: &Expose,
    rule: &IngressRule,
    rules: &mut Vec<Value>,
    secure: &mut Vec<String>,
    crossing: &mut Crossing,
) {
    let hosts = if rule.domains.is_empty() { "every host".to_owned() } else { rule.domains.join(" ") };
    let what = format!("ingress rule {} for {hosts}", rule.protocol.as_str());
    if rule.protocol == Protocol::Tcp {
        crossing
            .note(format!("{what}: an Ingress has no tcp, use a Service of type LoadBalancer or a TCPRoute"));
        return;
    }
    match &rule.action {
        IngressAction::Backend => {}
        IngressAction::RedirectToHttps => {
            crossing.note(format!("{what}: redirectToHttps is an option of the ingress controller"));
            return;
        }
        IngressAction::RedirectLocation(_) | IngressAction::RedirectPrefix(_) => {
            crossing.note(format!("{what}: redirects are options of the ingress controller"));
            return;
        }
        IngressAction::Errorfile { .. } => {
            crossing.note(format!("{what}: error files have no counterpart"));
            return;
        }
    }
    let usual = if rule.protocol == Protocol::Https { 443 } else { 80 };
    if rule.bind != usual {
        crossing.note(format!(
            "{what}: the ingress controller decides about ports, {} is not carried over",
            rule.bind
        ));
    }
    if rule.weight != 100 {
        crossing.note(format!("{what}: weight {} has no counterpart, the longest path wins", rule.weight));
    }
    if !rule.path_end.is_empty() {
        crossing.note(format!("{what}: pathEnd {} has no counterpart", rule.path_end.join(" ")));
    }
    let Some(port) = service_port(expose) else { return };
    let pod_name =
        crossing.objects.iter().find(|object| object.kind() == "Service").map(|o| o.name().to_owned());
    let backend = json!({"service": {"name": pod_name.unwrap_or_default(), "port": {"number": port}}});
    let kinds = [("Exact", &rule.path), ("Prefix", &rule.path_beg)];
    let mut paths: Vec<Value> = Vec::new();
    for (kind, list) in kinds {
        paths.extend(list.iter().map(|path| json!({"path": path, "pathType": kind, "backend": backend})));
    }
    if paths.is_empty() {
        return;
    }
    let hosts: Vec<Option<&String>> =
        match rule.domains.iter().any(|domain| domain == "*") || rule.domains.is_empty() {
            true => vec![None],
            false => rule.domains.iter().map(Some).collect(),
        };
    for host in hosts {
        add_paths(rules, host.map(|host| host.to_ascii_lowercase()), &paths);
        if rule.protocol == Protocol::Https {
            secure.extend(host.map(|host| host.to_ascii_lowercase()));
        }
    }
}

/// Paths of one host stand in one rule, each once.
fn add_paths(rules: &mut Vec<Value>, host: Option<String>, paths: &[Value]) {
    let wanted = host.as_ref().map_or(Value::Null, |host| json!(host));
    let known = rules.iter_mut().find(|rule| rule.get("host").cloned().unwrap_or(Value::Null) == wanted);
    if let Some(list) = known.and_then(|rule| rule["http"]["paths"].as_array_mut()) {
        for path in paths {
            if !list.contains(path) {
                list.push(path.clone());
            }
        }
        return;
    }
    let mut rule = json!({});
    if let Some(host) = host {
        rule["host"] = json!(host);
    }
    rule["http"] = json!({"paths": paths});
    rules.push(rule);
}
