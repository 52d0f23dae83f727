//! The file as a whole.

use std::sync::Arc;

use podsmith_object::decode::Decoder;
use podsmith_object::yaml::{Node, NodeData, ReadOptions, decode_text, read_nodes};
use podsmith_object::{Diagnostic, Diagnostics, Place};

use super::helm::{HelmChart, read_chart, read_chart_home, read_old_chart};
use super::parts::{
    BuildMetadata, GeneratorArgs, GeneratorOptions, Image, Labels, Patch, ReplacementEntry, Replica,
    SortOptions, Spot, Variable, read_generator, read_generator_options, read_image, read_labels,
    read_metadata, read_old_patch, read_patch, read_replacement_entry, read_replica, read_sort_options,
    read_variable,
};
use super::table::Table;

/// The names a kustomization file may have.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What the file is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Kind {
    #[default]
    Kustomization,
    /// Applied to what its user has accumulated so far.
    Component,
}

/// A path or address in the file, and where it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub text: String,
    pub spot: Spot,
}

/// Everything a kustomization says, old spellings turned into new ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kustomization {
    pub file: Arc<str>,
    pub text: Arc<str>,
    pub kind: Kind,
    pub openapi_path: Option<Entry>,
    pub openapi_version: Option<Entry>,
    pub name_prefix: String,
    pub name_suffix: String,
    pub namespace: String,
    pub common_labels: Vec<(String, String)>,
    pub labels: Vec<Labels>,
    pub common_annotations: Vec<(String, String)>,
    pub old_merge_patches: Vec<Patch>,
    pub old_json_patches: Vec<Patch>,
    pub patches: Vec<Patch>,
    pub images: Vec<Image>,
    pub replacements: Vec<ReplacementEntry>,
    pub replicas: Vec<Replica>,
    pub variables: Vec<Variable>,
    pub sort_options: Option<SortOptions>,
    pub resources: Vec<Entry>,
    pub components: Vec<Entry>,
    pub crds: Vec<Entry>,
    pub config_maps: Vec<GeneratorArgs>,
    pub secrets: Vec<GeneratorArgs>,
    pub charts: Vec<HelmChart>,
    pub chart_home: String,
    pub generator_options: Option<GeneratorOptions>,
    pub configurations: Vec<Entry>,
    pub generators: Vec<Entry>,
    pub transformers: Vec<Entry>,
    pub validators: Vec<Entry>,
    pub metadata: BuildMetadata,
}

impl Kustomization {
    /// Reads a file; also returns the warnings about deprecated fields.
    pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let text = decode_text(bytes)
            .map_err(|error| Diagnostics::from(Diagnostic::error(error.to_string()).at(Place::file(file))))?;
        // Only the first document counts; the original never looks at a second one.
        let node = read_nodes(&text, ReadOptions::lenient())
            .map_err(|error| Diagnostics::from(error.to_diagnostic(file, &text, 0)))?
            .into_iter()
            .next()
            .unwrap_or(Node { data: NodeData::Null, line: 1, column: 1 });
        let decoder = Decoder::new(file, &text);
        let mut result = Self { file: decoder.file().clone(), text: Arc::from(&*text), ..Self::default() };
        let mut warnings = Vec::new();
        if let Some(mut table) = Table::strict(&decoder, &node, "the kustomization") {
            result.read_fields(&decoder, &mut table, &mut warnings);
            table.finish();
            if !decoder.has_errors() && says_nothing(&node) {
                decoder.error_with_hint(
                    &node,
                    "the kustomization says nothing",
                    "list files under `resources`, or remove the file",
                );
            }
        }
        decoder.finish((result, warnings))
    }

    fn read_fields<'n>(
        &mut self,
        decoder: &Decoder<'_>,
        table: &mut Table<'_, '_, 'n>,
        warnings: &mut Vec<Diagnostic>,
    ) {
        self.read_type(decoder, table);
        let mut deprecated = |node: Option<&'n Node>, key: &str, instead: &str| {
            if let Some(node) = node {
                warnings.push(
                    Diagnostic::warning(format!("`{key}` is deprecated"))
                        .at(decoder.place(node))
                        .with_hint(format!("use `{instead}`")),
                );
            }
        };
        for (key, instead) in [
            ("bases", "resources"),
            ("commonLabels", "labels"),
            ("imageTags", "images"),
            ("patchesJson6902", "patches"),
            ("patchesStrategicMerge", "patches"),
            ("vars", "replacements"),
        ] {
            deprecated(table.take(key), key, instead);
        }
        if let Some(node) = table.take("metadata") {
            read_metadata(decoder, node);
        }
        if let Some(node) = table.take("openapi") {
            for (slot, key) in [(&mut self.openapi_path, "path"), (&mut self.openapi_version, "version")] {
                *slot = node.get(key).and_then(|node| entry(decoder, node, "an item of `openapi`"));
            }
        }
        self.name_prefix = table.text("namePrefix");
        self.name_suffix = table.text("nameSuffix");
        self.namespace = table.text("namespace");
        self.common_labels = table.text_map("commonLabels");
        self.labels = table.list("labels", |node| read_labels(decoder, node));
        self.common_annotations = table.text_map("commonAnnotations");
        self.old_merge_patches = table.list("patchesStrategicMerge", |node| read_old_patch(decoder, node));
        self.old_json_patches = table.list("patchesJson6902", |node| read_patch(decoder, node));
        self.patches = table.list("patches", |node| read_patch(decoder, node));
        self.images = table.list("images", |node| read_image(decoder, node, true));
        self.images.extend(table.list("imageTags", |node| read_image(decoder, node, true)));
        self.replacements = table.list("replacements", |node| read_replacement_entry(decoder, node, true));
        self.replicas = table.list("replicas", |node| read_replica(decoder, node, true));
        self.variables = table.list("vars", |node| read_variable(decoder, node));
        self.sort_options = table.take("sortOptions").and_then(|node| read_sort_options(decoder, node));
        self.resources = entries(decoder, table, "resources");
        self.resources.extend(entries(decoder, table, "bases"));
        self.components = entries(decoder, table, "components");
        self.crds = entries(decoder, table, "crds");
        self.config_maps =
            table.list("configMapGenerator", |node| read_generator(decoder, node, false, true));
        self.secrets = table.list("secretGenerator", |node| read_generator(decoder, node, true, true));
        self.read_charts(decoder, table);
        self.generator_options =
            table.take("generatorOptions").and_then(|node| read_generator_options(decoder, node, true));
        self.configurations = entries(decoder, table, "configurations");
        self.generators = entries(decoder, table, "generators");
        self.transformers = entries(decoder, table, "transformers");
        self.validators = entries(decoder, table, "validators");
        let wanted = table.texts("buildMetadata");
        let has = |option: &str| wanted.iter().any(|found| found == option);
        self.metadata = BuildMetadata {
            any: !wanted.is_empty(),
            origin: has("originAnnotations"),
            transformers: has("transformerAnnotations"),
            managed_by: has("managedByLabel"),
        };
    }

    fn read_charts(&mut self, decoder: &Decoder<'_>, table: &mut Table<'_, '_, '_>) {
        self.charts = table.list("helmCharts", |node| read_chart(decoder, node, true));
        let globals = table.take("helmGlobals").and_then(|node| read_chart_home(decoder, node));
        let old = table.list("helmChartInflationGenerator", |node| read_old_chart(decoder, node));
        let old_home = old.iter().rev().find(|chart| !chart.chart_home.is_empty());
        self.chart_home = match globals {
            Some(home) => home,
            None => old_home.map(|chart| chart.chart_home.clone()).unwrap_or_default(),
        };
        self.charts.extend(old);
    }

    fn read_type(&mut self, decoder: &Decoder<'_>, table: &mut Table<'_, '_, '_>) {
        let kind_node = table.take("kind");
        let version_node = table.take("apiVersion");
        let kind = kind_node.and_then(|node| decoder.string(node, "`kind`")).unwrap_or_default();
        let version = version_node.and_then(|node| decoder.string(node, "`apiVersion`")).unwrap_or_default();
        let required = match kind.as_str() {
            "" | "Kustomization" => "kustomize.config.k8s.io/v1beta1",
            "Component" => {
                self.kind = Kind::Component;
                "kustomize.config.k8s.io/v1alpha1"
            }
            other => {
                if let Some(node) = kind_node {
                    let message = format!("`kind` is `{other}`, it must be Kustomization or Component");
                    decoder.error(node, message);
                }
                return;
            }
        };
        if let Some(node) = version_node.filter(|_| !version.is_empty() && version != required) {
            decoder.error(node, format!("`apiVersion` is `{version}`, it must be {required}"));
        }
    }

    /// A diagnostic at a place of this file.
    pub(crate) fn at(&self, spot: Spot, diagnostic: Diagnostic) -> Diagnostic {
        if diagnostic.place.is_some() {
            return diagnostic;
        }
        diagnostic.at(Place::new(self.file.clone(), spot.line, spot.column)).with_excerpt_of(&self.text)
    }
}

fn entry(decoder: &Decoder<'_>, node: &Node, what: &str) -> Option<Entry> {
    if node.is_null() {
        return Some(Entry { text: String::new(), spot: Spot::of(node) });
    }
    Some(Entry { text: decoder.string(node, what)?, spot: Spot::of(node) })
}

fn entries(decoder: &Decoder<'_>, table: &mut Table<'_, '_, '_>, key: &str) -> Vec<Entry> {
    table.list(key, |node| entry(decoder, node, &format!("an item of `{key}`")))
}

/// True if nothing but the type is set.
fn says_nothing(node: &Node) -> bool {
    let entries = node.as_mapping().unwrap_or_default();
    entries.iter().all(|(key, value)| match key.text.to_ascii_lowercase().as_str() {
        "apiversion" | "kind" => true,
        "bases" | "imagetags" | "helmchartinflationgenerator" => {
            value.is_null() || value.as_sequence().is_some_and(<[Node]>::is_empty)
        }
        _ => value.is_null() || value.as_str() == Some(""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        Kustomization::read("kustomization.yaml", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        insta::assert_snapshot!(problems("resuorces: []\nimages:\n- name: a\n  newTag: 1.15\n"), @r"
        error: kustomization.yaml:1:1: unknown key `resuorces` in the kustomization
           |
         1 | resuorces: []
           | ^
        hint: did you mean `resources`?
        error: kustomization.yaml:4:11: `newTag` of an image must be a string, this is a number
           |
         4 |   newTag: 1.15
           |           ^
        hint: put the value in quotes
        ");
    }

    #[test]
    fn a_file_that_says_nothing_is_refused() {
        for text in ["", "kind: Kustomization\n", "resources:\n", "bases: []\n", "namePrefix: ''\n"] {
            assert!(problems(text).contains("the kustomization says nothing"), "{text}");
        }
        assert!(Kustomization::read("k", b"resources: []\n").is_ok());
    }

    #[test]
    fn letter_case_of_keys_does_not_matter() {
        let (read, _) = Kustomization::read("k", b"nameprefix: a-\nRESOURCES: [x.yaml]\n").unwrap();
        assert_eq!(read.name_prefix, "a-");
        assert_eq!(read.resources[0].text, "x.yaml");
    }

    #[test]
    fn deprecated_fields_warn_and_move() {
        let (read, warnings) =
            Kustomization::read("k", b"bases: [../a]\nresources: [b.yaml]\nimageTags: [{name: x}]\n")
                .unwrap();
        let paths: Vec<_> = read.resources.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(paths, ["b.yaml", "../a"]);
        assert_eq!(read.images.len(), 1);
        let messages: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "warning: k:1:8: `bases` is deprecated\nhint: use `resources`",
                "warning: k:3:12: `imageTags` is deprecated\nhint: use `images`"
            ]
        );
    }

    #[test]
    fn components_have_a_version_of_their_own() {
        assert!(
            problems("kind: Component\napiVersion: kustomize.config.k8s.io/v1beta1\nresources: []\n")
                .contains("it must be kustomize.config.k8s.io/v1alpha1")
        );
        assert!(problems("kind: Deployment\n").contains("it must be Kustomization or Component"));
    }
}
