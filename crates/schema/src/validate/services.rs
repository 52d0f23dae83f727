//! Services, Endpoints and EndpointSlices.

use podsmith_object::{Value, json};

use super::node::{At, Faults};
use super::{containers, metadata, names};
use crate::fault::Fault;

fn is_headless(service: &At<'_>) -> bool {
    service.at(&["spec", "clusterIP"]).text() == "None"
        || service.at(&["spec", "clusterIPs"]).items().first().is_some_and(|first| first.text() == "None")
}

/// Checks a Service, and what a change may touch.
pub(super) fn service(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    if let Some(old) = old {
        addresses_kept(object, old, faults);
    }
    let kind = spec.child("type");
    let ports = spec.child("ports");
    if ports.is_empty() && !is_headless(object) && kind.text() != "ExternalName" {
        faults.required(&ports, "");
    }
    match kind.text() {
        "LoadBalancer" | "NodePort" if is_headless(object) => {
            let text = format!("may not be set to 'None' for {} services", kind.text());
            faults.push(Fault::invalid("spec.clusterIPs[0]", "None", text));
        }
        "ExternalName" => external_name(&spec, faults),
        _ => {}
    }
    let mut known: Vec<&str> = Vec::new();
    for port in ports.items() {
        service_port(&port, ports.count() > 1, &mut known, faults);
    }
    metadata::labels(&spec.child("selector"), faults);
    let affinity = spec.child("sessionAffinity");
    faults.one_of(&affinity, &["ClientIP", "None"]);
    let seconds = spec.at(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
    if affinity.text() == "ClientIP" && seconds.is_set() && !(1..=86400).contains(&seconds.int()) {
        faults.invalid(&seconds, "must be greater than 0 and less than 86400");
    }
    cluster_addresses(&spec, faults);
    for address in spec.child("externalIPs").items() {
        let wrong = names::ip_address(address.text());
        if wrong.is_empty() {
            special_address(&address, faults);
        } else {
            faults.each(&address, wrong);
        }
    }
    faults.one_of(&kind, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    port_numbers(&spec, faults);
    traffic(&spec, faults);
}

fn external_name(spec: &At<'_>, faults: &mut Faults) {
    for key in ["clusterIPs", "ipFamilies"] {
        if !spec.child(key).is_empty() {
            faults.forbidden(&spec.child(key), "may not be set for ExternalName services");
        }
    }
    if spec.child("ipFamilyPolicy").is_set() {
        faults.forbidden(&spec.child("ipFamilyPolicy"), "may not be set for ExternalName services");
    }
    let name = spec.child("externalName");
    let text = name.text().trim_end_matches('.');
    if text.is_empty() {
        faults.required(&name, "");
    } else {
        for wrong in names::dns_subdomain(text) {
            faults.push(Fault::invalid(name.path.as_str(), text, wrong));
        }
    }
}

fn service_port<'a>(port: &At<'a>, named: bool, known: &mut Vec<&'a str>, faults: &mut Faults) {
    let name = port.child("name");
    if named && name.is_empty() {
        faults.required(&name, "");
    } else if !name.is_empty() {
        faults.each(&name, names::dns_label(name.text()));
        if known.contains(&name.text()) {
            faults.duplicate(&name);
        }
        known.push(name.text());
    }
    let number = port.child("port");
    for text in names::port_number(number.int()) {
        faults.push(Fault::invalid(number.path.as_str(), number.int(), text));
    }
    faults.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
    containers::port(&port.child("targetPort"), faults);
    let protocol = port.child("appProtocol");
    if protocol.is_set() {
        faults.each(&protocol, names::qualified_name(protocol.text()));
    }
}

fn cluster_addresses(spec: &At<'_>, faults: &mut Faults) {
    if spec.child("type").text() == "ExternalName" {
        return;
    }
    let addresses = spec.child("clusterIPs");
    let first = addresses.items().first().map(|first| first.text()).unwrap_or("");
    let single = spec.child("clusterIP").text();
    if !addresses.is_empty() && single.is_empty() {
        let text = "must be empty when `clusterIP` is not specified";
        faults.push(Fault::invalid("spec.clusterIPs", addresses.value.clone(), text));
        return;
    }
    if !addresses.is_empty() && single != first {
        faults.push(Fault::invalid(
            "spec.clusterIPs",
            addresses.value.clone(),
            "first value must match `clusterIP`",
        ));
    }
    for address in addresses.items() {
        if address.text() == "None" && addresses.count() > 1 {
            faults.invalid(&addresses, "'None' must be the first and only value");
            return;
        }
        if address.text() != "None" && !address.is_empty() {
            faults.each(&address, names::ip_address(address.text()));
        }
    }
    if addresses.count() > 2 {
        faults.invalid(&addresses, "may only hold up to 2 values");
    }
    let policy = spec.child("ipFamilyPolicy");
    let allowed = ["SingleStack", "PreferDualStack", "RequireDualStack"];
    if policy.is_set() && !allowed.contains(&policy.text()) {
        faults.not_supported(&policy, &["PreferDualStack", "RequireDualStack", "SingleStack"]);
    }
    for (at, (address, family)) in addresses.items().iter().zip(spec.child("ipFamilies").items()).enumerate()
    {
        let Ok(parsed) = address.text().parse::<std::net::IpAddr>() else { continue };
        if parsed.is_ipv4() != (family.text() == "IPv4") {
            faults.invalid(
                address,
                format!("expected an {} value as indicated by `ipFamilies[{at}]`", family.text()),
            );
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for family in spec.child("ipFamilies").items() {
        if seen.contains(&family.text()) {
            faults.duplicate(&family);
        }
        seen.push(family.text());
        if !matches!(family.text(), "IPv4" | "IPv6") {
            faults.not_supported(&family, &["IPv4", "IPv6"]);
        }
    }
}

fn port_numbers(spec: &At<'_>, faults: &mut Faults) {
    let mut node_ports: Vec<(String, i64)> = Vec::new();
    let mut ports: Vec<(String, i64)> = Vec::new();
    let list = spec.child("ports").items();
    for port in &list {
        let node = port.child("nodePort");
        if node.int() == 0 {
            continue;
        }
        if spec.child("type").text() == "ClusterIP" {
            faults.forbidden(&node, "may not be used when `type` is 'ClusterIP'");
        }
        let key = (port.child("protocol").text().to_owned(), node.int());
        if node_ports.contains(&key) {
            faults.duplicate(&node);
        }
        node_ports.push(key);
    }
    for port in &list {
        let (protocol, number) = (port.child("protocol").text().to_owned(), port.child("port").int());
        let key = (protocol.clone(), number);
        if ports.contains(&key) {
            let shown = json!({
                "Name": "", "Protocol": protocol, "AppProtocol": null, "Port": number, "TargetPort": 0, "NodePort": 0
            });
            faults.push(Fault::duplicate(port.path.as_str(), shown));
        }
        ports.push(key);
    }
}

fn traffic(spec: &At<'_>, faults: &mut Faults) {
    let kind = spec.child("type").text();
    let balancer = kind == "LoadBalancer";
    for (key, shown) in [
        ("loadBalancerSourceRanges", "LoadBalancerSourceRanges"),
        ("allocateLoadBalancerNodePorts", "allocateLoadBalancerNodePorts"),
        ("loadBalancerClass", "loadBalancerClass"),
    ] {
        let at = At { path: format!("spec.{shown}"), value: spec.child(key).value };
        if !balancer && at.is_set() && !(at.value.is_array() && at.is_empty()) {
            faults.forbidden(&at, "may only be used when `type` is 'LoadBalancer'");
        }
    }
    if balancer {
        let ranges = At {
            path: "spec.LoadBalancerSourceRanges".to_owned(),
            value: spec.child("loadBalancerSourceRanges").value,
        };
        ranges.items().iter().for_each(|range| super::networking::cidr(range, faults));
        let class = spec.child("loadBalancerClass");
        if class.is_set() {
            faults.each(&class, names::qualified_name(class.text()));
        }
    }
    let policy = spec.child("externalTrafficPolicy");
    let health = spec.child("healthCheckNodePort");
    if health.int() != 0 && !(balancer && policy.text() == "Local") {
        let text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        faults.invalid(&health, text);
    }
    let external = matches!(kind, "LoadBalancer" | "NodePort")
        || kind == "ClusterIP" && !spec.child("externalIPs").is_empty();
    if !policy.is_empty() {
        if !external {
            faults.invalid(&policy, "may only be set for externally-accessible services");
        }
        if !matches!(policy.text(), "Cluster" | "Local") {
            faults.not_supported(&policy, &["Cluster", "Local"]);
        }
    } else if external {
        faults.required(&policy, "required for externally-accessible services");
    }
    let internal = spec.child("internalTrafficPolicy");
    if internal.is_set() && !matches!(internal.text(), "Cluster" | "Local") {
        faults.not_supported(&internal, &["Cluster", "Local"]);
    } else if !internal.is_set() && matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer") {
        faults.required(&internal, "");
    }
    let distribution = spec.child("trafficDistribution");
    let allowed = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if distribution.is_set() && !allowed.contains(&distribution.text()) {
        faults.not_supported(&distribution, &allowed);
    }
}

/// An address that was handed out stays while the type stays.
fn addresses_kept(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let kind = |at: &At<'_>| at.at(&["spec", "type"]).text().to_owned();
    if kind(new) == "ExternalName" || kind(old) == "ExternalName" {
        return;
    }
    let (now, before) = (new.at(&["spec", "clusterIPs"]), old.at(&["spec", "clusterIPs"]));
    let first = |at: &At<'_>| at.items().first().map(|first| first.text().to_owned()).unwrap_or_default();
    if !first(&before).is_empty() && first(&now) != first(&before) {
        if now.is_empty() {
            faults.push(Fault::invalid(
                "spec.clusterIPs[0]",
                now.value.clone(),
                "primary clusterIP can not be unset",
            ));
        } else {
            faults.push(Fault::invalid("spec.clusterIPs[0]", now.value.clone(), "may not change once set"));
        }
    }
    let (now, before) = (new.at(&["spec", "loadBalancerClass"]), old.at(&["spec", "loadBalancerClass"]));
    if kind(new) == "LoadBalancer" && kind(old) == "LoadBalancer" && now.value != before.value {
        faults.invalid(&now, "may not change once set");
    }
}

/// Addresses nobody can reach from outside are no endpoints.
fn special_address(at: &At<'_>, faults: &mut Faults) {
    let Ok(address) = at.text().parse::<std::net::IpAddr>() else { return };
    let link_local = match address {
        std::net::IpAddr::V4(v4) => v4.is_link_local(),
        std::net::IpAddr::V6(v6) => (v6.segments()[0] & 0xffc0) == 0xfe80,
    };
    let text = if address.is_unspecified() {
        "may not be unspecified (0.0.0.0 or ::)"
    } else if address.is_loopback() {
        "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    } else if link_local {
        "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    } else {
        return;
    };
    faults.invalid(at, text);
}

/// Checks Endpoints.
pub(super) fn endpoints(object: &At<'_>, faults: &mut Faults) {
    for subset in object.child("subsets").items() {
        let (ready, waiting) = (subset.child("addresses"), subset.child("notReadyAddresses"));
        if ready.is_empty() && waiting.is_empty() {
            faults.required(&subset, "must specify `addresses` or `notReadyAddresses`");
        }
        for address in ready.items().iter().chain(&waiting.items()) {
            let ip = address.child("ip");
            let wrong = names::ip_address(ip.text());
            if wrong.is_empty() {
                special_address(&ip, faults);
            } else {
                faults.each(&ip, wrong);
                faults.invalid(&ip, "must be a valid IP address");
            }
            let host = address.child("hostname");
            if !host.is_empty() {
                faults.each(&host, names::dns_label(host.text()));
            }
        }
        let ports = subset.child("ports").items();
        for port in &ports {
            let name = port.child("name");
            if ports.len() > 1 && name.is_empty() {
                faults.required(&name, "");
            } else if !name.is_empty() {
                faults.each(&name, names::dns_label(name.text()));
            }
            let number = port.child("port");
            for text in names::port_number(number.int()) {
                faults.push(Fault::invalid(number.path.as_str(), number.int(), text));
            }
            faults.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
        }
    }
}

/// Checks an EndpointSlice.
pub(super) fn endpoint_slice(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    if let Some(old) = old {
        faults.immutable(&object.child("addressType"), &old.child("addressType"));
    }
    let kind = object.child("addressType");
    faults.one_of(&kind, &["FQDN", "IPv4", "IPv6"]);
    let mut known: Vec<&Value> = Vec::new();
    for port in object.child("ports").items() {
        let name = port.child("name");
        if !name.is_empty() {
            faults.each(&name, names::dns_label(name.text()));
        }
        if known.contains(&name.value) {
            faults.duplicate(&name);
        }
        known.push(name.value);
        faults.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
    }
    if object.child("endpoints").count() > 1000 {
        let found = i64::try_from(object.child("endpoints").count()).unwrap_or(i64::MAX);
        faults.push(Fault::too_many("endpoints", found, 1000));
        return;
    }
    for endpoint in object.child("endpoints").items() {
        let addresses = endpoint.child("addresses");
        if addresses.is_empty() {
            faults.required(&addresses, "must contain at least 1 address");
        }
        for address in addresses.items() {
            match (kind.text(), address.text().parse::<std::net::IpAddr>()) {
                ("IPv4" | "IPv6", Err(_)) => faults.each(&address, names::ip_address(address.text())),
                (family @ ("IPv4" | "IPv6"), Ok(parsed)) => {
                    if parsed.is_ipv4() != (family == "IPv4") {
                        let text = format!("must be an {family} address");
                        faults.push(Fault::invalid(addresses.path.as_str(), address.text(), text));
                    }
                    special_address(&address, faults);
                }
                ("FQDN", _) => faults.each(&address, names::dns_subdomain(address.text())),
                _ => {}
            }
        }
    }
}
