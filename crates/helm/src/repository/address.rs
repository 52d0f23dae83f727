//! URLs, as far as repositories need them.

use std::fmt;

/// An absolute URL with a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    scheme: String,
    host: String,
    port: Option<u16>,
    /// Path and query, starting with `/`.
    path: String,
}

impl Address {
    /// Parses `scheme://host[:port][/path]`. User information in the URL is refused: it would end up in messages.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) {
            return None;
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        if authority.is_empty() || authority.contains(['@', ' ', '\\']) {
            return None;
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port.parse().ok()?)),
            _ => (authority, None),
        };
        let path = match path {
            "" => "/".to_owned(),
            path if path.starts_with('?') => format!("/{path}"),
            path => path.to_owned(),
        };
        Some(Self { scheme: scheme.to_ascii_lowercase(), host: host.to_ascii_lowercase(), port, path })
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host, in lower case.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, given or implied by the scheme.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.scheme == "http" { 80 } else { 443 })
    }

    /// Host and port as written.
    pub fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// Path and query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True if scheme, host and port are the same: only then may credentials go along.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port() == other.port()
    }

    /// Resolves a reference found in a document at this address, taken as a directory: `charts/a.tgz`, `/a.tgz`,
    /// `//host/a.tgz` or a full URL.
    pub fn join(&self, reference: &str) -> Option<Self> {
        if reference.contains("://") {
            return Self::parse(reference);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.scheme));
        }
        let (reference_path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (reference, None),
        };
        let base = self.path.split('?').next().unwrap_or(&self.path);
        let joined = if reference_path.starts_with('/') {
            reference_path.to_owned()
        } else {
            format!("{}/{reference_path}", base.trim_end_matches('/'))
        };
        let clean = podsmith_object::files::normalize(&joined)?;
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Some(Self { path: format!("/{clean}{query}"), ..self.clone() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(base: &str, reference: &str) -> Option<String> {
        Address::parse(base)?.join(reference).map(|found| found.to_string())
    }

    #[test]
    fn references_resolve_against_the_repository() {
        for (base, reference, expected) in [
            ("https://a.b/charts", "x-1.tgz", Some("https://a.b/charts/x-1.tgz")),
            ("https://a.b/charts/", "sub/x.tgz?y=1", Some("https://a.b/charts/sub/x.tgz?y=1")),
            ("https://a.b/charts", "/x.tgz", Some("https://a.b/x.tgz")),
            ("https://a.b:8443/c", "../x.tgz", Some("https://a.b:8443/x.tgz")),
            ("https://a.b/c", "../../x.tgz", None),
            ("https://a.b", "http://c.d/x.tgz", Some("http://c.d/x.tgz")),
            ("https://a.b", "//c.d/x.tgz", Some("https://c.d/x.tgz")),
        ] {
            assert_eq!(joined(base, reference).as_deref(), expected, "{base} {reference}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |a: &str, b: &str| Address::parse(a).unwrap().same_origin(&Address::parse(b).unwrap());
        assert!(origin("https://A.b/x", "https://a.b:443/y"));
        assert!(!origin("https://a.b", "http://a.b"));
        assert!(!origin("https://a.b", "https://a.b:8443"));
        assert!(!origin("https://a.b", "https://a.b.evil"));
    }

    #[test]
    fn addresses_with_passwords_or_without_host_are_refused() {
        for text in ["https://user:secret@a.b", "https://", "a.b/c", "https://a.b:x", "://a"] {
            assert!(Address::parse(text).is_none(), "{text}");
        }
    }
}
