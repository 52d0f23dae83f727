//! The data that templates see: one root for each chart, sharing values, release and capabilities.

mod capabilities;
mod chart;
mod files;
mod glob;
mod record;

use podsmith_gotemplate::{Map, MapKind, Value};

use crate::capabilities::Capabilities;
use crate::dependencies::Node;
use crate::request::Release;

/// One template that takes part in a render.
pub(crate) struct Template {
    /// `chart/charts/sub/templates/a.yaml`
    pub path: String,
    /// `chart/charts/sub/templates`
    pub base: String,
    /// The text.
    pub text: std::sync::Arc<[u8]>,
    /// The dot of the template, shared by all templates of its chart.
    pub root: Map,
}

/// Builds the roots of a chart and all its subcharts and lists the templates in the order in which they are parsed and
/// executed: deepest path first, ties in reverse alphabetical order.
pub(crate) fn templates(
    node: &Node,
    values: &Map,
    release: &Release,
    capabilities: &Capabilities,
) -> Vec<Template> {
    let shared = Shared {
        release: release_value(release),
        capabilities: capabilities::capabilities_value(capabilities),
    };
    let root_values = Map::from_entries(MapKind::Values, values.entries().into_iter().collect());
    let mut found = std::collections::BTreeMap::new();
    collect(node, None, root_values, &shared, &mut found);
    let mut found: Vec<Template> = found.into_values().collect();
    found.sort_by_cached_key(|template| {
        let depth = template.path.matches('/').count();
        std::cmp::Reverse((depth, template.path.clone()))
    });
    found
}

struct Shared {
    release: Value,
    capabilities: Value,
}

fn collect(
    node: &Node,
    parent: Option<&Map>,
    values: Map,
    shared: &Shared,
    found: &mut std::collections::BTreeMap<String, Template>,
) -> Map {
    let root = Map::new();
    let subcharts = Map::new();
    root.insert(
        "Chart",
        chart::chart_value(&node.metadata, node.dependencies().as_deref(), parent.is_none()),
    );
    root.insert("Files", Value::native(files::Files::new(node.chart.files())));
    root.insert("Release", shared.release.clone());
    root.insert("Capabilities", shared.capabilities.clone());
    root.insert("Values", values.clone());
    root.insert("Subcharts", subcharts.clone());

    let path = node.path();
    for child in &node.subcharts {
        // The child's values are the same map that the parent sees under the child's name.
        let child_values = match values.get(&child.metadata.name) {
            Some(Value::Map(map)) => map,
            _ => Map::of_kind(MapKind::Values),
        };
        let child_root = collect(child, Some(&root), child_values, shared, found);
        subcharts.insert(child.metadata.name.as_str(), child_root);
    }

    let base = format!("{path}/templates");
    let library = node.metadata.is_library();
    for file in node.chart.templates() {
        if library && !file.name().starts_with('_') {
            continue;
        }
        let template = Template {
            path: format!("{path}/{}", file.path()),
            base: base.clone(),
            text: file.shared_content(),
            root: root.clone(),
        };
        found.insert(template.path.clone(), template);
    }
    root
}

fn release_value(release: &Release) -> Value {
    let map = Map::new();
    map.insert("Name", release.name.as_str());
    map.insert("Namespace", release.namespace.as_str());
    map.insert("IsUpgrade", release.is_upgrade);
    map.insert("IsInstall", !release.is_upgrade);
    map.insert("Revision", Value::int(release.revision));
    map.insert("Service", "Helm");
    Value::Map(map)
}
