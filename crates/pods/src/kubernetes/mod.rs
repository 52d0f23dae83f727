//! A pod of a host as Kubernetes objects, so that it can move to a cluster.
//!
//! What has no counterpart is never dropped in silence: it is named in [`Crossing::notes`].

mod pod;
mod routes;

use std::collections::BTreeMap;
use std::path::Path;

use podsmith_object::{Diagnostic, Diagnostics, Object, Value, json};

use crate::compile::{self, Request, parent};
use crate::spec::{Container, Pod, PodSpec, Restart, Sharing, StartupCheck, VolumeKind};

/// The files of each config: config name, file name, content.
pub type Configs = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// A pod on the other side.
#[derive(Clone, Debug, Default)]
pub struct Crossing {
    /// The objects, in the order to create them.
    pub objects: Vec<Object>,
    /// What could not be carried over, as warnings.
    pub notes: Diagnostics,
}

impl Crossing {
    fn add(&mut self, value: Value) {
        if let Ok(object) = Object::from_value(value) {
            self.objects.push(object);
        }
    }

    fn note(&mut self, message: impl Into<String>) {
        self.notes.push(Diagnostic::warning(message));
    }
}

/// Reads a pod.yaml with its configs and carries it over. Warnings about the file itself come first in the notes.
///
/// # Errors
///
/// Everything that is wrong with the file; an executable pod, which is no container.
pub fn render(request: &Request) -> Result<Crossing, Diagnostics> {
    let request = &Request {
        name: Some(request.name.clone().unwrap_or_else(|| fitting_name(&request.input))),
        ..request.clone()
    };
    let (pod, mut notes) = compile::read_pod(request)?;
    let Pod::Containers(pod) = pod else {
        let file = request.input.display();
        let message = format!("{file} is an executable pod, which has no image and cannot run on Kubernetes");
        return Err(Diagnostic::error(message).into());
    };
    let output = request.output.clone().unwrap_or_else(|| request.input.with_extension(""));
    let configs = read_configs(&pod, &parent(&output).join("config"))?;
    let mut crossing = objects(&pod, &configs);
    notes.extend(crossing.notes);
    crossing.notes = notes;
    Ok(crossing)
}

/// A pod name made from the directory of `input`: nobody chose it as a name, so what does not fit is replaced.
fn fitting_name(input: &Path) -> String {
    let directory = parent(input);
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let text =
        directory.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let plain: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = plain.trim_start_matches(|c: char| !c.is_ascii_lowercase()).trim_end_matches('_');
    if name.is_empty() { "pod".to_owned() } else { name.to_owned() }
}

/// Reads the plain configs of a pod. Encrypted ones stay where they are.
fn read_configs(pod: &PodSpec, dir: &Path) -> Result<Configs, Diagnostics> {
    let mut configs = Configs::new();
    for volume in pod.volumes.iter().filter(|v| v.kind == VolumeKind::Config { encrypted: false }) {
        let path = dir.join(&volume.name);
        let cannot = |error: std::io::Error| {
            Diagnostics::from(
                Diagnostic::error(format!("cannot read {}", path.display())).because(error.to_string()),
            )
        };
        let files = configs.entry(volume.name.clone()).or_default();
        for entry in std::fs::read_dir(&path).map_err(cannot)? {
            let file = entry.map_err(cannot)?.path();
            if file.is_file() {
                let name =
                    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                files.insert(name, std::fs::read(&file).map_err(cannot)?);
            }
        }
    }
    Ok(configs)
}

/// Carries a pod over: ConfigMaps, claims, a Deployment or Job, a Service, an Ingress.
pub fn objects(pod: &PodSpec, configs: &Configs) -> Crossing {
    let mut crossing = Crossing::default();
    for (name, files) in configs {
        let object = config_map(pod, name, files, &mut crossing);
        crossing.add(object);
    }
    claims(pod, &mut crossing);
    pod::workload(pod, &mut crossing);
    routes::service(pod, &mut crossing);
    routes::ingress(pod, &mut crossing);
    crossing
}

/// Kubernetes names have dashes where pod names have underscores.
fn name(text: &str) -> String {
    text.trim_matches('_').replace('_', "-")
}

fn part_name(pod: &PodSpec, part: &str) -> String {
    format!("{}-{}", name(&pod.name), name(part))
}

fn metadata(pod: &PodSpec, object: &str) -> Value {
    let mut labels = json!({"app.kubernetes.io/name": name(&pod.name)});
    let version = ("app.kubernetes.io/version".to_owned(), pod.version.clone());
    if let Some(map) = labels.as_object_mut() {
        for (key, value) in [&version].into_iter().chain(&pod.labels) {
            if podsmith_object::names::qualified_name(key).is_ok()
                && podsmith_object::names::label_value(value).is_ok()
            {
                map.insert(key.clone(), json!(value));
            }
        }
    }
    json!({"name": object, "labels": labels})
}

fn config_map(
    pod: &PodSpec,
    config: &str,
    files: &BTreeMap<String, Vec<u8>>,
    crossing: &mut Crossing,
) -> Value {
    use base64::Engine;
    let (mut data, mut binary) = (json!({}), json!({}));
    for (file, content) in files {
        let plain = file.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if !plain {
            crossing.note(format!("config `{config}`: the name `{file}` cannot be a key of a ConfigMap"));
            continue;
        }
        match std::str::from_utf8(content) {
            Ok(text) => data[file] = json!(text),
            Err(_) => binary[file] = json!(base64::engine::general_purpose::STANDARD.encode(content)),
        }
    }
    let mut object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(pod, &part_name(pod, config))});
    for (key, map) in [("data", data), ("binaryData", binary)] {
        if map.as_object().is_some_and(|map| !map.is_empty()) {
            object[key] = map;
        }
    }
    object
}

fn claims(pod: &PodSpec, crossing: &mut Crossing) {
    for volume in &pod.volumes {
        match &volume.kind {
            VolumeKind::Volume { shared } => {
                crossing
                    .note(format!("volume `{}` has no size on a host: the claim asks for 1Gi", volume.name));
                if *shared == Sharing::Host {
                    crossing.note(format!(
                        "volume `{}` is shared by all pods of a host: its claim belongs to this pod",
                        volume.name
                    ));
                }
                let spec =
                    json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
                let metadata = metadata(pod, &part_name(pod, &volume.name));
                crossing.add(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}));
            }
            VolumeKind::Config { encrypted: true } => {
                let secret = part_name(pod, &volume.name);
                crossing.note(format!(
                    "config `{}` is encrypted: make the Secret `{secret}` from its decrypted files",
                    volume.name
                ));
            }
            _ => {}
        }
    }
}

/// A container that must end before the others start.
fn is_init(container: &Container) -> bool {
    matches!(container.startup.as_ref().map(|startup| &startup.until), Some(StartupCheck::Exit))
        && !matches!(container.restart, Restart::Always | Restart::OnInterval(_))
}

#[cfg(test)]
mod tests;
