//! Carries out single writes, each with the version it was decided on.

use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions,
};
use podsmith_object::{Object, Value, json};

use crate::claim::{Claim, Status};
use crate::cluster::{ClusterError, code, namespaces, reason, subnamespaces, to_object, to_request};
use crate::config::Config;
use crate::desired::{Copy, Meta, MetaChange};
use crate::model::{Key, Namespace};
use crate::reconciler::Outcome;
use crate::resource::{self, Resource};
use crate::write::{Seen, Write};

/// Writes to one cluster.
pub struct Executor<'a> {
    /// The cluster.
    pub client: &'a Client,
    /// The configuration.
    pub config: &'a Config,
    /// How each watched kind is served.
    pub kinds: &'a [Option<ApiResource>],
}

/// Refusals that mean "not what you think it is", as opposed to "no".
fn outcome(error: &kube::Error) -> Outcome {
    match error {
        kube::Error::Api(status) if status.code == 409 || status.code == 404 => Outcome::Stale,
        error => Outcome::Refused(reason(error)),
    }
}

fn strange(error: &ClusterError) -> Outcome {
    Outcome::Refused(error.to_string())
}

impl Executor<'_> {
    fn all(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), resource)
    }

    fn within(&self, namespace: &str, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, resource)
    }

    fn manager(&self) -> Option<String> {
        Some(self.config.keys.manager.clone())
    }

    fn patching(&self) -> PatchParams {
        PatchParams { field_manager: self.manager(), ..PatchParams::default() }
    }

    fn posting(&self) -> PostParams {
        PostParams { field_manager: self.manager(), ..PostParams::default() }
    }

    /// Does one write.
    pub async fn perform(&self, write: &Write) -> Outcome {
        match write {
            Write::CreateNamespace(name, meta) => self.create_namespace(name, meta).await,
            Write::ChangeNamespace(name, seen, change) => self.change_namespace(name, seen, change).await,
            Write::DeleteNamespace(name, _, seen) => self.delete_namespace(name, seen).await,
            Write::HoldClaim(namespace, name, seen) => self.finalizers(namespace, name, seen, true).await,
            Write::ReleaseClaim(namespace, name, seen) => self.release(namespace, name, seen).await,
            Write::SetStatus(namespace, name, seen, status) => {
                self.status(namespace, name, seen, status).await
            }
            Write::Create(key, copy) => self.create(key, copy).await,
            Write::Update(key, seen, copy, delicate) => self.update(key, seen, copy, *delicate).await,
            Write::Annotate(key, seen, mode) => {
                let annotations = json!({&self.config.keys.propagate: mode.as_str()});
                let patch = json!({"metadata": {"resourceVersion": &*seen.version, "uid": &*seen.uid, "annotations": annotations}});
                let Some(resource) = self.kind(key) else { return Outcome::Stale };
                let api = self.within(&key.namespace, resource);
                self.object(
                    api.patch(&key.slot.name, &self.patching(), &Patch::Merge(&patch)).await,
                    resource,
                )
            }
            Write::Delete(key, seen) => self.delete(key, seen).await,
        }
    }

    fn kind(&self, key: &Key) -> Option<&ApiResource> {
        self.kinds.get(usize::from(key.slot.kind.0))?.as_ref()
    }

    fn object(&self, answer: Result<DynamicObject, kube::Error>, resource: &ApiResource) -> Outcome {
        match answer.map(|answer| to_object(answer, resource)) {
            Ok(Ok(object)) => Outcome::Object(Resource::read(&object, self.config)),
            Ok(Err(error)) => strange(&error),
            Err(error) => outcome(&error),
        }
    }

    fn namespace(&self, answer: Result<DynamicObject, kube::Error>) -> Outcome {
        match answer.map(|answer| to_object(answer, &namespaces())) {
            Ok(Ok(object)) => Outcome::Namespace(Namespace::read(&object, &self.config.keys)),
            Ok(Err(error)) => strange(&error),
            Err(error) => outcome(&error),
        }
    }

    fn claim(&self, answer: Result<DynamicObject, kube::Error>) -> Outcome {
        match answer.map(|answer| to_object(answer, &subnamespaces(&self.config.keys))) {
            Ok(Ok(object)) => Outcome::Claim(Claim::read(&object)),
            Ok(Err(error)) => strange(&error),
            Err(error) => outcome(&error),
        }
    }

    async fn create_namespace(&self, name: &str, meta: &Meta) -> Outcome {
        let body = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": meta.labels, "annotations": meta.annotations},
        });
        match Object::from_value(body).map(|object| to_request(&object)) {
            Ok(Ok(request)) => {
                self.namespace(self.all(&namespaces()).create(&self.posting(), &request).await)
            }
            _ => Outcome::Refused("the namespace cannot be written".into()),
        }
    }

    async fn change_namespace(&self, name: &str, seen: &Seen, change: &MetaChange) -> Outcome {
        let mut metadata = json!({"resourceVersion": &*seen.version, "uid": &*seen.uid});
        for (field, entries) in [("labels", &change.labels), ("annotations", &change.annotations)] {
            if !entries.is_empty() {
                metadata[field] = json!(entries);
            }
        }
        let patch = json!({"metadata": metadata});
        self.namespace(self.all(&namespaces()).patch(name, &self.patching(), &Patch::Merge(&patch)).await)
    }

    async fn delete_namespace(&self, name: &str, seen: &Seen) -> Outcome {
        match self.all(&namespaces()).delete(name, &exactly(seen)).await {
            Ok(answer) => match answer.left() {
                Some(object) => self.namespace(Ok(object)),
                None => Outcome::Gone,
            },
            Err(error) if code(&error) == 404 => Outcome::Gone,
            Err(error) => outcome(&error),
        }
    }

    /// Lets a SubNamespace go, after a look at the namespace itself: what is known may be out of date.
    async fn release(&self, namespace: &str, name: &str, seen: &Seen) -> Outcome {
        match self
            .all(&namespaces())
            .get_opt(name)
            .await
            .map(|found| found.map(|o| to_object(o, &namespaces())))
        {
            Ok(Some(Ok(object))) => {
                let live = Namespace::read(&object, &self.config.keys);
                if live.parent().is_some_and(|parent| **parent == *namespace) && !live.deleting {
                    return Outcome::Stale;
                }
            }
            Ok(Some(Err(error))) => return strange(&error),
            Ok(None) => {}
            Err(error) => return outcome(&error),
        }
        self.finalizers(namespace, name, seen, false).await
    }

    async fn finalizers(&self, namespace: &str, name: &str, seen: &Seen, hold: bool) -> Outcome {
        let api = self.within(namespace, &subnamespaces(&self.config.keys));
        let live = match api.get_opt(name).await {
            Ok(Some(live)) => live,
            Ok(None) => return Outcome::Gone,
            Err(error) => return outcome(&error),
        };
        if live.metadata.uid.as_deref() != Some(&seen.uid) {
            return Outcome::Stale;
        }
        let ours = &self.config.keys.finalizer;
        let mut finalizers = live.metadata.finalizers.clone().unwrap_or_default();
        finalizers.retain(|finalizer| finalizer != ours);
        if hold {
            finalizers.push(ours.clone());
        }
        let gone = finalizers.is_empty() && live.metadata.deletion_timestamp.is_some();
        let patch = json!({"metadata": {
            "resourceVersion": live.metadata.resource_version, "uid": &*seen.uid, "finalizers": finalizers,
        }});
        match api.patch(name, &self.patching(), &Patch::Merge(&patch)).await {
            Ok(_) if gone => Outcome::Gone,
            Err(error) if gone && code(&error) == 404 => Outcome::Gone,
            answer => self.claim(answer),
        }
    }

    async fn status(&self, namespace: &str, name: &str, seen: &Seen, status: &Status) -> Outcome {
        let api = self.within(namespace, &subnamespaces(&self.config.keys));
        let live = match api.get_opt(name).await {
            Ok(Some(live)) => live,
            Ok(None) => return Outcome::Stale,
            Err(error) => return outcome(&error),
        };
        let version = live.metadata.resource_version.clone().unwrap_or_default();
        if version != *seen.version {
            return Outcome::Stale;
        }
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let value = status.to_value(live.data.get("status"), &now);
        let patch = json!({"metadata": {"resourceVersion": version}, "status": value});
        self.claim(api.patch_status(name, &self.patching(), &Patch::Merge(&patch)).await)
    }

    fn wanted(&self, key: &Key, copy: &Copy) -> Option<Object> {
        let body = copy.content.body.as_ref()?;
        Some(resource::copy(body, key, &copy.from, copy.mode, &self.config.keys))
    }

    async fn create(&self, key: &Key, copy: &Copy) -> Outcome {
        let (Some(resource), Some(wanted)) = (self.kind(key), self.wanted(key, copy)) else {
            return Outcome::Stale;
        };
        match to_request(&wanted) {
            Ok(request) => {
                let api = self.within(&key.namespace, resource);
                self.object(api.create(&self.posting(), &request).await, resource)
            }
            Err(error) => strange(&error),
        }
    }

    async fn update(&self, key: &Key, seen: &Seen, copy: &Copy, delicate: bool) -> Outcome {
        let (Some(resource), Some(wanted)) = (self.kind(key), self.wanted(key, copy)) else {
            return Outcome::Stale;
        };
        let api = self.within(&key.namespace, resource);
        let mut sent = wanted.clone();
        sent.metadata_mut().insert("resourceVersion".into(), Value::from(&*seen.version));
        sent.metadata_mut().insert("uid".into(), Value::from(&*seen.uid));
        if delicate {
            match self.live(&api, key, seen, resource).await {
                Ok(live) => sent = resource::merge_into(&live, &wanted),
                Err(outcome) => return outcome,
            }
        }
        let request = match to_request(&sent) {
            Ok(request) => request,
            Err(error) => return strange(&error),
        };
        match api.replace(&key.slot.name, &self.posting(), &request).await {
            Err(error) if code(&error) == 422 => {
                // The object may have a field that cannot change. It is a copy, so it can be made anew.
                match self.live(&api, key, seen, resource).await {
                    Ok(live) if resource::immutable_difference(&live, &wanted).is_some() => {
                        match self.delete(key, seen).await {
                            Outcome::Gone => self.create(key, copy).await,
                            other => other,
                        }
                    }
                    Ok(_) => outcome(&error),
                    Err(outcome) => outcome,
                }
            }
            answer => self.object(answer, resource),
        }
    }

    /// The object as it is, if it is still the one a decision was made on.
    async fn live(
        &self,
        api: &Api<DynamicObject>,
        key: &Key,
        seen: &Seen,
        resource: &ApiResource,
    ) -> Result<Object, Outcome> {
        let found = api.get(&key.slot.name).await.map_err(|error| outcome(&error))?;
        if found.metadata.resource_version.as_deref() != Some(&seen.version) {
            return Err(Outcome::Stale);
        }
        to_object(found, resource).map_err(|error| strange(&error))
    }

    async fn delete(&self, key: &Key, seen: &Seen) -> Outcome {
        let Some(resource) = self.kind(key) else { return Outcome::Stale };
        match self.within(&key.namespace, resource).delete(&key.slot.name, &exactly(seen)).await {
            Ok(answer) => match answer.left() {
                // A finalizer holds it.
                Some(object)
                    if object.metadata.deletion_timestamp.is_some()
                        && object.metadata.finalizers.as_ref().is_some_and(|f| !f.is_empty()) =>
                {
                    self.object(Ok(object), resource)
                }
                _ => Outcome::Gone,
            },
            Err(error) if code(&error) == 404 => Outcome::Gone,
            Err(error) => outcome(&error),
        }
    }
}

/// Only this very object, in this very version.
fn exactly(seen: &Seen) -> DeleteParams {
    DeleteParams::background().preconditions(Preconditions {
        uid: Some(seen.uid.to_string()),
        resource_version: Some(seen.version.to_string()),
    })
}
