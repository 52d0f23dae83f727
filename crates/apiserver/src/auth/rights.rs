//! Role-based access: what an identity may do.

use std::sync::Arc;

use parking_lot::RwLock;
use podsmith_object::selector::Selector;
use podsmith_object::{Map, Value, json};

use super::Identity;
use crate::fields::{self, list, text, texts};
use crate::server::Server;
use crate::store::Store;

/// What is asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Access {
    /// `get`, `list`, `create` and so on.
    pub verb: String,
    /// The group of the resource.
    pub group: String,
    /// The resource; empty for a page.
    pub resource: String,
    /// The part of it.
    pub subresource: String,
    /// The namespace; empty for all or none.
    pub namespace: String,
    /// The object; empty for all.
    pub name: String,
    /// The page, when it is no resource.
    pub path: String,
}

/// Bindings, worked out once and again after a change.
#[derive(Debug, Default)]
pub struct Rights {
    known: RwLock<Option<Arc<Vec<Binding>>>>,
}

#[derive(Debug)]
struct Binding {
    /// Nothing: everywhere.
    namespace: Option<String>,
    subjects: Vec<Subject>,
    rules: Vec<Rule>,
    /// For explanations.
    source: String,
}

#[derive(Debug)]
enum Subject {
    User(String),
    Group(String),
}

#[derive(Clone, Debug)]
struct Rule {
    verbs: Vec<String>,
    groups: Vec<String>,
    resources: Vec<String>,
    names: Vec<String>,
    paths: Vec<String>,
}

const GROUP: &str = "rbac.authorization.k8s.io";

impl Rights {
    /// Forgets what was worked out, after a role or a binding changed.
    pub fn forget(&self) {
        *self.known.write() = None;
    }

    fn bindings(&self, store: &Store) -> Arc<Vec<Binding>> {
        if let Some(known) = &*self.known.read() {
            return known.clone();
        }
        let fresh = Arc::new(read_bindings(store));
        *self.known.write() = Some(fresh.clone());
        fresh
    }
}

fn objects(store: &Store, plural: &str) -> Vec<Value> {
    match store.list(&format!("{GROUP}/{plural}"), "", None, None, None) {
        Ok(listing) => listing.items.iter().map(|(_, stored)| stored.value()).collect(),
        Err(_) => Vec::new(),
    }
}

fn read_bindings(store: &Store) -> Vec<Binding> {
    let cluster_roles = objects(store, "clusterroles");
    let roles = objects(store, "roles");
    let rules_of = |binding: &Value| -> Vec<Rule> {
        let name = text(binding, &["roleRef", "name"]);
        if text(binding, &["roleRef", "kind"]) == "ClusterRole" {
            return aggregated(&cluster_roles, name, &mut Vec::new());
        }
        let namespace = fields::namespace(binding);
        let found =
            roles.iter().find(|role| fields::name(role) == name && fields::namespace(role) == namespace);
        found.map(read_rules).unwrap_or_default()
    };
    let mut all = Vec::new();
    for (plural, cluster) in [("clusterrolebindings", true), ("rolebindings", false)] {
        for binding in objects(store, plural) {
            let namespace = fields::namespace(&binding).to_owned();
            let place = if cluster { String::new() } else { format!(" in namespace \"{namespace}\"") };
            all.push(Binding {
                rules: rules_of(&binding),
                subjects: list(&binding, &["subjects"]).iter().filter_map(read_subject).collect(),
                source: format!(
                    "RBAC: allowed by {} \"{}\"{place} of {} \"{}\"",
                    if cluster { "ClusterRoleBinding" } else { "RoleBinding" },
                    fields::name(&binding),
                    text(&binding, &["roleRef", "kind"]),
                    text(&binding, &["roleRef", "name"]),
                ),
                namespace: (!cluster).then_some(namespace),
            });
        }
    }
    all
}

fn read_subject(subject: &Value) -> Option<Subject> {
    let name = text(subject, &["name"]);
    Some(match text(subject, &["kind"]) {
        "User" => Subject::User(name.to_owned()),
        "Group" => Subject::Group(name.to_owned()),
        "ServiceAccount" => {
            Subject::User(format!("system:serviceaccount:{}:{name}", text(subject, &["namespace"])))
        }
        _ => return None,
    })
}

/// The rules of a ClusterRole, those it aggregates included.
fn aggregated(roles: &[Value], name: &str, seen: &mut Vec<String>) -> Vec<Rule> {
    let Some(role) = roles.iter().find(|role| fields::name(role) == name) else { return Vec::new() };
    if seen.iter().any(|known| known == name) {
        return Vec::new();
    }
    seen.push(name.to_owned());
    let mut rules = read_rules(role);
    for selector in list(role, &["aggregationRule", "clusterRoleSelectors"]) {
        let Ok(selector) = Selector::from_label_selector(selector) else { continue };
        for other in roles {
            let labels = fields::at(other, &["metadata", "labels"]);
            if selector.matches(|key| labels?.get(key)?.as_str()) {
                rules.extend(aggregated(roles, fields::name(other), seen));
            }
        }
    }
    rules
}

fn read_rules(role: &Value) -> Vec<Rule> {
    let own = |rule: &Value, key: &str| texts(rule, &[key]).into_iter().map(str::to_owned).collect();
    list(role, &["rules"])
        .iter()
        .map(|rule| Rule {
            verbs: own(rule, "verbs"),
            groups: own(rule, "apiGroups"),
            resources: own(rule, "resources"),
            names: own(rule, "resourceNames"),
            paths: own(rule, "nonResourceURLs"),
        })
        .collect()
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|one| one == "*" || one == wanted)
}

impl Rule {
    fn allows(&self, access: &Access) -> bool {
        if !has(&self.verbs, &access.verb) {
            return false;
        }
        if access.resource.is_empty() {
            return self.paths.iter().any(|path| {
                path == "*"
                    || *path == access.path
                    || path.strip_suffix('*').is_some_and(|p| access.path.starts_with(p))
            });
        }
        let full = if access.subresource.is_empty() {
            access.resource.clone()
        } else {
            format!("{}/{}", access.resource, access.subresource)
        };
        let by_part = !access.subresource.is_empty()
            && self.resources.iter().any(|one| *one == format!("*/{}", access.subresource));
        has(&self.groups, &access.group)
            && (has(&self.resources, &full) || by_part)
            && (self.names.is_empty() || self.names.contains(&access.name))
    }

    fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, list) in [
            ("verbs", &self.verbs),
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
            ("nonResourceURLs", &self.paths),
        ] {
            if !list.is_empty() {
                out.insert(key.to_owned(), list.clone().into());
            }
        }
        Value::Object(out)
    }
}

impl Binding {
    fn concerns(&self, identity: &Identity) -> bool {
        self.subjects.iter().any(|subject| match subject {
            Subject::User(name) => *name == identity.name,
            Subject::Group(name) => identity.is_in(name),
        })
    }

    fn reaches(&self, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|own| !namespace.is_empty() && own == namespace)
    }
}

impl Server {
    /// Whether an identity may do something, and why.
    pub fn allows(&self, identity: &Identity, access: &Access) -> Result<String, String> {
        if identity.is_in("system:masters") {
            return Ok(String::new());
        }
        for binding in self.rights.bindings(&self.store).iter() {
            if binding.concerns(identity)
                && binding.reaches(&access.namespace)
                && binding.rules.iter().any(|rule| rule.allows(access))
            {
                return Ok(binding.source.clone());
            }
        }
        Err(String::new())
    }

    /// All rules that apply to an identity in a namespace: for resources, for pages.
    pub fn rules_of(&self, identity: &Identity, namespace: &str) -> (Vec<Value>, Vec<Value>) {
        if identity.is_in("system:masters") {
            let all = json!(["*"]);
            return (
                vec![json!({"verbs": all, "apiGroups": all, "resources": all})],
                vec![json!({"verbs": all, "nonResourceURLs": all})],
            );
        }
        let (mut resources, mut pages) = (Vec::new(), Vec::new());
        for binding in self.rights.bindings(&self.store).iter() {
            if binding.concerns(identity) && binding.reaches(namespace) {
                for rule in &binding.rules {
                    let target = if rule.paths.is_empty() { &mut resources } else { &mut pages };
                    target.push(rule.to_value());
                }
            }
        }
        (resources, pages)
    }
}
