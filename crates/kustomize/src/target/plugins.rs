//! `generators`, `transformers` and `validators`: configurations of the built-in plugins in files of their own.

use std::sync::Arc;

use podsmith_object::decode::Decoder;
use podsmith_object::yaml::{Key, Node, NodeData, ReadOptions, read_node};
use podsmith_object::{Diagnostic, Diagnostics, Value};

use super::accumulate::{Accumulator, Build, Target};
use super::transformers::{apply_replacement, load_json_patch, load_merge_patches, note_transformation};
use crate::config::FieldSpec;
use crate::generate;
use crate::kustomization::{
    Patch, Replacement, ReplacementEntry, Table, read_chart, read_field_spec, read_generator, read_image,
    read_patch_options, read_replacement, read_replacement_entry, read_replica, read_selector,
};
use crate::provenance::Provenance;
use crate::resources::{Duplicates, Resource, ResourceMap, read_resources};
use crate::transform::{self, JsonPatch, LoadedPatch, Matcher, NamespaceChange, SubjectMode, ValueTarget};

const GENERATORS: [&str; 4] =
    ["ConfigMapGenerator", "SecretGenerator", "IAMPolicyGenerator", "HelmChartInflationGenerator"];

const TRANSFORMERS: [&str; 14] = [
    "AnnotationsTransformer",
    "HashTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "SuffixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "ValueAddTransformer",
];

type Made = Vec<(Option<Provenance>, Vec<Resource>)>;

impl Build {
    /// Runs the generators that one entry of `generators` holds or names.
    pub(super) fn external_generators(
        &mut self,
        target: &mut Target,
        entry: &str,
    ) -> Result<Made, Diagnostics> {
        let mut made = Vec::new();
        for config in self.plugin_configs(target, entry)?.iter() {
            check_plugin(config, &GENERATORS, "a generator")?;
            let file = file_of(config);
            let node = to_node(&Value::Object(config.body.clone()), line_of(config));
            let decoder = Decoder::new(&file, "");
            let resources = match &*config.kind() {
                "ConfigMapGenerator" => match read_generator(&decoder, &node, false, false) {
                    Some(args) => vec![generate::config_map(&target.loader, &args, None)?],
                    None => Vec::new(),
                },
                "SecretGenerator" => match read_generator(&decoder, &node, true, false) {
                    Some(args) => vec![generate::secret(&target.loader, &args, None)?],
                    None => Vec::new(),
                },
                "IAMPolicyGenerator" => generate::iam_policy(&decoder, &node)?.into_iter().collect(),
                _ => match read_chart(&decoder, &node, false) {
                    Some(chart) => generate::inflate(&target.loader, &chart, &chart.chart_home, "")?,
                    None => Vec::new(),
                },
            };
            decoder.finish(())?;
            made.push((plugin_provenance(config), resources));
        }
        Ok(made)
    }

    /// Runs the transformers that one entry of `transformers` holds or names.
    pub(super) fn external_transformers(
        &mut self,
        target: &mut Target,
        resources: &mut ResourceMap,
        entry: &str,
    ) -> Result<(), Diagnostics> {
        for config in self.plugin_configs(target, entry)?.iter() {
            self.run_transformer(target, resources, config)?;
            if let Some(mark) = plugin_provenance(config) {
                note_transformation(resources, &mark, 1);
            }
            resources.drop_empty();
        }
        Ok(())
    }

    /// Runs the validators: transformers that must not change anything.
    pub(super) fn validate(
        &mut self,
        target: &mut Target,
        accumulator: &mut Accumulator,
    ) -> Result<(), Diagnostics> {
        for entry in target.kustomization.validators.clone() {
            let mut check = || -> Result<(), Diagnostics> {
                for config in self.plugin_configs(target, &entry.text)?.iter() {
                    let mut copy = accumulator.resources.clone();
                    self.run_transformer(target, &mut copy, config)?;
                    let changed = accumulator.resources.len() != copy.len()
                        || accumulator.resources.iter().zip(copy.iter()).any(|(a, b)| a.body != b.body);
                    if changed {
                        let message =
                            format!("validator {} changes objects, it may only look at them", config.id());
                        return Err(Diagnostic::error(message).into());
                    }
                }
                Ok(())
            };
            check().map_err(|problems| target.at(entry.spot, problems))?;
        }
        Ok(())
    }

    /// The configurations that an entry holds inline or names by path.
    fn plugin_configs(&mut self, target: &mut Target, entry: &str) -> Result<ResourceMap, Diagnostics> {
        let mut found = ResourceMap::default();
        match read_resources(&target.kustomization.file, entry.as_bytes(), Duplicates::Refuse) {
            Ok(inline) => {
                let provenance = target.provenance.as_ref().map(|origin| origin.append(target.file_name));
                for mut resource in inline {
                    resource.provenance.clone_from(&provenance);
                    found.append(resource)?;
                }
            }
            Err(_) => {
                let mut accumulator = Accumulator::default();
                self.accumulate_resource(target, &mut accumulator, entry)?;
                found = accumulator.resources;
            }
        }
        Ok(found)
    }

    fn run_transformer(
        &self,
        target: &Target,
        resources: &mut ResourceMap,
        config: &Resource,
    ) -> Result<(), Diagnostics> {
        check_plugin(config, &TRANSFORMERS, "a transformer")?;
        let file = file_of(config);
        let node = to_node(&Value::Object(config.body.clone()), line_of(config));
        let decoder = Decoder::new(&file, "");
        let Some(mut table) = Table::new(&decoder, &node, "the transformer", false) else {
            return decoder.finish(());
        };
        let specs = table.list("fieldSpecs", |item| read_field_spec(&decoder, item, false));
        match &*config.kind() {
            "AnnotationsTransformer" => {
                let pairs = table.text_map("annotations");
                decoder.finish(())?;
                transform::set_annotations(resources, &pairs, &specs)
            }
            "LabelTransformer" => {
                let pairs = table.text_map("labels");
                decoder.finish(())?;
                transform::set_labels(resources, &pairs, &specs)
            }
            "HashTransformer" => {
                crate::add_hashes(resources);
                Ok(())
            }
            "ImageTagTransformer" => {
                let image = table.take("imageTag").and_then(|node| read_image(&decoder, node, false));
                decoder.finish(())?;
                transform::set_images(resources, image.as_slice(), &specs)
            }
            "NamespaceTransformer" => run_namespace(resources, &decoder, &mut table, &specs),
            "PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer" => {
                run_names(resources, config, &mut table, &specs)
            }
            "ReplicaCountTransformer" => {
                let replica = table.take("replica").and_then(|node| read_replica(&decoder, node, false));
                decoder.finish(())?;
                transform::set_replicas(resources, &replica.unwrap_or_default(), &specs)
            }
            "ReplacementTransformer" => {
                let entries =
                    table.list("replacements", |item| read_replacement_entry(&decoder, item, false));
                decoder.finish(())?;
                for replacement in load_replacements(target, &entries)? {
                    apply_replacement(target, resources, &replacement)?;
                }
                Ok(())
            }
            "ValueAddTransformer" => {
                let (value, targets) = read_value_add(target, &decoder, &mut table)?;
                decoder.finish(())?;
                transform::add_value(resources, &value, &targets)
            }
            _ => {
                let patches = self.read_patches(target, config, &decoder, &mut table)?;
                decoder.finish(())?;
                self.run_patches(resources, patches)
            }
        }
    }

    fn read_patches(
        &self,
        target: &Target,
        config: &Resource,
        decoder: &Decoder<'_>,
        table: &mut Table<'_, '_, '_>,
    ) -> Result<Patches, Diagnostics> {
        let file = file_of(config);
        let mut patch = Patch {
            path: table.text("path"),
            target: table
                .take("target")
                .and_then(|node| read_selector(decoder, node, "a patch target", false)),
            ..Patch::default()
        };
        match &*config.kind() {
            "PatchTransformer" => {
                patch.patch = table.text("patch");
                if let Some(node) = table.take("options") {
                    read_patch_options(decoder, node, &mut patch, false);
                }
                let loaded = transform::load_patch(&target.loader, &patch, &file)?;
                Ok(Patches::Either(Box::new(patch), loaded))
            }
            "PatchJson6902Transformer" => {
                patch.patch = table.text("jsonOp");
                let json = load_json_patch(&target.loader, &patch)?;
                Ok(Patches::Json(Box::new(patch), json))
            }
            _ => {
                let mut loaded = Vec::new();
                for path in table.texts("paths") {
                    loaded.extend(load_merge_patches(&target.loader, &path, &file, 0)?);
                }
                let inline = table.text("patches");
                if !inline.is_empty() {
                    loaded.extend(read_resources(&file, inline.as_bytes(), Duplicates::FirstWins)?);
                }
                if loaded.is_empty() {
                    return Err(Diagnostic::error("the patches are empty").into());
                }
                Ok(Patches::Merge(loaded))
            }
        }
    }

    fn run_patches(&self, resources: &mut ResourceMap, patches: Patches) -> Result<(), Diagnostics> {
        match patches {
            Patches::Either(patch, loaded) => {
                transform::apply_loaded(resources, &self.types, &patch, &loaded)
            }
            Patches::Json(patch, json) => {
                let selected = Matcher::new(&patch.target.unwrap_or_default())?.select(resources);
                transform::apply_json(resources, &selected, &json, transform::History::Keep)
            }
            Patches::Merge(loaded) => {
                loaded.iter().try_for_each(|merge| transform::apply_merge(resources, &self.types, merge))
            }
        }
    }
}

/// The patches of one plugin configuration.
enum Patches {
    Either(Box<Patch>, LoadedPatch),
    Json(Box<Patch>, JsonPatch),
    Merge(Vec<Resource>),
}

fn run_namespace(
    resources: &mut ResourceMap,
    decoder: &Decoder<'_>,
    table: &mut Table<'_, '_, '_>,
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    let namespace = table
        .take("metadata")
        .and_then(|node| Table::new(decoder, node, "the metadata", false))
        .map(|mut metadata| metadata.text("namespace"))
        .unwrap_or_default();
    let subjects = match table.text("setRoleBindingSubjects").as_str() {
        "" | "defaultOnly" => SubjectMode::DefaultOnly,
        "allServiceAccounts" => SubjectMode::AllServiceAccounts,
        "none" => SubjectMode::None,
        other => {
            let message = format!(
                "`setRoleBindingSubjects` is `{other}`, it must be defaultOnly, allServiceAccounts or none"
            );
            return Err(Diagnostic::error(message).into());
        }
    };
    let unset_only = table.flag("unsetOnly");
    transform::set_namespace(
        resources,
        &NamespaceChange { namespace: &namespace, specs, unset_only, subjects },
    )
}

fn run_names(
    resources: &mut ResourceMap,
    config: &Resource,
    table: &mut Table<'_, '_, '_>,
    specs: &[FieldSpec],
) -> Result<(), Diagnostics> {
    let (prefix, suffix) = (table.text("prefix"), table.text("suffix"));
    if specs.is_empty() {
        return Err(Diagnostic::error(format!("{} needs `fieldSpecs`", config.kind())).into());
    }
    let kind = config.kind();
    if kind != "SuffixTransformer" {
        transform::add_prefix(resources, &prefix, specs)?;
    }
    if kind != "PrefixTransformer" {
        transform::add_suffix(resources, &suffix, specs)?;
    }
    Ok(())
}

fn read_value_add(
    target: &Target,
    decoder: &Decoder<'_>,
    table: &mut Table<'_, '_, '_>,
) -> Result<(String, Vec<ValueTarget>), Diagnostics> {
    let mut value = table.text("value").trim().to_owned();
    if value.is_empty() {
        target.loader.root().rsplit('/').next().unwrap_or_default().clone_into(&mut value);
    }
    let mut targets = table.list("targets", |item| read_value_target(decoder, item));
    let path = table.text("targetFilePath");
    if !path.is_empty() {
        let (file, text) = read_text(target, &path)?;
        let node = read_node(&text, ReadOptions::lenient())
            .map_err(|error| Diagnostics::from(error.to_diagnostic(&file, &text, 0)))?;
        let inner = Decoder::new(&file, &text);
        if let Some(mut table) = Table::new(&inner, &node, "the targets", false) {
            targets.extend(table.list("targets", |item| read_value_target(&inner, item)));
        }
        inner.finish(())?;
    }
    if targets.is_empty() {
        return Err(Diagnostic::error("ValueAddTransformer needs at least one target").into());
    }
    if targets.iter().any(|target| target.field_path.is_empty()) {
        return Err(Diagnostic::error("`fieldPath` of a target is missing").into());
    }
    Ok((value, targets))
}

fn read_value_target(decoder: &Decoder<'_>, node: &Node) -> Option<ValueTarget> {
    let mut table = Table::new(decoder, node, "a target", false)?;
    let position = table.number("filePathPosition");
    if position < 0 {
        decoder.error(node, "`filePathPosition` cannot be negative");
    }
    Some(ValueTarget {
        selector: table.take("selector").and_then(|node| read_selector(decoder, node, "a selector", false)),
        field_path: table.text("fieldPath"),
        position: usize::try_from(position).unwrap_or(0),
    })
}

fn read_text(target: &Target, path: &str) -> Result<(String, String), Diagnostics> {
    let bytes = target.loader.load(path)?;
    Ok((target.loader.display(path), String::from_utf8_lossy(&bytes).into_owned()))
}

/// Replaces entries that name a file by what the file holds.
pub(super) fn load_replacements(
    target: &Target,
    entries: &[ReplacementEntry],
) -> Result<Vec<Replacement>, Diagnostics> {
    let mut result = Vec::with_capacity(entries.len());
    for entry in entries {
        let spot = entry.replacement.spot;
        if entry.path.is_empty() {
            result.push(entry.replacement.clone());
            continue;
        }
        let has_targets = entry.replacement.targets.as_ref().is_some_and(|targets| !targets.is_empty());
        if entry.replacement.source.is_some() || has_targets {
            let message = "a replacement cannot have both `path` and a source or targets";
            return Err(target.at(spot, Diagnostic::error(message).into()));
        }
        let (file, text) = read_text(target, &entry.path).map_err(|problems| target.at(spot, problems))?;
        let node = read_node(&text, ReadOptions::lenient())
            .map_err(|error| Diagnostics::from(error.to_diagnostic(&file, &text, 0)))?;
        let decoder = Decoder::new(&file, &text);
        let items: Vec<&Node> = match &node.data {
            NodeData::Sequence(items) => items.iter().collect(),
            NodeData::Mapping(_) => vec![&node],
            _ => {
                let message = format!("{file} must hold a replacement or a list of them");
                return Err(target.at(spot, Diagnostic::error(message).into()));
            }
        };
        let found =
            items.into_iter().filter_map(|item| read_replacement(&decoder, item, false)).map(|replacement| {
                // Places of messages are those of the entry that names the file.
                Replacement { spot, ..replacement }
            });
        result.extend(found.collect::<Vec<_>>());
        decoder.finish(())?;
    }
    Ok(result)
}

fn check_plugin(config: &Resource, known: &[&str], what: &str) -> Result<(), Diagnostics> {
    let kind = config.kind();
    let on = |diagnostic: Diagnostic| -> Diagnostics {
        diagnostic.or_at(config.origin.as_ref().map(|origin| origin.place())).into()
    };
    if config.api_version() != "builtin" {
        let message = format!("{kind} is not a built-in plugin; commands and containers are not run");
        return Err(on(Diagnostic::error(message).with_hint(
            "use a built-in plugin (apiVersion: builtin), patches, replacements or components instead, or render \
             with the plugin first and list its output under `resources`",
        )));
    }
    if known.contains(&&*kind) {
        return Ok(());
    }
    let all = GENERATORS.iter().chain(&TRANSFORMERS);
    if all.clone().any(|found| *found == kind) {
        return Err(on(Diagnostic::error(format!("{kind} is not {what}"))));
    }
    let hint = podsmith_object::suggest::hint(&kind, known.iter().copied());
    Err(on(Diagnostic::error(format!("there is no built-in plugin {kind}")).with_hint_if(hint)))
}

fn plugin_provenance(config: &Resource) -> Option<Provenance> {
    let origin = config.provenance.as_ref()?;
    Some(Provenance {
        path: String::new(),
        repository: origin.repository.clone(),
        reference: origin.reference.clone(),
        configured_in: origin.path.clone(),
        configured_by: Some([
            config.api_version().into_owned(),
            config.kind().into_owned(),
            config.name().into_owned(),
            config.namespace().into_owned(),
        ]),
    })
}

fn file_of(config: &Resource) -> Arc<str> {
    config.origin.as_ref().map_or_else(|| Arc::from(""), |origin| origin.file.clone())
}

fn line_of(config: &Resource) -> usize {
    config.origin.as_ref().map_or(0, |origin| origin.line)
}

/// A value as a node, all of it on one line, for the decoder.
fn to_node(value: &Value, line: usize) -> Node {
    let data = match value {
        Value::Null => NodeData::Null,
        Value::Bool(flag) => NodeData::Bool(*flag),
        Value::Number(number) => NodeData::Number(number.clone()),
        Value::String(text) => NodeData::String(text.clone()),
        Value::Array(items) => NodeData::Sequence(items.iter().map(|item| to_node(item, line)).collect()),
        Value::Object(map) => NodeData::Mapping(
            map.iter()
                .map(|(key, value)| (Key { text: key.clone(), line, column: 1 }, to_node(value, line)))
                .collect(),
        ),
    };
    Node { data, line, column: 1 }
}
