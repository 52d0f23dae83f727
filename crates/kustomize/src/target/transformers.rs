//! Transforming, in the order that is part of the format.

use podsmith_object::{Diagnostic, Diagnostics};

use super::accumulate::{Accumulator, Build, Target};
use super::plugins::load_replacements;
use crate::config::{FieldSpec, merge_specs};
use crate::kustomization::{Patch, Replacement};
use crate::load::Loader;
use crate::provenance::Provenance;
use crate::resources::{Duplicates, Resource, ResourceMap, read_inline, read_resources};
use crate::transform::{self, JsonPatch, Matcher, NamespaceChange};

impl Build {
    /// Applies everything the kustomization says to what was gathered.
    pub(super) fn transform(
        &mut self,
        target: &mut Target,
        accumulator: &mut Accumulator,
    ) -> Result<(), Diagnostics> {
        self.old_merge_patches(target, accumulator)?;
        self.patches(target, accumulator)?;
        self.names(target, accumulator)?;
        self.labels(target, accumulator)?;
        self.old_json_patches(target, accumulator)?;
        self.counts_and_images(target, accumulator)?;
        self.replacements(target, accumulator)?;
        for entry in target.kustomization.transformers.clone() {
            self.external_transformers(target, &mut accumulator.resources, &entry.text)
                .map_err(|problems| target.at(entry.spot, problems))?;
        }
        Ok(())
    }

    fn old_merge_patches(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        let kustomization = &target.kustomization;
        if kustomization.old_merge_patches.is_empty() {
            return Ok(());
        }
        let mut loaded = Vec::new();
        for patch in &kustomization.old_merge_patches {
            let found =
                load_merge_patches(&target.loader, &patch.patch, &kustomization.file, patch.lines_before)
                    .map_err(|problems| target.at(patch.spot, problems))?;
            loaded.extend(found.into_iter().map(|merge| (patch.spot, merge)));
        }
        if loaded.is_empty() {
            let spot = kustomization.old_merge_patches.first().map(|patch| patch.spot).unwrap_or_default();
            return Err(target.at(spot, Diagnostic::error("the patches are empty").into()));
        }
        for (spot, merge) in loaded {
            transform::apply_merge(&mut accumulator.resources, &self.types, &merge)
                .map_err(|problems| target.at(spot, problems))?;
        }
        note(target, accumulator, "PatchStrategicMergeTransformer", 1);
        Ok(())
    }

    fn patches(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        let kustomization = &target.kustomization;
        // All patches are read before the first is applied.
        let mut loaded = Vec::with_capacity(kustomization.patches.len());
        for patch in &kustomization.patches {
            let found = transform::load_patch(&target.loader, patch, &kustomization.file)
                .map_err(|problems| target.at(patch.spot, problems))?;
            loaded.push((patch, found));
        }
        for (patch, found) in loaded {
            transform::apply_loaded(&mut accumulator.resources, &self.types, patch, &found)
                .map_err(|problems| target.at(patch.spot, problems))?;
            note(target, accumulator, "PatchTransformer", 1);
            accumulator.resources.drop_empty();
        }
        Ok(())
    }

    fn names(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        let kustomization = &target.kustomization;
        let config = accumulator.config.clone();
        if !kustomization.namespace.is_empty() {
            let change = NamespaceChange {
                namespace: &kustomization.namespace,
                specs: &config.namespace,
                ..NamespaceChange::default()
            };
            transform::set_namespace(&mut accumulator.resources, &change)?;
            note(target, accumulator, "NamespaceTransformer", 1);
        }
        if !kustomization.name_prefix.is_empty() {
            transform::add_prefix(
                &mut accumulator.resources,
                &kustomization.name_prefix,
                &config.name_prefix,
            )?;
            note(target, accumulator, "PrefixTransformer", 1);
        }
        if !kustomization.name_suffix.is_empty() {
            transform::add_suffix(
                &mut accumulator.resources,
                &kustomization.name_suffix,
                &config.name_suffix,
            )?;
            note(target, accumulator, "SuffixTransformer", 1);
        }
        Ok(())
    }

    fn labels(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        let kustomization = &target.kustomization;
        let config = accumulator.config.clone();
        for labels in &kustomization.labels {
            let mut specs = labels.fields.clone();
            let mut add = |more: &[FieldSpec]| {
                merge_specs(&mut specs, more)
                    .map_err(|conflict| target.at(labels.spot, conflict.to_diagnostic().into()))
            };
            add(&config.labels)?;
            if labels.include_selectors {
                add(&config.common_labels)?;
            } else {
                if labels.include_templates {
                    add(&config.template_labels)?;
                }
                add(&[FieldSpec { path: "metadata/labels".into(), create: true, ..FieldSpec::default() }])?;
            }
            transform::set_labels(&mut accumulator.resources, &labels.pairs, &specs)
                .map_err(|problems| target.at(labels.spot, problems))?;
        }
        transform::set_labels(
            &mut accumulator.resources,
            &kustomization.common_labels,
            &config.common_labels,
        )?;
        if !kustomization.labels.is_empty() || !kustomization.common_labels.is_empty() {
            note(target, accumulator, "LabelTransformer", kustomization.labels.len() + 1);
        }
        if !kustomization.common_annotations.is_empty() {
            transform::set_annotations(
                &mut accumulator.resources,
                &kustomization.common_annotations,
                &config.common_annotations,
            )?;
            note(target, accumulator, "AnnotationsTransformer", 1);
        }
        Ok(())
    }

    fn old_json_patches(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        for patch in &target.kustomization.old_json_patches {
            let json =
                load_json_patch(&target.loader, patch).map_err(|problems| target.at(patch.spot, problems))?;
            let selector = patch.target.clone().unwrap_or_default();
            let matcher = Matcher::new(&selector).map_err(|problems| target.at(patch.spot, problems))?;
            let selected = matcher.select(&mut accumulator.resources);
            transform::apply_json(&mut accumulator.resources, &selected, &json, transform::History::Keep)
                .map_err(|problems| target.at(patch.spot, problems))?;
            note(target, accumulator, "PatchJson6902Transformer", 1);
        }
        Ok(())
    }

    fn counts_and_images(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        let kustomization = &target.kustomization;
        let config = accumulator.config.clone();
        for replica in &kustomization.replicas {
            transform::set_replicas(&mut accumulator.resources, replica, &config.replicas)
                .map_err(|problems| target.at(replica.spot, problems))?;
            note(target, accumulator, "ReplicaCountTransformer", 1);
        }
        if let Some(first) = kustomization.images.first() {
            transform::set_images(&mut accumulator.resources, &kustomization.images, &config.images)
                .map_err(|problems| target.at(first.spot, problems))?;
            note(target, accumulator, "ImageTagTransformer", kustomization.images.len());
        }
        Ok(())
    }

    fn replacements(&self, target: &Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        if target.kustomization.replacements.is_empty() {
            return Ok(());
        }
        for replacement in load_replacements(target, &target.kustomization.replacements)? {
            apply_replacement(target, &mut accumulator.resources, &replacement)?;
        }
        note(target, accumulator, "ReplacementTransformer", 1);
        Ok(())
    }
}

pub(super) fn apply_replacement(
    target: &Target,
    resources: &mut ResourceMap,
    replacement: &Replacement,
) -> Result<(), Diagnostics> {
    transform::replace(resources, replacement).map_err(|problems| target.at(replacement.spot, problems))
}

/// Reads an entry of `patchesStrategicMerge`, which is a patch itself or a path to some.
pub(super) fn load_merge_patches(
    loader: &Loader,
    text: &str,
    file: &str,
    lines_before: usize,
) -> Result<Vec<Resource>, Diagnostics> {
    match read_inline(file, text, lines_before, Duplicates::FirstWins) {
        Ok(inline) => Ok(inline),
        Err(problems) if text.contains('\n') => Err(problems),
        Err(_) => {
            let bytes = loader.load(text)?;
            read_resources(&loader.display(text), &bytes, Duplicates::FirstWins)
        }
    }
}

/// Reads an entry of `patchesJson6902`.
pub(super) fn load_json_patch(loader: &Loader, patch: &Patch) -> Result<JsonPatch, Diagnostics> {
    if patch.target.as_ref().is_none_or(|target| target.name.is_empty()) {
        return Err(Diagnostic::error("the `target` of a JSON patch must have a `name`").into());
    }
    let text = match (patch.path.is_empty(), patch.patch.is_empty()) {
        (true, true) => return Err(Diagnostic::error("a JSON patch needs `patch` or `path`").into()),
        (false, false) => {
            return Err(Diagnostic::error("a JSON patch cannot have both `patch` and `path`").into());
        }
        (false, true) => String::from_utf8_lossy(&loader.load(&patch.path)?).into_owned(),
        (true, false) => patch.patch.clone(),
    };
    let json = JsonPatch::parse(&text).map_err(|error| {
        Diagnostics::from(Diagnostic::error("this is not a JSON patch").because(error.to_string()))
    })?;
    if json.is_empty() {
        return Err(Diagnostic::error("the JSON patch is empty").into());
    }
    Ok(json)
}

/// Leaves the mark of a built-in transformer on every object, when that is asked for.
fn note(target: &Target, accumulator: &mut Accumulator, kind: &str, times: usize) {
    if let Some(provenance) = &target.provenance {
        note_transformation(
            &mut accumulator.resources,
            &provenance.of_builtin(target.file_name, kind),
            times,
        );
    }
}

pub(super) fn note_transformation(resources: &mut ResourceMap, mark: &Provenance, times: usize) {
    for resource in resources.values_mut() {
        for _ in 0..times {
            if resource.provenance.is_none() {
                resource.provenance = Some(mark.clone());
            } else {
                resource.transformations.push(mark.clone());
            }
        }
    }
}
