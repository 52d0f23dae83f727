//! Charts of `helmCharts`, handed to whoever renders charts.

use podsmith_object::files::join;
use podsmith_object::merge::deep_merge;
use podsmith_object::yaml::{ReadOptions, read_value};
use podsmith_object::{Diagnostic, Diagnostics, Map, Value};

use crate::kustomization::HelmChart;
use crate::load::Loader;
use crate::options::ChartRequest;
use crate::resources::Resource;

/// Renders one chart. `namespace` is the one to use when the chart names none.
pub(crate) fn inflate(
    loader: &Loader,
    chart: &HelmChart,
    home: &str,
    namespace: &str,
) -> Result<Vec<Resource>, Diagnostics> {
    let Some(charts) = &loader.options().charts else {
        return Err(Diagnostic::error("`helmCharts` are not rendered")
            .with_hint("allow Helm charts in this build (`--enable-helm`)")
            .into());
    };
    if chart.name.is_empty() {
        return Err(Diagnostic::error("`name` of a Helm chart is missing").into());
    }
    if !matches!(chart.values_merge.as_str(), "" | "merge" | "override" | "replace") {
        let message =
            format!("`valuesMerge` is `{}`, it must be merge, override or replace", chart.values_merge);
        return Err(Diagnostic::error(message).into());
    }
    let home = if home.is_empty() { "charts" } else { home };
    let mut request = ChartRequest {
        tree: Some(loader.tree().clone()),
        directory: loader.root().to_owned(),
        chart_home: home.to_owned(),
        name: chart.name.clone(),
        version: chart.version.clone(),
        repository: chart.repo.clone(),
        release_name: chart.release_name.clone(),
        namespace: if chart.namespace.is_empty() { namespace.to_owned() } else { chart.namespace.clone() },
        values_files: Vec::new(),
        values: Value::Object(Map::new()),
        include_crds: chart.include_crds,
        skip_hooks: chart.skip_hooks,
        skip_tests: chart.skip_tests,
        api_versions: chart.api_versions.clone(),
        kube_version: chart.kube_version.clone(),
        name_template: chart.name_template.clone(),
        devel: chart.devel,
    };
    collect_values(loader, chart, &mut request)?;
    let objects = charts.inflate(&request).map_err(|error| {
        Diagnostics::from(
            Diagnostic::error(format!("could not render chart `{}`", chart.name)).because(error),
        )
    })?;
    Ok(objects
        .into_iter()
        .map(|object| Resource { from_chart: true, ..Resource::from_object(object) })
        .collect())
}

/// The values file, merged with the inline values as asked, then the additional files over both.
fn collect_values(loader: &Loader, chart: &HelmChart, request: &mut ChartRequest) -> Result<(), Diagnostics> {
    let mut values = Value::Object(Map::new());
    let replaces = chart.values_merge == "replace" && !chart.values_inline.is_empty();
    if !chart.values_file.is_empty() && !replaces {
        values = read(loader, &chart.values_file)?;
        request.values_files.extend(join(loader.root(), &chart.values_file));
    }
    let inline = Value::Object(chart.values_inline.clone());
    if chart.values_merge == "merge" {
        let file = std::mem::replace(&mut values, inline);
        deep_merge(&mut values, file);
    } else {
        deep_merge(&mut values, inline);
    }
    for file in &chart.additional_values_files {
        deep_merge(&mut values, read(loader, file)?);
        request.values_files.extend(join(loader.root(), file));
    }
    request.values = values;
    Ok(())
}

fn read(loader: &Loader, path: &str) -> Result<Value, Diagnostics> {
    let bytes = loader.load(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let value = read_value(&text, ReadOptions::lenient())
        .map_err(|error| Diagnostics::from(error.to_diagnostic(&loader.display(path), &text, 0)))?;
    Ok(if value.is_null() { Value::Object(Map::new()) } else { value })
}
