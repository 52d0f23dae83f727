//! One request in, one answer out.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, header};

use crate::auth::{Identity, Rights, authorize, authorize_page};
use crate::cluster::Pki;
use crate::handlers;
use crate::registry::{Registry, Resource};
use crate::reply::{Body, Reply};
use crate::request::{self, Encoding, Form, Query, Route, Target};
use crate::status::{ApiError, ApiResult};
use crate::store::Store;
use crate::strategy::services::Addresses;

/// Everything a request needs.
pub struct Server {
    /// The objects.
    pub store: Store,
    /// The resources.
    pub registry: Registry,
    /// The keys.
    pub pki: Pki,
    /// Addresses and ports of services.
    pub addresses: Addresses,
    /// Who may do what, as far as it was worked out.
    pub rights: Rights,
}

/// One request, taken apart.
pub struct Call {
    /// The method.
    pub method: Method,
    /// What the path names.
    pub target: Target,
    /// The resource at that path.
    pub resource: Arc<Resource>,
    /// The query.
    pub query: Query,
    /// Who asks.
    pub identity: Identity,
    /// The program that asks, up to the first slash.
    pub agent: String,
    /// How the body is written.
    pub content_type: Option<String>,
    /// The body.
    pub body: Bytes,
    /// The form of the answer.
    pub form: Form,
}

impl Call {
    /// Who writes when the client does not say: the program it is.
    pub fn user_agent_manager(&self) -> String {
        if self.agent.is_empty() { "unknown".to_owned() } else { self.agent.clone() }
    }
}

impl Server {
    /// A server over a store.
    pub fn new(store: Store, pki: Pki) -> Self {
        let server = Self {
            store,
            registry: Registry::default(),
            pki,
            addresses: Addresses::default(),
            rights: Rights::default(),
        };
        server.restore();
        server
    }

    /// What follows from objects that are already there.
    fn restore(&self) {
        let everything = |table: &str| match self.store.list(table, "", None, None, None) {
            Ok(listing) => listing.items,
            Err(_) => Vec::new(),
        };
        for (_, stored) in everything("apiextensions.k8s.io/customresourcedefinitions") {
            self.registry.define(&stored.value());
        }
        for (_, stored) in everything("services") {
            self.addresses.note(&stored.value(), false);
        }
    }

    /// Answers a request. Never fails: failures are answers.
    pub async fn answer(self: &Arc<Self>, request: Request<Bytes>, identity: Identity) -> Response<Body> {
        let accept = text_header(&request, header::ACCEPT);
        let (encoding, form) = match request::negotiate(accept.as_deref()) {
            Ok(forms) => forms,
            // Pages and OpenAPI documents come in one form, whatever is asked for.
            Err(_) if !request.uri().path().starts_with("/api") => Default::default(),
            Err(error) => return Reply::error(&error).into_response(Encoding::Json),
        };
        let encoding = if encoding == Encoding::Json && is_for_people(&request) {
            Encoding::PrettyJson
        } else {
            encoding
        };
        let packs =
            text_header(&request, header::ACCEPT_ENCODING).is_some_and(|known| known.contains("gzip"));
        let reply = match self.route(request, identity, form).await {
            Ok(reply) => reply,
            Err(error) => Reply::error(&error),
        };
        let reply = if packs { reply.packed(encoding) } else { reply };
        reply.into_response(encoding)
    }

    async fn route(
        self: &Arc<Self>,
        request: Request<Bytes>,
        identity: Identity,
        form: Form,
    ) -> ApiResult<Reply> {
        let query = Query::parse(request.uri().query().unwrap_or(""));
        match request::parse_path(request.uri().path()) {
            Route::Resource(target) => self.on_resource(request, target, query, identity, form).await,
            Route::Discovery { group, version, core } => {
                authorize_page(self, &identity, request.method(), request.uri().path())?;
                handlers::discovery::answer(self, &request, group, version, core, form)
            }
            Route::Other(path) => {
                authorize_page(self, &identity, request.method(), &path)?;
                handlers::pages::answer(self, &request, &path)
            }
        }
    }

    async fn on_resource(
        self: &Arc<Self>,
        request: Request<Bytes>,
        target: Target,
        query: Query,
        identity: Identity,
        form: Form,
    ) -> ApiResult<Reply> {
        authorize(self, &identity, request.method(), &target, &query)?;
        let index = self.registry.index();
        let Some(version) = index.version(&target.group, &target.version) else {
            return Err(ApiError::no_such_page());
        };
        let Some(resource) = version.get(&target.resource).cloned() else {
            return Err(ApiError::no_such_resource());
        };
        let content_type = text_header(&request, header::CONTENT_TYPE);
        let agent = text_header(&request, header::USER_AGENT)
            .map(|agent| agent.split('/').next().unwrap_or("").to_owned())
            .unwrap_or_default();
        let method = request.method().clone();
        let body = request.into_body();
        let call = Call { method, target, resource, query, identity, agent, content_type, body, form };
        handlers::dispatch(self, call).await
    }
}

/// Browsers and command-line tools get line breaks, unless they say otherwise.
fn is_for_people(request: &Request<Bytes>) -> bool {
    let query = Query::parse(request.uri().query().unwrap_or(""));
    match query.get("pretty") {
        Some(_) => query.flag("pretty"),
        None => text_header(request, header::USER_AGENT)
            .is_some_and(|agent| ["curl/", "Wget/", "Mozilla/"].iter().any(|known| agent.starts_with(known))),
    }
}

/// A header as text.
pub fn text_header(request: &Request<Bytes>, name: header::HeaderName) -> Option<String> {
    let values: Vec<&str> =
        request.headers().get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(","))
}
