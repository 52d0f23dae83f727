//! The built-in resources, from the table of types.

use std::sync::Arc;

use podsmith_schema::{Type, strategy, table};

use super::{Group, Index, Resource, Resources, Subresource};

/// The index of what is always served.
pub(super) fn index() -> Index {
    let mut index = Index::default();
    for known in table().resources().iter().filter(|resource| resource.served_by_default()) {
        let at = (known.group, known.plural);
        let (shared_table, stored_as) = match at {
            ("events.k8s.io", "events") => ("events".to_owned(), "v1".to_owned()),
            ("autoscaling", _) => (format!("{}/{}", known.group, known.plural), "autoscaling/v2".to_owned()),
            ("", plural) => (plural.to_owned(), known.version.to_owned()),
            (group, plural) => (format!("{group}/{plural}"), format!("{group}/{}", known.version)),
        };
        let own = |words: &[&'static str]| words.iter().map(|word| (*word).to_owned()).collect();
        let resource = Resource {
            group: known.group.to_owned(),
            version: known.version.to_owned(),
            plural: known.plural.to_owned(),
            singular: known.singular.to_owned(),
            kind: known.kind.to_owned(),
            list_kind: format!("{}List", known.kind),
            namespaced: known.namespaced,
            verbs: own(&known.verbs),
            short_names: own(&known.short_names),
            categories: own(&known.categories),
            storage_hash: known.storage_version_hash.to_owned(),
            subresources: known
                .subresources
                .iter()
                .map(|part| Subresource {
                    name: part.name.to_owned(),
                    group: part.group.to_owned(),
                    version: part.version.to_owned(),
                    kind: part.kind.to_owned(),
                    verbs: own(&part.verbs),
                })
                .collect(),
            table: Arc::from(shared_table),
            converts: matches!(at, ("autoscaling", _) | ("events.k8s.io" | "", "events")),
            stored_as,
            ty: table().type_of(&known.gvk()).unwrap_or(Type::Untyped),
            needs_revision: !strategy::allows_unconditional_update(&known.gvk()),
            create_on_update: strategy::creates_on_update(&known.gvk()),
            custom: None,
        };
        add(&mut index, Arc::new(resource));
    }
    index
}

/// Adds a resource at the end of its version, group and index.
pub(super) fn add(index: &mut Index, resource: Arc<Resource>) {
    let at = match index.groups.iter().position(|group| group.name == resource.group) {
        Some(at) => at,
        None => {
            index.groups.push(Group { name: resource.group.clone(), versions: Vec::new() });
            index.groups.len() - 1
        }
    };
    let Some(group) = index.groups.get_mut(at) else { return };
    let versions = &mut group.versions;
    if !versions.iter().any(|(version, _)| *version == resource.version) {
        versions.push((resource.version.clone(), Resources::new()));
    }
    if let Some((_, resources)) = versions.iter_mut().find(|(version, _)| *version == resource.version) {
        resources.insert(resource.plural.clone(), resource);
    }
}
