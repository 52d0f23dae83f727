//! Paths: `/api/v1/namespaces/x/pods/y/status` and its relatives.

/// What a path names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Route {
    /// Objects of a resource.
    Resource(Target),
    /// `/api` or `/apis`, `/apis/apps`, `/apis/apps/v1`: what is there.
    Discovery {
        /// The group, if one is named; the core group for `/api`.
        group: Option<String>,
        /// The version, if one is named.
        version: Option<String>,
        /// Below `/api`.
        core: bool,
    },
    /// Anything else: `/version`, `/readyz`, `/openapi/v3`.
    Other(String),
}

/// A resource, an object of it, or a part of that object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Target {
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Namespace; empty outside namespaces or for all of them.
    pub namespace: String,
    /// Plural name of the resource.
    pub resource: String,
    /// Name of the object; empty for the collection.
    pub name: String,
    /// Subresource; empty for the object itself.
    pub subresource: String,
    /// What follows the subresource, for proxies.
    pub rest: String,
    /// The deprecated `/watch/` prefix was used.
    pub watch_prefix: bool,
}

/// Reads a path.
pub fn parse_path(path: &str) -> Route {
    let decoded: Vec<String> =
        path.split('/').filter(|part| !part.is_empty()).map(super::query::percent_decode).collect();
    let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
    let (group, version, rest, core) = match parts.as_slice() {
        ["api"] | ["apis"] => {
            return Route::Discovery { group: None, version: None, core: parts == ["api"] };
        }
        ["api", version, rest @ ..] => ("", *version, rest, true),
        ["apis", group] => {
            return Route::Discovery { group: Some((*group).to_owned()), version: None, core: false };
        }
        ["apis", group, version, rest @ ..] => (*group, *version, rest, false),
        _ => return Route::Other(path.to_owned()),
    };
    if rest.is_empty() {
        return Route::Discovery { group: Some(group.to_owned()), version: Some(version.to_owned()), core };
    }
    let mut target = Target { group: group.to_owned(), version: version.to_owned(), ..Target::default() };
    let rest = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => {
            target.watch_prefix = true;
            rest
        }
        rest => rest,
    };
    let own = |part: &&str| (*part).to_owned();
    let rest = match rest {
        // `/namespaces/x/status` and `/finalize` are parts of the namespace; anything else is inside it.
        ["namespaces", _, "status" | "finalize", ..] | ["namespaces"] | ["namespaces", _] => rest,
        ["namespaces", namespace, inside @ ..] => {
            target.namespace = own(namespace);
            inside
        }
        rest => rest,
    };
    target.resource = rest.first().map(own).unwrap_or_default();
    target.name = rest.get(1).map(own).unwrap_or_default();
    target.subresource = rest.get(2).map(own).unwrap_or_default();
    target.rest = rest.get(3..).unwrap_or_default().join("/");
    if target.resource == "namespaces" && target.group.is_empty() {
        // For authorization a namespace is inside itself.
        target.namespace.clone_from(&target.name);
    }
    Route::Resource(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> (String, String, String, String, String) {
        match parse_path(path) {
            Route::Resource(t) => (t.group, t.namespace, t.resource, t.name, t.subresource),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn paths_name_resources_objects_and_their_parts() {
        for (path, group, namespace, resource, name, part) in [
            ("/api/v1/pods", "", "", "pods", "", ""),
            ("/api/v1/namespaces", "", "", "namespaces", "", ""),
            ("/api/v1/namespaces/x", "", "x", "namespaces", "x", ""),
            ("/api/v1/namespaces/x/status", "", "x", "namespaces", "x", "status"),
            ("/api/v1/namespaces/x/pods", "", "x", "pods", "", ""),
            ("/api/v1/namespaces/x/pods/y/log", "", "x", "pods", "y", "log"),
            ("/apis/apps/v1/namespaces/x/deployments/y/scale", "apps", "x", "deployments", "y", "scale"),
            ("/apis/a.b/v1/things/t", "a.b", "", "things", "t", ""),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
                "rbac.authorization.k8s.io",
                "",
                "clusterroles",
                "system:node",
                "",
            ),
        ] {
            let expected = (group.into(), namespace.into(), resource.into(), name.into(), part.into());
            assert_eq!(target(path), expected, "{path}");
        }
    }

    #[test]
    fn other_paths_are_discovery_or_pages() {
        assert_eq!(parse_path("/api"), Route::Discovery { group: None, version: None, core: true });
        assert_eq!(
            parse_path("/apis/apps/v1/"),
            Route::Discovery { group: Some("apps".into()), version: Some("v1".into()), core: false }
        );
        assert_eq!(parse_path("/version/"), Route::Other("/version/".into()));
        assert!(matches!(parse_path("/api/v1/watch/pods"), Route::Resource(t) if t.watch_prefix));
    }
}
