//! Ingresses, ingress classes and network policies.

use super::node::{At, Faults};
use super::{names, selector};
use crate::fault::Fault;

/// Checks an Ingress. `new` says that the object is being created.
pub(super) fn ingress(object: &At<'_>, new: bool, faults: &mut Faults) {
    let spec = object.child("spec");
    let backend = spec.child("defaultBackend");
    if spec.child("rules").is_empty() && !backend.is_set() {
        let text = "either `defaultBackend` or `rules` must be specified";
        faults.push(Fault::invalid(spec.path.as_str(), spec.child("rules").value.clone(), text));
    }
    if backend.is_set() {
        ingress_backend(&backend, faults);
    }
    for rule in spec.child("rules").items() {
        host(&rule.child("host"), faults);
        let http = rule.child("http");
        if http.is_set() && http.child("paths").is_empty() {
            faults.required(&http.child("paths"), "");
        }
        for path in http.child("paths").items() {
            ingress_path(&path, faults);
        }
    }
    for tls in spec.child("tls").items() {
        for name in tls.child("hosts").items() {
            let rule =
                if name.text().contains('*') { names::wildcard_subdomain } else { names::dns_subdomain };
            faults.each(&name, rule(name.text()));
        }
        let secret = tls.child("secretName");
        if !secret.is_empty() {
            faults.each(&secret, names::dns_subdomain(secret.text()));
        }
    }
    let class = spec.child("ingressClassName");
    if class.is_set() {
        faults.each(&class, names::dns_subdomain(class.text()));
        let annotation = object.at(&["metadata", "annotations", "kubernetes.io/ingress.class"]);
        if new && annotation.is_set() && annotation.text() != class.text() {
            faults.push(Fault::invalid(
                "annotations.kubernetes.io/ingress.class",
                annotation.text(),
                "must match `ingressClassName` when both are specified",
            ));
        }
    }
}

fn host(host: &At<'_>, faults: &mut Faults) {
    if host.is_empty() {
        return;
    }
    if host.text().parse::<std::net::IpAddr>().is_ok() {
        faults.invalid(host, "must be a DNS name, not an IP address");
    }
    let rule = if host.text().contains('*') { names::wildcard_subdomain } else { names::dns_subdomain };
    faults.each(host, rule(host.text()));
}

fn ingress_path(path: &At<'_>, faults: &mut Faults) {
    let (kind, text) = (path.child("pathType"), path.child("path"));
    if !kind.is_set() {
        return faults.required(&kind, "pathType must be specified");
    }
    let absolute = |faults: &mut Faults| {
        if !text.text().starts_with('/') {
            faults.push(Fault::invalid(text.path.as_str(), text.text(), "must be an absolute path"));
        }
    };
    match kind.text() {
        "Exact" | "Prefix" => {
            absolute(faults);
            for bad in ["//", "/./", "/../", "%2f", "%2F"] {
                if text.text().contains(bad) {
                    faults.invalid(&text, format!("must not contain '{bad}'"));
                }
            }
            for bad in ["/..", "/."] {
                if text.text().ends_with(bad) {
                    faults.invalid(&text, format!("cannot end with '{bad}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !text.is_empty() {
                absolute(faults);
            }
        }
        _ => faults.not_supported(&kind, &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    ingress_backend(&path.child("backend"), faults);
}

fn ingress_backend(backend: &At<'_>, faults: &mut Faults) {
    let (resource, service) = (backend.child("resource"), backend.child("service"));
    let whole = |text: &str| Fault::invalid(backend.path.as_str(), "", text);
    match (resource.is_set(), service.is_set()) {
        (true, true) => faults.push(whole("cannot set both resource and service backends")),
        (true, false) => {
            for key in ["kind", "name"] {
                if resource.child(key).is_empty() {
                    faults.required(&resource.child(key), "");
                }
            }
        }
        (false, true) => {
            let name = service.child("name");
            if name.is_empty() {
                faults.required(&name, "");
            } else {
                faults.each(&name, names::dns_label(name.text()));
            }
            let (port_name, number) = (service.at(&["port", "name"]), service.at(&["port", "number"]));
            match (!port_name.is_empty(), number.int() != 0) {
                (true, true) => faults.push(whole("cannot set both port name & port number")),
                (true, false) => faults.each(&port_name, names::port_name(port_name.text())),
                (false, true) => faults.each(&number, names::port_number(number.int())),
                (false, false) => faults.required(backend, "port name or number is required"),
            }
        }
        (false, false) => faults.push(whole("resource or service backend is required")),
    }
}

/// Checks an IngressClass; its controller never changes.
pub(super) fn ingress_class(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let controller = object.at(&["spec", "controller"]);
    if let Some(old) = old {
        faults.immutable(&controller, &old.at(&["spec", "controller"]));
    }
    domain_path(&controller, faults);
    let parameters = object.at(&["spec", "parameters"]);
    if !parameters.is_set() {
        return;
    }
    for key in ["kind", "name"] {
        if parameters.child(key).is_empty() {
            faults.required(&parameters.child(key), "");
        }
    }
    let (scope, namespace) = (parameters.child("scope"), parameters.child("namespace"));
    match scope.text() {
        "Cluster" => {
            if namespace.is_set() {
                faults.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
            }
        }
        "Namespace" => {
            if namespace.is_empty() {
                faults.required(&namespace, "`parameters.scope` is set to 'Namespace'");
            }
        }
        "" => faults.required(&scope, ""),
        _ => faults.not_supported(&scope, &["Cluster", "Namespace"]),
    }
}

/// A path below a domain: `acme.io/foo`.
pub(super) fn domain_path(at: &At<'_>, faults: &mut Faults) {
    if at.is_empty() {
        return faults.required(at, "");
    }
    match at.text().split_once('/') {
        Some((domain, path)) if !domain.is_empty() && !path.is_empty() => {
            faults.each(at, names::dns_subdomain(domain))
        }
        _ => faults.invalid(at, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
    }
}

/// Checks a NetworkPolicy.
pub(super) fn network_policy(object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    selector::check(&spec.child("podSelector"), faults);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(direction).items() {
            rule.child("ports").items().iter().for_each(|port| policy_port(port, faults));
            rule.child(peers).items().iter().for_each(|peer| policy_peer(peer, faults));
        }
    }
    let types = spec.child("policyTypes");
    if types.count() > 2 {
        return faults.invalid(&types, "may not specify more than two policyTypes");
    }
    for kind in types.items() {
        if !matches!(kind.text(), "Ingress" | "Egress") {
            faults.not_supported(&kind, &["Ingress", "Egress"]);
        }
    }
}

fn policy_port(port: &At<'_>, faults: &mut Faults) {
    let protocol = port.child("protocol");
    if protocol.is_set() && !matches!(protocol.text(), "TCP" | "UDP" | "SCTP") {
        faults.not_supported(&protocol, &["TCP", "UDP", "SCTP"]);
    }
    let (number, end) = (port.child("port"), port.child("endPort"));
    if number.value.is_string() {
        if end.is_set() {
            faults.invalid(&end, "may not be specified when `port` is non-numeric");
        }
        faults.each(&number, names::port_name(number.text()));
    } else if number.is_set() {
        faults.each(&number, names::port_number(number.int()));
        if end.is_set() {
            if end.int() < number.int() {
                faults.push(Fault::invalid(
                    end.path.as_str(),
                    number.int(),
                    "must be greater than or equal to `port`",
                ));
            }
            faults.each(&end, names::port_number(end.int()));
        }
    } else if end.is_set() {
        faults.invalid(&end, "may not be specified when `port` is not specified");
    }
}

fn policy_peer(peer: &At<'_>, faults: &mut Faults) {
    let block = peer.child("ipBlock");
    let mut count = 0;
    for key in ["podSelector", "namespaceSelector"] {
        if peer.child(key).is_set() {
            count += 1;
            selector::check(&peer.child(key), faults);
        }
    }
    if block.is_set() {
        count += 1;
        let range = block.child("cidr");
        if range.is_empty() {
            faults.required(&range, "");
        } else {
            cidr(&range, faults);
            block.child("except").items().iter().for_each(|except| cidr(except, faults));
        }
    }
    if count == 0 {
        faults.required(peer, "must specify a peer");
    } else if count > 1 && block.is_set() {
        faults.forbidden(peer, "may not specify both ipBlock and another peer");
    }
}

/// A range of addresses.
pub(super) fn cidr(at: &At<'_>, faults: &mut Faults) {
    let valid = at.text().split_once('/').is_some_and(|(address, bits)| {
        match (address.parse::<std::net::IpAddr>(), bits.parse::<u8>()) {
            (Ok(address), Ok(bits)) => bits <= if address.is_ipv4() { 32 } else { 128 },
            _ => false,
        }
    });
    if !valid {
        faults.invalid(at, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
}
