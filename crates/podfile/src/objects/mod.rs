//! Kubernetes objects from evaluated blocks.

mod container;
mod data;
mod extras;
mod fields;
mod pod;
mod service;
mod volumes;

use hcl_edit::Span;
use podsmith_object::{Diagnostics, Map, Object, Origin, Value, json, names, read_objects};

use crate::decode::{Block, Decoder};
use crate::eval::Frame;
use crate::language::FILE;
use crate::references::instance_name;
use crate::unit::{BlockRef, Unit};

pub(crate) use fields::Fields;

/// The label that ties a pod to its services; the same as in the seed, because selectors cannot change.
pub(crate) const POD_LABEL: &str = "podinate.com/pod";
/// Names of environment variables whose values are masked, on the object that holds them.
pub(crate) const SENSITIVE: &str = "podsmith.dev/sensitive";
/// Asks the plan to look up the cluster's default certificate issuer.
pub(crate) const DEFAULT_ISSUER: &str = "podsmith.dev/default-issuer";

/// Makes the objects of one unit.
pub(crate) struct Builder<'d, 'u> {
    pub unit: &'u Unit<'u>,
    pub problems: &'d mut Diagnostics,
    pub objects: &'d mut Vec<Object>,
}

/// What every object of a block shares.
pub(crate) struct Common<'b, 'u> {
    pub block: &'b Block<'u>,
    pub name: String,
    pub namespace: Option<String>,
    pub origin: Origin,
}

impl Common<'_, '_> {
    /// Metadata with the block's own labels and annotations.
    pub fn metadata(&self, name: &str, pod: bool) -> Fields {
        let mut metadata = Fields::new();
        metadata.put("name", name);
        metadata.put_some("namespace", self.namespace.as_deref());
        let mut labels = Map::new();
        if pod {
            labels.insert(POD_LABEL.into(), Value::from(self.name.as_str()));
        }
        labels.extend(self.block.map("labels").cloned().unwrap_or_default());
        metadata.put_map("labels", labels);
        metadata.put_map("annotations", self.block.map("annotations").cloned().unwrap_or_default());
        metadata
    }

    pub fn object(&self, api_version: &str, kind: &str, metadata: Fields) -> Fields {
        let mut object = Fields::new();
        object.put("apiVersion", api_version);
        object.put("kind", kind);
        object.put("metadata", metadata);
        object
    }
}

impl<'u> Builder<'_, 'u> {
    /// Makes the objects of every block of the unit, kind by kind in the order of the language, block by block in the
    /// order of the files.
    pub fn build_all(&mut self, manifests: &[BlockRef<'u>]) {
        for kind in ["service_account", "config", "secret", "shared_volume", "pod"] {
            let blocks: Vec<BlockRef<'u>> =
                self.unit.blocks.iter().filter(|((k, _), _)| *k == kind).map(|(_, block)| *block).collect();
            for block in blocks {
                self.each_instance(block, |builder, decoded, name, namespace| {
                    let origin = block.file.origin(block.block.ident.span(), 0);
                    let common = Common { block: decoded, name, namespace, origin };
                    match kind {
                        "service_account" => builder.service_account(&common),
                        "config" => builder.config(&common),
                        "secret" => builder.secret(&common),
                        "shared_volume" => builder.shared_volume(&common),
                        _ => builder.pod(&common),
                    }
                });
            }
        }
        for block in manifests {
            self.each_instance(*block, |builder, decoded, _, _| builder.manifest(decoded));
        }
    }

    fn each_instance(
        &mut self,
        block: BlockRef<'u>,
        mut make: impl FnMut(&mut Self, &Block<'u>, String, Option<String>),
    ) {
        let Some(kind) = FILE.block(block.block.ident.value().as_str()) else { return };
        let instances = match self.unit.instances(block) {
            Ok(instances) => instances,
            Err(fault) => {
                self.problems.push(*fault);
                return;
            }
        };
        for instance in instances {
            let frame = Frame { bindings: &instance.bindings, parent: None };
            let mut decoder = Decoder { unit: self.unit, problems: self.problems };
            let Some(decoded) = decoder.block(block.file, block.block, kind, &frame) else {
                // The same mistakes would be found again in every other instance.
                return;
            };
            let name = match decoded.text("name") {
                Some(name) => name.to_owned(),
                None => instance_name(&decoded.label, instance.key.as_ref()),
            };
            let namespace =
                decoded.text("namespace").map(str::to_owned).or_else(|| self.unit.namespace.clone());
            self.check_name(&decoded, &name, namespace.as_deref());
            make(self, &decoded, name, namespace);
        }
    }

    fn check_name(&mut self, block: &Block<'_>, name: &str, namespace: Option<&str>) {
        if block.kind != "manifest" {
            let checked =
                if block.kind == "pod" { names::dns_label(name) } else { names::dns_subdomain(name) };
            if let Err(error) = checked {
                let span = block.span_of("name");
                self.problems.push(block.file.error(span, error.to_string()));
            }
        }
        if let Some(Err(error)) = namespace.map(names::dns_label) {
            self.problems.push(block.file.error(block.span_of("namespace"), format!("namespace {error}")));
        }
    }

    /// Adds one object.
    pub fn push(&mut self, origin: &Origin, object: Fields) {
        self.objects.push(Object::new(object.into_map()).with_origin(origin.clone()));
    }

    pub fn problem(&mut self, block: &Block<'_>, attribute: &str, message: impl Into<String>) {
        self.problems.push(block.file.error(block.span_of(attribute), message));
    }

    pub fn warn(&mut self, block: &Block<'_>, message: impl Into<String>) {
        let mut warning = block.file.error(block.span.clone(), message);
        warning.severity = podsmith_object::Severity::Warning;
        self.problems.push(warning);
    }

    /// Raw objects keep what they say; the plan gives a namespace to those that need one.
    fn manifest(&mut self, block: &Block<'u>) {
        let origin = block.file.origin(block.span.clone(), 0);
        match (block.value("object"), block.text("yaml")) {
            (Some(value), None) => match Object::from_value(value.clone()) {
                Ok(object) if !object.api_version().is_empty() && !object.kind().is_empty() => {
                    self.objects.push(object.with_origin(origin));
                }
                Ok(_) => self.problem(block, "object", "an object needs apiVersion and kind"),
                Err(error) => self.problem(block, "object", error.to_string()),
            },
            (None, Some(text)) => match read_objects(&block.file.name, text.as_bytes()) {
                Ok(objects) => {
                    for object in objects {
                        self.objects.push(Object::new(object.body().clone()).with_origin(origin.clone()));
                    }
                }
                Err(problems) => {
                    for problem in problems {
                        let line = problem.place.as_ref().map_or(0, |place| place.line);
                        self.problem(block, "yaml", format!("line {line} of this text: {}", problem.message));
                    }
                }
            },
            (Some(_), Some(_)) => self.problem(block, "yaml", "`manifest` takes either `object` or `yaml`"),
            (None, None) => {
                self.problem(block, "object", format!("manifest `{}` needs `object` or `yaml`", block.label));
            }
        }
    }

    pub fn service_account(&mut self, common: &Common<'_, 'u>) {
        let block = common.block;
        let mut account = common.object("v1", "ServiceAccount", common.metadata(&common.name, false));
        account.put_list("imagePullSecrets", names_list(block.value("image_pull_secrets")));
        self.push(&common.origin, account);
        let rules: Vec<Value> = block
            .blocks("rule")
            .map(|rule| {
                let mut out = Fields::new();
                out.put("apiGroups", rule.value("groups").cloned().unwrap_or_else(|| json!([""])));
                out.put_some("resources", rule.value("resources").cloned());
                out.put_some("resourceNames", rule.value("names").cloned());
                out.put_some("verbs", rule.value("verbs").cloned());
                out.into_value()
            })
            .collect();
        if rules.is_empty() {
            return;
        }
        let mut role =
            common.object("rbac.authorization.k8s.io/v1", "Role", common.metadata(&common.name, false));
        role.put("rules", Value::Array(rules));
        self.push(&common.origin, role);
        let mut binding = common.object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            common.metadata(&common.name, false),
        );
        binding.put(
            "roleRef",
            json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": common.name }),
        );
        let mut subject = json!({ "kind": "ServiceAccount", "name": common.name });
        if let Some(namespace) = &common.namespace {
            subject["namespace"] = json!(namespace);
        }
        binding.put("subjects", json!([subject]));
        self.push(&common.origin, binding);
    }
}

/// `[{name: a}, …]` from a list of names.
pub(crate) fn names_list(value: Option<&Value>) -> Vec<Value> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.map(|name| json!({ "name": name })).collect()
}
