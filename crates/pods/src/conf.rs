//! The files beside a compiled pod: the port map and the ingress rules.

use crate::spec::{Dialect, Expose, IngressAction, IngressRule, Pod};

/// Writes the port map: `clusterPort:hostPort:maxConn:sendProxy`, one line for each cluster port.
pub fn port_map(pod: &Pod) -> String {
    let lines = pod.exposed().into_iter().filter_map(|expose| {
        let (cluster, host) = (expose.cluster_port?, expose.host_port?);
        Some(format!("{cluster}:{host}:{}:{}", expose.max_conn, expose.send_proxy))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes the ingress rules: blocks of `key value` lines, in a fixed order of keys.
pub fn ingress(pod: &Pod) -> String {
    let dialect = pod.dialect();
    let blocks = pod
        .exposed()
        .into_iter()
        .flat_map(|expose| expose.ingress.iter().map(move |rule| ingress_block(expose, rule, dialect)));
    blocks.collect::<Vec<_>>().join("\n")
}

fn ingress_block(expose: &Expose, rule: &IngressRule, dialect: Dialect) -> String {
    let weight = match dialect {
        Dialect::Seed => "importance",
        Dialect::Head => "weight",
    };
    let mut lines = vec![
        format!("bind {}", rule.bind),
        format!("protocol {}", rule.protocol.as_str()),
        format!("host {}", rule.domains.join(" ")),
        format!("{weight} {}", rule.weight),
    ];
    for (key, paths) in [("path", &rule.path), ("path_beg", &rule.path_beg), ("path_end", &rule.path_end)] {
        if !paths.is_empty() {
            lines.push(format!("{key} {}", paths.join(" ")));
        }
    }
    lines.push(match &rule.action {
        IngressAction::RedirectToHttps => "redirect_to_https true".to_owned(),
        IngressAction::RedirectLocation(target) => format!("redirect_location {target}"),
        IngressAction::RedirectPrefix(target) => format!("redirect_prefix {target}"),
        IngressAction::Errorfile { code, file } => format!("errorfile {code} {file}"),
        IngressAction::Backend => format!("clusterport {}", expose.cluster_port.unwrap_or_default()),
    });
    lines.join("\n")
}

/// What is written for a pod, as `(suffix after the output's name, content)`; no content means that an older file of
/// that name is removed.
pub fn files(pod: &Pod) -> Vec<(&'static str, Option<String>)> {
    let (map, rules) = (port_map(pod), ingress(pod));
    match pod.dialect() {
        Dialect::Seed => vec![(".proxy.conf", Some(map + "\n")), (".ingress.conf", Some(rules + "\n"))],
        Dialect::Head => {
            let kept = |text: String| (!text.is_empty()).then(|| text + "\n");
            vec![(".portmappings.conf", kept(map)), (".ingress.conf", kept(rules))]
        }
    }
}
