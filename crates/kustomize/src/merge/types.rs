//! Which lists of which types merge by key.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use podsmith_object::{Map, Value};

/// A type of a [`MergeTypes`] table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TypeId(usize);

/// What is known about one field or value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    /// The type of the value itself, when it is a mapping with rules of its own.
    pub type_id: Option<TypeId>,
    /// For a list that merges: the keys of its elements (none for scalars), and the elements' rule.
    pub merge: Option<Arc<[String]>>,
    /// The rule of the elements of a list.
    pub element: Option<TypeId>,
}

#[derive(Clone, Debug, Default)]
struct Type {
    fields: HashMap<String, Rule>,
    /// The rule for fields without one of their own.
    other: Option<Box<Rule>>,
}

/// The merge rules of all types a build knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergeTypes {
    types: Vec<Type>,
    kinds: HashMap<(String, String), TypeId>,
}

const BUILT_IN: &str = include_str!("types.table");

impl MergeTypes {
    /// The rules of the kinds that come with Kubernetes.
    pub(crate) fn built_in() -> Arc<Self> {
        static TABLE: OnceLock<Arc<MergeTypes>> = OnceLock::new();
        TABLE.get_or_init(|| Arc::new(parse_table(BUILT_IN))).clone()
    }

    /// The type of a top-level object.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.kinds.get(&(api_version.to_owned(), kind.to_owned())).copied()
    }

    /// The rule of a field.
    pub(crate) fn field(&self, type_id: TypeId, name: &str) -> Option<&Rule> {
        let found = self.types.get(type_id.0)?;
        found.fields.get(name).or(found.other.as_deref())
    }

    /// Reads the `definitions` of an OpenAPI document. `base` is kept under them when given.
    pub(crate) fn from_openapi(document: &Value, base: Option<&Self>) -> Self {
        let mut table = base.cloned().unwrap_or_default();
        let empty = Map::new();
        let definitions = document.get("definitions").and_then(Value::as_object).unwrap_or(&empty);
        let first = table.types.len();
        let ids: HashMap<&str, TypeId> = definitions
            .keys()
            .enumerate()
            .map(|(index, name)| (name.as_str(), TypeId(first + index)))
            .collect();
        for definition in definitions.values() {
            let made = read_type(definition, &ids, &mut table.types, first + definitions.len());
            table.types.push(made);
        }
        for (name, definition) in definitions {
            let kinds = definition.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
            for kind in kinds.into_iter().flatten() {
                let text = |key: &str| kind.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
                let (group, version) = (text("group"), text("version"));
                let api_version = if group.is_empty() { version } else { format!("{group}/{version}") };
                if let Some(id) = ids.get(name.as_str()) {
                    table.kinds.insert((api_version, text("kind")), *id);
                }
            }
        }
        table
    }
}

fn read_type(definition: &Value, ids: &HashMap<&str, TypeId>, types: &mut [Type], _reserved: usize) -> Type {
    let mut made = Type::default();
    let properties = definition.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if let Some(rule) = read_rule(schema, ids, types) {
            made.fields.insert(name.clone(), rule);
        }
    }
    if let Some(other) = definition.get("additionalProperties").filter(|other| other.is_object()) {
        made.other = read_rule(other, ids, types).map(Box::new);
    }
    made
}

fn read_rule(schema: &Value, ids: &HashMap<&str, TypeId>, _types: &mut [Type]) -> Option<Rule> {
    if let Some(id) = reference(schema, ids) {
        return Some(Rule { type_id: Some(id), ..Rule::default() });
    }
    if schema.get("type").and_then(Value::as_str) != Some("array") {
        return None;
    }
    let element = schema.get("items").and_then(|items| reference(items, ids));
    let strategy = schema.get("x-kubernetes-patch-strategy").and_then(Value::as_str).unwrap_or("");
    let merges = strategy.split(',').any(|part| part == "merge");
    let listed = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let keys: Vec<String> = match listed {
        Some(keys) => keys.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => schema
            .get("x-kubernetes-patch-merge-key")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .into_iter()
            .collect(),
    };
    Some(Rule { type_id: None, merge: merges.then(|| keys.into()), element })
}

fn reference(schema: &Value, ids: &HashMap<&str, TypeId>) -> Option<TypeId> {
    let target = schema.get("$ref")?.as_str()?.strip_prefix("#/definitions/")?;
    ids.get(target).copied()
}

/// Reads our own table, whose format its first lines explain. The table is part of the program: a line that says
/// nothing is skipped, and a test counts what was read.
fn parse_table(text: &str) -> MergeTypes {
    let mut table = MergeTypes::default();
    let mut names: HashMap<&str, TypeId> = HashMap::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("type ") {
            names.insert(name, TypeId(names.len()));
        }
    }
    table.types.resize_with(names.len(), Type::default);
    let mut current = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with(' '), words.as_slice()) {
            (false, ["kind", api_version, kind]) => {
                // Kinds in a row share the fields that follow them.
                let open = match current {
                    Some((id, true)) => id,
                    _ => {
                        table.types.push(Type::default());
                        TypeId(table.types.len() - 1)
                    }
                };
                table.kinds.insert(((*api_version).to_owned(), (*kind).to_owned()), open);
                current = Some((open, true));
            }
            (false, ["type", name]) => current = names.get(name).map(|id| (*id, false)),
            (true, [field, rest @ ..]) => {
                let Some((id, _)) = current else { continue };
                current = Some((id, false));
                let rule = match rest {
                    [keys, more @ ..] if keys.starts_with('*') => Rule {
                        type_id: None,
                        merge: Some(
                            keys[1..].split(',').filter(|k| !k.is_empty()).map(str::to_owned).collect(),
                        ),
                        element: more.first().and_then(|name| names.get(name)).copied(),
                    },
                    [name] => Rule { type_id: names.get(name).copied(), ..Rule::default() },
                    _ => continue,
                };
                if let Some(made) = table.types.get_mut(id.0) {
                    made.fields.insert((*field).to_owned(), rule);
                }
            }
            _ => current = None,
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_knows_pods_in_every_workload() {
        let types = MergeTypes::built_in();
        assert_eq!(types.kinds.len(), 89);
        for (api_version, kind, path) in [
            ("v1", "Pod", &["spec"][..]),
            ("apps/v1", "Deployment", &["spec", "template", "spec"]),
            ("batch/v1beta1", "CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
        ] {
            let mut id = types.kind(api_version, kind).unwrap();
            for step in path {
                id = types.field(id, step).unwrap().type_id.unwrap();
            }
            let containers = types.field(id, "containers").unwrap();
            assert_eq!(containers.merge.as_deref(), Some(&["name".to_owned()][..]));
            let ports = types.field(containers.element.unwrap(), "ports").unwrap();
            assert_eq!(
                ports.merge.as_deref(),
                Some(&["containerPort".to_owned(), "protocol".to_owned()][..])
            );
        }
        assert!(types.kind("autoscaling/v2", "HorizontalPodAutoscaler").is_none());
    }
}
