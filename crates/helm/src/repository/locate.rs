//! A reference into the bytes of a chart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::address::Address;
use super::cache::Cache;
use super::credentials::{Credentials, Login};
use super::digest;
use super::error::RepositoryError;
use super::fetch::{Fetch, Request, Response};
use super::index::{Index, IndexEntry};
use super::oci::{Layer, Oci};
use crate::chart::Chart;

pub(super) const LARGEST_ARCHIVE: u64 = 256 << 20;
pub(super) const LARGEST_DOCUMENT: u64 = 256 << 20;
const MOST_REDIRECTS: usize = 5;

/// Which chart is meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reference {
    /// A chart of an HTTP repository, by name.
    Repository {
        /// The address below which `index.yaml` is.
        url: String,
        /// The chart.
        name: String,
    },
    /// An archive at an address.
    Archive {
        /// The address.
        url: String,
    },
    /// A chart in an OCI registry.
    Oci {
        /// Host, and port if there is one.
        registry: String,
        /// `group/chart`
        repository: String,
        /// A tag.
        tag: Option<String>,
        /// A digest.
        digest: Option<String>,
    },
}

impl Reference {
    /// Parses `oci://registry/group/chart[:tag][@sha256:…]` or `https://…/chart.tgz`.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, RepositoryError> {
        let refuse = |problem| RepositoryError::Reference { text: text.to_owned(), problem };
        let Some(rest) = text.strip_prefix("oci://") else {
            let address = Address::parse(text).ok_or(refuse("it is not an address"))?;
            if !matches!(address.scheme(), "http" | "https") {
                return Err(refuse("only oci://, https:// and http:// are known"));
            }
            return Ok(Self::Archive { url: text.to_owned() });
        };
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) if digest.starts_with("sha256:") => (rest, Some(digest.to_owned())),
            Some(_) => return Err(refuse("only sha256 digests are known")),
            None => (rest, None),
        };
        let (registry, path) = rest.split_once('/').ok_or(refuse("there is no repository name"))?;
        let (path, tag) = match path.rsplit_once(':') {
            Some((path, tag)) if !tag.contains('/') => (path, Some(tag.to_owned())),
            _ => (path, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
        if registry.is_empty() || path.is_empty() || !path.chars().all(plain) || path.contains("..") {
            return Err(refuse("the registry or the repository name is malformed"));
        }
        let (registry, repository) = (registry.to_owned(), path.trim_matches('/').to_owned());
        Ok(Self::Oci { registry, repository, tag, digest })
    }

    /// A chart of a repository: an HTTP one, or a folder of an OCI registry.
    ///
    /// # Errors
    ///
    /// When the address means nothing.
    pub fn in_repository(url: &str, name: &str) -> Result<Self, RepositoryError> {
        if url.starts_with("oci://") {
            return Self::parse(&format!("{}/{name}", url.trim_end_matches('/')));
        }
        Ok(Self::Repository { url: url.to_owned(), name: name.to_owned() })
    }
}

/// A chart that was found.
#[derive(Clone, Debug)]
pub struct Located {
    /// Where it came from.
    pub address: String,
    /// The version, where the repository names one.
    pub version: Option<String>,
    /// The SHA-256 of the archive, in hexadecimal.
    pub digest: String,
    /// The archive.
    pub bytes: Vec<u8>,
}

impl Located {
    /// Loads the chart.
    ///
    /// # Errors
    ///
    /// When it is not a chart.
    pub fn load(&self) -> Result<Arc<Chart>, RepositoryError> {
        Ok(Chart::load_archive(&self.address, &self.bytes)?)
    }
}

/// Finds charts.
#[derive(Clone)]
pub struct Locator<'a> {
    /// The network.
    pub fetch: &'a dyn Fetch,
    /// What was fetched before.
    pub cache: &'a dyn Cache,
    /// Logins.
    pub credentials: Credentials,
    /// Whether only the cache may be used.
    pub offline: bool,
    /// Repositories by the names that charts use for them (`@name`, `alias:name`).
    pub repositories: BTreeMap<String, String>,
    /// Registries that are spoken to without TLS: hosts, with their port if they have one.
    pub plain_http: BTreeSet<String>,
}

impl fmt::Debug for Locator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locator").field("offline", &self.offline).finish_non_exhaustive()
    }
}

impl<'a> Locator<'a> {
    /// A locator without logins.
    pub fn new(fetch: &'a dyn Fetch, cache: &'a dyn Cache) -> Self {
        Self {
            fetch,
            cache,
            credentials: Credentials::new(),
            offline: false,
            repositories: BTreeMap::new(),
            plain_http: BTreeSet::new(),
        }
    }

    /// Finds a chart. `range` is a version or a range of versions; empty means the newest release.
    ///
    /// # Errors
    ///
    /// See [`RepositoryError`]. Bytes that do not fit their digest are never returned nor kept.
    pub fn locate(&self, reference: &Reference, range: &str) -> Result<Located, RepositoryError> {
        match reference {
            Reference::Archive { url } => {
                let address = address_of(url)?;
                let bytes = self.archive(&address, None, Some(&address))?;
                Ok(located(address.to_string(), None, bytes))
            }
            Reference::Repository { url, name } => self.in_index(url, name, range),
            Reference::Oci { registry, repository, tag, digest } => {
                if tag.is_some() && !range.is_empty() {
                    return Err(RepositoryError::Reference {
                        text: format!("oci://{registry}/{repository}"),
                        problem: "give either a tag or a version, not both",
                    });
                }
                self.in_registry(registry, repository, tag.as_deref(), digest.as_deref(), range)
            }
        }
    }

    /// The index of an HTTP repository; from the cache when offline.
    ///
    /// # Errors
    ///
    /// When it cannot be fetched or read.
    pub fn index(&self, url: &str) -> Result<Index, RepositoryError> {
        let base = address_of(url)?;
        let address = base.join("index.yaml").ok_or_else(|| malformed(url))?;
        let key = format!("index {address}");
        let bytes = if self.offline {
            self.cached(&key)?.ok_or_else(|| RepositoryError::Offline { address: address.to_string() })?
        } else {
            let bytes = self.download(&address, Some(&base), LARGEST_DOCUMENT)?;
            self.keep(&key, &bytes)?;
            bytes
        };
        Index::parse(&String::from_utf8_lossy(&bytes))
            .map_err(|reason| RepositoryError::Malformed { address: address.to_string(), reason })
    }

    fn in_index(&self, url: &str, name: &str, range: &str) -> Result<Located, RepositoryError> {
        let index = self.index(url)?;
        let entry = choose(&index, url, name, range)?;
        let base = address_of(url)?;
        let first = entry.urls.first().ok_or_else(|| RepositoryError::Malformed {
            address: url.to_owned(),
            reason: format!("{name} {} has no address", entry.version),
        })?;
        let address = base.join(first).ok_or_else(|| malformed(first))?;
        let bytes = self.archive(&address, entry.digest.as_deref(), Some(&base))?;
        Ok(located(address.to_string(), Some(entry.version.clone()), bytes))
    }

    fn in_registry(
        &self,
        registry: &str,
        repository: &str,
        tag: Option<&str>,
        digest: Option<&str>,
        range: &str,
    ) -> Result<Located, RepositoryError> {
        let scheme = if self.plain_http.contains(registry) { "http" } else { "https" };
        let address = address_of(&format!("{scheme}://{registry}"))?;
        let name = format!("oci://{registry}/{repository}");
        let wanted = digest.or(tag).map_or_else(|| format!(" {range}"), |exact| format!("@{exact}"));
        let key = format!("oci {name}{wanted}");
        let mut oci = Oci::new(self, address, repository);
        let (tag, layer) = if self.offline {
            let kept = self.cached(&key)?.and_then(|bytes| String::from_utf8(bytes).ok());
            let kept = kept.as_deref().and_then(|text| text.split_once(' '));
            let (tag, digest) = kept.ok_or_else(|| RepositoryError::Offline { address: name.clone() })?;
            (tag.to_owned(), Layer { digest: digest.to_owned() })
        } else {
            let tag = match digest.or(tag) {
                Some(exact) => exact.to_owned(),
                None => oci.choose_tag(range)?,
            };
            let layer = oci.chart_layer(&tag)?;
            self.keep(&key, format!("{tag} {}", layer.digest).as_bytes())?;
            (tag, layer)
        };
        let bytes = match self.cached(&layer.digest)?.filter(|bytes| digest::fits(bytes, &layer.digest)) {
            Some(bytes) => bytes,
            None if self.offline => return Err(RepositoryError::Offline { address: name }),
            None => {
                let bytes = oci.blob(&layer)?;
                self.keep(&layer.digest, &bytes)?;
                bytes
            }
        };
        let version = (!tag.starts_with("sha256:")).then(|| tag.replace('_', "+"));
        Ok(located(format!("{name}:{tag}"), version, bytes))
    }

    /// An archive, from the cache if its digest is known there.
    fn archive(
        &self,
        address: &Address,
        expected: Option<&str>,
        credentials_of: Option<&Address>,
    ) -> Result<Vec<u8>, RepositoryError> {
        let expected = expected.map(|digest| digest.strip_prefix("sha256:").unwrap_or(digest));
        let key = match expected {
            Some(digest) => format!("sha256:{digest}"),
            None => format!("archive {address}"),
        };
        let usable = |bytes: &Vec<u8>| expected.is_none_or(|digest| digest::fits(bytes, digest));
        if (self.offline || expected.is_some())
            && let Some(bytes) = self.cached(&key)?.filter(usable)
        {
            return Ok(bytes);
        }
        if self.offline {
            return Err(RepositoryError::Offline { address: address.to_string() });
        }
        let bytes = self.download(address, credentials_of, LARGEST_ARCHIVE)?;
        if let Some(expected) = expected
            && !digest::fits(&bytes, expected)
        {
            return Err(RepositoryError::Digest {
                address: address.to_string(),
                expected: format!("sha256:{expected}"),
                found: format!("sha256:{}", digest::sha256(&bytes)),
            });
        }
        self.keep(&key, &bytes)?;
        Ok(bytes)
    }

    /// A GET whose login is that of `credentials_of`, sent only while the address has the same origin.
    fn download(
        &self,
        address: &Address,
        credentials_of: Option<&Address>,
        limit: u64,
    ) -> Result<Vec<u8>, RepositoryError> {
        let login = credentials_of
            .filter(|origin| origin.same_origin(address))
            .and_then(|origin| self.credentials.for_address(origin))
            .and_then(Login::basic);
        let headers = login.map(|basic| ("authorization".to_owned(), basic)).into_iter().collect();
        let response = self.follow(Request { address: address.clone(), headers, form: None, limit })?;
        if response.status == 200 {
            return Ok(response.body);
        }
        Err(RepositoryError::Status { address: address.to_string(), status: response.status })
    }

    /// Sends a request and follows redirects. Credentials stay behind when the origin changes, and TLS is never left.
    pub(super) fn follow(&self, mut request: Request) -> Result<Response, RepositoryError> {
        for _ in 0..MOST_REDIRECTS {
            let response = self.fetch.fetch(&request)?;
            if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            let target = response.header("location").and_then(|target| request.address.join(target));
            let Some(target) = target else { return Ok(response) };
            if request.address.scheme() == "https" && target.scheme() != "https" {
                return Err(RepositoryError::Malformed {
                    address: request.address.to_string(),
                    reason: "it redirects from https to http".to_owned(),
                });
            }
            if !target.same_origin(&request.address) {
                request.headers.retain(|(name, _)| name != "authorization");
                request.form = None;
            }
            request.address = target;
        }
        Err(RepositoryError::Malformed {
            address: request.address.to_string(),
            reason: format!("more than {MOST_REDIRECTS} redirects"),
        })
    }

    fn cached(&self, key: &str) -> Result<Option<Vec<u8>>, RepositoryError> {
        self.cache.get(key).map_err(|source| RepositoryError::Cache { path: key.to_owned(), source })
    }

    fn keep(&self, key: &str, bytes: &[u8]) -> Result<(), RepositoryError> {
        self.cache.put(key, bytes).map_err(|source| RepositoryError::Cache { path: key.to_owned(), source })
    }
}

fn choose<'i>(
    index: &'i Index,
    url: &str,
    name: &str,
    range: &str,
) -> Result<&'i IndexEntry, RepositoryError> {
    let (repository, name) = (url.to_owned(), name.to_owned());
    if index.versions(&name).is_none() {
        return Err(RepositoryError::NoChart { repository, name });
    }
    let range_text = range.to_owned();
    index.choose(&name, range).ok_or(RepositoryError::NoVersion {
        repository,
        name: name.clone(),
        range: range_text,
    })
}

fn located(address: String, version: Option<String>, bytes: Vec<u8>) -> Located {
    Located { address, version, digest: digest::sha256(&bytes), bytes }
}

fn malformed(text: &str) -> RepositoryError {
    RepositoryError::Reference { text: text.to_owned(), problem: "it is not an address" }
}

fn address_of(text: &str) -> Result<Address, RepositoryError> {
    Address::parse(text).ok_or_else(|| malformed(text))
}
