//! Autoscalers, disruption budgets and network policies.

use podsmith_object::{Value, json};

use super::{Builder, Common, Fields, POD_LABEL};
use crate::decode::Block;

impl<'u> Builder<'_, 'u> {
    pub(super) fn extras(&mut self, common: &Common<'_, 'u>, kind: &str) {
        let block = common.block;
        if let Some(scaling) = block.block("autoscaling") {
            self.autoscaler(common, scaling, kind);
        }
        if let Some(budget) = block.block("disruption_budget") {
            let mut spec = Fields::new();
            match (budget.value("min_available"), budget.value("max_unavailable")) {
                (Some(amount), None) => spec.put("minAvailable", amount.clone()),
                (None, Some(amount)) => spec.put("maxUnavailable", amount.clone()),
                _ => self.problem(
                    budget,
                    "",
                    "`disruption_budget` needs either `min_available` or `max_unavailable`",
                ),
            }
            spec.put("selector", json!({ "matchLabels": { POD_LABEL: common.name } }));
            let mut object =
                common.object("policy/v1", "PodDisruptionBudget", common.metadata(&common.name, true));
            object.put("spec", spec);
            self.push(&common.origin, object);
        }
        if let Some(policy) = block.block("network_policy") {
            self.network_policy(common, policy);
        }
    }

    fn autoscaler(&mut self, common: &Common<'_, 'u>, block: &Block<'u>, kind: &str) {
        let target = match kind {
            "deployment" => "Deployment",
            "statefulset" => "StatefulSet",
            other => {
                self.problem(
                    block,
                    "",
                    format!("a {other} cannot be scaled; `autoscaling` is for deployment and statefulset"),
                );
                return;
            }
        };
        if common.block.integer("replicas").is_some() {
            self.problem(
                common.block,
                "replicas",
                "with `autoscaling` the number of pods is its business; remove `replicas`",
            );
        }
        let (least, most) = (block.integer("min").unwrap_or(1), block.integer("max").unwrap_or(1));
        if least > most {
            self.problem(block, "max", format!("`max` is {most}, less than `min`, which is {least}"));
        }
        let metrics: Vec<Value> = [("cpu", block.integer("cpu")), ("memory", block.integer("memory"))]
            .into_iter()
            .filter_map(|(name, percent)| {
                let target = json!({ "type": "Utilization", "averageUtilization": percent? });
                Some(json!({ "type": "Resource", "resource": { "name": name, "target": target } }))
            })
            .collect();
        let mut spec = Fields::new();
        spec.put("scaleTargetRef", json!({ "apiVersion": "apps/v1", "kind": target, "name": common.name }));
        spec.put("minReplicas", least);
        spec.put("maxReplicas", most);
        let default = json!({ "type": "Resource", "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } } });
        spec.put("metrics", if metrics.is_empty() { vec![default] } else { metrics });
        spec.put_some("behavior", block.value("behavior").cloned());
        let mut object =
            common.object("autoscaling/v2", "HorizontalPodAutoscaler", common.metadata(&common.name, true));
        object.put("spec", spec);
        self.push(&common.origin, object);
    }

    fn network_policy(&mut self, common: &Common<'_, 'u>, block: &Block<'u>) {
        let mut spec = Fields::new();
        spec.put("podSelector", json!({ "matchLabels": { POD_LABEL: common.name } }));
        let mut types = Vec::new();
        let egress: Vec<&Block<'u>> = block.blocks("egress").collect();
        let ingress: Vec<&Block<'u>> = block.blocks("ingress").collect();
        if !ingress.is_empty() || egress.is_empty() {
            types.push(json!("Ingress"));
        }
        if !egress.is_empty() {
            types.push(json!("Egress"));
        }
        spec.put("policyTypes", types);
        spec.put_list("ingress", ingress.into_iter().map(|rule| self.traffic(rule, "from")).collect());
        spec.put_list("egress", egress.into_iter().map(|rule| self.traffic(rule, "to")).collect());
        let mut object =
            common.object("networking.k8s.io/v1", "NetworkPolicy", common.metadata(&common.name, true));
        object.put("spec", spec);
        self.push(&common.origin, object);
    }

    fn traffic(&mut self, block: &Block<'u>, direction: &str) -> Value {
        let list = |name: &str| block.value(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let mut peers = Vec::new();
        for pod in list("pods") {
            let declared = pod.as_str().is_some_and(|pod| self.unit.blocks.contains_key(&("pod", pod)));
            if !declared {
                self.warn(block, format!("no pod {pod} is declared in this package"));
            }
            peers.push(json!({ "podSelector": { "matchLabels": { POD_LABEL: pod } } }));
        }
        if let Some(labels) = block.map("pod_labels") {
            let mut peer = json!({ "podSelector": { "matchLabels": labels } });
            if let Some(labels) = block.map("namespace_labels") {
                peer["namespaceSelector"] = json!({ "matchLabels": labels });
            }
            peers.push(peer);
        } else if let Some(labels) = block.map("namespace_labels") {
            peers.push(json!({ "namespaceSelector": { "matchLabels": labels } }));
        }
        for namespace in list("namespaces") {
            peers.push(json!({ "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } } }));
        }
        let except = list("except");
        for range in list("cidr") {
            let mut peer = json!({ "cidr": range });
            if !except.is_empty() {
                peer["except"] = Value::Array(except.clone());
            }
            peers.push(json!({ "ipBlock": peer }));
        }
        let mut ports = Vec::new();
        for port in list("ports") {
            match parse_port(port.as_str().unwrap_or_default()) {
                Some(port) => ports.push(port),
                None => {
                    self.problem(block, "ports", format!("{port} is no port; write 80, 53/udp or 8000-8100"))
                }
            }
        }
        let mut out = Fields::new();
        out.put_list(direction, peers);
        out.put_list("ports", ports);
        out.into_value()
    }
}

/// `80`, `53/udp`, `8000-8100/tcp` or the name of a port.
fn parse_port(text: &str) -> Option<Value> {
    let (port, protocol) = text.split_once('/').unwrap_or((text, "tcp"));
    let protocol = match protocol.to_ascii_lowercase().as_str() {
        "tcp" => "TCP",
        "udp" => "UDP",
        "sctp" => "SCTP",
        _ => return None,
    };
    if let Some((first, last)) = port.split_once('-')
        && let (Ok(first), Ok(last)) = (first.parse::<u16>(), last.parse::<u16>())
    {
        return Some(json!({ "port": first, "endPort": last, "protocol": protocol }));
    }
    match port.parse::<u16>() {
        Ok(number) => Some(json!({ "port": number, "protocol": protocol })),
        Err(_) if !port.is_empty() && port.bytes().any(|b| b.is_ascii_alphabetic()) => {
            Some(json!({ "port": port, "protocol": protocol }))
        }
        Err(_) => None,
    }
}
