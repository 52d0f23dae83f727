//! Charts in OCI registries.

use podsmith_gotemplate::semver::{Constraint, Version};
use podsmith_object::Value;

use super::address::Address;
use super::credentials::Login;
use super::digest;
use super::error::RepositoryError;
use super::fetch::{Request, Response};
use super::locate::{LARGEST_ARCHIVE, LARGEST_DOCUMENT, Locator};

const CHART_LAYERS: [&str; 2] =
    ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];
const MANIFEST_TYPES: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json";

/// A repository within a registry.
#[derive(Clone, Debug)]
pub(super) struct Oci<'l, 'a> {
    locator: &'l Locator<'a>,
    /// `https://registry.example`
    registry: Address,
    repository: String,
    authorization: Option<String>,
}

/// A chart's layer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Layer {
    pub digest: String,
}

impl<'l, 'a> Oci<'l, 'a> {
    pub(super) fn new(locator: &'l Locator<'a>, registry: Address, repository: &str) -> Self {
        Self { locator, registry, repository: repository.to_owned(), authorization: None }
    }

    fn address(&self, tail: &str) -> Result<Address, RepositoryError> {
        let path = format!("/v2/{}/{tail}", self.repository);
        self.registry.join(&path).ok_or_else(|| RepositoryError::Reference {
            text: format!("oci://{}/{}", self.registry.authority(), self.repository),
            problem: "the repository name is malformed",
        })
    }

    /// A GET with a token: asked for once, at the first refusal.
    fn get(&mut self, address: &Address, accept: &str, limit: u64) -> Result<Response, RepositoryError> {
        let response = self.send(address, accept, limit)?;
        if response.status != 401 || self.authorization.is_some() {
            return Ok(response);
        }
        self.authorization = self.authorize(&response)?;
        if self.authorization.is_none() {
            return Ok(response);
        }
        self.send(address, accept, limit)
    }

    fn send(&self, address: &Address, accept: &str, limit: u64) -> Result<Response, RepositoryError> {
        let mut headers = vec![("accept".to_owned(), accept.to_owned())];
        if let Some(authorization) = &self.authorization {
            headers.push(("authorization".to_owned(), authorization.clone()));
        }
        self.locator.follow(Request { address: address.clone(), headers, form: None, limit })
    }

    /// Answers a challenge: a password for `Basic`, a token from the named service for `Bearer`.
    fn authorize(&self, refused: &Response) -> Result<Option<String>, RepositoryError> {
        let login = self.locator.credentials.for_address(&self.registry);
        let Some(challenge) = refused.header("www-authenticate") else { return Ok(None) };
        let (scheme, parameters) = challenge.split_once(' ').unwrap_or((challenge, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Ok(login.and_then(Login::basic));
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Ok(None);
        }
        let parameter = |name: &str| challenge_parameter(parameters, name);
        let Some(realm) = parameter("realm").and_then(|realm| Address::parse(&realm)) else {
            return Ok(None);
        };
        let scope = parameter("scope").unwrap_or_else(|| format!("repository:{}:pull", self.repository));
        let service = parameter("service").unwrap_or_default();
        let mut request =
            Request { address: realm.clone(), headers: Vec::new(), form: None, limit: LARGEST_DOCUMENT };
        match login {
            Some(Login::Token(token)) => {
                request.form = Some(format!(
                    "grant_type=refresh_token&service={}&scope={}&client_id=podsmith&refresh_token={}",
                    encode(&service),
                    encode(&scope),
                    encode(token)
                ));
            }
            other => {
                let question = if realm.path().contains('?') { '&' } else { '?' };
                let query = format!("{question}service={}&scope={}", encode(&service), encode(&scope));
                let text = format!("{realm}{query}");
                request.address = Address::parse(&text).unwrap_or(realm.clone());
                request
                    .headers
                    .extend(other.and_then(Login::basic).map(|basic| ("authorization".to_owned(), basic)));
            }
        }
        let response = self.locator.follow(request)?;
        if response.status != 200 {
            return Err(RepositoryError::Status { address: realm.to_string(), status: response.status });
        }
        let answer = json(&realm, &response)?;
        let token = answer.get("token").or_else(|| answer.get("access_token")).and_then(Value::as_str);
        Ok(token.map(|token| format!("Bearer {token}")))
    }

    /// The tag to take: an exact version as it is, else the newest version inside the range.
    pub(super) fn choose_tag(&mut self, range: &str) -> Result<String, RepositoryError> {
        let is_exact = range.split('+').next().is_some_and(|text| text.matches('.').count() >= 2)
            && Version::parse(range).is_ok();
        if is_exact {
            return Ok(range.replace('+', "_"));
        }
        let no_version = || RepositoryError::NoVersion {
            repository: self.registry.authority(),
            name: self.repository.clone(),
            range: range.to_owned(),
        };
        let constraint =
            Constraint::parse(if range.is_empty() { "*" } else { range }).map_err(|_| no_version())?;
        let tags = self.tags()?;
        // Registries do not allow `+`, so charts are pushed with `_` in its place.
        let newest = tags
            .into_iter()
            .filter_map(|tag| Some((Version::parse(&tag.replace('_', "+")).ok()?, tag)))
            .filter(|(version, _)| constraint.matches(version))
            .max_by(|a, b| a.0.cmp(&b.0));
        newest.map(|(_, tag)| tag).ok_or(RepositoryError::NoVersion {
            repository: self.registry.authority(),
            name: self.repository.clone(),
            range: range.to_owned(),
        })
    }

    /// All tags, page by page.
    fn tags(&mut self) -> Result<Vec<String>, RepositoryError> {
        const PAGES: usize = 100;
        let mut address = self.address("tags/list?n=1000")?;
        let mut tags = Vec::new();
        for _ in 0..PAGES {
            let response = self.get(&address, "application/json", LARGEST_DOCUMENT)?;
            ok(&address, &response)?;
            let answer = json(&address, &response)?;
            let page = answer.get("tags").and_then(Value::as_array).into_iter().flatten();
            tags.extend(page.filter_map(|tag| tag.as_str().map(str::to_owned)));
            let next = response.header("link").and_then(next_page);
            match next.and_then(|next| self.registry.join(next)) {
                Some(next) if next.same_origin(&self.registry) => address = next,
                _ => break,
            }
        }
        Ok(tags)
    }

    /// The layer that holds the chart, found through the manifest at a tag or digest.
    pub(super) fn chart_layer(&mut self, reference: &str) -> Result<Layer, RepositoryError> {
        let mut left = vec![reference.to_owned()];
        let mut asked = 0;
        while let Some(reference) = left.pop() {
            asked += 1;
            if asked > 32 {
                break;
            }
            let address = self.address(&format!("manifests/{reference}"))?;
            let response = self.get(&address, MANIFEST_TYPES, LARGEST_DOCUMENT)?;
            ok(&address, &response)?;
            if reference.starts_with("sha256:") {
                verify(&address, &response.body, &reference)?;
            }
            let manifest = json(&address, &response)?;
            let items = |key: &str| manifest.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
            let layers = items("layers");
            let chart = layers.iter().rev().find(|layer| {
                text(layer, "mediaType").is_some_and(|found| CHART_LAYERS.contains(&found.as_str()))
            });
            if let Some(digest) = chart.and_then(|layer| text(layer, "digest")) {
                return Ok(Layer { digest });
            }
            // An index: its manifests are tried in order.
            left.extend(items("manifests").iter().rev().filter_map(|item| text(item, "digest")));
        }
        Err(RepositoryError::Malformed {
            address: format!("oci://{}/{}", self.registry.authority(), self.repository),
            reason: format!("`{reference}` is not a chart"),
        })
    }

    /// The bytes of a layer, checked against its digest.
    pub(super) fn blob(&mut self, layer: &Layer) -> Result<Vec<u8>, RepositoryError> {
        let address = self.address(&format!("blobs/{}", layer.digest))?;
        let response = self.get(&address, "*/*", LARGEST_ARCHIVE)?;
        ok(&address, &response)?;
        verify(&address, &response.body, &layer.digest)?;
        Ok(response.body)
    }
}

fn ok(address: &Address, response: &Response) -> Result<(), RepositoryError> {
    if response.status == 200 {
        return Ok(());
    }
    Err(RepositoryError::Status { address: address.to_string(), status: response.status })
}

fn verify(address: &Address, bytes: &[u8], expected: &str) -> Result<(), RepositoryError> {
    if digest::fits(bytes, expected) {
        return Ok(());
    }
    Err(RepositoryError::Digest {
        address: address.to_string(),
        expected: expected.to_owned(),
        found: format!("sha256:{}", digest::sha256(bytes)),
    })
}

fn json(address: &Address, response: &Response) -> Result<Value, RepositoryError> {
    serde_json::from_slice(&response.body).map_err(|error| RepositoryError::Malformed {
        address: address.to_string(),
        reason: error.to_string(),
    })
}

/// `key="value"` in the parameters of a challenge.
fn challenge_parameter(parameters: &str, name: &str) -> Option<String> {
    let mut rest = parameters;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim_matches([' ', ',']);
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = next;
    }
    None
}

/// The target of `<…>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    let (target, parameters) = link.strip_prefix('<')?.split_once('>')?;
    parameters.contains("next").then_some(target)
}

/// Percent-encodes everything that is not plain in a query.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_and_links_are_understood() {
        let text =
            r#"realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull""#;
        assert_eq!(challenge_parameter(text, "realm").as_deref(), Some("https://auth.example/token"));
        assert_eq!(challenge_parameter(text, "scope").as_deref(), Some("repository:a/b:pull"));
        assert_eq!(challenge_parameter(text, "none"), None);
        assert_eq!(next_page(r#"</v2/a/tags/list?last=x>; rel="next""#), Some("/v2/a/tags/list?last=x"));
        assert_eq!(encode("a b:c/d"), "a%20b%3Ac%2Fd");
    }
}
