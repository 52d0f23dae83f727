//! A `pod` block: the workload and everything around it.

use podsmith_object::{Map, Value, json, merge};

use super::container::pod_security;
use super::volumes::{Storage, Volumes};
use super::{Builder, Common, Fields, POD_LABEL, SENSITIVE, names_list};
use crate::decode::Block;

/// Attributes that only some kinds have.
const ONLY_FOR: [(&str, &[&str]); 19] = [
    ("replicas", &["statefulset", "deployment"]),
    ("strategy", &["statefulset", "deployment", "daemonset"]),
    ("max_surge", &["deployment", "daemonset"]),
    ("max_unavailable", &["deployment", "daemonset", "statefulset"]),
    ("min_ready_seconds", &["statefulset", "deployment", "daemonset"]),
    ("revision_history", &["statefulset", "deployment", "daemonset"]),
    ("pod_management", &["statefulset"]),
    ("schedule", &["cronjob"]),
    ("time_zone", &["cronjob"]),
    ("suspend", &["job", "cronjob"]),
    ("concurrency", &["cronjob"]),
    ("starting_deadline", &["cronjob"]),
    ("successful_history", &["cronjob"]),
    ("failed_history", &["cronjob"]),
    ("backoff_limit", &["job", "cronjob"]),
    ("completions", &["job", "cronjob"]),
    ("parallelism", &["job", "cronjob"]),
    ("active_deadline", &["job", "cronjob"]),
    ("ttl_after_finished", &["job", "cronjob"]),
];

impl<'u> Builder<'_, 'u> {
    pub(super) fn pod(&mut self, common: &Common<'_, 'u>) {
        let block = common.block;
        let kind = block.text("kind").unwrap_or(if block.text("schedule").is_some() {
            "cronjob"
        } else {
            "statefulset"
        });
        self.check_kind(block, kind);
        let storage = if kind == "statefulset" { Storage::Templates } else { Storage::Claims };
        let mut volumes = Volumes::default();
        let (template, sensitive) = self.template(common, kind, storage, &mut volumes);

        for claim in std::mem::take(&mut volumes.claims) {
            self.push(&common.origin, claim);
        }
        let mut metadata = common.metadata(&common.name, true);
        if !sensitive.is_empty()
            && let Some(annotations) = metadata.entry("annotations")
        {
            annotations.insert(SENSITIVE.into(), sensitive.join(",").into());
        }
        let governing = self.governing_name(block, &common.name);
        let workload = match kind {
            "deployment" => deployment(common, metadata, template),
            "daemonset" => daemon_set(common, metadata, template),
            "job" => job(common, metadata, template),
            "cronjob" => cron_job(common, metadata, template),
            _ => stateful_set(common, metadata, template, volumes, &governing),
        };
        self.push(&common.origin, workload);
        if kind == "statefulset" && !block.blocks("service").any(|service| service.label == governing) {
            self.governing_service(common, &governing);
        }
        for service in block.blocks("service") {
            self.service(common, service);
        }
        self.extras(common, kind);
    }

    fn check_kind(&mut self, block: &Block<'u>, kind: &str) {
        for (attribute, kinds) in ONLY_FOR {
            if block.value(attribute).is_some() && !kinds.contains(&kind) {
                let message =
                    format!("`{attribute}` does not fit a {kind}; it is for {}", kinds.join(" and "));
                self.problem(block, attribute, message);
            }
        }
        if kind == "cronjob" && block.text("schedule").is_none() {
            self.problem(block, "kind", "a cronjob needs a `schedule` such as \"0 3 * * *\"");
        }
        if let Some(schedule) = block.text("schedule") {
            let fields = schedule.split_whitespace().count();
            if fields != 5 && !schedule.starts_with('@') {
                let message =
                    format!("`{schedule}` is no schedule: five fields are needed, this has {fields}");
                self.problem(block, "schedule", message);
            }
        }
        if block.text("image").is_none() && block.block("container").is_none() {
            let message =
                format!("pod `{}` needs the attribute `image`, or a `container` block", block.label);
            self.problem(block, "image", message);
        }
        if block.integer("replicas").is_some_and(|replicas| replicas < 0) {
            self.problem(block, "replicas", "`replicas` cannot be negative");
        }
    }

    /// The pod template, and the environment variables to mask.
    fn template(
        &mut self,
        common: &Common<'_, 'u>,
        kind: &str,
        storage: Storage,
        volumes: &mut Volumes,
    ) -> (Fields, Vec<String>) {
        let block = common.block;
        let mut sensitive = Vec::new();
        let mut containers = Vec::new();
        if block.text("image").is_some() {
            let ports = self.container_ports(block);
            let main = self.container(common, block, &common.name, ports, storage, volumes);
            sensitive.extend(main.sensitive);
            containers.push(main.fields.into_value());
        }
        let mut init_containers = Vec::new();
        for extra in block.blocks.iter().filter(|extra| matches!(extra.kind, "container" | "init_container"))
        {
            let ports = extra.integer("port").map(|port| json!({ "containerPort": port, "protocol": "TCP" }));
            let mut made =
                self.container(common, extra, &extra.label, ports.into_iter().collect(), storage, volumes);
            sensitive.extend(made.sensitive);
            if extra.kind == "init_container" {
                if extra.flag("sidecar") == Some(true) {
                    made.fields.put("restartPolicy", "Always");
                }
                init_containers.push(made.fields.into_value());
            } else {
                containers.push(made.fields.into_value());
            }
        }
        let mut spec = Fields::new();
        spec.put_list("initContainers", init_containers);
        spec.put_list("containers", containers);
        spec.put_list("volumes", volumes.volumes.values().cloned().collect());
        let default_restart = matches!(kind, "job" | "cronjob").then_some("OnFailure");
        spec.put_some("restartPolicy", block.text("restart_policy").or(default_restart));
        spec.put_some("serviceAccountName", block.text("service_account"));
        spec.put_some("automountServiceAccountToken", block.flag("automount_service_account_token"));
        spec.put_list("imagePullSecrets", names_list(block.value("image_pull_secrets")));
        spec.put_map("nodeSelector", block.map("node_selector").cloned().unwrap_or_default());
        spec.put_some("affinity", block.value("affinity").cloned());
        spec.put_list("tolerations", block.blocks("toleration").map(toleration).collect());
        spec.put_list(
            "topologySpreadConstraints",
            block.blocks("spread").map(|s| spread(s, &common.name)).collect(),
        );
        spec.put_some("priorityClassName", block.text("priority_class"));
        spec.put_some("runtimeClassName", block.text("runtime_class"));
        spec.put_some("terminationGracePeriodSeconds", block.integer("termination_grace_period"));
        spec.put_some("hostNetwork", block.flag("host_network"));
        spec.put_some("dnsPolicy", block.text("dns_policy"));
        spec.put_some("hostname", block.text("hostname"));
        spec.put_fields("securityContext", pod_security(block));
        let mut spec = spec.into_value();
        match block.value("pod_spec") {
            Some(more) if more.is_object() => merge::deep_merge(&mut spec, more.clone()),
            Some(_) => self.problem(block, "pod_spec", "`pod_spec` must be an object"),
            None => {}
        }

        let mut labels = Map::new();
        labels.insert(POD_LABEL.into(), Value::from(common.name.as_str()));
        labels.extend(block.map("labels").cloned().unwrap_or_default());
        labels.extend(block.map("pod_labels").cloned().unwrap_or_default());
        let mut metadata = Fields::new();
        metadata.put("name", common.name.as_str());
        metadata.put_map("labels", labels);
        metadata.put_map("annotations", block.map("pod_annotations").cloned().unwrap_or_default());
        let mut template = Fields::new();
        template.put("metadata", metadata);
        template.put("spec", spec);
        (template, sensitive)
    }
}

fn replicas(block: &Block<'_>) -> Option<i64> {
    // With autoscaling the number belongs to the autoscaler; setting it would undo its work on every apply.
    block.block("autoscaling").is_none().then(|| block.integer("replicas").unwrap_or(1))
}

fn selector(common: &Common<'_, '_>) -> Value {
    json!({ "matchLabels": { POD_LABEL: common.name } })
}

fn stateful_set(
    common: &Common<'_, '_>,
    metadata: Fields,
    template: Fields,
    volumes: Volumes,
    governing: &str,
) -> Fields {
    let block = common.block;
    let mut spec = Fields::new();
    spec.put("serviceName", governing);
    spec.put_some("replicas", replicas(block));
    spec.put("selector", selector(common));
    spec.put("template", template);
    spec.put_list("volumeClaimTemplates", volumes.templates.into_values().collect());
    spec.put(
        "persistentVolumeClaimRetentionPolicy",
        json!({ "whenDeleted": "Retain", "whenScaled": "Retain" }),
    );
    spec.put_some(
        "podManagementPolicy",
        block
            .text("pod_management")
            .map(|policy| if policy == "parallel" { "Parallel" } else { "OrderedReady" }),
    );
    match (block.text("strategy"), block.value("max_unavailable")) {
        (Some("on_delete"), _) => spec.put("updateStrategy", json!({ "type": "OnDelete" })),
        (_, Some(amount)) => {
            spec.put(
                "updateStrategy",
                json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": amount } }),
            );
        }
        (Some(_), None) => spec.put("updateStrategy", json!({ "type": "RollingUpdate" })),
        (None, None) => {}
    }
    rollout(block, &mut spec);
    let mut object = common.object("apps/v1", "StatefulSet", metadata);
    object.put("spec", spec);
    object
}

fn rollout(block: &Block<'_>, spec: &mut Fields) {
    spec.put_some("minReadySeconds", block.integer("min_ready_seconds"));
    spec.put_some("revisionHistoryLimit", block.integer("revision_history"));
}

fn rolling(block: &Block<'_>) -> Option<Value> {
    let mut amounts = Fields::new();
    amounts.put_some("maxSurge", block.value("max_surge").cloned());
    amounts.put_some("maxUnavailable", block.value("max_unavailable").cloned());
    match block.text("strategy") {
        Some("recreate") => Some(json!({ "type": "Recreate" })),
        Some("on_delete") => Some(json!({ "type": "OnDelete" })),
        Some(_) if amounts.is_empty() => Some(json!({ "type": "RollingUpdate" })),
        None if amounts.is_empty() => None,
        _ => Some(json!({ "type": "RollingUpdate", "rollingUpdate": amounts.into_value() })),
    }
}

fn deployment(common: &Common<'_, '_>, metadata: Fields, template: Fields) -> Fields {
    let block = common.block;
    let mut spec = Fields::new();
    spec.put_some("replicas", replicas(block));
    spec.put("selector", selector(common));
    spec.put("template", template);
    spec.put_some("strategy", rolling(block));
    rollout(block, &mut spec);
    let mut object = common.object("apps/v1", "Deployment", metadata);
    object.put("spec", spec);
    object
}

fn daemon_set(common: &Common<'_, '_>, metadata: Fields, template: Fields) -> Fields {
    let block = common.block;
    let mut spec = Fields::new();
    spec.put("selector", selector(common));
    spec.put("template", template);
    spec.put_some("updateStrategy", rolling(block));
    rollout(block, &mut spec);
    let mut object = common.object("apps/v1", "DaemonSet", metadata);
    object.put("spec", spec);
    object
}

fn job_spec(block: &Block<'_>, template: Fields) -> Fields {
    let mut spec = Fields::new();
    spec.put_some("completions", block.integer("completions"));
    spec.put_some("parallelism", block.integer("parallelism"));
    spec.put_some("backoffLimit", block.integer("backoff_limit"));
    spec.put_some("activeDeadlineSeconds", block.integer("active_deadline"));
    spec.put_some("ttlSecondsAfterFinished", block.integer("ttl_after_finished"));
    spec.put("template", template);
    spec
}

fn job(common: &Common<'_, '_>, metadata: Fields, template: Fields) -> Fields {
    let mut spec = job_spec(common.block, template);
    spec.put_some("suspend", common.block.flag("suspend"));
    let mut object = common.object("batch/v1", "Job", metadata);
    object.put("spec", spec);
    object
}

fn cron_job(common: &Common<'_, '_>, metadata: Fields, template: Fields) -> Fields {
    let block = common.block;
    let mut spec = Fields::new();
    spec.put_some("schedule", block.text("schedule"));
    spec.put_some("timeZone", block.text("time_zone"));
    spec.put_some("concurrencyPolicy", block.text("concurrency"));
    spec.put_some("startingDeadlineSeconds", block.integer("starting_deadline"));
    spec.put_some("successfulJobsHistoryLimit", block.integer("successful_history"));
    spec.put_some("failedJobsHistoryLimit", block.integer("failed_history"));
    spec.put_some("suspend", block.flag("suspend"));
    spec.put("jobTemplate", json!({ "spec": job_spec(block, template).into_value() }));
    let mut object = common.object("batch/v1", "CronJob", metadata);
    object.put("spec", spec);
    object
}

fn toleration(block: &Block<'_>) -> Value {
    let mut out = Fields::new();
    out.put_some("key", block.text("key"));
    let default = if block.text("value").is_some() { "Equal" } else { "Exists" };
    out.put("operator", block.text("operator").unwrap_or(default));
    out.put_some("value", block.text("value"));
    out.put_some("effect", block.text("effect"));
    out.put_some("tolerationSeconds", block.integer("seconds"));
    out.into_value()
}

fn spread(block: &Block<'_>, pod: &str) -> Value {
    let strict = block.flag("required") == Some(true);
    json!({
        "maxSkew": block.integer("max_skew").unwrap_or(1),
        "topologyKey": block.label,
        "whenUnsatisfiable": if strict { "DoNotSchedule" } else { "ScheduleAnyway" },
        "labelSelector": { "matchLabels": { POD_LABEL: pod } },
    })
}
