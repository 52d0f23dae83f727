//! Services, ingresses and their like.

use podsmith_object::Value;

use super::super::age;
use super::{labels, number, or_none, selector, shown, text};
use crate::fields;
use crate::registry::Resource;

/// The cells of a network object.
pub fn cells(resource: &Resource, object: &Value) -> Option<Vec<Value>> {
    let name = Value::from(fields::name(object));
    Some(match resource.plural.as_str() {
        "services" => vec![
            name,
            text(object, &["spec", "type"]),
            or_none(object, &["spec", "clusterIP"]),
            external(object).into(),
            ports(object).into(),
            age::of(object),
            labels(fields::at(object, &["spec", "selector"])),
        ],
        "endpoints" => vec![name, endpoints(object).into(), age::of(object)],
        "endpointslices" => {
            let ports: Vec<String> =
                fields::list(object, &["ports"]).iter().map(|port| shown(port, &["port"], "*")).collect();
            let addresses: Vec<&str> = fields::list(object, &["endpoints"])
                .iter()
                .flat_map(|one| fields::texts(one, &["addresses"]))
                .collect();
            vec![
                name,
                text(object, &["addressType"]),
                few(&ports, "<unset>").into(),
                few(&addresses, "<unset>").into(),
                age::of(object),
            ]
        }
        "ingresses" => {
            let hosts: Vec<&str> = fields::list(object, &["spec", "rules"])
                .iter()
                .map(|rule| fields::text(rule, &["host"]))
                .filter(|host| !host.is_empty())
                .collect();
            let hosts = if hosts.is_empty() { "*".to_owned() } else { few(&hosts, "*") };
            let tls = if fields::list(object, &["spec", "tls"]).is_empty() { "80" } else { "80, 443" };
            vec![
                name,
                or_none(object, &["spec", "ingressClassName"]),
                hosts.into(),
                balancer(object).join(",").into(),
                tls.into(),
                age::of(object),
            ]
        }
        "ingressclasses" => {
            let parameters = fields::at(object, &["spec", "parameters"]).map_or("<none>".to_owned(), |one| {
                let group = fields::text(one, &["apiGroup"]);
                let kind = fields::text(one, &["kind"]);
                let kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
                format!("{kind}/{}", fields::text(one, &["name"]))
            });
            vec![name, text(object, &["spec", "controller"]), parameters.into(), age::of(object)]
        }
        "networkpolicies" => {
            vec![name, selector(fields::at(object, &["spec", "podSelector"])), age::of(object)]
        }
        "ipaddresses" => {
            let parent = |key: &str| fields::text(object, &["spec", "parentRef", key]);
            let owner = format!("{}/{}/{}", parent("resource"), parent("namespace"), parent("name"));
            vec![name, owner.into()]
        }
        "servicecidrs" => {
            vec![name, fields::texts(object, &["spec", "cidrs"]).join(",").into(), age::of(object)]
        }
        _ => return None,
    })
}

/// At most three, then how many more.
fn few<T: AsRef<str>>(all: &[T], none: &str) -> String {
    if all.is_empty() {
        return none.to_owned();
    }
    let shown: Vec<&str> = all.iter().take(3).map(AsRef::as_ref).collect();
    let more = all.len().saturating_sub(3);
    if more > 0 { format!("{} + {more} more...", shown.join(",")) } else { shown.join(",") }
}

fn balancer(object: &Value) -> Vec<String> {
    fields::list(object, &["status", "loadBalancer", "ingress"])
        .iter()
        .map(|one| {
            let address = fields::text(one, &["ip"]);
            if address.is_empty() { fields::text(one, &["hostname"]).to_owned() } else { address.to_owned() }
        })
        .collect()
}

fn external(object: &Value) -> String {
    let own = fields::texts(object, &["spec", "externalIPs"]);
    match fields::text(object, &["spec", "type"]) {
        "ExternalName" => fields::text(object, &["spec", "externalName"]).to_owned(),
        "LoadBalancer" => {
            let mut all = balancer(object);
            all.extend(own.iter().map(|one| (*one).to_owned()));
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        _ if own.is_empty() => "<none>".to_owned(),
        _ => own.join(","),
    }
}

fn ports(object: &Value) -> String {
    let all: Vec<String> = fields::list(object, &["spec", "ports"])
        .iter()
        .map(|port| {
            let (number, node) = (number(port, &["port"]), number(port, &["nodePort"]));
            let protocol = fields::text(port, &["protocol"]);
            if node > 0 { format!("{number}:{node}/{protocol}") } else { format!("{number}/{protocol}") }
        })
        .collect();
    if all.is_empty() { "<none>".to_owned() } else { all.join(",") }
}

fn endpoints(object: &Value) -> String {
    let mut all = Vec::new();
    for subset in fields::list(object, &["subsets"]) {
        let ports = fields::list(subset, &["ports"]);
        for address in fields::list(subset, &["addresses"]) {
            let address = fields::text(address, &["ip"]);
            if ports.is_empty() {
                all.push(address.to_owned());
            }
            all.extend(ports.iter().map(|port| format!("{address}:{}", number(port, &["port"]))));
        }
    }
    few(&all, "<none>")
}
