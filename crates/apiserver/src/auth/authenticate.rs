//! Who asks, from headers and certificates.

use http::{HeaderMap, header};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{Access, Identity, tokens};
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
            Some(token) => self.identity_of_token(token).ok_or_else(unauthorized)?,
            None => match peer {
                Some(peer) => peer.clone(),
                None => Identity::anonymous(),
            },
        };
        self.impersonate(headers, identity)
    }

    /// Whose token this is.
    pub fn identity_of_token(&self, token: &str) -> Option<Identity> {
        if constant_time_equal(token, &self.pki.admin_token) {
            return Some(Identity::admin());
        }
        tokens::check(self, token, None)
    }

    /// Who a request is made for, if its maker may speak for others.
    fn impersonate(&self, headers: &HeaderMap, identity: Identity) -> ApiResult<Identity> {
        let all = |name: &str| -> Vec<String> {
            headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect()
        };
        let (users, groups, uids) =
            (all("impersonate-user"), all("impersonate-group"), all("impersonate-uid"));
        let Some(user) = users.first() else {
            return if groups.is_empty() && uids.is_empty() {
                Ok(identity)
            } else {
                let message = "requested [groups] impersonation without impersonating a user";
                Err(ApiError::internal_error(message))
            };
        };
        let check = |group: &str, resource: &str, name: &str, namespace: &str| {
            let access = Access {
                verb: "impersonate".to_owned(),
                group: group.to_owned(),
                resource: resource.to_owned(),
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                ..Access::default()
            };
            self.allows(&identity, &access).map(drop).map_err(|_| {
                let place = if namespace.is_empty() {
                    "at the cluster scope".to_owned()
                } else {
                    format!("in the namespace \"{namespace}\"")
                };
                let why = format!(
                    "User \"{}\" cannot impersonate resource \"{resource}\" in API group \"{group}\" {place}",
                    identity.name
                );
                ApiError::forbidden(group, resource, name, why)
            })
        };
        let mut other = Identity { name: user.clone(), groups: groups.clone(), ..Identity::default() };
        match user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':')) {
            Some((namespace, name)) => {
                check("", "serviceaccounts", name, namespace)?;
                if groups.is_empty() {
                    other.groups = vec![
                        "system:serviceaccounts".to_owned(),
                        format!("system:serviceaccounts:{namespace}"),
                    ];
                }
            }
            None => check("", "users", user, "")?,
        }
        for group in &groups {
            check("", "groups", group, "")?;
        }
        if let Some(uid) = uids.first() {
            check("authentication.k8s.io", "uids", uid, "")?;
            other.uid.clone_from(uid);
        }
        for (name, value) in headers {
            if let Some(key) = name.as_str().strip_prefix("impersonate-extra-") {
                check("authentication.k8s.io", "userextras", key, "")?;
                let value = value.to_str().unwrap_or("").to_owned();
                other.extra.entry(key.to_owned()).or_default().push(value);
            }
        }
        if other.name == "system:anonymous" {
            other.groups.push("system:unauthenticated".to_owned());
        } else {
            other.authenticate();
        }
        Ok(other)
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
