//! Who owns which fields.

use podsmith_object::Value;
use podsmith_schema::apply::{self as smd, ApplyError, FieldSet, Force, Versions, Write};
use podsmith_schema::{Type, strategy};

use crate::clock;
use crate::convert;
use crate::fields;
use crate::registry::Resource;
use crate::status::{ApiError, ApiResult, Cause, Details};

/// The versions of a resource, as ownership sees them.
struct Served<'r> {
    resource: &'r Resource,
    subresource: &'r str,
}

impl Versions for Served<'_> {
    fn type_at(&self, api_version: &str) -> Option<Type> {
        if self.resource.api_version() == api_version {
            return Some(self.resource.ty.clone());
        }
        match &self.resource.custom {
            Some(custom) => custom
                .versions
                .iter()
                .find(|(known, _)| known == api_version)
                .map(|(_, schema)| schema.ty().clone()),
            None => convert::sibling_type(self.resource, api_version),
        }
    }

    fn convert(&self, object: &Value, api_version: &str) -> Option<Value> {
        self.type_at(api_version)?;
        Some(convert::between(self.resource, object.clone(), api_version))
    }

    fn reset_fields(&self, _api_version: &str) -> FieldSet {
        if !self.resource.is_custom() {
            return strategy::reset_fields(&self.resource.gvk(), self.subresource);
        }
        match self.subresource {
            "status" => FieldSet::of_fields(&[&["apiVersion"], &["kind"], &["metadata"], &["spec"]]),
            _ if self.resource.subresource("status").is_some() => FieldSet::of_fields(&[&["status"]]),
            _ => FieldSet::default(),
        }
    }
}

/// Server-side apply: the new object with its managers.
///
/// # Errors
///
/// 409 for conflicts, 400 and 500 for configurations that cannot be applied.
pub fn apply(
    resource: &Resource,
    live: Option<&Value>,
    config: &Value,
    manager: &str,
    force: bool,
    subresource: &str,
) -> ApiResult<Value> {
    let served = Served { resource, subresource };
    let gvk = resource.gvk();
    let now = clock::now();
    let write = Write { gvk: &gvk, subresource, manager, now: &now, versions: &served };
    let force = if force { Force::Yes } else { Force::No };
    match smd::apply(live, config, &write, force) {
        Ok(applied) => {
            let mut object = applied.object;
            forget_scale_times(&mut object, subresource);
            Ok(object)
        }
        Err(ApplyError::Conflicts(conflicts)) => {
            let causes = conflicts
                .list
                .iter()
                .map(|one| Cause::new("FieldManagerConflict", one.field(), one.message()))
                .collect();
            Err(ApiError::new(409, "Conflict", conflicts.to_string())
                .with_details(Details { causes, ..Details::default() }))
        }
        Err(ApplyError::BadRequest(message)) => Err(ApiError::bad_request(message)),
        Err(ApplyError::Untyped(message)) => Err(ApiError::internal(message)),
    }
}

/// Notes who changed what.
pub fn track(resource: &Resource, old: Option<&Value>, new: &mut Value, manager: &str, subresource: &str) {
    if subresource == "scale"
        && let Some(old) = old
        && !replicas_are_owned(resource, old)
    {
        // The real server notes who scales only where someone owned the replicas before.
        fields::copy(old, new, &["metadata", "managedFields"]);
        return;
    }
    let served = Served { resource, subresource };
    let gvk = resource.gvk();
    let now = clock::now();
    let write = Write { gvk: &gvk, subresource, manager, now: &now, versions: &served };
    *new = smd::update(old, std::mem::take(new), &write);
    forget_scale_times(new, subresource);
}

fn replicas_are_owned(resource: &Resource, object: &Value) -> bool {
    let scale = resource.custom.as_ref().and_then(|custom| custom.scale.as_ref());
    let path: Vec<String> = match scale {
        Some(paths) => paths.spec.iter().map(|key| format!("f:{key}")).collect(),
        None => vec!["f:spec".to_owned(), "f:replicas".to_owned()],
    };
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    fields::list(object, &["metadata", "managedFields"])
        .iter()
        .any(|entry| entry.get("fieldsV1").is_some_and(|set| fields::at(set, &path).is_some()))
}

/// The real server notes no time for what is written through the scale.
fn forget_scale_times(object: &mut Value, subresource: &str) {
    if subresource != "scale" {
        return;
    }
    if let Some(Value::Array(entries)) = fields::metadata(object).get_mut("managedFields") {
        for entry in entries.iter_mut().filter(|entry| fields::text(entry, &["subresource"]) == "scale") {
            fields::remove(entry, &["time"]);
        }
    }
}

/// True if two states differ only in the times of their managers.
pub fn same_but_for_times(old: &Value, new: &Value) -> bool {
    smd::equal_but_times(old, new)
}
