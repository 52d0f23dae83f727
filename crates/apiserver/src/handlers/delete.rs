//! DELETE: finalizers, grace, propagation.

use std::sync::Arc;

use podsmith_object::{Value, json};

use super::list;
use super::read::settle;
use crate::admission;
use crate::clock;
use crate::convert;
use crate::fields;
use crate::output;
use crate::registry::Resource;
use crate::reply::Reply;
use crate::request::{DeleteOptions, ListOptions};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{CommitError, Draft, Expect, Stored};
use crate::strategy;

/// What became of an object.
pub enum Deleted {
    /// It is gone; its last state.
    Gone(Value),
    /// Something holds it.
    Held(Value),
}

/// True if nothing holds an object whose deletion was asked for.
pub fn is_free(resource: &Resource, object: &Value) -> bool {
    let grace = fields::at(object, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
    fields::is_deleting(object)
        && fields::finalizers(object).is_empty()
        && grace.unwrap_or(0) == 0
        && (!resource.is("", "namespaces") || fields::list(object, &["spec", "finalizers"]).is_empty())
}

/// Deletes one object.
pub async fn delete(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    super::require(call, "delete")?;
    let resource = &call.resource;
    let options = read_options(call)?;
    let (deleted, warnings) = delete_object(server, call, &call.target.name, &options).await?;
    let mut reply = match deleted {
        Deleted::Gone(object) if returns_status(resource) => {
            let mut details =
                json!({"name": fields::name(&object), "kind": resource.plural, "uid": fields::uid(&object)});
            if !resource.group.is_empty() {
                details["group"] = resource.group.as_str().into();
            }
            Reply::value(
                200,
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}),
            )
        }
        Deleted::Gone(object) | Deleted::Held(object) => output::value(call, 200, object),
    };
    reply.warnings = warnings;
    Ok(reply)
}

/// Most kinds answer a deletion with a Status, some with the object that went.
fn returns_status(resource: &Resource) -> bool {
    !matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        (
            "",
            "pods"
                | "services"
                | "serviceaccounts"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "podtemplates"
                | "resourcequotas"
        ) | ("policy", "podsecuritypolicies")
            | ("storage.k8s.io", _)
    )
}

fn read_options(call: &Call) -> ApiResult<DeleteOptions> {
    if call.body.is_empty() {
        return DeleteOptions::read(&call.query, None);
    }
    let body = super::read_body(call, "DeleteOptions")?.value;
    DeleteOptions::read(&call.query, Some(&body))
}

/// Deletes the objects of a collection that are selected.
pub async fn delete_collection(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    super::require(call, "deletecollection")?;
    let options = read_options(call)?;
    let list_options = ListOptions::read(&call.query)?;
    let page = list::read(server, &call.resource, &call.target.namespace, "", &list_options).await?;
    let mut objects = Vec::new();
    for stored in &page.items {
        let object = convert::read(server, &call.resource, stored).await?;
        let one = Call {
            method: call.method.clone(),
            target: crate::request::Target {
                namespace: fields::namespace(&object).to_owned(),
                name: fields::name(&object).to_owned(),
                ..call.target.clone()
            },
            resource: call.resource.clone(),
            query: call.query.clone(),
            identity: call.identity.clone(),
            agent: call.agent.clone(),
            content_type: None,
            body: Default::default(),
            form: call.form,
        };
        match delete_object(server, &one, fields::name(&object), &options).await {
            Ok((Deleted::Gone(object) | Deleted::Held(object), _)) => objects.push(object),
            Err(error) if error.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    let meta = json!({"resourceVersion": server.store.revision().to_string()});
    Ok(Reply::value(200, output::list_value(call, objects, meta)))
}

/// Deletes an object, or marks it if something holds it.
pub async fn delete_object(
    server: &Arc<Server>,
    call: &Call,
    name: &str,
    options: &DeleteOptions,
) -> ApiResult<(Deleted, Vec<String>)> {
    let resource = &call.resource;
    let key = resource.key(&call.target.namespace, name);
    loop {
        let Some(before) = server.store.get(&resource.table, &key) else {
            return Err(ApiError::not_found(&resource.group, &resource.plural, name));
        };
        let old = convert::read(server, resource, &before).await?;
        check_preconditions(resource, name, options, &old)?;
        let mut warnings = strategy::deletion_warnings(resource, options);
        warnings.extend(admission::validate_delete(server, call, &old, options.dry_run).await?);
        let mut new = old.clone();
        mark(resource, options, &mut new);
        let free = is_free(resource, &new);
        if free && !fields::is_deleting(&old) && !resource.is("", "pods") {
            // What goes at once goes as it was; only pods are seen on their way out.
            new.clone_from(&old);
        }
        if options.dry_run {
            return Ok((if free { Deleted::Gone(new) } else { Deleted::Held(new) }, warnings));
        }
        if !free && new == old {
            return Ok((Deleted::Held(old), warnings));
        }
        match commit(server, resource, &key, &before, new, free).await {
            Ok(stored) => {
                strategy::after_write(server, resource, &stored, free);
                settle(server, stored.revision()).await?;
                let object = convert::read(server, resource, &stored).await?;
                return Ok((if free { Deleted::Gone(object) } else { Deleted::Held(object) }, warnings));
            }
            Err(CommitError::Changed(_)) => {}
            Err(error) => return Err(ApiError::internal_error(error.to_string())),
        }
    }
}

async fn commit(
    server: &Arc<Server>,
    resource: &Resource,
    key: &str,
    before: &Arc<Stored>,
    new: Value,
    free: bool,
) -> Result<Arc<Stored>, CommitError> {
    let Ok(object) = convert::write(server, resource, new).await else {
        return Err(CommitError::Broken("the object could not be converted".into()));
    };
    let draft = Draft::new(&object);
    if free {
        server.store.delete(&resource.table, key, before.revision(), draft)
    } else {
        server.store.put(&resource.table, key, Expect::Revision(before.revision()), draft)
    }
}

fn check_preconditions(
    resource: &Resource,
    name: &str,
    options: &DeleteOptions,
    old: &Value,
) -> ApiResult<()> {
    let kind = &resource.kind;
    if let Some(uid) = &options.uid
        && uid != fields::uid(old)
    {
        return Err(ApiError::conflict(
            &resource.group,
            &resource.plural,
            name,
            format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                fields::uid(old)
            ),
        ));
    }
    let current = fields::text(old, &["metadata", "resourceVersion"]);
    if let Some(revision) = &options.resource_version
        && revision != current
    {
        let mut error = ApiError::conflict(
            &resource.group,
            kind,
            name,
            format!(
                "the ResourceVersion in the precondition ({revision}) does not match the ResourceVersion in record ({current}). The object might have been modified"
            ),
        );
        error.message = error.message.replacen(&crate::status::qualified(kind, &resource.group), kind, 1);
        return Err(error);
    }
    Ok(())
}

/// Writes the wish to delete into the object.
fn mark(resource: &Resource, options: &DeleteOptions, object: &mut Value) {
    set_propagation(resource, options, object);
    let grace = strategy::grace_period(resource, options, object);
    let current = fields::at(object, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
    if fields::is_deleting(object) {
        // The grace period can only get shorter.
        if let Some(current) = current
            && grace < current
        {
            let metadata = fields::metadata(object);
            metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
            metadata.insert("deletionTimestamp".into(), clock::in_seconds(grace).into());
        }
        return;
    }
    let generation = fields::at(object, &["metadata", "generation"]).and_then(Value::as_i64);
    let metadata = fields::metadata(object);
    metadata.insert("deletionTimestamp".into(), clock::in_seconds(grace).into());
    metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
    if let Some(generation) = generation.filter(|generation| *generation > 0) {
        metadata.insert("generation".into(), (generation + 1).into());
    }
    strategy::begin_deletion(resource, object);
}

/// The finalizers that stand for foreground deletion and for orphaning.
fn set_propagation(resource: &Resource, options: &DeleteOptions, object: &mut Value) {
    let mut finalizers: Vec<Value> = fields::list(object, &["metadata", "finalizers"]).to_vec();
    let policy = match options.propagation.as_deref() {
        Some(policy) => policy,
        None if finalizers.iter().any(|one| one == "foregroundDeletion" || one == "orphan") => return,
        None => strategy::default_propagation(resource),
    };
    let wanted = match policy {
        "Foreground" => Some("foregroundDeletion"),
        "Orphan" => Some("orphan"),
        _ => None,
    };
    if !server_collects(resource) {
        return;
    }
    finalizers.retain(|one| one != "foregroundDeletion" && one != "orphan");
    finalizers.extend(wanted.map(Value::from));
    if finalizers.is_empty() {
        fields::remove(object, &["metadata", "finalizers"]);
    } else {
        fields::metadata(object).insert("finalizers".into(), finalizers.into());
    }
}

/// Events have no dependents anyone waits for.
fn server_collects(resource: &Resource) -> bool {
    resource.plural != "events"
}
