//! The steps that come once, at the end of a build.

use std::sync::Arc;

use podsmith_object::files::{FileKind, FileTree, MemoryFiles, OverlayFiles, join};
use podsmith_object::{Diagnostic, Diagnostics, Map, Value, yaml};

use crate::Built;
use crate::generate;
use crate::kustomization::Kustomization;
use crate::options::{BuildOptions, Reorder};
use crate::provenance;
use crate::resources::{Resource, ResourceMap, mapping_at, text_of};
use crate::target::{Accumulator, Build};
use crate::transform;

const ORIGIN: &str = "config.kubernetes.io/origin";
const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";
const LOCAL: &str = "config.kubernetes.io/local-config";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The tool whose results these are.
const MANAGER: &str = "kustomize-v5.8.1";

/// Annotations that belong to tools and never reach the output.
const INTERNAL: [&str; 19] = [
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "internal.config.kubernetes.io/helm-generated",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
];

/// Lays the values file over the tree, beside the kustomization.
pub(crate) fn with_values(
    tree: Arc<dyn FileTree>,
    path: &str,
    options: &BuildOptions,
) -> Result<Arc<dyn FileTree>, Diagnostics> {
    if options.values.is_empty() {
        return Ok(tree);
    }
    let Some(file) = join("", path).map(|path| format!("{path}/values.yaml")) else { return Ok(tree) };
    let file = file.trim_start_matches('/');
    if tree.kind(file) == Some(FileKind::File) {
        return Err(Diagnostic::error(format!("{} hides the values of this build", tree.display(file)))
            .with_hint("rename the file: `values.yaml` stands for the values that are passed in")
            .into());
    }
    let data: Map<String, Value> = options
        .values
        .iter()
        .map(|(key, value)| {
            let text = match value {
                Value::Object(_) | Value::Array(_) => value.to_string(),
                scalar => text_of(scalar).into_owned(),
            };
            (key.clone(), Value::String(text))
        })
        .collect();
    let object = podsmith_object::json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "values"},
        "data": data,
    });
    let values = MemoryFiles::new().with(file, yaml::to_string(&object));
    Ok(Arc::new(OverlayFiles::new(Arc::new(values), tree)))
}

/// Hashes, references, vars, order, and the clean-up.
pub(crate) fn finish(
    build: Build,
    accumulator: Accumulator,
    kustomization: &Kustomization,
    reorder: Reorder,
) -> Result<Built, Diagnostics> {
    let Accumulator { mut resources, config, variables } = accumulator;
    let mut warnings = build.warnings;
    add_hashes(&mut resources);
    transform::fix_references(&mut resources, &config.name_reference)?;
    warnings.extend(transform::resolve_variables(&mut resources, &variables, &config.var_reference)?);
    check_and_drop_local(&mut resources)?;
    sort(&mut resources, kustomization, reorder)?;
    let metadata = build.metadata;
    let mut objects = Vec::with_capacity(resources.len());
    for mut resource in resources.into_vec() {
        if metadata.managed_by {
            mapping_at(resource.metadata_mut(), "labels").insert(MANAGED_BY.into(), Value::from(MANAGER));
        }
        clean_annotations(&mut resource, metadata.origin, metadata.transformers);
        let mut body = Value::Object(std::mem::take(&mut resource.body));
        sort_keys(&mut body);
        if let Value::Object(map) = body {
            resource.body = map;
        }
        objects.push(resource.into_object());
    }
    Ok(Built { objects, warnings })
}

/// Appends the hash of its content to the name of each object that wants one.
pub(crate) fn add_hashes(resources: &mut ResourceMap) {
    if !resources.iter().any(|resource| resource.needs_hash) {
        return;
    }
    for resource in resources.all_mut().iter_mut().filter(|resource| resource.needs_hash) {
        let name = format!("{}-{}", resource.name(), generate::hash(resource));
        resource.remember_identity();
        resource.set_name(&name);
    }
}

fn check_and_drop_local(resources: &mut ResourceMap) -> Result<(), Diagnostics> {
    for resource in resources.iter() {
        if resource.body.get("metadata").and_then(|m| m.get("annotations")).is_some_and(Value::is_array) {
            return Err(Diagnostic::error("`metadata.annotations` must be a mapping, this is a list")
                .on(resource.id())
                .or_at(resource.origin.as_ref().map(|origin| origin.place()))
                .into());
        }
        let missing = if resource.kind().is_empty() {
            "`kind` is missing"
        } else if resource.name().is_empty() && !resource.kind().ends_with("List") {
            "`metadata.name` is missing"
        } else {
            continue;
        };
        return Err(Diagnostic::error(format!("{missing} after all changes"))
            .on(resource.id())
            .or_at(resource.origin.as_ref().map(|origin| origin.place()))
            .into());
    }
    resources.all_mut().retain(|resource| match resource.metadata_entry("annotations", LOCAL) {
        Some(local) => local == "false",
        None => true,
    });
    Ok(())
}

fn sort(
    resources: &mut ResourceMap,
    kustomization: &Kustomization,
    reorder: Reorder,
) -> Result<(), Diagnostics> {
    let Some(options) = &kustomization.sort_options else {
        if reorder == Reorder::Legacy {
            transform::sort_legacy(resources, None);
        }
        return Ok(());
    };
    let problem = |message: &str| -> Result<(), Diagnostics> {
        Err(kustomization.at(options.spot, Diagnostic::error(message)).into())
    };
    match (options.order.as_str(), &options.legacy) {
        ("legacy", order) => transform::sort_legacy(resources, order.as_ref()),
        ("fifo", None) => {}
        ("fifo", Some(_)) => return problem("`legacySortOptions` need the order `legacy`, this is `fifo`"),
        _ => return problem("`order` of `sortOptions` must be legacy or fifo"),
    }
    Ok(())
}

/// Leaves only texts among the annotations, and only those of the user or asked for.
fn clean_annotations(resource: &mut Resource, origin: bool, transformers: bool) {
    let mut kept: Vec<(String, Value)> =
        match resource.body.get("metadata").and_then(|m| m.get("annotations")) {
            Some(Value::Object(map)) => map
                .iter()
                .filter(|(key, _)| {
                    !INTERNAL.contains(&key.as_str()) && !matches!(key.as_str(), ORIGIN | TRANSFORMATIONS)
                })
                .map(|(key, value)| {
                    let text = if value.is_null() { "null".into() } else { text_of(value) };
                    (key.clone(), Value::from(&*text))
                })
                .collect(),
            _ => Vec::new(),
        };
    if origin && let Some(found) = &resource.provenance {
        kept.push((ORIGIN.into(), Value::from(found.to_annotation())));
    }
    if transformers && !resource.transformations.is_empty() {
        let text = provenance::transformations(&resource.transformations);
        kept.push((TRANSFORMATIONS.into(), Value::from(text)));
    }
    let metadata = resource.metadata_mut();
    if kept.is_empty() {
        metadata.shift_remove("annotations");
    } else {
        metadata.insert("annotations".into(), Value::Object(kept.into_iter().collect()));
    }
}

/// Sorts the keys of all mappings.
pub(crate) fn sort_keys(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.sort_keys();
            map.values_mut().for_each(sort_keys);
        }
        Value::Array(items) => items.iter_mut().for_each(sort_keys),
        _ => {}
    }
}
