//! Which kinds a cluster serves, and where.

use std::collections::HashMap;

use podsmith_object::{GroupVersionKind, Object, Value, suggest};

/// How the API serves one kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resource {
    /// Group, version and kind.
    pub gvk: GroupVersionKind,
    /// The name in URLs.
    pub plural: String,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
}

impl Resource {
    /// The URL of all objects of the kind, in `namespace` if that is not empty.
    pub fn collection_path(&self, namespace: &str) -> String {
        let root = if self.gvk.group.is_empty() {
            format!("/api/{}", self.gvk.version)
        } else {
            format!("/apis/{}/{}", self.gvk.group, self.gvk.version)
        };
        if self.namespaced && !namespace.is_empty() {
            format!("{root}/namespaces/{namespace}/{}", self.plural)
        } else {
            format!("{root}/{}", self.plural)
        }
    }

    /// The URL of one object.
    pub fn object_path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection_path(namespace))
    }
}

/// The kinds of one cluster.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    by_kind: HashMap<GroupVersionKind, Resource>,
    /// The versions of each group and kind, best first.
    versions: HashMap<(String, String), Vec<GroupVersionKind>>,
}

impl Kinds {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind. Of several versions the first added is the preferred one.
    pub fn insert(&mut self, resource: Resource) {
        let gvk = resource.gvk.clone();
        let key = (gvk.group.to_string(), gvk.kind.to_string());
        if self.by_kind.insert(gvk.clone(), resource).is_none() {
            self.versions.entry(key).or_default().push(gvk);
        }
    }

    /// How the kind is served.
    pub fn get(&self, gvk: &GroupVersionKind) -> Option<&Resource> {
        self.by_kind.get(gvk)
    }

    /// The preferred version of a group and kind.
    pub fn preferred(&self, group: &str, kind: &str) -> Option<&Resource> {
        self.by_kind.get(self.versions.get(&(group.to_owned(), kind.to_owned()))?.first()?)
    }

    /// Adds the kinds that a CustomResourceDefinition will serve; returns them.
    pub fn insert_definition(&mut self, definition: &Object) -> Vec<GroupVersionKind> {
        let text = |path: &[&str]| definition.get(path).and_then(Value::as_str).unwrap_or("");
        let (group, kind, plural) =
            (text(&["spec", "group"]), text(&["spec", "names", "kind"]), text(&["spec", "names", "plural"]));
        let namespaced = text(&["spec", "scope"]) == "Namespaced";
        let versions = definition.get(&["spec", "versions"]).and_then(Value::as_array);
        let mut added = Vec::new();
        for version in versions.into_iter().flatten() {
            if version.get("served").and_then(Value::as_bool) == Some(false) {
                continue;
            }
            let Some(name) = version.get("name").and_then(Value::as_str) else { continue };
            let gvk = GroupVersionKind::new(group, name, kind);
            if self.get(&gvk).is_none() {
                added.push(gvk.clone());
                self.insert(Resource { gvk, plural: plural.to_owned(), namespaced });
            }
        }
        added
    }

    /// Why a kind is not known, as a hint.
    pub fn hint(&self, gvk: &GroupVersionKind) -> String {
        let key = (gvk.group.to_string(), gvk.kind.to_string());
        if let Some(versions) = self.versions.get(&key) {
            let served: Vec<String> = versions.iter().map(GroupVersionKind::api_version).collect();
            return format!("the cluster serves {} as {}", gvk.kind, served.join(", "));
        }
        let mut same: Vec<String> = self
            .by_kind
            .keys()
            .filter(|known| known.kind == gvk.kind)
            .map(GroupVersionKind::api_version)
            .collect();
        same.sort();
        if !same.is_empty() {
            return format!("{} exists in {}", gvk.kind, same.join(", "));
        }
        let mut kinds: Vec<&str> =
            self.by_kind.keys().filter(|known| known.group == gvk.group).map(|known| &*known.kind).collect();
        kinds.sort_unstable();
        if let Some(near) = suggest::nearest(&gvk.kind, kinds) {
            return format!("did you mean `{near}`?");
        }
        "add its CustomResourceDefinition to the package, or install it first".into()
    }
}
