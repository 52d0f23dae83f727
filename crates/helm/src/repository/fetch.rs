//! The door to the network.

use thiserror::Error;

use super::address::Address;

/// One GET, or one POST of a form.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where.
    pub address: Address,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The fields of a form to post, encoded; a GET without it.
    pub form: Option<String>,
    /// How large the body of the answer may be.
    pub limit: u64,
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, Error)]
#[error("could not reach {address}: {reason}")]
pub struct FetchError {
    /// Where.
    pub address: String,
    /// Why.
    pub reason: String,
}

/// Sends one request and returns the answer, whatever its status. Redirects are not followed: the rules about credentials
/// are the caller's.
pub trait Fetch: Send + Sync {
    /// Sends the request.
    ///
    /// # Errors
    ///
    /// When no answer comes, or the body is larger than the request allows.
    fn fetch(&self, request: &Request) -> Result<Response, FetchError>;
}

impl<F> Fetch for F
where
    F: Fn(&Request) -> Result<Response, FetchError> + Send + Sync,
{
    fn fetch(&self, request: &Request) -> Result<Response, FetchError> {
        self(request)
    }
}
