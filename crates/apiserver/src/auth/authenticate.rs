//! Who asks, from headers and certificates.

use http::{HeaderMap, header};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::Identity;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// The user a client certificate names: the common name, with the organizations as groups.
pub fn identity_of_certificate(der: &[u8]) -> Option<Identity> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
    let groups: Vec<&str> = subject.iter_organization().filter_map(|group| group.as_str().ok()).collect();
    Some(Identity::new(name, &groups))
}

impl Server {
    /// Who makes a request: a bearer token, else the certificate, else nobody.
    ///
    /// # Errors
    ///
    /// 401 for a token nobody knows.
    pub fn authenticate(&self, headers: &HeaderMap, peer: Option<&Identity>) -> ApiResult<Identity> {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = shown.and_then(|text| text.strip_prefix("Bearer ").or(text.strip_prefix("bearer ")));
        let identity = match token.map(str::trim).filter(|token| !token.is_empty()) {
            Some(token) if constant_time_equal(token, &self.pki.admin_token) => Identity::admin(),
            Some(_) => return Err(unauthorized()),
            None => match peer {
                Some(peer) => peer.clone(),
                None => Identity::anonymous(),
            },
        };
        Ok(identity)
    }
}

/// 401.
pub fn unauthorized() -> ApiError {
    ApiError::new(401, "Unauthorized", "Unauthorized")
}

/// Compares without telling by the time it takes where the difference is.
fn constant_time_equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
