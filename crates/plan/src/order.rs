//! In which order objects are written, and in which they are deleted.

use std::collections::HashMap;

use podsmith_object::{Diagnostic, Diagnostics, Object, ObjectId};

use crate::names;
use crate::package::versionless;

/// How far apart the groups of kinds are; rules of the user move objects in between.
const GAP: usize = 1_000;

/// The group of a kind: smaller is earlier.
///
/// Namespaces, definitions, cluster-wide settings, configuration, permissions, storage, services and policies,
/// workloads, custom resources, routes, webhooks.
pub fn rank(id: &ObjectId) -> usize {
    match (&*id.gvk.group, &*id.gvk.kind) {
        ("", "Namespace") => 0,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 1,
        ("scheduling.k8s.io", "PriorityClass")
        | ("storage.k8s.io", "StorageClass" | "CSIDriver" | "VolumeAttributesClass")
        | ("node.k8s.io", "RuntimeClass")
        | ("networking.k8s.io", "IngressClass")
        | ("gateway.networking.k8s.io", "GatewayClass")
        | ("", "LimitRange" | "ResourceQuota") => 2,
        ("", "ServiceAccount" | "Secret" | "ConfigMap") => 3,
        ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => 4,
        ("rbac.authorization.k8s.io", _) => 5,
        ("", "PersistentVolume" | "PersistentVolumeClaim") => 6,
        ("", "Service" | "Endpoints")
        | ("discovery.k8s.io", _)
        | ("networking.k8s.io", "NetworkPolicy")
        | ("policy", _) => 7,
        ("", "Pod" | "ReplicationController") | ("apps" | "batch" | "autoscaling", _) => 8,
        ("networking.k8s.io", "Ingress") | ("gateway.networking.k8s.io", _) => 10,
        ("apiregistration.k8s.io", _) => 11,
        ("admissionregistration.k8s.io", _) => 12,
        _ => 9,
    }
}

/// One object that another one waits for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dependency {
    /// API group; `None` when not named.
    pub group: Option<String>,
    /// Kind.
    pub kind: String,
    /// Namespace; `None` means that of the object itself.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

/// Reads [`names::DEPENDS_ON`]: `Kind/name`, `Kind/namespace/name`, `group/Kind/name`, `group/Kind/namespace/name`,
/// several separated by commas.
///
/// # Errors
///
/// The part that is none of these.
pub fn dependencies(object: &Object) -> Result<Vec<Dependency>, String> {
    let text = object.annotation(names::DEPENDS_ON).unwrap_or("");
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| parse_dependency(part).ok_or_else(|| part.to_owned()))
        .collect()
}

fn parse_dependency(part: &str) -> Option<Dependency> {
    let words: Vec<&str> = part.split('/').collect();
    if words.iter().any(|word| word.is_empty()) {
        return None;
    }
    let is_kind = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let (group, rest) = match words.split_first()? {
        (first, rest) if !is_kind(first) => (Some((*first).to_owned()), rest),
        _ => (None, words.as_slice()),
    };
    let (kind, namespace, name) = match rest {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some((*namespace).to_owned()), *name),
        _ => return None,
    };
    is_kind(kind).then(|| Dependency { group, kind: kind.to_owned(), namespace, name: name.to_owned() })
}

impl Dependency {
    /// True when `id` is what is meant, seen from an object in `namespace`.
    pub fn matches(&self, id: &ObjectId, namespace: &str) -> bool {
        *self.kind == *id.gvk.kind
            && *self.name == *id.name
            && self.group.as_deref().is_none_or(|group| *group == *id.gvk.group)
            && match &self.namespace {
                Some(named) => **named == *id.namespace,
                None => id.namespace.is_empty() || *id.namespace == *namespace,
            }
    }
}

/// The step of each object: all objects of one step can be written at once, smaller steps first.
///
/// # Errors
///
/// Dependencies that cannot be read, that go in a circle, or that name nothing in the package.
pub fn steps(objects: &[Object]) -> Result<Vec<usize>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let ids: Vec<ObjectId> = objects.iter().map(Object::id).collect();
    let mut by_name: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (index, id) in ids.iter().enumerate() {
        by_name.entry((&id.gvk.kind, &id.name)).or_default().push(index);
    }
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); objects.len()];
    for (index, object) in objects.iter().enumerate() {
        let place = object.origin().map(podsmith_object::Origin::place);
        let fail = |message: String| Diagnostic::error(message).on(object.id()).or_at(place.clone());
        let wanted = match dependencies(object) {
            Ok(wanted) => wanted,
            Err(part) => {
                let message = format!("`{part}` in {} names no object", names::DEPENDS_ON);
                problems.push(fail(message).with_hint("write Kind/name, or group/Kind/namespace/name"));
                continue;
            }
        };
        for dependency in wanted {
            let candidates = by_name.get(&(dependency.kind.as_str(), dependency.name.as_str()));
            let found = candidates.into_iter().flatten().find(|candidate| {
                ids.get(**candidate).is_some_and(|id| dependency.matches(id, object.namespace()))
            });
            match found {
                Some(found) => {
                    if let Some(list) = needs.get_mut(index) {
                        list.push(*found);
                    }
                }
                None => {
                    let message = format!(
                        "it depends on {} {}, which is not in the package",
                        dependency.kind, dependency.name
                    );
                    problems.push(fail(message));
                }
            }
        }
    }
    let mut steps: Vec<Option<usize>> = vec![None; objects.len()];
    let mut path = Vec::new();
    for index in 0..objects.len() {
        if let Err(circle) = visit(index, &ids, &needs, &mut steps, &mut path) {
            let mut problem = Diagnostic::error(format!("objects wait for each other: {circle}"));
            if let Some(object) = objects.get(index) {
                problem = problem.on(object.id()).or_at(object.origin().map(podsmith_object::Origin::place));
            }
            problems.push(problem);
            break;
        }
    }
    problems.into_result(steps.into_iter().map(Option::unwrap_or_default).collect())
}

fn visit(
    index: usize,
    ids: &[ObjectId],
    needs: &[Vec<usize>],
    steps: &mut [Option<usize>],
    path: &mut Vec<usize>,
) -> Result<usize, String> {
    if let Some(Some(step)) = steps.get(index) {
        return Ok(*step);
    }
    let name = |index: &usize| ids.get(*index).map(ToString::to_string).unwrap_or_default();
    if path.contains(&index) {
        let start = path.iter().position(|other| *other == index).unwrap_or(0);
        let mut circle: Vec<String> = path.iter().skip(start).map(name).collect();
        circle.push(name(&index));
        return Err(circle.join(" needs "));
    }
    path.push(index);
    let mut step = ids.get(index).map_or(0, |id| rank(id) * GAP);
    for needed in needs.get(index).into_iter().flatten() {
        step = step.max(visit(*needed, ids, needs, steps, path)? + 1);
    }
    path.pop();
    if let Some(slot) = steps.get_mut(index) {
        *slot = Some(step);
    }
    Ok(step)
}

/// The order of two objects of one step: by kind, namespace and name, so that output is the same on every run.
pub fn within_step(a: &ObjectId, b: &ObjectId) -> std::cmp::Ordering {
    let key = |id: &ObjectId| {
        let (group, kind, namespace, name) = versionless(id);
        (rank(id), group, kind, namespace, name)
    };
    key(a).cmp(&key(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn object(api: &str, kind: &str, name: &str, needs: &str) -> Object {
        let mut object =
            Object::from_value(json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}})).unwrap();
        if !needs.is_empty() {
            object.set_annotation(names::DEPENDS_ON, needs);
        }
        object
    }

    fn order(objects: &[Object]) -> Vec<String> {
        let steps = steps(objects).unwrap();
        let mut all: Vec<(usize, ObjectId)> = steps.into_iter().zip(objects.iter().map(Object::id)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| within_step(&a.1, &b.1)));
        all.into_iter().map(|(_, id)| id.to_string()).collect()
    }

    #[test]
    fn kinds_are_written_in_the_order_they_need_each_other() {
        let mut objects = vec![
            object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "h", ""),
            object("networking.k8s.io/v1", "Ingress", "i", ""),
            object("apps/v1", "Deployment", "d", ""),
            object("v1", "PersistentVolumeClaim", "p", ""),
            object("rbac.authorization.k8s.io/v1", "RoleBinding", "b", ""),
            object("rbac.authorization.k8s.io/v1", "Role", "r", ""),
            object("v1", "ConfigMap", "c", ""),
            object("example.org/v1", "Thing", "t", ""),
            object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "crd", ""),
            object("v1", "Namespace", "n", ""),
            object("v1", "Service", "s", ""),
        ];
        let expected = order(&objects);
        insta::assert_snapshot!(expected.join("\n"), @r"
        Namespace n
        CustomResourceDefinition crd
        ConfigMap c
        Role r
        RoleBinding b
        PersistentVolumeClaim p
        Service s
        Deployment d
        Thing.example.org t
        Ingress i
        ValidatingWebhookConfiguration h
        ");
        // Shuffled in a hundred ways, the order stays.
        for round in 1..=100 {
            let length = objects.len();
            objects.rotate_left(round % length);
            objects.swap(round % length, (round * 7) % length);
            assert_eq!(order(&objects), expected);
        }
    }

    #[test]
    fn rules_of_the_user_move_objects_behind_what_they_need() {
        let objects = [
            object("v1", "ConfigMap", "c", "apps/Deployment/d"),
            object("apps/v1", "Deployment", "d", ""),
            object("v1", "Secret", "s", "ConfigMap/c"),
        ];
        assert_eq!(order(&objects), ["Deployment d", "ConfigMap c", "Secret s"]);
    }

    #[test]
    fn circles_and_unknown_names_are_told() {
        let circle =
            [object("v1", "ConfigMap", "a", "ConfigMap/b"), object("v1", "ConfigMap", "b", "ConfigMap/a")];
        let found = steps(&circle).unwrap_err().to_string();
        assert!(found.contains("ConfigMap a needs ConfigMap b needs ConfigMap a"), "{found}");
        let found = steps(&[object("v1", "ConfigMap", "a", "ConfigMap/x, what")]).unwrap_err().to_string();
        assert!(found.contains("`what` in podsmith.dev/depends-on names no object"), "{found}");
        let found = steps(&[object("v1", "ConfigMap", "a", "ConfigMap/x")]).unwrap_err().to_string();
        assert!(found.contains("it depends on ConfigMap x, which is not in the package"), "{found}");
    }
}
