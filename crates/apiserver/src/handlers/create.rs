//! POST: new objects.

use std::sync::Arc;

use podsmith_object::Value;

use super::read::settle;
use crate::admission::{self, Operation};
use crate::clock;
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

/// Creates the object in the body.
pub async fn create(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    super::require(call, "create")?;
    let resource = &call.resource;
    let options = WriteOptions::read(&call.query, "CreateOptions")?;
    let decoded = super::read_body(call, &resource.kind)?;
    let mut object = decoded.value;
    super::check_type(&mut object, &resource.group, &resource.version, &resource.kind)?;
    let warnings = rules::check_body(resource, &mut object, &decoded.duplicates, options.validation)?;
    let manager = if options.field_manager.is_empty() {
        call.user_agent_manager()
    } else {
        options.field_manager.clone()
    };
    if resource.is_review() {
        rules::track(resource, None, &mut object, &manager, "");
        return super::reviews::create(server, call, object).await;
    }
    let new = New { object, manager: Some(manager), dry_run: options.dry_run };
    let mut reply = create_object(server, call, new).await?;
    reply.warnings.splice(0..0, warnings);
    Ok(reply)
}

/// An object to be created.
pub struct New {
    /// The object, checked against its type.
    pub object: Value,
    /// Who writes it; nothing when its managers are already noted.
    pub manager: Option<String>,
    /// Do not store it.
    pub dry_run: bool,
}

/// The second half of a create, also used by an apply that creates.
pub async fn create_object(server: &Arc<Server>, call: &Call, new: New) -> ApiResult<Reply> {
    let resource = &call.resource;
    let mut object = new.object;
    let has_revision = !fields::text(&object, &["metadata", "resourceVersion"]).is_empty();
    check_namespace(call, &mut object)?;
    let generated = begin_metadata(resource, &mut object)?;
    rules::set_defaults(resource, &mut object);
    strategy::complete(resource, None, &mut object);
    if let Some(manager) = &new.manager {
        rules::track(resource, None, &mut object, manager, "");
    }
    let mut warnings =
        admission::mutate(server, call, Operation::Create, &mut object, None, new.dry_run).await?;
    let complete = object.clone();
    strategy::before_create(call, &mut object);
    if object != complete {
        rules::set_defaults(resource, &mut object);
    }
    let causes = rules::validate_create(resource, &object);
    if !causes.is_empty() {
        return Err(ApiError::invalid(&resource.group, &resource.kind, fields::name(&object), causes));
    }
    warnings.extend(admission::validate(server, call, Operation::Create, &object, None, new.dry_run).await?);
    if resource.is("", "services") {
        server.addresses.allocate(&mut object, new.dry_run)?;
    }
    if new.dry_run {
        let key = resource.key(fields::namespace(&object), fields::name(&object));
        if let Some(old) = server.store.get(&resource.table, &key) {
            return Err(exists(resource, fields::name(&object), &old));
        }
        let mut reply = output::value(call, 201, object);
        reply.warnings = warnings;
        return Ok(reply);
    }
    if has_revision {
        return Err(ApiError::internal("resourceVersion should not be set on objects to be created"));
    }
    let stored = put_new(server, resource, object, generated).await?;
    strategy::after_write(server, resource, &stored, false);
    settle(server, stored.revision()).await?;
    let mut reply = output::stored(server, call, 201, &stored).await?;
    reply.warnings = warnings;
    Ok(reply)
}

async fn put_new(
    server: &Arc<Server>,
    resource: &Resource,
    object: Value,
    generated: bool,
) -> ApiResult<Arc<Stored>> {
    let mut object = convert::write(server, resource, object).await?;
    // A generated name may be taken: try others before giving up.
    let mut attempts = if generated { 8 } else { 1 };
    loop {
        attempts -= 1;
        let name = fields::name(&object).to_owned();
        let key = resource.key(fields::namespace(&object), &name);
        match server.store.put(&resource.table, &key, Expect::Absent, Draft::new(&object)) {
            Ok(stored) => return Ok(stored),
            Err(CommitError::Changed(Some(_))) if attempts > 0 => {
                let base = fields::text(&object, &["metadata", "generateName"]).to_owned();
                fields::metadata(&mut object).insert("name".into(), generate_name(&base).into());
            }
            Err(CommitError::Changed(Some(old))) => return Err(exists(resource, &name, &old)),
            Err(error) => return Err(ApiError::internal_error(error.to_string())),
        }
    }
}

fn exists(resource: &Resource, name: &str, old: &Stored) -> ApiError {
    let mut error = ApiError::already_exists(&resource.group, &resource.plural, name);
    if fields::is_deleting(&old.value()) {
        error.message = format!("object is being deleted: {}", error.message);
    }
    error
}

/// The namespace of the path and of the body must agree.
fn check_namespace(call: &Call, object: &mut Value) -> ApiResult<()> {
    let given = fields::namespace(object).to_owned();
    if !call.resource.namespaced {
        fields::remove(object, &["metadata", "namespace"]);
        return Ok(());
    }
    let wanted = call.target.namespace.as_str();
    if wanted.is_empty() {
        return Err(ApiError::method_not_allowed());
    }
    if !given.is_empty() && given != wanted {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    fields::metadata(object).insert("namespace".into(), wanted.into());
    Ok(())
}

/// Gives the object its identity. Returns whether the name was generated.
fn begin_metadata(resource: &Resource, object: &mut Value) -> ApiResult<bool> {
    let name = fields::name(object).to_owned();
    let base = fields::text(object, &["metadata", "generateName"]).to_owned();
    let generated = name.is_empty() && !base.is_empty();
    if name.is_empty() && base.is_empty() {
        let cause = Cause::required("metadata.name", "name or generateName is required");
        return Err(ApiError::invalid(&resource.group, &resource.kind, "", vec![cause]));
    }
    let metadata = fields::metadata(object);
    for key in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"] {
        metadata.shift_remove(key);
    }
    if generated {
        metadata.insert("name".into(), generate_name(&base).into());
    }
    metadata.insert("uid".into(), uuid::Uuid::new_v4().to_string().into());
    metadata.insert("creationTimestamp".into(), clock::now().into());
    Ok(generated)
}

/// The base, cut to 58 characters, and five random ones.
pub fn generate_name(base: &str) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut name: String = base.chars().take(58).collect();
    let random = uuid::Uuid::new_v4();
    for byte in random.as_bytes().iter().take(5) {
        name.push(LETTERS.get(usize::from(*byte) % LETTERS.len()).copied().map_or('x', char::from));
    }
    name
}
