//! Roles and their bindings.

use super::names;
use super::node::{At, Faults};
use crate::fault::Fault;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Checks a Role or ClusterRole.
pub(super) fn role(object: &At<'_>, namespaced: bool, faults: &mut Faults) {
    for rule in object.child("rules").items() {
        if rule.child("verbs").is_empty() {
            faults.required(&rule.child("verbs"), "verbs must contain at least one value");
        }
        let urls = rule.child("nonResourceURLs");
        if !urls.is_empty() {
            if namespaced {
                faults.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
            }
            if ["apiGroups", "resources", "resourceNames"].iter().any(|key| !rule.child(key).is_empty()) {
                faults.invalid(&urls, "rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        if rule.child("apiGroups").is_empty() {
            faults.required(&rule.child("apiGroups"), "resource rules must supply at least one api group");
        }
        if rule.child("resources").is_empty() {
            faults.required(&rule.child("resources"), "resource rules must supply at least one resource");
        }
    }
    let aggregation = object.child("aggregationRule");
    if aggregation.is_set() && aggregation.child("clusterRoleSelectors").is_empty() {
        faults.required(
            &aggregation.child("clusterRoleSelectors"),
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
        );
    }
    for selector in aggregation.child("clusterRoleSelectors").items() {
        super::selector::check(&selector, faults);
    }
}

/// Checks a RoleBinding or ClusterRoleBinding; the role never changes.
pub(super) fn binding(object: &At<'_>, old: Option<&At<'_>>, namespaced: bool, faults: &mut Faults) {
    let reference = object.child("roleRef");
    let group = reference.child("apiGroup");
    if group.text() != GROUP {
        faults.not_supported(&group, &[GROUP]);
    }
    let kind = reference.child("kind");
    let allowed: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !allowed.contains(&kind.text()) {
        faults.not_supported(&kind, allowed);
    }
    let name = reference.child("name");
    if name.is_empty() {
        faults.required(&name, "");
    } else {
        faults.each(&name, names::path_segment(name.text()));
    }
    for subject in object.child("subjects").items() {
        check_subject(&subject, namespaced, faults);
    }
    if let Some(old) = old
        && reference.value != old.child("roleRef").value
    {
        faults.invalid(&reference, "cannot change roleRef");
    }
}

fn check_subject(subject: &At<'_>, namespaced: bool, faults: &mut Faults) {
    let (name, group) = (subject.child("name"), subject.child("apiGroup"));
    if name.is_empty() {
        faults.required(&name, "");
    }
    match subject.child("kind").text() {
        "ServiceAccount" => {
            if !name.is_empty() {
                faults.each(&name, names::dns_subdomain(name.text()));
            }
            if !group.is_empty() {
                faults.not_supported(&group, &[""]);
            }
            if !namespaced && subject.child("namespace").is_empty() {
                faults.required(&subject.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group.text() != GROUP {
                faults.not_supported(&group, &[GROUP]);
            }
        }
        _ => {
            let kind = subject.child("kind");
            faults.push(Fault::not_supported(
                kind.path.as_str(),
                kind.text(),
                &["ServiceAccount", "User", "Group"],
            ));
        }
    }
}
