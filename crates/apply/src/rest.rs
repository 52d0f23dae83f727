//! Requests as the rest of the crate needs them: untyped objects in, untyped objects or a refusal out.

use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::Client;
use podsmith_object::{Object, Value, json};
use podsmith_plan::answer::Refusal;
use podsmith_plan::kinds::Resource;
use podsmith_plan::names;
use thiserror::Error;

/// Why a request gave no object.
#[derive(Debug, Error)]
pub enum CallError {
    /// The server answered no.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// There was no answer.
    #[error("the cluster does not answer")]
    Lost(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer makes no sense.
    #[error("the cluster gave an answer that is no Kubernetes object: {0}")]
    Strange(String),
}

impl CallError {
    /// The HTTP status of a refusal.
    pub fn code(&self) -> u16 {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Lost(_) | Self::Strange(_) => 0,
        }
    }

    /// True when the object is not there.
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// True when the same request may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Lost(_) => true,
            Self::Refused(refusal) => {
                matches!(refusal.code, 429 | 500 | 502 | 503 | 504)
                    || refusal.code == 409 && refusal.reason == "Conflict" && refusal.conflicts().is_empty()
            }
            Self::Strange(_) => false,
        }
    }
}

/// How the server treats a write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Check only.
    DryRun,
    /// Write.
    Real,
}

/// What happens to fields that others own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ownership {
    /// A conflict is an error.
    Respect,
    /// Take them over.
    Force,
}

/// What happens to the objects that an object owns when it is deleted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dependents {
    /// They are deleted too, afterwards.
    Delete,
    /// They stay.
    Orphan,
}

/// A client for untyped objects.
#[derive(Clone)]
pub struct Rest {
    client: Client,
}

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

impl Rest {
    /// Requests through `client`.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    async fn send(&self, request: http::request::Builder, body: Vec<u8>) -> Result<Value, CallError> {
        let request: Request<kube::client::Body> = request
            .body(kube::client::Body::from(body))
            .map_err(|error| CallError::Strange(error.to_string()))?;
        let response = self.client.send(request).await.map_err(|error| CallError::Lost(Box::new(error)))?;
        let status = response.status();
        let bytes = response
            .into_body()
            .collect()
            .await
            .map_err(|error| CallError::Lost(Box::new(error)))?
            .to_bytes();
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|error| CallError::Strange(error.to_string()));
        }
        Err(CallError::Refused(refusal(status, &bytes)))
    }

    /// Any path, as text.
    ///
    /// # Errors
    ///
    /// When there is no success.
    pub async fn text(&self, path: &str) -> Result<String, CallError> {
        let request =
            Request::get(path).body(Vec::new()).map_err(|error| CallError::Strange(error.to_string()))?;
        self.client.request_text(request).await.map_err(|error| CallError::Lost(Box::new(error)))
    }

    /// Any path.
    ///
    /// # Errors
    ///
    /// When there is no success.
    pub async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.read(path, "application/json").await
    }

    /// Reads change nothing, so one that fails in a way that may pass is tried again.
    async fn read(&self, path: &str, accept: &'static str) -> Result<Value, CallError> {
        const PAUSES: [u64; 2] = [50, 200];
        let mut pauses = PAUSES.into_iter();
        loop {
            let request = Request::builder().method(Method::GET).uri(path).header(header::ACCEPT, accept);
            match (self.send(request, Vec::new()).await, pauses.next()) {
                (Err(error), Some(pause)) if error.is_transient() => {
                    tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
                }
                (answer, _) => return answer,
            }
        }
    }

    /// A discovery document, aggregated if the server can.
    ///
    /// # Errors
    ///
    /// When there is no success.
    pub async fn discover(&self, path: &str) -> Result<Value, CallError> {
        self.read(path, AGGREGATED).await
    }

    /// One object; `None` if it is not there.
    ///
    /// # Errors
    ///
    /// When the server refuses for another reason.
    pub async fn object(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Object>, CallError> {
        match self.get(&resource.object_path(namespace, &encode(name))).await {
            Ok(value) => to_object(value).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All objects of a kind in a namespace, or in all of them.
    ///
    /// # Errors
    ///
    /// When there is no success.
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: &str,
        labels: &str,
    ) -> Result<Vec<Object>, CallError> {
        let mut path = resource.collection_path(namespace);
        if !labels.is_empty() {
            path = format!("{path}?labelSelector={}", encode(labels));
        }
        let Value::Object(mut list) = self.get(&path).await? else {
            return Err(CallError::Strange("a list is no object".into()));
        };
        let Some(Value::Array(items)) = list.shift_remove("items") else { return Ok(Vec::new()) };
        let (api_version, kind) = (resource.gvk.api_version(), resource.gvk.kind.to_string());
        items
            .into_iter()
            .map(|item| {
                let mut object = to_object(item)?;
                // Items of a list do not repeat their type.
                if object.kind().is_empty() {
                    object.body_mut().insert("kind".into(), json!(kind));
                    object.body_mut().insert("apiVersion".into(), json!(api_version));
                }
                Ok(object)
            })
            .collect()
    }

    /// Server-side apply with our field manager and strict validation.
    ///
    /// # Errors
    ///
    /// When there is no success.
    pub async fn apply(
        &self,
        resource: &Resource,
        object: &Object,
        mode: Mode,
        ownership: Ownership,
    ) -> Result<Object, CallError> {
        let mut path = resource.object_path(object.namespace(), &encode(object.name()));
        path.push_str(&format!("?fieldManager={}&fieldValidation=Strict", names::MANAGER));
        if ownership == Ownership::Force {
            path.push_str("&force=true");
        }
        if mode == Mode::DryRun {
            path.push_str("&dryRun=All");
        }
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(path)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/apply-patch+yaml");
        to_object(self.send(request, to_bytes(object)?).await?)
    }

    /// A dry run of creating the object in `namespace`.
    ///
    /// # Errors
    ///
    /// When there is no success.
    pub async fn check_create(
        &self,
        resource: &Resource,
        object: &Object,
        namespace: &str,
    ) -> Result<Object, CallError> {
        let path = format!(
            "{}?fieldManager={}&fieldValidation=Strict&dryRun=All",
            resource.collection_path(namespace),
            names::MANAGER
        );
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json");
        to_object(self.send(request, to_bytes(object)?).await?)
    }

    /// Deletes exactly the object with this uid. `Ok(false)` when it was gone already.
    ///
    /// # Errors
    ///
    /// When the server refuses, for instance because another object has the name now.
    pub async fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        uid: &str,
        dependents: Dependents,
    ) -> Result<bool, CallError> {
        let mut options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": if dependents == Dependents::Orphan { "Orphan" } else { "Background" },
        });
        if !uid.is_empty() {
            options["preconditions"] = json!({ "uid": uid });
        }
        let request = Request::builder()
            .method(Method::DELETE)
            .uri(resource.object_path(namespace, &encode(name)))
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json");
        match self.send(request, options.to_string().into_bytes()).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn to_object(value: Value) -> Result<Object, CallError> {
    Object::from_value(value).map_err(|error| CallError::Strange(error.to_string()))
}

fn to_bytes(object: &Object) -> Result<Vec<u8>, CallError> {
    serde_json::to_vec(object).map_err(|error| CallError::Strange(error.to_string()))
}

fn refusal(status: StatusCode, bytes: &[u8]) -> Refusal {
    let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
    let mut refusal = parsed.as_ref().map_or_else(
        || Refusal {
            code: status.as_u16(),
            reason: String::new(),
            message: String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).into_owned(),
            causes: Vec::new(),
        },
        Refusal::from_status,
    );
    refusal.code = status.as_u16();
    if refusal.message.is_empty() {
        refusal.message = status.to_string();
    }
    refusal
}

/// The text as a part of a URL.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
