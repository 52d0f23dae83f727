//! The transformers' configuration as a whole.

use std::sync::{Arc, OnceLock};

use podsmith_object::decode::Decoder;
use podsmith_object::yaml::{Node, ReadOptions, read_node};
use podsmith_object::{Diagnostic, Diagnostics};

use super::field::FieldSpec;
use crate::kustomization::{Table, read_field_spec};
use crate::resources::Gvk;

/// Fields that hold the name of an object of type `target`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct NameReference {
    pub target: Gvk,
    pub referrers: Vec<FieldSpec>,
}

/// Which fields each transformer touches.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct TransformerConfig {
    pub name_prefix: Vec<FieldSpec>,
    pub name_suffix: Vec<FieldSpec>,
    pub namespace: Vec<FieldSpec>,
    pub common_labels: Vec<FieldSpec>,
    pub labels: Vec<FieldSpec>,
    pub template_labels: Vec<FieldSpec>,
    pub common_annotations: Vec<FieldSpec>,
    pub name_reference: Vec<NameReference>,
    pub var_reference: Vec<FieldSpec>,
    pub images: Vec<FieldSpec>,
    pub replicas: Vec<FieldSpec>,
}

const DEFAULTS: &str = include_str!("defaults.table");

/// Two configurations disagree on whether a field may be created.
#[derive(Clone, Debug)]
pub(crate) struct Conflict(FieldSpec);

impl Conflict {
    pub(crate) fn to_diagnostic(&self) -> Diagnostic {
        let Self(spec) = self;
        let kind = if spec.gvk.kind.is_empty() { "all kinds" } else { &spec.gvk.kind };
        Diagnostic::error(format!(
            "field {} of {kind} is configured twice with different `create`",
            spec.path
        ))
        .with_hint("the built-in configuration has this field too: use its value of `create`")
    }
}

/// Adds the specifications that are not there yet.
pub(crate) fn merge_specs(into: &mut Vec<FieldSpec>, more: &[FieldSpec]) -> Result<(), Conflict> {
    for spec in more {
        match into.iter().find(|old| old.path == spec.path && old.gvk.is_selected_by(&spec.gvk)) {
            Some(old) if old.create != spec.create => return Err(Conflict(spec.clone())),
            Some(_) => {}
            None => into.push(spec.clone()),
        }
    }
    Ok(())
}

impl TransformerConfig {
    /// The built-in configuration.
    pub(crate) fn built_in() -> Arc<Self> {
        static CONFIG: OnceLock<Arc<TransformerConfig>> = OnceLock::new();
        CONFIG.get_or_init(|| Arc::new(parse_defaults(DEFAULTS))).clone()
    }

    /// Both configurations together. Costs nothing when they are the same one or one is empty.
    pub(crate) fn merged(first: &Arc<Self>, second: &Arc<Self>) -> Result<Arc<Self>, Conflict> {
        if Arc::ptr_eq(first, second) || **second == Self::default() {
            return Ok(first.clone());
        }
        // Merging into nothing is a merge all the same: of two fields with one path the more general one, which comes
        // later, is dropped. Only the built-in configuration is known to have none of these.
        if **first == Self::default() && Arc::ptr_eq(second, &Self::built_in()) {
            return Ok(second.clone());
        }
        let mut result = (**first).clone();
        result.merge(second)?;
        Ok(Arc::new(result))
    }

    fn merge(&mut self, other: &Self) -> Result<(), Conflict> {
        for (into, more) in [
            (&mut self.name_prefix, &other.name_prefix),
            (&mut self.name_suffix, &other.name_suffix),
            (&mut self.namespace, &other.namespace),
            (&mut self.common_annotations, &other.common_annotations),
            (&mut self.common_labels, &other.common_labels),
            (&mut self.labels, &other.labels),
            (&mut self.template_labels, &other.template_labels),
            (&mut self.var_reference, &other.var_reference),
            (&mut self.images, &other.images),
            (&mut self.replicas, &other.replicas),
        ] {
            merge_specs(into, more)?;
        }
        for reference in &other.name_reference {
            self.add_name_reference(reference)?;
        }
        self.sort();
        Ok(())
    }

    pub(crate) fn add_name_reference(&mut self, more: &NameReference) -> Result<(), Conflict> {
        match self.name_reference.iter_mut().find(|old| old.target == more.target) {
            Some(old) => merge_specs(&mut old.referrers, &more.referrers),
            None => {
                self.name_reference.push(more.clone());
                Ok(())
            }
        }
    }

    fn sort(&mut self) {
        for list in [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.var_reference,
            &mut self.images,
            &mut self.replicas,
        ] {
            list.sort_by_cached_key(|spec| spec.gvk.rank());
        }
        self.name_reference.sort_by_cached_key(|reference| reference.target.rank());
    }

    /// Reads one file of `configurations`.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, Diagnostics> {
        let node = read_node(text, ReadOptions::default())
            .map_err(|error| Diagnostics::from(error.to_diagnostic(file, text, 0)))?;
        let decoder = Decoder::new(file, text);
        let mut config = Self::default();
        if let Some(mut table) = Table::strict(&decoder, &node, "the configuration") {
            for (key, list) in [
                ("namePrefix", &mut config.name_prefix),
                ("nameSuffix", &mut config.name_suffix),
                ("namespace", &mut config.namespace),
                ("commonLabels", &mut config.common_labels),
                ("labels", &mut config.labels),
                ("templateLabels", &mut config.template_labels),
                ("commonAnnotations", &mut config.common_annotations),
                ("varReference", &mut config.var_reference),
                ("images", &mut config.images),
                ("replicas", &mut config.replicas),
            ] {
                *list = table.list(key, |item| read_field_spec(&decoder, item, true));
            }
            config.name_reference = table.list("nameReference", |item| read_name_reference(&decoder, item));
            table.finish();
        }
        config.sort();
        decoder.finish(config)
    }
}

fn read_name_reference(decoder: &Decoder<'_>, node: &Node) -> Option<NameReference> {
    let mut table = Table::strict(decoder, node, "a name reference")?;
    let target = Gvk { group: table.text("group"), version: table.text("version"), kind: table.text("kind") };
    let referrers = table.list("fieldSpecs", |item| read_field_spec(decoder, item, true));
    table.finish();
    Some(NameReference { target, referrers })
}

/// Reads our own table, whose format its first lines explain. It is part of the program: a line that says nothing is
/// skipped, and a test counts what was read.
fn parse_defaults(text: &str) -> TransformerConfig {
    let mut config = TransformerConfig::default();
    let mut section = Vec::new();
    let part = |word: &str| if word == "-" { String::new() } else { word.to_owned() };
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = header.split(' ').collect();
            if let ["nameReference", kind, version, group] = section.as_slice() {
                let target = Gvk { group: part(group), version: part(version), kind: part(kind) };
                config.name_reference.push(NameReference { target, referrers: Vec::new() });
            }
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [kind, version, group, path] = words.as_slice() else { continue };
        let spec = FieldSpec {
            gvk: Gvk { group: part(group), version: part(version), kind: part(kind) },
            path: path.trim_start_matches('+').to_owned(),
            create: path.starts_with('+'),
        };
        let list = match section.first() {
            Some(&"namePrefix") => &mut config.name_prefix,
            Some(&"nameSuffix") => &mut config.name_suffix,
            Some(&"commonLabels") => &mut config.common_labels,
            Some(&"templateLabels") => &mut config.template_labels,
            Some(&"commonAnnotations") => &mut config.common_annotations,
            Some(&"namespace") => &mut config.namespace,
            Some(&"varReference") => &mut config.var_reference,
            Some(&"images") => &mut config.images,
            Some(&"replicas") => &mut config.replicas,
            _ => match config.name_reference.last_mut() {
                Some(reference) => &mut reference.referrers,
                None => continue,
            },
        };
        list.push(spec);
    }
    config.sort();
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_configuration_is_complete() {
        let config = TransformerConfig::built_in();
        let counts = [
            config.name_prefix.len(),
            config.namespace.len(),
            config.common_labels.len(),
            config.common_annotations.len(),
            config.var_reference.len(),
            config.images.len(),
            config.replicas.len(),
            config.name_reference.len(),
            config.name_reference.iter().map(|reference| reference.referrers.len()).sum(),
        ];
        assert_eq!(counts, [1, 3, 32, 9, 72, 6, 4, 16, 167]);
        assert_eq!(config.name_reference[0].target.kind, "StorageClass");
    }

    #[test]
    fn merging_the_same_configuration_changes_nothing() {
        let config = TransformerConfig::built_in();
        let copy = Arc::new((*config).clone());
        assert_eq!(TransformerConfig::merged(&config, &copy).unwrap(), config);
        let nothing = Arc::new(TransformerConfig::default());
        assert_eq!(TransformerConfig::merged(&nothing, &copy).unwrap(), config);
    }

    #[test]
    fn a_field_with_another_create_is_a_conflict() {
        let config = TransformerConfig::built_in();
        let other = TransformerConfig::read("c.yaml", "images:\n- path: spec/containers[]/image\n").unwrap();
        let conflict = TransformerConfig::merged(&config, &Arc::new(other)).unwrap_err();
        assert_eq!(
            conflict.to_diagnostic().message,
            "field spec/containers[]/image of all kinds is configured twice with different `create`"
        );
    }

    #[test]
    fn unknown_keys_of_a_configuration_are_reported() {
        let problems = TransformerConfig::read("c.yaml", "nameReferences: []\n").unwrap_err();
        assert_eq!(problems.0[0].hint.as_deref(), Some("did you mean `nameReference`?"));
    }
}
