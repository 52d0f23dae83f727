//! Calling a webhook: one HTTPS request to a URL or to what stands behind a Service.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use podsmith_object::Value;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::fields::{self, list, text};
use crate::server::Server;

/// An answer larger than this is refused.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;

/// Where a webhook is.
struct Endpoint {
    /// Where to connect.
    address: String,
    /// The name in the certificate.
    host: String,
    /// The path with its query.
    path: String,
}

/// Sends a review and returns the answer.
///
/// # Errors
///
/// Why there is none.
pub async fn post(
    server: &Arc<Server>,
    config: &Value,
    body: &Value,
    timeout: Duration,
) -> Result<Value, String> {
    let endpoint = find(server, config)?;
    match tokio::time::timeout(timeout, send(config, &endpoint, body, timeout)).await {
        Ok(result) => result,
        Err(_) => {
            Err(format!("Post \"https://{}{}\": context deadline exceeded", endpoint.host, endpoint.path))
        }
    }
}

fn find(server: &Arc<Server>, config: &Value) -> Result<Endpoint, String> {
    let url = text(config, &["url"]);
    if !url.is_empty() {
        let uri: http::Uri = url.parse().map_err(|error| format!("the URL {url} cannot be read: {error}"))?;
        let host = uri.host().unwrap_or("").trim_matches(|c| c == '[' || c == ']').to_owned();
        let port = uri.port_u16().unwrap_or(443);
        let path = uri.path_and_query().map_or("/".to_owned(), ToString::to_string);
        return Ok(Endpoint { address: format!("{}:{port}", uri.host().unwrap_or("")), host, path });
    }
    let Some(reference) = fields::at(config, &["service"]) else {
        return Err("the webhook names neither a URL nor a service".to_owned());
    };
    let (namespace, name) = (text(reference, &["namespace"]), text(reference, &["name"]));
    let port = fields::at(reference, &["port"]).and_then(Value::as_u64).unwrap_or(443);
    let path = fields::text(reference, &["path"]);
    let path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
    let address = service_address(server, namespace, name, port)?;
    Ok(Endpoint { address, host: format!("{name}.{namespace}.svc"), path })
}

/// No proxy stands behind cluster addresses here, so a service means one of its endpoints.
fn service_address(server: &Arc<Server>, namespace: &str, name: &str, port: u64) -> Result<String, String> {
    let key = format!("{namespace}/{name}");
    let Some(service) = server.store.get("services", &key).map(|stored| stored.value()) else {
        return Err(format!("service \"{name}\" not found"));
    };
    if text(&service, &["spec", "type"]) == "ExternalName" {
        return Ok(format!("{}:{port}", text(&service, &["spec", "externalName"])));
    }
    let Some(known) = list(&service, &["spec", "ports"])
        .iter()
        .find(|one| one.get("port").and_then(Value::as_u64) == Some(port))
    else {
        return Err(format!("no service port {port} found for service \"{name}\""));
    };
    let port_name = text(known, &["name"]);
    let fits = |one: &&Value| text(one, &["name"]) == port_name;
    let join = |address: &str, port: &Value| {
        let port = port.get("port").and_then(Value::as_u64)?;
        Some(if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") })
    };
    let slices =
        server.store.list("discovery.k8s.io/endpointslices", &format!("{namespace}/"), None, None, None);
    for (_, stored) in slices.map(|listing| listing.items).unwrap_or_default() {
        if stored.label("kubernetes.io/service-name") != Some(name) {
            continue;
        }
        let slice = stored.value();
        let ready = |one: &&Value| fields::at(one, &["conditions", "ready"]) != Some(&Value::Bool(false));
        let address = list(&slice, &["endpoints"])
            .iter()
            .filter(ready)
            .find_map(|one| fields::texts(one, &["addresses"]).first().map(|address| (*address).to_owned()));
        let port = list(&slice, &["ports"]).iter().find(fits);
        if let (Some(address), Some(port)) = (address, port)
            && let Some(found) = join(&address, port)
        {
            return Ok(found);
        }
    }
    if let Some(endpoints) = server.store.get("endpoints", &key).map(|stored| stored.value()) {
        for subset in list(&endpoints, &["subsets"]) {
            let address = list(subset, &["addresses"]).first().map(|one| text(one, &["ip"]).to_owned());
            let port = list(subset, &["ports"]).iter().find(fits);
            if let (Some(address), Some(port)) = (address, port)
                && let Some(found) = join(&address, port)
            {
                return Ok(found);
            }
        }
    }
    Err(format!("no endpoints available for service \"{name}\""))
}

async fn send(config: &Value, endpoint: &Endpoint, body: &Value, timeout: Duration) -> Result<Value, String> {
    let failed = |error: &dyn std::fmt::Display| {
        format!("Post \"https://{}{}\": {error}", endpoint.host, endpoint.path)
    };
    let stream = TcpStream::connect(&endpoint.address).await.map_err(|error| failed(&error))?;
    let name = ServerName::try_from(endpoint.host.clone()).map_err(|error| failed(&error))?;
    let connector = TlsConnector::from(Arc::new(tls(config)?));
    let stream = connector.connect(name, stream).await.map_err(|error| failed(&error))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    let driver = tokio::spawn(connection);
    let joiner = if endpoint.path.contains('?') { '&' } else { '?' };
    let request = Request::post(format!("{}{joiner}timeout={}s", endpoint.path, timeout.as_secs()))
        .header(header::HOST, &endpoint.host)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .body(Full::new(Bytes::from(body.to_string())))
        .map_err(|error| failed(&error))?;
    let response = sender.send_request(request).await.map_err(|error| failed(&error))?;
    let status = response.status();
    let body =
        Limited::new(response.into_body(), LARGEST_ANSWER).collect().await.map_err(|error| failed(&error))?;
    driver.abort();
    if !status.is_success() {
        return Err(format!("the server answered with {status}"));
    }
    serde_json::from_slice(&body.to_bytes()).map_err(|error| format!("the answer is no JSON: {error}"))
}

/// TLS that trusts the webhook's own authority and nobody else.
fn tls(config: &Value) -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    let bundle = STANDARD.decode(text(config, &["caBundle"])).unwrap_or_default();
    for certificate in CertificateDer::pem_slice_iter(&bundle).flatten() {
        roots.add(certificate).map_err(|error| format!("the caBundle cannot be used: {error}"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}
