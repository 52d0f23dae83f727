//! Which kinds the cluster serves: two requests where the server aggregates, else one for each group version.

use futures::future::try_join;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use podsmith_object::{GroupVersionKind, Value};
use podsmith_plan::kinds::{Kinds, Resource};

use crate::rest::{CallError, Rest};

/// Asks the cluster for its kinds.
///
/// # Errors
///
/// When the cluster does not answer or refuses.
pub async fn discover(rest: &Rest) -> Result<Kinds, CallError> {
    let (core, groups) = try_join(rest.discover("/api"), rest.discover("/apis")).await?;
    let mut kinds = Kinds::new();
    let mut paths = Vec::new();
    for document in [&core, &groups] {
        match document.get("kind").and_then(Value::as_str) {
            Some("APIGroupDiscoveryList") => aggregated(document, &mut kinds),
            _ => paths.extend(group_versions(document)),
        }
    }
    let lists: Vec<(String, Value)> =
        stream::iter(paths)
            .map(|(group_version, path)| async move {
                Ok::<_, CallError>((group_version, rest.get(&path).await?))
            })
            .buffered(16)
            .try_collect()
            .await?;
    for (group_version, list) in lists {
        for resource in list.get("resources").and_then(Value::as_array).into_iter().flatten() {
            let word = |key: &str| resource.get(key).and_then(Value::as_str).unwrap_or("");
            if word("name").contains('/') {
                continue;
            }
            kinds.insert(Resource {
                gvk: GroupVersionKind::from_api_version(&group_version, word("kind")),
                plural: word("name").to_owned(),
                namespaced: resource.get("namespaced").and_then(Value::as_bool).unwrap_or(false),
            });
        }
    }
    Ok(kinds)
}

fn aggregated(document: &Value, kinds: &mut Kinds) {
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    for group in list(document, "items") {
        let name = group.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("").to_owned();
        for version in list(&group, "versions") {
            let version_name = version.get("version").and_then(Value::as_str).unwrap_or("").to_owned();
            for resource in list(&version, "resources") {
                let word = |pointer: &str| {
                    resource.pointer(pointer).and_then(Value::as_str).unwrap_or("").to_owned()
                };
                let kind = word("/responseKind/kind");
                if kind.is_empty() {
                    continue;
                }
                kinds.insert(Resource {
                    gvk: GroupVersionKind::new(name.as_str(), version_name.as_str(), kind),
                    plural: word("/resource"),
                    namespaced: word("/scope") == "Namespaced",
                });
            }
        }
    }
}

/// The group versions of `/api` or `/apis`, the preferred one of each group first, with their paths.
fn group_versions(document: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for version in document.get("versions").and_then(Value::as_array).into_iter().flatten() {
        if let Some(version) = version.as_str() {
            out.push((version.to_owned(), format!("/api/{version}")));
        }
    }
    for group in document.get("groups").and_then(Value::as_array).into_iter().flatten() {
        let preferred = group.pointer("/preferredVersion/groupVersion").and_then(Value::as_str);
        let all = group.get("versions").and_then(Value::as_array).into_iter().flatten();
        let all = all.filter_map(|version| version.get("groupVersion").and_then(Value::as_str));
        let mut names: Vec<&str> = preferred.into_iter().collect();
        names.extend(all.filter(|name| Some(*name) != preferred));
        out.extend(names.into_iter().map(|name| (name.to_owned(), format!("/apis/{name}"))));
    }
    out
}
