//! The HTTP client behind [`Fetch`]: one connection for each request, TLS with the system's certificates.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::address::Address;
use super::fetch::{Fetch, FetchError, Request, Response};

/// A client that blocks its caller.
///
/// Each request runs on a thread of its own with a small runtime, so that it may be used inside and outside of
/// asynchronous programs.
pub struct HttpClient {
    tls: TlsConnector,
    timeout: Duration,
    user_agent: String,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl HttpClient {
    /// A client that trusts the system's certificates and waits a minute at most.
    pub fn new() -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::with_roots(roots)
    }

    /// A client that trusts these certificates.
    pub fn with_roots(roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = match ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
        {
            Ok(builder) => builder,
            // The provider is the one whose defaults are asked for.
            Err(_) => ClientConfig::builder(),
        };
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Self {
            tls: TlsConnector::from(Arc::new(config)),
            timeout: Duration::from_secs(60),
            user_agent: concat!("podsmith/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// The same client with another time limit for a whole request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn run(&self, request: &Request) -> Result<Response, BoxError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            match tokio::time::timeout(self.timeout, self.send(request)).await {
                Ok(result) => result,
                Err(_) => Err(format!("no answer within {} seconds", self.timeout.as_secs()).into()),
            }
        })
    }

    async fn send(&self, request: &Request) -> Result<Response, BoxError> {
        let address = &request.address;
        let host = address.host().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, address.port())).await?;
        if address.scheme() == "http" {
            return self.exchange(stream, request).await;
        }
        let name = ServerName::try_from(host.to_owned())?;
        let stream = self.tls.connect(name, stream).await?;
        self.exchange(stream, request).await
    }

    async fn exchange(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        request: &Request,
    ) -> Result<Response, BoxError> {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the exchange; its errors reach the exchange too.
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(self.message(request)?).await?;
        let status = answer.status().as_u16();
        let headers = answer
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        let body = Limited::new(answer.into_body(), limit).collect().await?.to_bytes().to_vec();
        connection.abort();
        Ok(Response { status, headers, body })
    }

    fn message(&self, request: &Request) -> Result<hyper::Request<Full<Bytes>>, BoxError> {
        let address: &Address = &request.address;
        let method = if request.form.is_some() { hyper::Method::POST } else { hyper::Method::GET };
        let mut message = hyper::Request::builder()
            .method(method)
            .uri(address.path())
            .header("host", address.authority())
            .header("user-agent", &self.user_agent)
            .header("connection", "close");
        for (name, value) in &request.headers {
            message = message.header(name, value);
        }
        let body = match &request.form {
            Some(form) => {
                message = message.header("content-type", "application/x-www-form-urlencoded");
                Full::new(Bytes::from(form.clone()))
            }
            None => Full::default(),
        };
        Ok(message.body(body)?)
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

impl Fetch for HttpClient {
    fn fetch(&self, request: &Request) -> Result<Response, FetchError> {
        let failed = |reason: String| FetchError { address: request.address.to_string(), reason };
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| self.run(request));
            match worker.join() {
                Ok(Ok(response)) => Ok(response),
                Ok(Err(error)) => Err(failed(error.to_string())),
                Err(_) => Err(failed("the client stopped unexpectedly".to_owned())),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    /// Answers one connection with fixed bytes and gives back what was asked.
    fn serve(answer: &'static [u8]) -> (Address, std::thread::JoinHandle<String>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::parse(&format!("http://{}/a?b=c", listener.local_addr().unwrap())).unwrap();
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = Vec::new();
            let mut part = [0; 1024];
            while !text.windows(4).any(|w| w == b"\r\n\r\n") {
                let read = stream.read(&mut part).unwrap();
                text.extend_from_slice(&part[..read]);
            }
            stream.write_all(answer).unwrap();
            String::from_utf8(text).unwrap()
        });
        (address, asked)
    }

    fn get(address: Address, limit: u64) -> Result<Response, FetchError> {
        let headers = vec![("accept".to_owned(), "x/y".to_owned())];
        HttpClient::with_roots(RootCertStore::empty()).fetch(&Request { address, headers, form: None, limit })
    }

    #[test]
    fn an_answer_comes_back_whole() {
        let (address, asked) = serve(b"HTTP/1.1 404 Not Found\r\nX-Y: z\r\ncontent-length: 4\r\n\r\nbody");
        let answer = get(address, 10).unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (404, b"body".as_slice()));
        assert_eq!(answer.header("x-y"), Some("z"));
        let asked = asked.join().unwrap();
        assert!(asked.starts_with("GET /a?b=c HTTP/1.1\r\n") && asked.contains("accept: x/y"));
    }

    #[test]
    fn a_body_past_the_limit_is_refused() {
        let (address, _asked) = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody");
        assert!(get(address, 3).is_err());
    }

    #[test]
    fn a_closed_port_is_an_error_that_names_the_address() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        drop(listener);
        assert!(get(address.clone(), 10).unwrap_err().to_string().contains(&address.to_string()));
    }
}
