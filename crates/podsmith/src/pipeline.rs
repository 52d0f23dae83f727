//! The pipeline file `podsmith.yaml`: sources, filters and transformers written down.

use std::sync::Arc;

use podsmith_engine::{Filter, Transformer};
use podsmith_object::decode::{Decoder, Fields};
use podsmith_object::yaml::{self, Node, NodeData};
use podsmith_object::{Diagnostics, Map, Place, Value, suggest};

use crate::shape;

/// The `apiVersion` this version reads.
pub const API_VERSION: &str = "podsmith.dev/v1";

const SOURCES: [&str; 6] = ["yaml", "podfile", "helm", "kustomize", "goTemplate", "pod"];

/// A parsed pipeline file. Paths are as written, relative to the file's directory.
#[derive(Clone, Default)]
pub struct Pipeline {
    /// The package's name.
    pub package: Option<String>,
    /// The package's default namespace.
    pub namespace: Option<String>,
    /// The renderers, in order.
    pub sources: Vec<SourceEntry>,
    /// Filters over everything.
    pub filters: Vec<Arc<dyn Filter>>,
    /// Transformers over everything.
    pub transformers: Vec<Arc<dyn Transformer>>,
}

/// One renderer with its own filters and transformers.
#[derive(Clone)]
pub struct SourceEntry {
    /// What to render.
    pub source: SourceSpec,
    /// Filters over this source only.
    pub filters: Vec<Arc<dyn Filter>>,
    /// Transformers over this source only.
    pub transformers: Vec<Arc<dyn Transformer>>,
    /// Where it stands in the file.
    pub place: Place,
}

/// What one entry of `sources` renders.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceSpec {
    /// Kubernetes YAML and JSON files.
    Yaml {
        /// Globs.
        paths: Vec<String>,
    },
    /// Podfiles.
    Podfile {
        /// Globs.
        paths: Vec<String>,
        /// Values of variables.
        values: Map<String, Value>,
    },
    /// A Helm chart.
    Helm(HelmSource),
    /// A kustomization.
    Kustomize {
        /// The directory.
        path: String,
        /// Values it may refer to.
        values: Map<String, Value>,
    },
    /// Go templates.
    GoTemplate {
        /// Globs.
        paths: Vec<String>,
        /// What templates see as `.Values`.
        values: Map<String, Value>,
    },
    /// A `pod.yaml`, as Kubernetes objects.
    Pod {
        /// The file.
        path: String,
    },
}

/// The `helm:` source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HelmSource {
    /// A directory, an archive, or a chart's name in `repository`.
    pub chart: String,
    /// The repository's URL.
    pub repository: Option<String>,
    /// A version or a range.
    pub version: Option<String>,
    /// The release's name.
    pub release: Option<String>,
    /// The release's namespace.
    pub namespace: Option<String>,
    /// Values.
    pub values: Map<String, Value>,
    /// Files with values; `values` wins over them.
    pub values_files: Vec<String>,
    /// Whether CRDs of the chart are rendered.
    pub include_crds: Option<bool>,
    /// Whether hooks are left out.
    pub no_hooks: Option<bool>,
    /// The Kubernetes version the chart sees.
    pub kube_version: Option<String>,
    /// Further API versions the chart sees.
    pub api_versions: Vec<String>,
}

impl Pipeline {
    /// Parses the text of a pipeline file.
    ///
    /// # Errors
    ///
    /// Every problem of the file, each with its position.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostics> {
        let root = yaml::read_node(text, yaml::ReadOptions::default())
            .map_err(|error| Diagnostics::from(error.to_diagnostic(file, text, 0)))?;
        let decoder = Decoder::new(file, text);
        let pipeline = Self::decode(&decoder, &root).unwrap_or_default();
        decoder.finish(pipeline)
    }

    fn decode(decoder: &Decoder<'_>, root: &Node) -> Option<Self> {
        let mut fields = decoder.mapping(root, "the pipeline")?;
        if let Some(node) = fields.require("apiVersion")
            && node.as_str() != Some(API_VERSION)
        {
            decoder.error_with_hint(
                node,
                "this apiVersion is unknown",
                format!("write `apiVersion: {API_VERSION}`"),
            );
        }
        fields.word("kind", &["Pipeline"]);
        let pipeline = Self {
            package: fields.string("package"),
            namespace: fields.string("namespace"),
            sources: fields.sequence("sources").iter().filter_map(|node| source(decoder, node)).collect(),
            filters: filters_of(&mut fields),
            transformers: transformers_of(&mut fields),
        };
        if pipeline.sources.is_empty() && !decoder.has_errors() {
            decoder.error(root, "the pipeline has no `sources`, so there is nothing to render");
        }
        fields.finish();
        Some(pipeline)
    }
}

fn filters_of(fields: &mut Fields<'_, '_, '_>) -> Vec<Arc<dyn Filter>> {
    let decoder = fields.decoder();
    fields.take("filters").map(|node| shape::filters(decoder, node, "`filters`")).unwrap_or_default()
}

fn transformers_of(fields: &mut Fields<'_, '_, '_>) -> Vec<Arc<dyn Transformer>> {
    let decoder = fields.decoder();
    fields
        .take("transformers")
        .map(|node| shape::transformers(decoder, node, "`transformers`"))
        .unwrap_or_default()
}

fn source(decoder: &Decoder<'_>, node: &Node) -> Option<SourceEntry> {
    let mut fields = decoder.mapping(node, "a source")?;
    let (filters, transformers) = (filters_of(&mut fields), transformers_of(&mut fields));
    let mut found = Vec::new();
    for kind in SOURCES {
        if let Some(body) = fields.take_even_null(kind) {
            found.push((kind, body));
        }
    }
    let unknown = fields.rest().next().is_some();
    fields.finish();
    let [(kind, body)] = found.as_slice() else {
        if found.len() > 1 {
            let hint = "make each an entry of its own under `sources`";
            decoder.error_with_hint(node, "a source has exactly one renderer, this has several", hint);
        } else if !unknown {
            let hint = suggest::hint("", SOURCES).unwrap_or_default();
            decoder.error_with_hint(node, "a source needs a renderer", hint);
        }
        return None;
    };
    let source = renderer(decoder, kind, body)?;
    Some(SourceEntry { source, filters, transformers, place: decoder.place(node) })
}

fn renderer(decoder: &Decoder<'_>, kind: &str, body: &Node) -> Option<SourceSpec> {
    let what = format!("`{kind}`");
    let mut fields = decoder.mapping(body, &what)?;
    let spec = match kind {
        "yaml" => SourceSpec::Yaml { paths: paths(&mut fields) },
        "podfile" => SourceSpec::Podfile { paths: paths(&mut fields), values: values(&mut fields) },
        "goTemplate" => SourceSpec::GoTemplate { paths: paths(&mut fields), values: values(&mut fields) },
        "kustomize" => {
            let path = fields.require_string("path");
            let values = values(&mut fields);
            fields.finish();
            return Some(SourceSpec::Kustomize { path: path?, values });
        }
        "pod" => {
            let path = fields.require_string("path");
            fields.finish();
            return Some(SourceSpec::Pod { path: path? });
        }
        _ => {
            let chart = fields.require_string("chart");
            let helm = HelmSource {
                chart: String::new(),
                repository: fields.string("repository"),
                version: fields.string("version"),
                release: fields.string("release"),
                namespace: fields.string("namespace"),
                values: values(&mut fields),
                values_files: fields.strings("valuesFiles"),
                include_crds: fields.boolean("includeCRDs"),
                no_hooks: fields.boolean("noHooks"),
                kube_version: fields.string("kubeVersion"),
                api_versions: fields.strings("apiVersions"),
            };
            fields.finish();
            return Some(SourceSpec::Helm(HelmSource { chart: chart?, ..helm }));
        }
    };
    fields.finish();
    Some(spec)
}

fn paths(fields: &mut Fields<'_, '_, '_>) -> Vec<String> {
    let decoder = fields.decoder();
    let Some(node) = fields.require("paths") else { return Vec::new() };
    let found = decoder.strings(node, "`paths`");
    if found.is_empty() && !decoder.has_errors() {
        decoder.error(node, "`paths` is empty, so there is nothing to render");
    }
    found
}

fn values(fields: &mut Fields<'_, '_, '_>) -> Map<String, Value> {
    let decoder = fields.decoder();
    match fields.take("values") {
        None => Map::new(),
        Some(node) => match (&node.data, node.to_value()) {
            (NodeData::Mapping(_), Value::Object(map)) => map,
            _ => {
                decoder.error(node, format!("`values` must be a mapping, this is {}", node.describe()));
                Map::new()
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of the command line contract.
    const CONTRACT: &str = r#"apiVersion: podsmith.dev/v1
kind: Pipeline
package: shop            # name and default namespace of the package
namespace: shop
sources:                 # each entry is one renderer; each may have its own filters and transformers (level 1)
  - yaml: {paths: ["manifests/**/*.yaml"]}
    filters: [{kind: [Deployment, Service]}]
  - podfile: {paths: [app.pf], values: {replicas: 2}}
  - helm: {chart: ./chart, release: web, namespace: shop, values: {a: 1}, valuesFiles: [v.yaml]}
  - kustomize: {path: overlays/prod}
  - goTemplate: {paths: ["tpl/*.tpl"], values: {env: prod}}
filters:                 # level 2, over everything
  - any: [{all: [{namespace: [shop]}, {kind: [apps/v1/Deployment]}]}, {labelSelector: "tier in (front,back)"}]
  - not: {name: {regex: "^tmp-"}}
transformers:
  - labels: {set: {team: web}, remove: [old]}
  - if: {namespace: [shop]}
    then: [{annotations: {set: {tier: critical}}}]
  - switch:
      - when: {kind: [Job]}
        then: [{name: {prefix: once-}}]
      - default: [{jq: ".metadata.labels.env = \"dev\""}]
"#;

    #[test]
    fn the_file_of_the_contract_parses_whole() {
        let pipeline =
            Pipeline::parse("podsmith.yaml", CONTRACT).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(pipeline.sources.len(), 5);
        assert_eq!((pipeline.filters.len(), pipeline.transformers.len()), (2, 3));
        assert!(
            matches!(&pipeline.sources[2].source, SourceSpec::Helm(helm) if helm.release.as_deref() == Some("web"))
        );
    }

    #[test]
    fn every_mistake_is_reported_with_the_nearest_valid_key() {
        let text = "apiVersion: podsmith.dev/v2\nkind: Pipelin\nsource: []\nsources:\n- yml: {paths: [a]}\n- yaml: {path: [a]}\n  filter: []\n- helm: {release: x}\n- kustomize: {path: a}\n  yaml: {paths: [b]}\nfilters:\n- kinds: [A]\n- labelSelector: 'a in'\n- name: {regexp: x}\ntransformers:\n- label: {set: {a: b}}\n- labels: {set: {a: 1}}\n- if: {kind: [A]}\n";
        let problems = Pipeline::parse("podsmith.yaml", text).err().expect("the file is wrong");
        let lines: Vec<String> = problems
            .0
            .iter()
            .map(|d| {
                let place = d.place.as_ref().unwrap();
                format!("{}:{} {} [{}]", place.line, place.column, d.message, d.hint.as_deref().unwrap_or(""))
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
