//! What is served.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;

use crate::reply::Reply;
use crate::request::Form;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// Answers `/api`, `/apis` and what is directly below.
pub fn answer(
    _server: &Arc<Server>,
    _request: &Request<Bytes>,
    _group: Option<String>,
    _version: Option<String>,
    _core: bool,
    _form: Form,
) -> ApiResult<Reply> {
    Err(ApiError::no_such_page())
}
