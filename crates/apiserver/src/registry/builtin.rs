//! The built-in resources, from the table of types.

use std::sync::Arc;

use podsmith_schema::{Type, table};

use super::{Group, Index, Resource, Resources, Subresource};

/// Kinds whose `metadata.generation` counts changes of the specification.
const GENERATION: [(&str, &str); 27] = [
    ("", "pods"),
    ("", "podtemplates"),
    ("", "replicationcontrollers"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
    ("networking.k8s.io", "ingressclasses"),
    ("networking.k8s.io", "ingresses"),
    ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceslices"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("storage.k8s.io", "csidrivers"),
];

/// Kinds a PUT without a revision does not overwrite.
const NEEDS_REVISION: [(&str, &str); 14] = [
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("policy", "poddisruptionbudgets"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "csistoragecapacities"),
];

/// Kinds a PUT creates when they are not there.
const CREATE_ON_UPDATE: [(&str, &str); 10] = [
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
];

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
            counts_generation: GENERATION.contains(&at),
            needs_revision: NEEDS_REVISION.contains(&at),
            create_on_update: CREATE_ON_UPDATE.contains(&at),
        };
        add(&mut index, resource);
    }
    index
}

/// Adds a resource at the end of its version, group and index.
pub(super) fn add(index: &mut Index, resource: Resource) {
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
        resources.insert(resource.plural.clone(), Arc::new(resource));
    }
}
