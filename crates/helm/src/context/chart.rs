//! `.Chart`: what `Chart.yaml` says, under the names of Helm's Go types.

use std::collections::BTreeMap;

use podsmith_gotemplate::{Elements, List, Map, MapKind, Value};

use super::record::{Field, Record, text};
use crate::chart::{Dependency, ImportValue, Maintainer, Metadata};

/// The value of `.Chart`. The dependencies are those that are left after conditions and tags.
pub(super) fn chart_value(metadata: &Metadata, dependencies: Option<&[Dependency]>, is_root: bool) -> Value {
    let inner = metadata_record(metadata, dependencies);
    let mut fields: Vec<Field> = metadata_record(metadata, dependencies).fields;
    let root = Field {
        name: "IsRoot",
        json: "IsRoot",
        omit_empty: false,
        value: is_root.into(),
        printed: is_root.to_string(),
    };
    let text = format!("{{{} {is_root}}}", inner.braces());
    fields.push(root);
    let mut record = Record::new("struct { chart.Metadata; IsRoot bool }", fields);
    record.text = Some(text.clone());
    record.formatted = Some(text);
    record.embedded = Some(("Metadata", Value::native(inner)));
    Value::native(record)
}

fn metadata_record(metadata: &Metadata, dependencies: Option<&[Dependency]>) -> Record {
    Record::new(
        "chart.Metadata",
        vec![
            text("Name", "name", &metadata.name),
            text("Home", "home", &metadata.home),
            strings("Sources", "sources", metadata.sources.as_deref()),
            text("Version", "version", &metadata.version),
            text("Description", "description", &metadata.description),
            strings("Keywords", "keywords", metadata.keywords.as_deref()),
            maintainers(metadata.maintainers.as_deref()),
            text("Icon", "icon", &metadata.icon),
            text("APIVersion", "apiVersion", &metadata.api_version),
            text("Condition", "condition", &metadata.condition),
            text("Tags", "tags", &metadata.tags),
            text("AppVersion", "appVersion", &metadata.app_version),
            flag("Deprecated", "deprecated", metadata.deprecated),
            annotations(metadata.annotations.as_ref()),
            text("KubeVersion", "kubeVersion", &metadata.kube_version),
            dependency_list(dependencies),
            text("Type", "type", &metadata.kind),
        ],
    )
}

fn flag(name: &'static str, json: &'static str, value: bool) -> Field {
    Field { name, json, omit_empty: true, value: value.into(), printed: value.to_string() }
}

fn strings(name: &'static str, json: &'static str, items: Option<&[String]>) -> Field {
    let value = match items {
        None => List::nil(Elements::Strings),
        Some(items) => List::strings(items.iter().map(String::as_str)),
    };
    let printed = format!("[{}]", items.unwrap_or_default().join(" "));
    Field { name, json, omit_empty: true, value: value.into(), printed }
}

fn annotations(annotations: Option<&BTreeMap<String, String>>) -> Field {
    let map = Map::of_kind(MapKind::Strings);
    let mut printed = Vec::new();
    for (key, value) in annotations.into_iter().flatten() {
        map.insert(key.as_str(), value.as_str());
        printed.push(format!("{key}:{value}"));
    }
    Field {
        name: "Annotations",
        json: "annotations",
        omit_empty: true,
        value: map.into(),
        printed: format!("map[{}]", printed.join(" ")),
    }
}

/// A list of pointers to structs. Go prints their addresses; we print what they point to.
fn pointers(name: &'static str, json: &'static str, of: &'static str, records: Option<Vec<Record>>) -> Field {
    let is_nil = records.is_none();
    let records = records.unwrap_or_default();
    let printed: Vec<String> = records.iter().map(|record| format!("&{}", record.braces())).collect();
    let items = records.into_iter().map(|mut record| {
        record.kind = "ptr";
        Value::native(record)
    });
    Field {
        name,
        json,
        omit_empty: true,
        value: if is_nil {
            List::nil(Elements::Named(of)).into()
        } else {
            List::typed(Elements::Named(of), items.collect()).into()
        },
        printed: format!("[{}]", printed.join(" ")),
    }
}

fn maintainers(maintainers: Option<&[Maintainer]>) -> Field {
    let record = |maintainer: &Maintainer| {
        Record::new(
            "*chart.Maintainer",
            vec![
                text("Name", "name", &maintainer.name),
                text("Email", "email", &maintainer.email),
                text("URL", "url", &maintainer.url),
            ],
        )
    };
    let records = maintainers.map(|list| list.iter().map(record).collect());
    pointers("Maintainers", "maintainers", "[]*chart.Maintainer", records)
}

fn dependency_list(dependencies: Option<&[Dependency]>) -> Field {
    let record = |dependency: &Dependency| {
        let always = |field: Field| Field { omit_empty: false, ..field };
        Record::new(
            "*chart.Dependency",
            vec![
                always(text("Name", "name", &dependency.name)),
                text("Version", "version", &dependency.version),
                always(text("Repository", "repository", &dependency.repository)),
                text("Condition", "condition", &dependency.condition),
                strings("Tags", "tags", dependency.tags.as_deref()),
                flag("Enabled", "enabled", dependency.enabled),
                imports(dependency.import_values.as_deref()),
                text("Alias", "alias", &dependency.alias),
            ],
        )
    };
    let records = dependencies.map(|list| list.iter().map(record).collect());
    pointers("Dependencies", "dependencies", "[]*chart.Dependency", records)
}

fn imports(imports: Option<&[ImportValue]>) -> Field {
    let mut printed = Vec::new();
    let items = imports.unwrap_or_default().iter().filter_map(|import| {
        let (child, parent) = match import {
            ImportValue::Export(name) => (format!("exports.{name}"), ".".to_owned()),
            ImportValue::Paths { child, parent } => (child.clone(), parent.clone()),
            ImportValue::Other => return None,
        };
        printed.push(format!("map[child:{child} parent:{parent}]"));
        let map = Map::of_kind(MapKind::Strings);
        map.insert("child", child);
        map.insert("parent", parent);
        Some(Value::Map(map))
    });
    let items: Vec<Value> = items.collect();
    let value = if items.is_empty() { List::nil(Elements::Any) } else { List::new(items) };
    Field {
        name: "ImportValues",
        json: "import-values",
        omit_empty: true,
        value: value.into(),
        printed: format!("[{}]", printed.join(" ")),
    }
}
