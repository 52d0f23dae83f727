//! `helmCharts`, `helmGlobals` and the older `helmChartInflationGenerator`.

use podsmith_object::decode::Decoder;
use podsmith_object::yaml::Node;
use podsmith_object::{Map, Value};

use super::parts::Spot;
use super::table::Table;

/// One chart to render.
#[derive(Clone, Debug, Default)]
pub(crate) struct HelmChart {
    pub name: String,
    pub version: String,
    pub repo: String,
    pub release_name: String,
    pub namespace: String,
    pub additional_values_files: Vec<String>,
    pub values_file: String,
    pub values_inline: Map<String, Value>,
    pub values_merge: String,
    pub include_crds: bool,
    pub skip_hooks: bool,
    pub api_versions: Vec<String>,
    pub kube_version: String,
    pub name_template: String,
    pub skip_tests: bool,
    pub devel: bool,
    pub chart_home: String,
    pub spot: Spot,
}

fn values(table: &mut Table<'_, '_, '_>, key: &str) -> Map<String, Value> {
    match table.take(key).map(Node::to_value) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

pub(crate) fn read_chart(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<HelmChart> {
    let mut table = Table::new(decoder, node, "a Helm chart", strict)?;
    let chart = HelmChart {
        name: table.text("name"),
        version: table.text("version"),
        repo: table.text("repo"),
        release_name: table.text("releaseName"),
        namespace: table.text("namespace"),
        additional_values_files: table.texts("additionalValuesFiles"),
        values_file: table.text("valuesFile"),
        values_inline: values(&mut table, "valuesInline"),
        values_merge: table.text("valuesMerge"),
        include_crds: table.flag("includeCRDs"),
        skip_hooks: table.flag("skipHooks"),
        api_versions: table.texts("apiVersions"),
        kube_version: table.text("kubeVersion"),
        name_template: table.text("nameTemplate"),
        skip_tests: table.flag("skipTests"),
        devel: table.flag("devel"),
        chart_home: if strict { String::new() } else { table.text("chartHome") },
        spot: Spot::of(node),
    };
    table.flag("debug");
    table.finish();
    Some(chart)
}

/// The old form, whose fields have other names.
pub(crate) fn read_old_chart(decoder: &Decoder<'_>, node: &Node) -> Option<HelmChart> {
    let mut table = Table::strict(decoder, node, "a Helm chart")?;
    let chart = HelmChart {
        name: table.text("chartName"),
        version: table.text("chartVersion"),
        repo: table.text("chartRepoUrl"),
        chart_home: table.text("chartHome"),
        values_file: table.text("values"),
        values_inline: values(&mut table, "valuesLocal"),
        values_merge: table.text("valuesMerge"),
        release_name: table.text("releaseName"),
        spot: Spot::of(node),
        ..HelmChart::default()
    };
    for ignored in ["chartRepoName", "helmBin", "helmHome", "releaseNamespace"] {
        table.text(ignored);
    }
    table.texts("extraArgs");
    table.finish();
    Some(chart)
}

/// `chartHome` of `helmGlobals`.
pub(crate) fn read_chart_home(decoder: &Decoder<'_>, node: &Node) -> Option<String> {
    let mut table = Table::strict(decoder, node, "`helmGlobals`")?;
    let home = table.text("chartHome");
    table.text("configHome");
    table.finish();
    Some(home)
}
