//! Calls the server makes to itself, for its controllers.

use std::sync::Arc;

use http::Method;
use podsmith_object::Value;

use super::delete::{Deleted, delete_object};
use super::update::{Change, apply_change};
use crate::auth::Identity;
use crate::registry::Resource;
use crate::reply::Reply;
use crate::request::{DeleteOptions, Form, Query, Target, WriteOptions};
use crate::server::{Call, Server};
use crate::status::ApiResult;

/// A call by a controller.
pub fn call(
    controller: &str,
    resource: &Arc<Resource>,
    namespace: &str,
    name: &str,
    subresource: &str,
) -> Call {
    let user = format!("system:serviceaccount:kube-system:{controller}");
    Call {
        method: Method::PATCH,
        target: Target {
            group: resource.group.clone(),
            version: resource.version.clone(),
            namespace: namespace.to_owned(),
            resource: resource.plural.clone(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
            ..Target::default()
        },
        resource: resource.clone(),
        query: Query::default(),
        identity: Identity::new(user, &["system:masters", "system:serviceaccounts"]),
        agent: "podsmith".to_owned(),
        content_type: None,
        body: Default::default(),
        form: Form::Object,
    }
}

/// Deletes an object.
pub async fn delete(server: &Arc<Server>, call: &Call, options: &DeleteOptions) -> ApiResult<Deleted> {
    delete_object(server, call, &call.target.name, options).await.map(|(deleted, _)| deleted)
}

/// Changes an object.
pub async fn change(
    server: &Arc<Server>,
    call: &Call,
    produce: &mut (dyn FnMut(&Value) -> ApiResult<Value> + Send),
) -> ApiResult<Reply> {
    let options =
        WriteOptions { field_manager: "podsmith-controllers".to_owned(), ..WriteOptions::default() };
    apply_change(server, call, &Change { options: &options, tracked: false, patch: true }, produce).await
}
