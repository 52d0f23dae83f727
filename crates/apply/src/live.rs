//! The live state of many objects: one request for each kind and namespace.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use podsmith_object::{GroupVersionKind, Object, ObjectId};
use podsmith_plan::inventory::Inventory;
use podsmith_plan::kinds::{Kinds, Resource};
use podsmith_plan::names;
use podsmith_plan::package::{Key, versionless};

use crate::error::ApplyError;
use crate::rest::Rest;

/// How many reads run at once.
pub(crate) const READS: usize = 32;

/// Live objects by identity, whatever version they were asked for in.
pub(crate) type Live = HashMap<Key, Object>;

/// Reads all of `wanted` that exist. One object of a kind and namespace is read by name, several by a list.
pub(crate) async fn fetch(
    rest: &Rest,
    kinds: &Kinds,
    wanted: impl IntoIterator<Item = ObjectId>,
) -> Result<Live, ApplyError> {
    let mut groups: grouping::Groups = grouping::Groups::default();
    for id in wanted {
        groups.add(id);
    }
    let requests = groups.into_requests(kinds);
    let fetched: Vec<Vec<(Key, Object)>> = stream::iter(requests)
        .map(|request| async move { request.run(rest).await })
        .buffered(READS)
        .try_collect()
        .await?;
    Ok(fetched.into_iter().flatten().collect())
}

/// One read.
struct ReadRequest {
    resource: Resource,
    namespace: Arc<str>,
    names: Vec<Arc<str>>,
}

impl ReadRequest {
    async fn run(self, rest: &Rest) -> Result<Vec<(Key, Object)>, ApplyError> {
        let place = if self.namespace.is_empty() { String::new() } else { format!(" in {}", self.namespace) };
        let doing = format!("read {}{place}", self.resource.plural);
        if let [name] = self.names.as_slice() {
            let found =
                rest.object(&self.resource, &self.namespace, name).await.map_err(ApplyError::call(doing))?;
            return Ok(found.map(|object| (versionless(&object.id()), object)).into_iter().collect());
        }
        let wanted: std::collections::HashSet<&str> = self.names.iter().map(|name| &**name).collect();
        let listed = rest.list(&self.resource, &self.namespace, "").await.map_err(ApplyError::call(doing))?;
        Ok(listed
            .into_iter()
            .filter(|object| wanted.contains(object.name()))
            .map(|object| (versionless(&object.id()), object))
            .collect())
    }
}

/// Objects grouped by kind and namespace, in the order they came.
mod grouping {
    use super::{Arc, GroupVersionKind, HashMap, Kinds, ObjectId, ReadRequest};

    #[derive(Default)]
    pub(super) struct Groups {
        order: Vec<(GroupVersionKind, Arc<str>, Vec<Arc<str>>)>,
        index: HashMap<(GroupVersionKind, Arc<str>), usize>,
    }

    impl Groups {
        pub fn add(&mut self, id: ObjectId) {
            let key = (id.gvk.clone(), id.namespace.clone());
            let next = self.order.len();
            let slot = *self.index.entry(key).or_insert(next);
            if slot == next {
                self.order.push((id.gvk, id.namespace, Vec::new()));
            }
            if let Some((_, _, names)) = self.order.get_mut(slot) {
                names.push(id.name);
            }
        }

        /// Kinds that the cluster does not serve have no live objects.
        pub fn into_requests(self, kinds: &Kinds) -> Vec<ReadRequest> {
            let known = self.order.into_iter().filter_map(|(gvk, namespace, names)| {
                let resource = kinds.get(&gvk).or_else(|| kinds.preferred(&gvk.group, &gvk.kind))?;
                Some(ReadRequest { resource: resource.clone(), namespace, names })
            });
            known.collect()
        }
    }
}

/// All inventories of the cluster, or of one namespace where listing everywhere is forbidden.
///
/// A record in another namespace that cannot be read is left out: whoever broke it must not stop everybody else.
pub(crate) async fn inventories(rest: &Rest, namespace: &str) -> Result<Vec<Inventory>, ApplyError> {
    let resource = config_maps();
    let everywhere = rest.list(&resource, "", names::INVENTORY).await;
    let listed = match everywhere {
        Err(error) if error.code() == 403 && !namespace.is_empty() => {
            rest.list(&resource, namespace, names::INVENTORY).await
        }
        other => other,
    };
    let listed = listed.map_err(ApplyError::call("list the inventories"))?;
    let mut inventories = Vec::with_capacity(listed.len());
    for object in &listed {
        match Inventory::from_object(object) {
            Ok(inventory) => inventories.push(inventory),
            Err(error) if object.namespace() == namespace => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(inventories)
}

pub(crate) fn config_maps() -> Resource {
    Resource {
        gvk: GroupVersionKind::new("", "v1", "ConfigMap"),
        plural: "configmaps".into(),
        namespaced: true,
    }
}

pub(crate) fn namespaces() -> Resource {
    Resource {
        gvk: GroupVersionKind::new("", "v1", "Namespace"),
        plural: "namespaces".into(),
        namespaced: false,
    }
}

pub(crate) fn pods() -> Resource {
    Resource { gvk: GroupVersionKind::new("", "v1", "Pod"), plural: "pods".into(), namespaced: true }
}
