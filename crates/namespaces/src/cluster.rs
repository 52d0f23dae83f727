//! The cluster over a `kube::Client`: untyped objects of the kinds we deal with.

use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::{GroupVersionKind as KubeKind, TypeMeta};
use kube::{Client, discovery};
use podsmith_object::{GroupVersionKind, Object, Value};
use thiserror::Error;

use crate::claim::Claim;
use crate::config::Config;
use crate::keys::Keys;
use crate::model::{Key, KindIndex, Namespace};
use crate::resource::Resource;
use crate::world::World;

/// Why the cluster could not be asked or told.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// The server refused or did not answer.
    #[error("cannot {action}: {}", reason(.source))]
    Call {
        /// What was tried.
        action: String,
        /// Why it failed.
        #[source]
        source: Box<kube::Error>,
    },
    /// A watched kind is not in namespaces.
    #[error("{0} is not in a namespace, so it cannot be propagated")]
    NotNamespaced(GroupVersionKind),
    /// An answer that is no object.
    #[error("the cluster gave an answer that is no Kubernetes object: {0}")]
    Strange(String),
}

/// What an error says, without the wrapping.
pub fn reason(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}

/// The HTTP status of a refusal.
pub fn code(error: &kube::Error) -> u16 {
    if let kube::Error::Api(status) = error { status.code } else { 0 }
}

pub(crate) trait Doing<T> {
    fn doing(self, action: impl Into<String>) -> Result<T, ClusterError>;
}

impl<T> Doing<T> for Result<T, kube::Error> {
    fn doing(self, action: impl Into<String>) -> Result<T, ClusterError> {
        self.map_err(|source| ClusterError::Call { action: action.into(), source: Box::new(source) })
    }
}

/// Namespaces.
pub fn namespaces() -> ApiResource {
    ApiResource {
        group: String::new(),
        version: "v1".into(),
        api_version: "v1".into(),
        kind: "Namespace".into(),
        plural: "namespaces".into(),
    }
}

/// SubNamespaces under our group.
pub fn subnamespaces(keys: &Keys) -> ApiResource {
    ApiResource {
        group: keys.prefix.to_string(),
        version: "v2".into(),
        api_version: format!("{}/v2", keys.prefix),
        kind: "SubNamespace".into(),
        plural: "subnamespaces".into(),
    }
}

/// How a watched kind is served; `None` while the cluster does not know it.
///
/// # Errors
///
/// When the cluster does not answer, or the kind is not in namespaces.
pub async fn served(client: &Client, gvk: &GroupVersionKind) -> Result<Option<ApiResource>, ClusterError> {
    let kind = KubeKind::gvk(&gvk.group, &gvk.version, &gvk.kind);
    match discovery::pinned_kind(client, &kind).await {
        Ok((resource, capabilities)) if capabilities.scope == discovery::Scope::Namespaced => {
            Ok(Some(resource))
        }
        Ok(_) => Err(ClusterError::NotNamespaced(gvk.clone())),
        Err(kube::Error::Discovery(_)) => Ok(None),
        Err(error) if code(&error) == 404 => Ok(None),
        Err(error) => Err(error).doing(format!("find out about {gvk}")),
    }
}

/// An answer as an object. Items of lists do not repeat their type, so it is put back.
pub fn to_object(mut answer: DynamicObject, resource: &ApiResource) -> Result<Object, ClusterError> {
    answer.types = Some(TypeMeta { api_version: resource.api_version.clone(), kind: resource.kind.clone() });
    let value = serde_json::to_value(answer).map_err(|error| ClusterError::Strange(error.to_string()))?;
    Object::from_value(value).map_err(|error| ClusterError::Strange(error.to_string()))
}

/// An object as a request.
pub fn to_request(object: &Object) -> Result<DynamicObject, ClusterError> {
    serde_json::from_value(object.to_value()).map_err(|error| ClusterError::Strange(error.to_string()))
}

/// All objects of a kind, page by page.
///
/// # Errors
///
/// When there is no success.
pub async fn list(client: &Client, resource: &ApiResource) -> Result<Vec<Object>, ClusterError> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let mut out = Vec::new();
    let mut params = ListParams::default().limit(500);
    loop {
        let page = api.list(&params).await.doing(format!("list {}", resource.plural))?;
        for item in page.items {
            out.push(to_object(item, resource)?);
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(out),
        }
    }
}

/// The namespaces and SubNamespaces of a cluster. Without the SubNamespace kind there are none.
///
/// # Errors
///
/// When the cluster cannot be read.
pub async fn read_tree(client: &Client, config: &Config) -> Result<World, ClusterError> {
    let mut world = World::new();
    for object in list(client, &namespaces()).await? {
        world.put_namespace(Namespace::read(&object, &config.keys));
    }
    match list(client, &subnamespaces(&config.keys)).await {
        Ok(claims) => claims.iter().for_each(|object| drop(world.put_claim(Claim::read(object)))),
        Err(ClusterError::Call { source, .. }) if code(&source) == 404 => {}
        Err(error) => return Err(error),
    }
    Ok(world)
}

/// The tree and all watched objects, also as they are.
///
/// # Errors
///
/// When the cluster cannot be read.
pub async fn read_all(
    client: &Client,
    config: &Config,
) -> Result<(World, std::collections::BTreeMap<Key, Object>), ClusterError> {
    let mut world = read_tree(client, config).await?;
    let mut bodies = std::collections::BTreeMap::new();
    for (at, gvk) in config.watches.iter().enumerate() {
        let (Some(resource), Ok(at)) = (served(client, gvk).await?, u16::try_from(at)) else { continue };
        for object in list(client, &resource).await? {
            let key = Key::new(object.namespace(), KindIndex(at), object.name());
            world.put_object(&key, Resource::read(&object, config));
            bodies.insert(key, object);
        }
    }
    Ok((world, bodies))
}

/// What our account may not do on the watched kinds and on the tree, as `verb plural.group`.
///
/// # Errors
///
/// When the cluster does not answer.
pub async fn missing_permissions(client: &Client, config: &Config) -> Result<Vec<String>, ClusterError> {
    const VERBS: [&str; 6] = ["get", "list", "watch", "create", "update", "delete"];
    let mut wanted: Vec<(String, String, &str)> = Vec::new();
    for verb in ["get", "list", "watch", "create", "patch", "delete"] {
        wanted.push((String::new(), "namespaces".into(), verb));
    }
    for verb in ["get", "list", "watch", "patch"] {
        wanted.push((config.keys.prefix.to_string(), "subnamespaces".into(), verb));
    }
    wanted.push((config.keys.prefix.to_string(), "subnamespaces/status".into(), "patch"));
    for gvk in &config.watches {
        if let Some(resource) = served(client, gvk).await? {
            wanted.extend(VERBS.map(|verb| (resource.group.clone(), resource.plural.clone(), verb)));
        }
    }
    let review = ApiResource {
        group: "authorization.k8s.io".into(),
        version: "v1".into(),
        api_version: "authorization.k8s.io/v1".into(),
        kind: "SelfSubjectAccessReview".into(),
        plural: "selfsubjectaccessreviews".into(),
    };
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &review);
    let mut missing = Vec::new();
    for (group, resource, verb) in wanted {
        let (plural, sub) = resource.split_once('/').unwrap_or((&resource, ""));
        let question = Object::from_value(serde_json::json!({
            "apiVersion": review.api_version, "kind": review.kind, "metadata": {},
            "spec": {"resourceAttributes": {"group": group, "resource": plural, "subresource": sub, "verb": verb}},
        }));
        let question = question.map_err(|error| ClusterError::Strange(error.to_string()))?;
        let answer = api.create(&Default::default(), &to_request(&question)?).await;
        let answer = answer.doing("ask for our permissions")?;
        let allowed = answer.data.pointer("/status/allowed").and_then(Value::as_bool).unwrap_or(false);
        if !allowed {
            let dot = if group.is_empty() { "" } else { "." };
            missing.push(format!("{verb} {resource}{dot}{group}"));
        }
    }
    Ok(missing)
}
