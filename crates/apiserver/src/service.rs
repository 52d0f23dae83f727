//! The API as a tower service.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::auth::Identity;
use crate::reply::{Body, Reply};
use crate::request::Encoding;
use crate::request::body::LARGEST_BODY;
use crate::server::Server;
use crate::status::ApiError;

/// The API, for a fixed identity or for whoever shows credentials.
#[derive(Clone)]
pub struct ApiService {
    server: Arc<Server>,
    caller: Caller,
}

#[derive(Clone)]
enum Caller {
    /// This one, without credentials.
    Fixed(Arc<Identity>),
    /// Whoever the headers or the client certificate say.
    Shown(Option<Arc<Identity>>),
}

impl ApiService {
    /// Every request is made by this identity.
    pub fn for_identity(server: Arc<Server>, identity: Identity) -> Self {
        Self { server, caller: Caller::Fixed(Arc::new(identity)) }
    }

    /// Every request needs credentials.
    pub fn authenticating(server: Arc<Server>) -> Self {
        Self { server, caller: Caller::Shown(None) }
    }

    /// For a connection whose client showed a certificate.
    #[must_use]
    pub fn with_peer(self, peer: Option<Identity>) -> Self {
        Self { caller: Caller::Shown(peer.map(Arc::new)), ..self }
    }

    /// A client that uses this service directly.
    pub fn into_client(self) -> kube::Client {
        kube::Client::new(self, "default")
    }
}

impl<B> tower::Service<Request<B>> for ApiService
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { server, caller } = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = match collect(body).await {
                Ok(body) => body,
                Err(error) => return Ok(Reply::error(&error).into_response(Encoding::Json)),
            };
            let identity = match &caller {
                Caller::Fixed(identity) => Ok((**identity).clone()),
                Caller::Shown(peer) => server.authenticate(&parts.headers, peer.as_deref()),
            };
            let identity = match identity {
                Ok(identity) => identity,
                Err(error) => return Ok(Reply::error(&error).into_response(Encoding::Json)),
            };
            Ok(server.answer(Request::from_parts(parts, body), identity).await)
        })
    }
}

async fn collect<B>(body: B) -> Result<Bytes, ApiError>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, LARGEST_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {LARGEST_BODY}"),
        )),
        Err(error) => Err(ApiError::bad_request(format!("the body could not be read: {error}"))),
    }
}
