//! Nobody hands out rights they do not have.

use std::sync::Arc;

use podsmith_object::Value;

use crate::auth::Access;
use crate::fields::{self, list, text, texts};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Refuses a role or a binding that gives more than its maker has.
///
/// # Errors
///
/// 403 with the rules that are missing.
pub fn check(server: &Arc<Server>, call: &Call, object: &Value) -> ApiResult<()> {
    let resource = &call.resource;
    if resource.group != GROUP || call.identity.is_in("system:masters") {
        return Ok(());
    }
    let namespace = call.target.namespace.as_str();
    let (rules, verb, role_kind, role_name) = match resource.plural.as_str() {
        plural @ ("roles" | "clusterroles") => {
            (list(object, &["rules"]).to_vec(), "escalate", plural, fields::name(object))
        }
        _ => {
            let name = text(object, &["roleRef", "name"]);
            let (plural, key) = match text(object, &["roleRef", "kind"]) {
                "ClusterRole" => ("clusterroles", name.to_owned()),
                _ => ("roles", format!("{namespace}/{name}")),
            };
            let role = server.store.get(&format!("{GROUP}/{plural}"), &key).map(|stored| stored.value());
            let rules = role.map(|role| list(&role, &["rules"]).to_vec()).unwrap_or_default();
            (rules, "bind", plural, name)
        }
    };
    let access = |verb: &str, group: &str, resource: &str, name: &str| Access {
        verb: verb.to_owned(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        ..Access::default()
    };
    if server.allows(&call.identity, &access(verb, GROUP, role_kind, role_name)).is_ok() {
        return Ok(());
    }
    let missing: Vec<String> =
        rules.iter().filter(|rule| !holds(server, call, rule)).map(Value::to_string).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!(
        "user {:?} (groups={:?}) is attempting to grant RBAC permissions not currently held:\n{}",
        call.identity.name,
        call.identity.groups,
        missing.join("\n")
    );
    Err(ApiError::forbidden(&resource.group, &resource.plural, fields::name(object), why))
}

/// True if the maker has everything a rule gives.
fn holds(server: &Arc<Server>, call: &Call, rule: &Value) -> bool {
    let namespace = call.target.namespace.as_str();
    let may = |access: Access| server.allows(&call.identity, &access).is_ok();
    let names = texts(rule, &["resourceNames"]);
    let names = if names.is_empty() { vec![""] } else { names };
    texts(rule, &["verbs"]).into_iter().all(|verb| {
        let pages = texts(rule, &["nonResourceURLs"])
            .into_iter()
            .all(|path| may(Access { verb: verb.to_owned(), path: path.to_owned(), ..Access::default() }));
        pages
            && texts(rule, &["apiGroups"]).into_iter().all(|group| {
                texts(rule, &["resources"]).into_iter().all(|resource| {
                    let (plural, part) = resource.split_once('/').unwrap_or((resource, ""));
                    names.iter().all(|name| {
                        may(Access {
                            verb: verb.to_owned(),
                            group: group.to_owned(),
                            resource: plural.to_owned(),
                            subresource: part.to_owned(),
                            namespace: namespace.to_owned(),
                            name: (*name).to_owned(),
                            path: String::new(),
                        })
                    })
                })
            })
    })
}
