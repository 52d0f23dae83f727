//! One container: image, command, environment, resources, probes, security.

use podsmith_object::{Map, Value, json};

use super::volumes::{Storage, Volumes};
use super::{Builder, Common, Fields};
use crate::decode::Block;
use crate::functions::kubernetes::VALUE_FROM;

/// A container and the names of its environment variables that must be masked.
pub(super) struct Container {
    pub fields: Fields,
    pub sensitive: Vec<String>,
}

impl<'u> Builder<'_, 'u> {
    /// The container that `block` describes; `ports` are the ports its services name.
    pub(super) fn container(
        &mut self,
        common: &Common<'_, 'u>,
        block: &Block<'u>,
        name: &str,
        ports: Vec<Value>,
        storage: Storage,
        volumes: &mut Volumes,
    ) -> Container {
        let mut out = Fields::new();
        out.put("name", name);
        out.put("image", self.image(block));
        out.put_some("imagePullPolicy", block.text("image_pull_policy"));
        out.put_some("command", block.value("command").cloned());
        out.put_some("args", block.value("arguments").cloned());
        out.put_some("workingDir", block.text("working_dir"));
        let (environment, sensitive) = environment(block);
        out.put_list("env", environment);
        out.put_list("envFrom", env_from(block));
        out.put_list("ports", ports);
        out.put_fields("resources", resources(block));
        out.put_list("volumeMounts", self.mounts(common, block, storage, volumes));
        for (kind, field) in
            [("startup", "startupProbe"), ("liveness", "livenessProbe"), ("readiness", "readinessProbe")]
        {
            if let Some(probe) = block.blocks("probe").find(|probe| probe.label == kind) {
                out.put(field, self.probe(probe));
            }
        }
        for probe in block.blocks("probe") {
            if !matches!(probe.label.as_str(), "startup" | "liveness" | "readiness") {
                let message = format!("`{}` is no probe: write readiness, liveness or startup", probe.label);
                self.problem(probe, "", message);
            }
        }
        let mut lifecycle = Fields::new();
        for (attribute, field) in [("post_start", "postStart"), ("pre_stop", "preStop")] {
            lifecycle.put_some(
                field,
                block.value(attribute).map(|command| json!({ "exec": { "command": command } })),
            );
        }
        out.put_fields("lifecycle", lifecycle);
        out.put_fields("securityContext", container_security(block));
        out.put_some("stdin", block.flag("stdin"));
        out.put_some("tty", block.flag("tty"));
        Container { fields: out, sensitive }
    }

    fn image(&mut self, block: &Block<'u>) -> String {
        let image = block.text("image").unwrap_or_default();
        if image.is_empty() || image.contains(char::is_whitespace) {
            self.problem(block, "image", format!("`{image}` is no image reference"));
        }
        let Some(tag) = block.text("tag") else { return image.to_owned() };
        let last = image.rsplit('/').next().unwrap_or(image);
        if image.contains('@') || last.contains(':') {
            let message = format!("the image `{image}` has a tag or digest already; remove it or `tag`");
            self.problem(block, "tag", message);
        }
        format!("{image}:{tag}")
    }

    fn probe(&mut self, block: &Block<'u>) -> Fields {
        let mut out = Fields::new();
        let mut actions = 0;
        if let Some(http) = block.block("http") {
            let mut get = Fields::new();
            get.put("path", http.text("path").unwrap_or("/"));
            get.put_some("port", http.value("port").cloned());
            get.put_some("scheme", http.text("scheme"));
            get.put_some("host", http.text("host"));
            let headers = http.map("headers").into_iter().flatten();
            get.put_list(
                "httpHeaders",
                headers.map(|(name, value)| json!({ "name": name, "value": value })).collect(),
            );
            out.put("httpGet", get);
            actions += 1;
        }
        if let Some(tcp) = block.block("tcp") {
            out.put("tcpSocket", json!({ "port": tcp.value("port") }));
            actions += 1;
        }
        if let Some(exec) = block.block("exec") {
            out.put("exec", json!({ "command": exec.value("command") }));
            actions += 1;
        }
        if let Some(grpc) = block.block("grpc") {
            let mut check = Fields::new();
            check.put_some("port", grpc.value("port").cloned());
            check.put_some("service", grpc.text("service"));
            out.put("grpc", check);
            actions += 1;
        }
        if actions != 1 {
            let message = format!("probe `{}` needs exactly one of http, tcp, exec and grpc", block.label);
            self.problem(block, "", message);
        }
        for (attribute, field) in [
            ("initial_delay", "initialDelaySeconds"),
            ("period", "periodSeconds"),
            ("timeout", "timeoutSeconds"),
            ("success_threshold", "successThreshold"),
            ("failure_threshold", "failureThreshold"),
            ("grace_period", "terminationGracePeriodSeconds"),
        ] {
            out.put_some(field, block.integer(attribute));
        }
        out
    }
}

fn environment(block: &Block<'_>) -> (Vec<Value>, Vec<String>) {
    let Some(environment) = block.block("environment") else { return (Vec::new(), Vec::new()) };
    let mut sensitive = Vec::new();
    let list = environment
        .attributes
        .iter()
        .map(|(name, attribute)| match &attribute.value {
            Value::Object(map) => json!({ "name": name, "valueFrom": map.get(VALUE_FROM) }),
            value => {
                if attribute.sensitive {
                    sensitive.push(name.clone());
                }
                json!({ "name": name, "value": value })
            }
        })
        .collect();
    (list, sensitive)
}

fn env_from(block: &Block<'_>) -> Vec<Value> {
    let sources = block.blocks.iter().filter(|used| matches!(used.kind, "config" | "secret"));
    sources
        .filter(|used| used.flag("environment") == Some(true))
        .map(|used| {
            let mut reference = Fields::new();
            reference.put("name", used.label.as_str());
            reference.put_some("optional", used.flag("optional"));
            let mut out = Fields::new();
            out.put_some("prefix", used.text("prefix"));
            out.put(if used.kind == "secret" { "secretRef" } else { "configMapRef" }, reference);
            out.into_value()
        })
        .collect()
}

fn resources(block: &Block<'_>) -> Fields {
    let mut out = Fields::new();
    for kind in ["limits", "requests"] {
        let amounts: Map<String, Value> = block
            .blocks("resource")
            .filter_map(|resource| Some((resource.label.clone(), resource.value(kind)?.clone())))
            .collect();
        out.put_map(kind, amounts);
    }
    out
}

fn container_security(block: &Block<'_>) -> Fields {
    let mut out = Fields::new();
    let Some(security) = block.block("security") else { return out };
    out.put_some("runAsUser", security.integer("run_as_user"));
    out.put_some("runAsGroup", security.integer("run_as_group"));
    out.put_some("runAsNonRoot", security.flag("run_as_non_root"));
    out.put_some("readOnlyRootFilesystem", security.flag("read_only_root"));
    out.put_some("privileged", security.flag("privileged"));
    out.put_some("allowPrivilegeEscalation", security.flag("allow_escalation"));
    let mut capabilities = Fields::new();
    capabilities.put_some("add", security.value("add_capabilities").cloned());
    capabilities.put_some("drop", security.value("drop_capabilities").cloned());
    out.put_fields("capabilities", capabilities);
    out.put_some("seccompProfile", security.text("seccomp").map(|kind| json!({ "type": kind })));
    out
}

/// The part of `security` that belongs to the whole pod.
pub(super) fn pod_security(block: &Block<'_>) -> Fields {
    let mut out = Fields::new();
    let Some(security) = block.block("security") else { return out };
    out.put_some("fsGroup", security.integer("fs_group"));
    let sysctls = security.map("sysctls").into_iter().flatten();
    out.put_list("sysctls", sysctls.map(|(name, value)| json!({ "name": name, "value": value })).collect());
    out
}
