//! Who may see which password.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use podsmith_object::Value;
use thiserror::Error;

use super::address::Address;

/// A user name with a password, or a token for the registry's token service.
#[derive(Clone, Eq, PartialEq)]
pub enum Login {
    /// Name and password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A refresh token.
    Token(String),
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(…)")
    }
}

impl Login {
    /// The value of an `Authorization` header; tokens have none.
    pub(super) fn basic(&self) -> Option<String> {
        match self {
            Self::Password { user, password } => {
                let pair = format!("{user}:{password}");
                Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)))
            }
            Self::Token(_) => None,
        }
    }
}

/// A Docker configuration that cannot be read.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("the Docker configuration is malformed: {reason}")]
pub struct CredentialsError {
    /// Why.
    pub reason: String,
}

/// Logins by host. A login is only ever sent to the host it belongs to.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    logins: BTreeMap<String, Login>,
}

impl Credentials {
    /// No logins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a login for `host` or `host:port`.
    pub fn insert(&mut self, host: &str, login: Login) {
        self.logins.insert(normal_host(host), login);
    }

    /// Reads the `auths` of a Docker `config.json`. Entries whose secret is kept by a helper program are skipped.
    ///
    /// # Errors
    ///
    /// When the text is not JSON or an entry is not what `docker login` writes.
    pub fn from_docker_config(text: &str) -> Result<Self, CredentialsError> {
        let wrong = |reason: &str| CredentialsError { reason: reason.to_owned() };
        let config: Value =
            serde_json::from_str(text).map_err(|error| CredentialsError { reason: error.to_string() })?;
        let mut found = Self::default();
        let Some(auths) = config.get("auths") else { return Ok(found) };
        let auths = auths.as_object().ok_or_else(|| wrong("`auths` is not a mapping"))?;
        for (host, entry) in auths {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            if let Some(token) = text("identitytoken") {
                found.insert(host, Login::Token(token.to_owned()));
            } else if let Some(encoded) = text("auth") {
                let decoded = base64::engine::general_purpose::STANDARD
                    .decode(encoded)
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                    .ok_or_else(|| wrong("an `auth` is not base64"))?;
                let (user, password) =
                    decoded.split_once(':').ok_or_else(|| wrong("an `auth` has no password"))?;
                let login = Login::Password { user: user.to_owned(), password: password.to_owned() };
                found.insert(host, login);
            } else if let (Some(user), Some(password)) = (text("username"), text("password")) {
                let login = Login::Password { user: user.to_owned(), password: password.to_owned() };
                found.insert(host, login);
            }
        }
        Ok(found)
    }

    /// The login for an address.
    pub fn for_address(&self, address: &Address) -> Option<&Login> {
        self.logins.get(&address.authority()).or_else(|| {
            let with_port = format!("{}:{}", address.host(), address.port());
            self.logins.get(&with_port)
        })
    }
}

/// Docker writes hosts with or without scheme and path.
fn normal_host(host: &str) -> String {
    let host = host.split_once("://").map_or(host, |(_, rest)| rest);
    host.split('/').next().unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_come_from_a_docker_configuration() {
        let text = r#"{"auths": {
            "registry.example": {"auth": "dXNlcjpwYTpzcw=="},
            "https://other.example:5000/v2/": {"identitytoken": "t"},
            "helper.example": {}
        }, "credsStore": "desktop"}"#;
        let found = Credentials::from_docker_config(text).unwrap();
        let at = |url: &str| found.for_address(&Address::parse(url).unwrap()).cloned();
        let login = Login::Password { user: "user".into(), password: "pa:ss".into() };
        assert_eq!(at("https://registry.example/v2/x"), Some(login.clone()));
        assert_eq!(at("https://other.example:5000/x"), Some(Login::Token("t".into())));
        assert_eq!(at("https://helper.example/x"), None);
        assert_eq!(at("https://registry.example.evil/x"), None);
        assert_eq!(format!("{login:?}"), "Login(…)");
    }

    #[test]
    fn malformed_configurations_are_refused_without_showing_secrets() {
        for text in [
            "{",
            r#"{"auths": []}"#,
            r#"{"auths": {"a": {"auth": "%%"}}}"#,
            r#"{"auths": {"a": {"auth": "YQ=="}}}"#,
        ] {
            assert!(Credentials::from_docker_config(text).is_err(), "{text}");
        }
    }
}
