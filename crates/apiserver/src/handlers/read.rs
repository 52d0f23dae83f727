//! GET of one object.

use std::sync::Arc;

use crate::output;
use crate::reply::Reply;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

/// Answers with one object.
pub async fn get(server: &Arc<Server>, call: &Call) -> ApiResult<Reply> {
    super::require(call, "get")?;
    let (target, resource) = (&call.target, &call.resource);
    let key = resource.key(&target.namespace, &target.name);
    let Some(stored) = server.store.get(&resource.table, &key) else {
        return Err(ApiError::not_found(&resource.group, &resource.plural, &target.name));
    };
    settle(server, stored.revision()).await?;
    output::stored(server, call, 200, &stored).await
}

/// Waits until a revision is durable.
pub(super) async fn settle(server: &Arc<Server>, revision: u64) -> ApiResult<()> {
    server.store.settled(revision).await.map_err(|error| ApiError::internal_error(error.to_string()))
}
