//! Exposed ports and the rules of the ingress.

use std::collections::BTreeMap;
use std::net::IpAddr;

use podsmith_object::Diagnostic;
use podsmith_object::decode::Fields;
use podsmith_object::yaml::Node;

use super::scalar::Reader;
use crate::spec::{Dialect, Expose, IngressAction, IngressRule, Protocol};

/// Who has the port: a container needs a target port, an executable binds the host port itself.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Owner {
    Container,
    Executable,
}

/// The host ports seen so far, with their lines.
#[derive(Default)]
pub(super) struct Ports(BTreeMap<u64, usize>);

/// Status codes that HAProxy can answer by itself.
pub(crate) const ERROR_CODES: &[u16] =
    &[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504];

pub(super) fn read_all(
    reader: &Reader<'_>,
    items: &[Node],
    what: &str,
    owner: Owner,
    dialect: Dialect,
    ports: &mut Ports,
) -> Vec<Expose> {
    items
        .iter()
        .enumerate()
        .filter_map(|(index, node)| {
            read_one(reader, node, &format!("{what}[{index}]"), owner, dialect, ports)
        })
        .collect()
}

fn read_one(
    reader: &Reader<'_>,
    node: &Node,
    what: &str,
    owner: Owner,
    dialect: Dialect,
    ports: &mut Ports,
) -> Option<Expose> {
    let decoder = &reader.decoder;
    let mut fields = decoder.mapping(node, what)?;
    let written = |fields: &mut Fields<'_, '_, '_>, key: &str| fields.take(key).is_some();
    let target_port = reader.number_in(&mut fields, "targetPort", &format!("{what}.targetPort"), 1..=65_535);
    let host_port = reader.number_in(&mut fields, "hostPort", &format!("{what}.hostPort"), 1..=65_535);
    let cluster_port = read_cluster_port(reader, &mut fields, what);
    let interface = read_interface(reader, &mut fields, what);
    let max_conn = reader
        .number_in(&mut fields, "maxConn", &format!("{what}.maxConn"), 1..=u64::from(u32::MAX))
        .unwrap_or(4096);
    let send_proxy = reader.flag(&mut fields, "sendProxy", &format!("{what}.sendProxy")).unwrap_or(false);

    let has_host = written(&mut fields, "hostPort");
    let has_cluster = written(&mut fields, "clusterPort");
    if owner == Owner::Container && has_host && !written(&mut fields, "targetPort") {
        decoder.error(node, format!("{what}.targetPort is missing: a hostPort needs one"));
    }
    if has_cluster && !has_host {
        decoder.error_with_hint(
            node,
            format!("{what}.clusterPort has no effect without a hostPort"),
            "add `hostPort`, on which the proxy reaches the pod",
        );
    }
    if let Some(port) = host_port {
        match ports.0.get(&port) {
            Some(line) => decoder.error(
                node,
                format!("{what}.hostPort {port} is already used in line {line}: a hostPort can only be defined once"),
            ),
            None => {
                ports.0.insert(port, node.line);
            }
        }
    }
    let backed = has_host && has_cluster;
    let ingress: Vec<IngressRule> = fields
        .sequence("ingress")
        .iter()
        .enumerate()
        .filter_map(|(index, node)| {
            read_rule(reader, node, &format!("{what}.ingress[{index}]"), dialect, backed)
        })
        .collect();
    if cluster_port.is_some_and(|port| port >= 64_000)
        && ingress.iter().any(|rule| rule.action == IngressAction::Backend)
    {
        let message = format!(
            "{what}: cluster ports from 64000 are kept inside the cluster, the ingress will refuse this"
        );
        decoder.report(Diagnostic::warning(message), node.line, node.column);
    }
    fields.finish();
    Some(Expose {
        target_port: target_port.and_then(|port| u16::try_from(port).ok()),
        host_port: host_port.and_then(|port| u16::try_from(port).ok()),
        host_interface: interface,
        cluster_port,
        max_conn: u32::try_from(max_conn).unwrap_or(u32::MAX),
        send_proxy,
        ingress,
    })
}

fn read_cluster_port(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<u16> {
    let port = reader.number_in(fields, "clusterPort", &format!("{what}.clusterPort"), 1024..=65_535)?;
    if (30_000..=32_767).contains(&port) {
        let node = fields.take("clusterPort")?;
        let message = format!(
            "{what}.clusterPort {port} lies between 30000 and 32767, which are kept for host ports and the proxy"
        );
        reader.decoder.error(node, message);
        return None;
    }
    u16::try_from(port).ok()
}

fn read_interface(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<IpAddr> {
    let text = reader.optional_text(fields, "hostInterface", &format!("{what}.hostInterface"))?;
    let parsed = text.parse().ok();
    if parsed.is_none() {
        let node = fields.take("hostInterface")?;
        reader.decoder.error(node, format!("{what}.hostInterface must be an IP address, this is `{text}`"));
    }
    parsed
}

fn read_rule(
    reader: &Reader<'_>,
    node: &Node,
    what: &str,
    dialect: Dialect,
    backed: bool,
) -> Option<IngressRule> {
    let decoder = &reader.decoder;
    let mut fields = decoder.mapping(node, what)?;
    let protocol = fields
        .require("protocol")
        .and_then(|node| reader.one_of(node, &format!("{what}.protocol"), &["http", "https", "tcp"]))
        .map(|word| match word {
            "http" => Protocol::Http,
            "https" => Protocol::Https,
            _ => Protocol::Tcp,
        });
    let bind = reader.number_in(&mut fields, "bind", &format!("{what}.bind"), 1..=65_535);
    let no_bind = fields.take("bind").is_none();
    let domains = reader.words(&mut fields, "domain", &format!("{what}.domain"));
    check_domains(reader, &mut fields, what, &domains);
    let weight = read_weight(reader, &mut fields, what, dialect);
    let path = read_paths(reader, &mut fields, "path", what);
    let path_beg = read_paths(reader, &mut fields, "pathBeg", what);
    let path_end = read_paths(reader, &mut fields, "pathEnd", what);
    let action = read_action(reader, &mut fields, what);
    fields.finish();
    let (protocol, action) = (protocol?, action?);

    let any_path = !(path.is_empty() && path_beg.is_empty() && path_end.is_empty());
    let any_part = !path_beg.is_empty() || !path_end.is_empty();
    if !path.is_empty() && any_part {
        decoder.error(node, format!("{what}.path cannot be used together with pathBeg or pathEnd"));
    }
    if protocol == Protocol::Tcp {
        if no_bind {
            decoder.error(node, format!("{what}: for protocol tcp a bind port must be provided"));
        }
        if any_path || action != IngressAction::Backend {
            decoder.error(
                node,
                format!("{what}: cannot have HTTP specific matching or redirects with protocol tcp"),
            );
        }
    } else if action == IngressAction::Backend && !any_path {
        decoder.error_with_hint(
            node,
            format!("{what}: missing http/s specific criterion"),
            "add path, pathBeg or pathEnd, such as `pathBeg: /`",
        );
    }
    if protocol == Protocol::Https && action == IngressAction::RedirectToHttps {
        decoder.error(node, format!("{what}: a https rule cannot redirect to https"));
    }
    if action == IngressAction::Backend && !backed {
        decoder.error(
            node,
            format!("{what}: a rule with a backend is lacking a hostPort and clusterPort definition"),
        );
    }
    let default = if protocol == Protocol::Https { 443 } else { 80 };
    let bind = bind.and_then(|port| u16::try_from(port).ok()).unwrap_or(default);
    Some(IngressRule { protocol, bind, domains, weight, path, path_beg, path_end, action })
}

/// A domain is a name, `*`, or `*` and a suffix.
fn check_domains(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str, domains: &[String]) {
    let wrong = domains.iter().find(|domain| {
        let rest = domain.strip_prefix('*').unwrap_or(domain);
        !rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    });
    if let (Some(domain), Some(node)) = (wrong, fields.take("domain")) {
        reader.decoder.error_with_hint(
            node,
            format!("{what}.domain `{domain}` is not a host name"),
            "write names separated by blanks; `*.example.com` stands for every host below example.com",
        );
    }
}

fn read_weight(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str, dialect: Dialect) -> i64 {
    let (right, wrong) = match dialect {
        Dialect::Seed => ("importance", "weight"),
        Dialect::Head => ("weight", "importance"),
    };
    if let Some(node) = fields.take(wrong) {
        reader.mixed(node, wrong, right, dialect);
    }
    let weight = reader.number_in(fields, right, &format!("{what}.{right}"), 0..=u64::from(u32::MAX));
    weight.and_then(|weight| i64::try_from(weight).ok()).unwrap_or(100)
}

fn read_paths(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, key: &str, what: &str) -> Vec<String> {
    let paths = reader.words(fields, key, &format!("{what}.{key}"));
    if paths.iter().any(|path| path.chars().any(char::is_control))
        && let Some(node) = fields.take(key)
    {
        reader.decoder.error(node, format!("{what}.{key} holds a control character"));
    }
    paths
}

/// The four actions exclude each other.
fn read_action(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, what: &str) -> Option<IngressAction> {
    let mut found: Vec<(&'static str, IngressAction)> = Vec::new();
    if reader.flag(fields, "redirectToHttps", &format!("{what}.redirectToHttps")) == Some(true) {
        found.push(("redirectToHttps", IngressAction::RedirectToHttps));
    }
    for key in ["redirectLocation", "redirectPrefix"] {
        let Some(target) = reader.optional_text(fields, key, &format!("{what}.{key}")) else { continue };
        if target.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let node = fields.take(key)?;
            reader.decoder.error(node, format!("{what}.{key} `{target}` holds a blank"));
        }
        let action = match key {
            "redirectLocation" => IngressAction::RedirectLocation(target),
            _ => IngressAction::RedirectPrefix(target),
        };
        found.push((key, action));
    }
    if let Some(text) = reader.optional_text(fields, "errorfile", &format!("{what}.errorfile")) {
        let node = fields.take("errorfile")?;
        let parsed = text.split_once(char::is_whitespace).and_then(|(code, file)| {
            let (code, file) = (code.parse::<u16>().ok()?, file.trim());
            (!file.contains(char::is_whitespace) && !file.is_empty()).then(|| (code, file.to_owned()))
        });
        match parsed {
            Some((code, file)) if ERROR_CODES.contains(&code) => {
                found.push(("errorfile", IngressAction::Errorfile { code, file }));
            }
            Some((code, _)) => {
                let codes: Vec<String> = ERROR_CODES.iter().map(u16::to_string).collect();
                reader.decoder.error_with_hint(
                    node,
                    format!("{what}.errorfile: HAProxy cannot answer with status {code}"),
                    format!("one of {}", codes.join(", ")),
                );
            }
            None => reader.decoder.error_with_hint(
                node,
                format!("{what}.errorfile `{text}` is malformed"),
                "write a status code and a path, such as `503 /mnt/errorfiles/503.http`",
            ),
        }
    }
    if found.len() > 1 {
        let keys: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
        reader.decoder.error(fields.node(), format!("{what}: {} exclude each other", keys.join(" and ")));
    }
    Some(found.into_iter().next().map_or(IngressAction::Backend, |(_, action)| action))
}
