//! Storage: claims, mounts, and the volumes of a pod.

use indexmap::IndexMap;
use podsmith_object::{Map, Value, json};

use super::{Builder, Common, Fields, POD_LABEL};
use crate::decode::Block;

/// The volumes of one pod: each once, however many containers mount it.
#[derive(Default)]
pub(super) struct Volumes {
    /// Volumes of the pod's spec, by name.
    pub volumes: IndexMap<String, Value>,
    /// Claim templates of a StatefulSet, by name.
    pub templates: IndexMap<String, Value>,
    /// Claims of their own, for workloads without templates.
    pub claims: Vec<Fields>,
}

/// How the workload keeps its own storage.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Storage {
    Templates,
    Claims,
}

fn claim_spec(block: &Block<'_>) -> Fields {
    let mut spec = Fields::new();
    spec.put("accessModes", json!([block.text("access").unwrap_or("ReadWriteOnce")]));
    spec.put("volumeMode", "Filesystem");
    spec.put("resources", json!({ "requests": { "storage": block.text("size").unwrap_or_default() } }));
    spec.put_some("storageClassName", block.text("class"));
    spec
}

fn mount(block: &Block<'_>, volume: &str) -> Value {
    let mut out = Fields::new();
    out.put("name", volume);
    out.put("mountPath", block.text("mount_path").unwrap_or_default());
    out.put_some("readOnly", block.flag("read_only"));
    out.put_some("subPath", block.text("sub_path"));
    out.into_value()
}

impl<'u> Builder<'_, 'u> {
    pub(super) fn shared_volume(&mut self, common: &Common<'_, 'u>) {
        let mut claim = common.object("v1", "PersistentVolumeClaim", common.metadata(&common.name, false));
        claim.put("spec", claim_spec(common.block));
        self.push(&common.origin, claim);
    }

    /// The mounts of one container, adding to the pod's volumes what it needs.
    pub(super) fn mounts(
        &mut self,
        common: &Common<'_, 'u>,
        container: &Block<'u>,
        storage: Storage,
        volumes: &mut Volumes,
    ) -> Vec<Value> {
        let mut mounts = Vec::new();
        for block in &container.blocks {
            let label = block.label.as_str();
            match block.kind {
                "volume" => {
                    self.own_volume(common, block, storage, volumes);
                    mounts.push(mount(block, label));
                }
                "shared_volume" => {
                    let claim = self.shared_claim(block);
                    volumes.volumes.insert(
                        label.to_owned(),
                        json!({ "name": label, "persistentVolumeClaim": { "claimName": claim } }),
                    );
                    mounts.push(mount(block, label));
                }
                "scratch" => {
                    let mut directory = Fields::new();
                    if block.flag("memory") == Some(true) {
                        directory.put("medium", "Memory");
                    }
                    directory.put_some("sizeLimit", block.text("size"));
                    volumes.volumes.insert(
                        label.to_owned(),
                        json!({ "name": label, "emptyDir": directory.into_value() }),
                    );
                    mounts.push(mount(block, label));
                }
                "host_path" => {
                    let mut path = Fields::new();
                    path.put_some("path", block.text("path"));
                    path.put_some("type", block.text("type"));
                    volumes
                        .volumes
                        .insert(label.to_owned(), json!({ "name": label, "hostPath": path.into_value() }));
                    mounts.push(mount(block, label));
                }
                "mount" => mounts.push(mount(block, label)),
                "config" | "secret" if block.text("mount_path").is_some() => {
                    let name = format!("{}-{label}", block.kind);
                    let volume = self.data_volume(block, &name);
                    volumes.volumes.insert(name.clone(), volume);
                    let mut out = mount(block, &name);
                    if let Some(key) = block.text("key") {
                        out["subPath"] = json!(key);
                    }
                    if block.flag("read_only").is_none() {
                        out["readOnly"] = json!(true);
                    }
                    mounts.push(out);
                }
                _ => {}
            }
        }
        mounts
    }

    fn own_volume(
        &mut self,
        common: &Common<'_, 'u>,
        block: &Block<'u>,
        storage: Storage,
        volumes: &mut Volumes,
    ) {
        let label = block.label.as_str();
        match storage {
            Storage::Templates => {
                let mut metadata = Fields::new();
                metadata.put("name", label);
                metadata.put("labels", json!({ POD_LABEL: common.name }));
                metadata.put("annotations", json!({ "volumeType": "local" }));
                let mut template = Fields::new();
                template.put("apiVersion", "v1");
                template.put("kind", "PersistentVolumeClaim");
                template.put("metadata", metadata);
                template.put("spec", claim_spec(block));
                volumes.templates.insert(label.to_owned(), template.into_value());
            }
            Storage::Claims => {
                let name = format!("{}-{label}", common.name);
                let mut claim = common.object("v1", "PersistentVolumeClaim", common.metadata(&name, true));
                claim.put("spec", claim_spec(block));
                volumes.claims.push(claim);
                volumes.volumes.insert(
                    label.to_owned(),
                    json!({ "name": label, "persistentVolumeClaim": { "claimName": name } }),
                );
            }
        }
    }

    /// The claim behind a `shared_volume` block in a pod: a declared volume by its label, or a claim that exists.
    fn shared_claim(&mut self, block: &Block<'u>) -> String {
        let label = block.label.as_str();
        match self.unit.blocks.get(&("shared_volume", label)) {
            Some(declared) => {
                let name = declared.block.body.get_attribute("name");
                let name = name.and_then(|name| {
                    self.unit.attribute(declared.file, &name.value, "name", &crate::eval::Frame::EMPTY).ok()
                });
                name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_else(|| label.to_owned())
            }
            None => {
                let known = self
                    .unit
                    .blocks
                    .keys()
                    .filter(|(kind, _)| *kind == "shared_volume")
                    .map(|(_, name)| *name);
                let near = podsmith_object::suggest::nearest(label, known);
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let message = format!(
                    "no shared_volume `{label}` is declared; the pod waits until a claim of this name exists{near}"
                );
                self.warn(block, message);
                label.to_owned()
            }
        }
    }

    fn data_volume(&mut self, block: &Block<'u>, name: &str) -> Value {
        let mut source = Fields::new();
        source.put(if block.kind == "secret" { "secretName" } else { "name" }, block.label.as_str());
        if let Some(items) = block.map("items") {
            let items = items.iter().map(|(key, path)| json!({ "key": key, "path": path })).collect();
            source.put_list("items", items);
        }
        if let Some(mode) = block.text("mode") {
            match i64::from_str_radix(mode, 8) {
                Ok(bits) if (0..=0o777).contains(&bits) => source.put("defaultMode", bits),
                _ => self.problem(
                    block,
                    "mode",
                    format!("`{mode}` is no mode; write it in octal, such as \"0400\""),
                ),
            }
        }
        source.put_some("optional", block.flag("optional"));
        let mut volume = Map::new();
        volume.insert("name".into(), Value::from(name));
        volume
            .insert(if block.kind == "secret" { "secret" } else { "configMap" }.into(), source.into_value());
        Value::Object(volume)
    }
}
