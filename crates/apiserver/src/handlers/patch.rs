//! PATCH in its four dialects.

use std::sync::Arc;

use podsmith_object::Value;

use super::create;
use super::update::{Change, apply_change, manager};
use crate::fields;
use crate::reply::Reply;
use crate::request::body::{decode_json, decode_yaml};
use crate::request::{FieldValidation, WriteOptions};
use crate::rules;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};

/// Which dialect a patch is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Merge with the keys of lists.
    Strategic,
    /// Server-side apply.
    Apply,
}

impl Dialect {
    /// The dialect of a `Content-Type`.
    ///
    /// # Errors
    ///
    /// 415 for anything unknown.
    pub fn from_content_type(content_type: Option<&str>, custom: bool) -> ApiResult<Self> {
        let media = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        match media {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => {
                let known = if custom {
                    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
                } else {
                    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"
                };
                Err(ApiError::new(
                    415,
                    "UnsupportedMediaType",
                    format!(
                        "the body of the request was in an unknown format - accepted media types include: {known}"
                    ),
                ))
            }
        }
    }
}

/// Patches an object.
pub async fn patch(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    super::require(call, "patch")?;
    let resource = &call.resource;
    let dialect = Dialect::from_content_type(call.content_type.as_deref(), resource.is_custom())?;
    let options = WriteOptions::read(&call.query, "PatchOptions")?;
    check_options(dialect, &options)?;
    if dialect == Dialect::Apply {
        return apply(server, call, &options).await;
    }
    let body = decode_json(&call.body)
        .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))?
        .value;
    let mut warnings = Vec::new();
    let reply = {
        let mut produce = |old: &Value| {
            let mut new = apply_patch(resource, dialect, old, &body)?;
            warnings = check_patched(call, &mut new, options.validation)?;
            Ok(new)
        };
        let change = Change { options: &options, tracked: false, patch: true };
        apply_change(server, call, &change, &mut produce).await
    };
    let mut reply = reply?;
    reply.warnings.splice(0..0, warnings);
    Ok(reply)
}

fn check_options(dialect: Dialect, options: &WriteOptions) -> ApiResult<()> {
    let refuse = |cause| Err(ApiError::invalid_options("PatchOptions", cause));
    if dialect == Dialect::Apply {
        if options.field_manager.is_empty() {
            return refuse(Cause::required("fieldManager", "is required for apply patch"));
        }
    } else if options.force.is_some() {
        return refuse(Cause::forbidden("force", "may not be specified for non-apply patch"));
    }
    Ok(())
}

/// One patch on one object.
pub fn apply_patch(
    resource: &crate::registry::Resource,
    dialect: Dialect,
    old: &Value,
    body: &Value,
) -> ApiResult<Value> {
    match dialect {
        Dialect::Json => rules::json(old, body),
        Dialect::Merge => Ok(rules::merge(old, body)),
        Dialect::Strategic => rules::strategic(resource, old, body),
        Dialect::Apply => Err(ApiError::internal("an apply is no plain patch")),
    }
}

/// The patched object must still be one of its kind.
fn check_patched(call: &Call, object: &mut Value, validation: FieldValidation) -> ApiResult<Vec<String>> {
    let resource = &call.resource;
    super::check_type(object, &resource.group, &resource.version, &resource.kind)?;
    if fields::name(object) != call.target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            fields::name(object),
            call.target.name
        )));
    }
    rules::check_body(resource, object, &[], validation).map_err(|error| {
        if resource.is_custom() || error.code != 400 {
            return error;
        }
        // What a patch leaves must decode; the real server blames the patch, not the object.
        let prefix =
            format!("{0} in version \"{1}\" cannot be handled as a {0}: ", resource.kind, resource.version);
        let why = error.message.strip_prefix(&prefix).unwrap_or(&error.message).to_owned();
        let shown = object.to_string();
        let cause = Cause::invalid("patch", &Value::from(shown), why);
        let mut refused = ApiError::invalid("", "", "", vec![cause]);
        refused.details.get_or_insert_default().kind.clear();
        refused
    })
}

async fn apply(server: &Arc<Server>, call: &Call, options: &WriteOptions) -> ApiResult<Reply> {
    let (resource, target) = (&call.resource, &call.target);
    let decoded = decode_yaml(&call.body)
        .map_err(|error| ApiError::bad_request(format!("error decoding YAML: {error}")))?;
    let config = decoded.value;
    let name = fields::name(&config);
    if !name.is_empty() && name != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    let namespace = fields::namespace(&config);
    if resource.namespaced && !namespace.is_empty() && namespace != target.namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let manager = manager(call, options);
    let force = options.force == Some(true);
    let key = resource.key(&target.namespace, &target.name);
    // Whether to create or to update can change between looking and writing: look again then.
    for _ in 0..10 {
        if server.store.get(&resource.table, &key).is_none() && target.subresource.is_empty() {
            let mut object = rules::apply(resource, None, &config, &manager, force, "")?;
            fields::remove(&mut object, &["metadata", "resourceVersion"]);
            fields::remove(&mut object, &["metadata", "uid"]);
            fields::metadata(&mut object).insert("name".into(), target.name.as_str().into());
            let new = create::New { object, manager: None, dry_run: options.dry_run };
            match create::create_object(server, call, new).await {
                Err(error) if error.reason == "AlreadyExists" => continue,
                other => return other,
            }
        }
        let mut produce =
            |old: &Value| rules::apply(resource, Some(old), &config, &manager, force, &target.subresource);
        let change = Change { options, tracked: true, patch: true };
        match apply_change(server, call, &change, &mut produce).await {
            Err(error) if error.code == 404 && target.subresource.is_empty() => continue,
            other => return other,
        }
    }
    Err(ApiError::modified(&resource.group, &resource.plural, &target.name))
}
