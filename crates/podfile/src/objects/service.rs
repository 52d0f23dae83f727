//! Services and Ingresses.

use podsmith_object::{Map, Value, json, names};

use super::{Builder, Common, DEFAULT_ISSUER, Fields, POD_LABEL};
use crate::decode::Block;

/// True for a name that a container port may have.
fn is_port_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    !bytes.is_empty()
        && bytes.len() <= 15
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
        && bytes.iter().any(u8::is_ascii_lowercase)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

fn protocol(service: &Block<'_>) -> &'static str {
    match service.text("protocol") {
        Some("udp") => "UDP",
        Some("sctp") => "SCTP",
        _ => "TCP",
    }
}

impl<'u> Builder<'_, 'u> {
    /// The ports that the pod's services lead to, each once. A service whose name is no port name leaves its port
    /// without one.
    pub(super) fn container_ports(&mut self, block: &Block<'u>) -> Vec<Value> {
        let mut seen = Vec::new();
        let mut ports = Vec::new();
        for service in block.blocks("service") {
            let Some(port) = service.integer("target_port").or_else(|| service.integer("port")) else {
                continue;
            };
            let key = (port, protocol(service));
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let mut out = Fields::new();
            if is_port_name(&service.label) {
                out.put("name", service.label.as_str());
            }
            out.put("containerPort", port);
            out.put("protocol", key.1);
            ports.push(out.into_value());
        }
        ports
    }

    /// The name of the Service that gives the pods of a StatefulSet their host names.
    pub(super) fn governing_name(&self, block: &Block<'u>, pod: &str) -> String {
        let headless = block.blocks("service").find(|service| service.flag("headless") == Some(true));
        if let Some(service) = headless {
            return service.label.clone();
        }
        let taken = |name: &str| block.blocks("service").any(|service| service.label == name);
        if taken(pod) { format!("{pod}-headless") } else { pod.to_owned() }
    }

    pub(super) fn governing_service(&mut self, common: &Common<'_, 'u>, name: &str) {
        let mut service = common.object("v1", "Service", common.metadata(name, true));
        let ports: Vec<Value> = common
            .block
            .blocks("service")
            .filter_map(|service| {
                let port = service.integer("target_port").or_else(|| service.integer("port"))?;
                Some((port, protocol(service)))
            })
            .fold(Vec::new(), |mut ports: Vec<(i64, &str)>, port| {
                if !ports.contains(&port) {
                    ports.push(port);
                }
                ports
            })
            .into_iter()
            .map(|(port, protocol)| {
                json!({ "name": format!("{}-{port}", protocol.to_lowercase()), "port": port, "protocol": protocol })
            })
            .collect();
        let mut spec = Fields::new();
        spec.put("clusterIP", "None");
        spec.put("publishNotReadyAddresses", true);
        spec.put("selector", json!({ POD_LABEL: common.name }));
        spec.put_list("ports", ports);
        service.put("spec", spec);
        self.push(&common.origin, service);
    }

    pub(super) fn service(&mut self, common: &Common<'_, 'u>, block: &Block<'u>) {
        let name = block.label.as_str();
        if let Err(error) = names::service_name(name) {
            self.problem(block, "", error.to_string());
        }
        let kind = block.text("type").unwrap_or("ClusterIP");
        let mut metadata = common.metadata(name, true);
        overlay(&mut metadata, block);
        let mut spec = Fields::new();
        spec.put("type", kind);
        if kind == "ExternalName" {
            match block.text("external_name") {
                Some(host) => spec.put("externalName", host),
                None => self.problem(block, "type", "an ExternalName service needs `external_name`"),
            }
        } else {
            if block.text("external_name").is_some() {
                self.problem(block, "external_name", "`external_name` needs type = \"ExternalName\"");
            }
            spec.put("selector", json!({ POD_LABEL: common.name }));
        }
        if block.flag("headless") == Some(true) {
            spec.put("clusterIP", "None");
        }
        match block.integer("port") {
            Some(port) => {
                let mut out = Fields::new();
                out.put("port", port);
                out.put("protocol", protocol(block));
                out.put("targetPort", block.integer("target_port").unwrap_or(port));
                out.put_some("nodePort", block.integer("node_port"));
                out.put_some("appProtocol", block.text("app_protocol"));
                spec.put("ports", json!([out.into_value()]));
            }
            None if kind == "ExternalName" => {}
            None => {
                let message = format!("service `{name}` needs the attribute `port`");
                self.problem(block, "port", message);
            }
        }
        spec.put_some("loadBalancerClass", block.text("load_balancer_class"));
        spec.put_some("externalTrafficPolicy", block.text("external_traffic"));
        if block.flag("session_affinity") == Some(true) {
            spec.put("sessionAffinity", "ClientIP");
        }
        let mut service = common.object("v1", "Service", metadata);
        service.put("spec", spec);
        self.push(&common.origin, service);
        if let Some(ingress) = block.block("ingress") {
            self.ingress(common, block, ingress);
        }
    }

    fn ingress(&mut self, common: &Common<'_, 'u>, service: &Block<'u>, block: &Block<'u>) {
        let name = service.label.as_str();
        let hosts: Vec<&str> = block
            .text("hostname")
            .into_iter()
            .chain(
                block
                    .value("hostnames")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str),
            )
            .collect();
        for host in &hosts {
            let plain = host.strip_prefix("*.").unwrap_or(host);
            if let Err(error) = names::dns_subdomain(plain) {
                self.problem(block, "hostname", format!("hostname {error}"));
            }
        }
        let path = block.text("path").unwrap_or("/");
        if !path.starts_with('/') {
            self.problem(block, "path", format!("a path starts with `/`, this is `{path}`"));
        }
        let tls = block.flag("tls") == Some(true);
        let mut annotations = Map::new();
        if tls {
            annotations.insert("nginx.ingress.kubernetes.io/ssl-redirect".into(), json!("true"));
            match (block.text("cluster_issuer"), block.text("tls_secret")) {
                (Some(issuer), _) => {
                    annotations.insert("cert-manager.io/cluster-issuer".into(), json!(issuer));
                }
                (None, Some(_)) => {}
                (None, None) => {
                    annotations.insert(DEFAULT_ISSUER.into(), json!("true"));
                }
            }
        }
        for annotation in block.blocks("annotation") {
            let value = annotation.value("value").cloned().unwrap_or_default();
            annotations.insert(annotation.label.clone(), value);
        }
        if annotations.contains_key("cert-manager.io/cluster-issuer")
            || annotations.contains_key("cert-manager.io/issuer")
        {
            annotations.shift_remove(DEFAULT_ISSUER);
        }
        let mut metadata = common.metadata(name, true);
        if !annotations.is_empty()
            && let Some(own) = metadata.entry("annotations")
        {
            own.extend(annotations);
        }
        overlay(&mut metadata, block);
        let port = service.integer("port").unwrap_or_default();
        let rules: Vec<Value> = hosts
            .iter()
            .map(|host| {
                json!({ "host": host, "http": { "paths": [{
                    "path": path,
                    "pathType": block.text("path_type").unwrap_or("Prefix"),
                    "backend": { "service": { "name": name, "port": { "number": port } } },
                }] } })
            })
            .collect();
        let mut spec = Fields::new();
        spec.put_some("ingressClassName", block.text("ingress_class"));
        if tls {
            let secret = block.text("tls_secret").map_or_else(|| format!("{name}-tls"), str::to_owned);
            spec.put("tls", json!([{ "hosts": hosts, "secretName": secret }]));
        }
        spec.put("rules", Value::Array(rules));
        let mut ingress = common.object("networking.k8s.io/v1", "Ingress", metadata);
        ingress.put("spec", spec);
        self.push(&common.origin, ingress);
    }
}

/// Labels and annotations of the inner block, over those of the pod.
fn overlay(metadata: &mut Fields, block: &Block<'_>) {
    for field in ["labels", "annotations"] {
        if let Some(more) = block.map(field).filter(|more| !more.is_empty())
            && let Some(own) = metadata.entry(field)
        {
            own.extend(more.clone());
        }
    }
}
