//! PUT, and what every change of an object has in common.

use std::sync::Arc;

use podsmith_object::Value;

use super::create;
use super::delete;
use super::read::settle;
use crate::admission::{self, Operation};
use crate::convert;
use crate::fields;
use crate::output;
use crate::registry::Resource;
use crate::reply::Reply;
use crate::request::WriteOptions;
use crate::rules;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};
use crate::store::{CommitError, Draft, Expect, Stored};
use crate::strategy;

/// Replaces an object by the one in the body.
pub async fn replace(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    let resource = &call.resource;
    super::require(call, "update")?;
    let options = WriteOptions::read(&call.query, "UpdateOptions")?;
    let decoded = super::read_body(call, &resource.kind)?;
    let mut object = decoded.value;
    super::check_type(&mut object, &resource.group, &resource.version, &resource.kind)?;
    let warnings = rules::check_body(resource, &mut object, &decoded.duplicates, options.validation)?;
    check_identity(call, &mut object)?;
    let given_revision = fields::text(&object, &["metadata", "resourceVersion"]).to_owned();
    let key = resource.key(&call.target.namespace, &call.target.name);
    if resource.create_on_update
        && call.target.subresource.is_empty()
        && given_revision.is_empty()
        && server.store.get(&resource.table, &key).is_none()
    {
        let manager = manager(call, &options);
        let new = create::New { object, manager: Some(manager), dry_run: options.dry_run };
        return create::create_object(server, call, new).await;
    }
    let change = Change { options: &options, tracked: false, patch: false };
    let mut reply = apply_change(server, call, &change, &mut |_| Ok(object.clone())).await?;
    reply.warnings.splice(0..0, warnings);
    Ok(reply)
}

/// The name of the manager of a write.
pub fn manager(call: &Call, options: &WriteOptions) -> String {
    if options.field_manager.is_empty() { call.user_agent_manager() } else { options.field_manager.clone() }
}

/// Name and namespace of the body must be those of the path.
fn check_identity(call: &Call, object: &mut Value) -> ApiResult<()> {
    let name = fields::name(object);
    let target = &call.target;
    if name.is_empty() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            target.name
        )));
    }
    if name != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    if call.resource.namespaced {
        let namespace = fields::namespace(object);
        if namespace.is_empty() {
            fields::metadata(object).insert("namespace".into(), target.namespace.as_str().into());
        } else if namespace != target.namespace {
            return Err(ApiError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    Ok(())
}

/// How a change is made.
pub struct Change<'o> {
    /// Options of the request.
    pub options: &'o WriteOptions,
    /// The producer notes the managers itself.
    pub tracked: bool,
    /// The change is a patch: without a revision it is tried again on the new state.
    pub patch: bool,
}

/// Reads the object, lets `produce` make the new state from the old, checks it and stores it. Tried again when
/// someone else wrote meanwhile, unless the new state names the revision it is based on.
pub async fn apply_change(
    server: &Arc<Server>,
    call: &Call,
    change: &Change<'_>,
    produce: &mut (dyn FnMut(&Value) -> ApiResult<Value> + Send),
) -> ApiResult<Reply> {
    let (resource, target) = (&call.resource, &call.target);
    let key = resource.key(&target.namespace, &target.name);
    let mut attempts = 0;
    loop {
        attempts += 1;
        let Some(before) = server.store.get(&resource.table, &key) else {
            return Err(ApiError::not_found(&resource.group, &resource.plural, &target.name));
        };
        let old = convert::read(server, resource, &before).await?;
        let mut new = produce(&old)?;
        let conditional = check_preconditions(call, change, &old, &new)?;
        let warnings = prepare(server, call, change, &old, &mut new).await?;
        if change.options.dry_run {
            let mut reply = output::value(call, 200, new);
            reply.warnings = warnings;
            return Ok(reply);
        }
        match store(server, resource, &key, &before, &old, new).await {
            Ok(stored) => {
                let gone = server.store.get(&resource.table, &key).is_none();
                strategy::after_write(server, resource, &stored, gone);
                settle(server, stored.revision()).await?;
                let mut reply = output::stored(server, call, 200, &stored).await?;
                reply.warnings = warnings;
                return Ok(reply);
            }
            Err(CommitError::Changed(None)) => {
                return Err(ApiError::not_found(&resource.group, &resource.plural, &target.name));
            }
            Err(CommitError::Changed(Some(_))) if !conditional && attempts < 100 => {}
            Err(CommitError::Changed(Some(_))) => {
                return Err(ApiError::modified(&resource.group, &resource.plural, &target.name));
            }
            Err(error) => return Err(ApiError::internal_error(error.to_string())),
        }
    }
}

/// Checks uid and revision. Returns whether the change is bound to one revision.
fn check_preconditions(call: &Call, change: &Change<'_>, old: &Value, new: &Value) -> ApiResult<bool> {
    let resource = &call.resource;
    let name = &call.target.name;
    let (old_uid, new_uid) = (fields::uid(old), fields::uid(new));
    if !new_uid.is_empty() && new_uid != old_uid {
        if change.patch {
            let cause = Cause::invalid("metadata.uid", &new_uid.into(), "field is immutable");
            // The real server finds this twice and says so.
            let causes = vec![cause.clone(), cause];
            return Err(ApiError::invalid(&resource.group, &resource.kind, name, causes));
        }
        let path = if resource.namespaced {
            format!("/registry/{}/{}/{name}", resource.plural, call.target.namespace)
        } else {
            format!("/registry/{}/{name}", resource.plural)
        };
        return Err(ApiError::conflict(
            &resource.group,
            &resource.plural,
            name,
            format!(
                "StorageError: invalid object, Code: 4, Key: {path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {new_uid}, UID in object meta: {old_uid}"
            ),
        ));
    }
    let given = fields::text(new, &["metadata", "resourceVersion"]);
    let current = fields::text(old, &["metadata", "resourceVersion"]);
    if given.is_empty() || given == "0" {
        if !change.patch && (resource.needs_revision || resource.is_custom()) {
            let cause = Cause::new(
                "FieldValueInvalid",
                "metadata.resourceVersion",
                "Invalid value: 0x0: must be specified for an update",
            );
            let shown = if resource.is_custom() { &resource.plural } else { &resource.kind };
            return Err(ApiError::invalid(&resource.group, shown, name, vec![cause]));
        }
        return Ok(false);
    }
    if given != current {
        return Err(ApiError::modified(&resource.group, &resource.plural, name));
    }
    // A patch starts from the current state, so it carries its revision without meaning it.
    Ok(!change.patch)
}

/// Everything between the client's wish and the store.
async fn prepare(
    server: &Arc<Server>,
    call: &Call,
    change: &Change<'_>,
    old: &Value,
    new: &mut Value,
) -> ApiResult<Vec<String>> {
    let (resource, subresource) = (&call.resource, call.target.subresource.as_str());
    keep_system_metadata(old, new);
    rules::set_defaults(resource, new);
    strategy::complete(resource, Some(old), new);
    if !change.tracked {
        rules::track(resource, Some(old), new, &manager(call, change.options), subresource);
    }
    let dry_run = change.options.dry_run;
    let mut warnings = admission::mutate(server, call, Operation::Update, new, Some(old), dry_run).await?;
    keep_system_metadata(old, new);
    strategy::before_update(resource, subresource, old, new);
    rules::set_defaults(resource, new);
    let causes = rules::validate_update(resource, subresource, new, old);
    if !causes.is_empty() {
        return Err(ApiError::invalid(&resource.group, &resource.kind, fields::name(old), causes));
    }
    warnings.extend(admission::validate(server, call, Operation::Update, new, Some(old), dry_run).await?);
    if resource.is("", "services") && subresource.is_empty() {
        server.addresses.allocate(new, dry_run)?;
    }
    Ok(warnings)
}

/// What clients cannot change.
fn keep_system_metadata(old: &Value, new: &mut Value) {
    for key in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
        "generation",
        "selfLink",
        "name",
        "namespace",
    ] {
        fields::copy(old, new, &["metadata", key]);
    }
}

/// Writes the new state, or nothing if nothing changed, or deletes the object if this was all that held it.
async fn store(
    server: &Arc<Server>,
    resource: &Resource,
    key: &str,
    before: &Arc<Stored>,
    old: &Value,
    new: Value,
) -> Result<Arc<Stored>, CommitError> {
    if rules::same_but_for_times(old, &new) {
        return Ok(before.clone());
    }
    let ends = delete::is_free(resource, &new);
    let Ok(object) = convert::write(server, resource, new).await else {
        return Err(CommitError::Broken("the object could not be converted".into()));
    };
    if ends {
        return server.store.delete(&resource.table, key, before.revision(), Draft::new(&object));
    }
    server.store.put(&resource.table, key, Expect::Revision(before.revision()), Draft::new(&object))
}
