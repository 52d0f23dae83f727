//! Reviews: questions about access, answered and not stored.

use std::sync::Arc;

use podsmith_object::Value;

use crate::reply::Reply;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

/// Answers a review.
pub async fn create(_server: &Arc<Server>, _call: &Call, _object: Value) -> ApiResult<Reply> {
    Err(ApiError::method_not_allowed())
}
