//! Reads pod.yaml in both dialects. All mistakes of a file are found in one run, each with its position.

mod container;
mod expose;
mod probe;
mod scalar;
mod volume;

use podsmith_object::yaml::{self, Node, ReadOptions};
use podsmith_object::{Diagnostic, Diagnostics, decode::Fields};

use crate::spec::{Dialect, ExecutablePod, Pod, PodSpec};
use scalar::Reader;

/// What the reader must know besides the text.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The file's name in messages.
    pub file: &'a str,
    /// The pod's name.
    pub name: &'a str,
    /// The directory that relative `bind` paths of host volumes start from.
    pub source_dir: &'a str,
}

/// Reads a preprocessed pod.yaml. The second value holds the warnings.
///
/// # Errors
///
/// Everything that is wrong with the file.
pub fn read(text: &str, context: Context<'_>) -> Result<(Pod, Diagnostics), Diagnostics> {
    let node = yaml::read_node(text, ReadOptions::default())
        .map_err(|error| Diagnostics::from(error.to_diagnostic(context.file, text, 0)))?;
    let reader = Reader::new(context.file, text);
    if !valid_name(context.name) {
        let message = format!("the pod name `{}` is malformed", context.name);
        reader.decoder.report(Diagnostic::error(message).with_hint(NAME_RULE), 1, 1);
    }
    let pod = read_pod(&reader, &node, context);
    let (pod, warnings) = reader.decoder.finish_with_warnings(pod)?;
    match pod {
        Some(pod) => Ok((pod, warnings)),
        None => Err(Diagnostic::error(format!("{} is not a pod", context.file)).into()),
    }
}

const NAME_RULE: &str = "a name starts with a small letter, goes on with small letters, digits and underscores, and does not end in an underscore";

/// The rule for pods, containers and volumes.
pub fn valid_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.last().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_')
}

/// `N.N.N[-tag]`, the tag in small letters, digits, dots and dashes.
pub fn valid_version(version: &str) -> bool {
    let (numbers, tag) = version.split_once('-').unwrap_or((version, ""));
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        && tag.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.' || b == b'-')
}

fn read_pod(reader: &Reader<'_>, node: &Node, context: Context<'_>) -> Option<Pod> {
    let mut fields = reader.decoder.mapping(node, "the pod")?;
    let (dialect, api) = read_dialect(reader, &mut fields);
    let runtime = read_runtime(reader, &mut fields, dialect);
    let version = read_version(reader, &mut fields);
    let pod = match runtime {
        "executable" => read_executable(reader, &mut fields, dialect, context, version),
        _ => read_containers(reader, &mut fields, dialect, api, context, version),
    };
    fields.finish();
    pod
}

/// Finds the dialect by its version key and refuses a mixture.
fn read_dialect(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>) -> (Dialect, String) {
    let (seed, head) = (fields.take_even_null("apiVersion"), fields.take_even_null("api"));
    let decoder = &reader.decoder;
    match (seed, head) {
        (Some(node), None) => {
            let api = reader.text(node, "`apiVersion`").unwrap_or_default();
            if api != "1.0.0-beta1" {
                let message = format!("`apiVersion` `{api}` is not supported");
                decoder.error_with_hint(
                    node,
                    message,
                    "write `apiVersion: 1.0.0-beta1`, or `api: 1.0.0-beta2`",
                );
            }
            (Dialect::Seed, api)
        }
        (None, Some(node)) => {
            let api = reader.text(node, "`api`").unwrap_or_default();
            if !matches!(api.as_str(), "1.0.0-beta1" | "1.0.0-beta2") {
                decoder.error_with_hint(
                    node,
                    format!("`api` `{api}` is not supported"),
                    "supported: 1.0.0-beta1, 1.0.0-beta2",
                );
            }
            (Dialect::Head, api)
        }
        (Some(_), Some(node)) => {
            decoder.error_with_hint(
                node,
                "`api` and `apiVersion` are both set: the two dialects of pod.yaml cannot be mixed",
                "keep `api`, with `runtime` and `weight`",
            );
            (Dialect::Head, String::new())
        }
        (None, None) => {
            decoder.error_with_hint(
                fields.node(),
                "`api` is missing in the pod",
                "write `api: 1.0.0-beta2` in the first line",
            );
            (Dialect::Head, String::new())
        }
    }
}

fn read_runtime(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>, dialect: Dialect) -> &'static str {
    let (right, wrong) = match dialect {
        Dialect::Seed => ("podRuntime", "runtime"),
        Dialect::Head => ("runtime", "podRuntime"),
    };
    if let Some(node) = fields.take_even_null(wrong) {
        reader.mixed(node, wrong, right, dialect);
        return reader.runtime(node);
    }
    match fields.take(right) {
        Some(node) => reader.runtime(node),
        None if dialect == Dialect::Seed => {
            reader.decoder.error_with_hint(
                fields.node(),
                "`podRuntime` is missing in the pod",
                "write `podRuntime: podman`",
            );
            "podman"
        }
        None => "podman",
    }
}

fn read_version(reader: &Reader<'_>, fields: &mut Fields<'_, '_, '_>) -> String {
    let Some(node) = fields.require("podVersion") else { return String::new() };
    let version = reader.text(node, "`podVersion`").unwrap_or_default();
    if !valid_version(&version) {
        let message = format!("`podVersion` `{version}` is invalid");
        let hint = "write major.minor.patch or major.minor.patch-tag, the tag in small letters";
        reader.decoder.error_with_hint(node, message, hint);
    }
    version
}

fn read_executable(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    dialect: Dialect,
    context: Context<'_>,
    version: String,
) -> Option<Pod> {
    let mut ports = expose::Ports::default();
    // The original documented `executable.expose` and read a top-level `expose`: both are meant.
    let mut expose = expose::read_all(
        reader,
        fields.sequence("expose"),
        "expose",
        expose::Owner::Executable,
        dialect,
        &mut ports,
    );
    let node = fields.require("executable")?;
    let mut executable = reader.decoder.mapping(node, "executable")?;
    let file = reader.required_text(&mut executable, "file", "executable.file");
    let inner = executable.sequence("expose");
    expose.extend(expose::read_all(
        reader,
        inner,
        "executable.expose",
        expose::Owner::Executable,
        dialect,
        &mut ports,
    ));
    executable.finish();
    Some(Pod::Executable(ExecutablePod {
        dialect,
        name: context.name.to_owned(),
        version,
        file: file?,
        expose,
    }))
}

fn read_containers(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, '_, '_>,
    dialect: Dialect,
    api: String,
    context: Context<'_>,
    version: String,
) -> Option<Pod> {
    let labels = volume::read_labels(reader, fields);
    let volumes = volume::read_all(reader, fields.sequence("volumes"), dialect, context.source_dir);
    let items = fields
        .take_even_null("containers")
        .map_or(&[][..], |node| reader.decoder.sequence(node, "containers"));
    if items.is_empty() {
        reader.decoder.error_with_hint(
            fields.node(),
            "the pod has no containers",
            "add at least one item with `name` and `image` under `containers`",
        );
    }
    let containers = container::read_all(reader, items, dialect, &volumes);
    Some(Pod::Containers(PodSpec {
        dialect,
        api,
        name: context.name.to_owned(),
        version,
        labels,
        volumes,
        containers,
    }))
}
